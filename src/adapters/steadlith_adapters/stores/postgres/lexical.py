"""The lexical arm: a tsvector of title, headings and body for each live entry, ranked by `ts_rank` and rarity.

1. Only live entries are indexed, and `word` counts how many of them hold each word: the same live entries give the
   same scores, whatever was there before.
2. A score is the sum over the terms of the term's rarity (that of BM25) times `ts_rank` of the term alone, divided by
   the logarithm of the number of the row's different words, which the server knows without counting. It is not BM25:
   how often a word stands in a row counts for less.
3. A term that more than a fifth of a large index holds is left out unless nothing else is asked for, as in every store
   of ours: it decides no order, and most of the time would go into it.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from steadlith_adapters.stores.columns import read_headings
from steadlith_adapters.stores.postgres import words
from steadlith_adapters.stores.postgres.forms import copied
from steadlith_adapters.stores.postgres.session import batches, numbers
from steadlith_core.errors import SteadlithError
from steadlith_core.rows import ArmHit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from steadlith_adapters.stores.postgres.session import Row, Session

COMMON_SHARE = 5
LARGE = 1000
"""Live entries below which every term is scored."""
ROWS = "SELECT e.entry, e.title, e.headings, t.body FROM entry e JOIN text t ON t.text = e.text"
"""What is indexed, as `add` takes it."""
ALL = ""
"""The word that no text has: under it stands how many live entries there are."""
SIZE = 512
"""Rows whose words are made together."""

_COUNT = """
    SELECT u.lexeme COLLATE "C" AS word, count(*) AS entries
    FROM {of} f JOIN lexical l ON l.entry = f.entry CROSS JOIN LATERAL unnest(l.words) u GROUP BY 1
    UNION ALL SELECT '', count(*) FROM {of} f JOIN lexical l ON l.entry = f.entry"""
_ADD_COUNTS = """
    INSERT INTO word SELECT c.word, c.entries FROM ({count}) c WHERE c.entries > 0
    ON CONFLICT (word) DO UPDATE SET entries = word.entries + excluded.entries"""
_TAKE_COUNTS = "UPDATE word w SET entries = w.entries - c.entries FROM ({count}) c WHERE c.word = w.word"
_HELD = "SELECT word, entries FROM word WHERE word = ANY(%s::text[])"
_ALL_ROWS = """
    SELECT coalesce(e.entry, l.entry), coalesce(e.live, false), l.words, e.title, e.headings, t.body
    FROM entry e FULL JOIN lexical l ON l.entry = e.entry LEFT JOIN text t ON t.text = e.text
    WHERE e.live OR l.entry IS NOT NULL"""
_MISCOUNTED = """
    SELECT coalesce(c.word, w.word) FROM ({count}) c FULL JOIN word w ON w.word = c.word
    WHERE coalesce(c.entries, 0) <> coalesce(w.entries, 0) ORDER BY 1"""
_GIVEN = """(
    SELECT a.entry, a.words::tsvector FROM unnest(%s::bigint[], %s::text[]) a(entry, words)) lexical(entry, words)"""
KEPT = "AND entry = ANY(%s::bigint[])"
_TERM = "%s::float8 * ts_rank('{1,1,1,1}', words, %s::tsquery)"
_PHRASE = "CASE WHEN words @@ %s::tsquery THEN %s::float8 * ts_rank('{1,1,1,1}', words, %s::tsquery) ELSE 0 END"


_GATHER = """
    SELECT set_config('gin_pending_list_limit', '64MB', true), set_config('work_mem', '64MB', true)"""
_SPREAD = "SELECT gin_clean_pending_list('lexical_words')"


def gather(session: Session) -> None:
    """Let the index keep the words of this transaction's rows in a list, which `spread` sorts in at once."""
    session.run(_GATHER)


def spread(session: Session) -> None:
    """Sort the list of words into the index: until that is done every search reads the list as well."""
    session.run("SELECT set_config('work_mem', '64MB', false)")
    session.run(_SPREAD)


def add(session: Session, rows: Iterable[Row], into: str = "lexical") -> None:
    """Index entries: (entry, title, headings as they are kept, body). `count_in` counts their words."""
    for batch in batches(rows, SIZE):
        session.copy_bytes(f"{into}(entry, words)", copied([(each[0], row_of(session, *each)) for each in batch]))


def row_of(session: Session, entry: int, title: bytes, headings: bytes, body: bytes) -> bytes:
    """The words of an entry, from its columns."""
    return words.row(*_texts_of(session, entry, title, headings, body))


def places_of(session: Session, entry: int, title: bytes, headings: bytes, body: bytes) -> dict[str, list[int]]:
    """The same with their positions, not packed."""
    return words.places(*_texts_of(session, entry, title, headings, body))


def _texts_of(
    session: Session, entry: int, title: bytes, headings: bytes, body: bytes
) -> tuple[str, Sequence[str], str]:
    path = session.decode(read_headings, headings, f"headings of entry {entry}")
    return title.decode("utf-8", "replace"), path, body.decode("utf-8", "replace")


def count_in(session: Session, of: str) -> None:
    """Count the words of the entries that a table or a query names, which were indexed."""
    session.run(_ADD_COUNTS.format(count=_COUNT.format(of=of)))


def remove(session: Session, of: str) -> None:
    """Forget the rows of the entries that a table or a query names, and count their words no more."""
    session.run(_TAKE_COUNTS.format(count=_COUNT.format(of=of)))
    session.run(f"DELETE FROM lexical WHERE entry IN (SELECT entry FROM {of} gone)")  # noqa: S608


def faults(session: Session) -> Iterator[tuple[int, str]]:
    """Entries whose lexical row is missing, too many, or of other words than their text; and which of these it is."""
    for entry, live, kept, title, headings, body in session.stream(_ALL_ROWS):
        if not live:
            yield entry, "is not live and has a lexical row"
        elif kept is None:
            yield entry, "is live and has no lexical row"
        else:
            try:
                is_same = kept == row_of(session, entry, title, headings, body)
            except (AttributeError, SteadlithError):  # no text, or headings that nobody can read: said of the entry
                continue
            if not is_same:
                yield entry, "has a lexical row of other words than its text"


def miscounted(session: Session) -> Iterator[str]:
    """Words of which another number of live entries is kept than hold them."""
    return (word for (word,) in session.stream(_MISCOUNTED.format(count=_COUNT.format(of="lexical"))))


def search(
    session: Session, terms: Sequence[str], limit: int, among: Sequence[int] | None = None
) -> tuple[ArmHit, ...]:
    """The best `limit` live entries (of `among`) that hold any of the terms."""
    asked = asked_of(terms)
    if not asked:
        return ()
    every = sorted({word for found in asked.values() for word in found})
    return ranked(session, asked, dict(session.run(_HELD, [ALL, *every])), limit, among)


def asked_of(terms: Sequence[str]) -> dict[str, list[str]]:
    """What is asked of the server for each term, and the words in it."""
    return {
        query: found for term in dict.fromkeys(terms) if (query := words.query(term)) for found in [words.of_term(term)]
    }


def ranked(
    session: Session,
    asked: Mapping[str, Sequence[str]],
    held: Mapping[str, int],
    limit: int,
    among: Sequence[int] | None,
    rows: Sequence[tuple[int, str]] | None = None,
) -> tuple[ArmHit, ...]:
    """The best `limit` of the rows that are kept, or of `rows` (an entry and its words, as `words.written` makes them).
    `held` says how many entries hold each word, and under `ALL` how many there are.
    """
    entries = held.get(ALL, 0)
    # A term of several words is no more common than its rarest one.
    holders = {query: min(held.get(word, 0) for word in found) for query, found in asked.items()}
    there = {query: count for query, count in holders.items() if count > 0}
    telling = {query: count for query, count in there.items() if entries < LARGE or count * COMMON_SHARE <= entries}
    chosen = telling or there
    if not chosen:
        return ()
    scores, values = [], []
    for query, count in chosen.items():
        rarity = log(1 + (entries - count + 0.5) / (count + 0.5))
        if len(asked[query]) > 1:
            scores.append(_PHRASE)
            values += [query, rarity, query]
        else:
            scores.append(_TERM)
            values += [rarity, query]
    those = [] if rows is None else [[entry for entry, _ in rows], [words for _, words in rows]]
    found = session.run(
        f"SELECT entry, ({' + '.join(scores)}) / ln(length(words) + 1) AS score "  # noqa: S608
        f"FROM {'lexical' if rows is None else _GIVEN} "
        f"WHERE words @@ %s::tsquery {'' if among is None else KEPT} ORDER BY score DESC, entry LIMIT %s",
        *values,
        *those,
        " | ".join(f"({query})" for query in chosen),
        *([] if among is None else [numbers(among)]),
        limit,
    )
    return tuple(ArmHit(entry, score) for entry, score in found)

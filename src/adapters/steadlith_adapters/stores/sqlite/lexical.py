"""The lexical arm: FTS5 over title, headings and body of live entries.

1. Only live entries are indexed: tombstones left inside would change every score.
2. Text and terms pass through `text.query`, which cuts scripts without word breaks into bigrams.
3. A term is data: quoted, never a part of FTS5's query language.
4. A term that more than a fifth of a large index holds is left out unless nothing else is asked for: FTS5 scores every
   row that matches, and such a term decides no order (storage.md 3: the same top ten, a tenth of the time).
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING

from steadlith_adapters.stores.columns import read_headings
from steadlith_adapters.stores.sqlite.schema import TUNE_LEXICAL
from steadlith_adapters.stores.sqlite.session import BATCH, LISTED, listed
from steadlith_core.rows import ArmHit
from steadlith_core.text.query import index_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steadlith_adapters.stores.sqlite.session import Session

COMMON_SHARE = 5
LARGE = 1000
"""Chunks below which every term is scored: it costs less than asking how common it is."""
AT_ONCE = 8_000
"""SQLite takes 32,766 bindings."""
_INSERT, _ROW = "INSERT INTO lexical(rowid, title, headings, body) VALUES", "(?, ?, ?, ?)"
ROWS = "SELECT e.entry, e.title, e.headings, t.body FROM entry e JOIN text t ON t.text = e.text"
"""Entries as `add_many` takes them."""
LIVE_ROWS = f"{ROWS} WHERE e.live = 1"
"""What is indexed."""

# A segment holds the words of some 20,000 chunks. FTS5 bears 2,000 of them: of 500 it makes one after all.
LEAVE_SEGMENTS = (
    "INSERT INTO lexical(lexical, rank) VALUES ('automerge', 0)",
    "INSERT INTO lexical(lexical, rank) VALUES ('crisismerge', 500)",
)
_MERGE_SEGMENTS = (*TUNE_LEXICAL, "INSERT INTO lexical(lexical, rank) VALUES ('crisismerge', 16)")
"""As the index is tuned; 16 is FTS5's own number."""


def columns(title: str, headings: Sequence[str], body: str) -> tuple[str, str, str]:
    """What the three columns of an entry's row are given."""
    return index_text(title), index_text("\n".join(headings)), index_text(body)


def add_many(session: Session, rows: Iterable[tuple[int, str, bytes, str]]) -> None:
    """Index entries that became live: (entry, title, headings as they are kept, body)."""
    rows = iter(rows)
    while batch := list(islice(rows, BATCH)):
        session.run_many(f"{_INSERT} {_ROW}", _made(session, batch))


def add_at_once(session: Session, rows: Sequence[tuple[int, str, bytes, str]]) -> None:
    """`add_many` in one statement, so that a thread holds nobody up while it runs; at most `AT_ONCE` rows. FTS5 writes
    a segment before each statement of several rows: with few of them there would be too many.
    """
    made = _made(session, rows)
    session.run(f"{_INSERT} {', '.join([_ROW] * len(made))}", *chain.from_iterable(made))


def _made(session: Session, rows: Sequence[tuple[int, str, bytes, str]]) -> list[tuple[int, str, str, str]]:
    return [
        (entry, *columns(title, session.decode(read_headings, headings, f"headings of entry {entry}"), body))
        for entry, title, headings, body in rows
    ]


def add_live(index: Session, session: Session) -> None:
    """Index all live entries of `session` in the lexical table of `index`, which is empty."""
    add_many(index, session.stream(f"{LIVE_ROWS} ORDER BY e.entry"))


def begin(index: Session) -> None:
    """Begin to fill a lexical index of its own; its segments are left alone until somebody merges them."""
    for statement in ("BEGIN", *TUNE_LEXICAL, *LEAVE_SEGMENTS):
        index.run(statement)


@contextmanager
def merged_at_the_end(session: Session) -> Iterator[None]:
    """Add many rows inside: no segment is merged before all of them are, once."""
    for statement in LEAVE_SEGMENTS:
        session.run(statement)
    yield
    merge(session)
    for statement in _MERGE_SEGMENTS:
        session.run(statement)


def merge(session: Session) -> None:
    """Make one segment of the index. What many rows leave behind would be merged in the small commits after them, each
    of which would write several times its own words.
    """
    session.run("INSERT INTO lexical(lexical) VALUES ('optimize')")


def remove_many(session: Session, entries: Sequence[tuple[int]]) -> None:
    """Forget entries that are live no more, each a row of its number."""
    session.run_many("DELETE FROM lexical WHERE rowid = ?", entries)


def search(
    session: Session, terms: Sequence[str], limit: int, among: Sequence[int] | None, chunks: int
) -> tuple[ArmHit, ...]:
    """The best `limit` entries by BM25 that hold any of the terms; `chunks` is how many the head counts."""
    chosen = _telling(session, terms, chunks) if chunks >= LARGE else terms
    if not chosen:
        return ()
    # The plus keeps FTS5 from matching anew for each number of the list.
    passing = "" if among is None else f"AND +rowid IN {LISTED}"
    rows = session.run(
        f"SELECT rowid, rank FROM lexical WHERE lexical MATCH ? {passing} ORDER BY rank, rowid LIMIT ?",  # noqa: S608
        " OR ".join(map(_quoted, chosen)),
        *([] if among is None else [listed(among)]),
        limit,
    )
    return tuple(ArmHit(entry, -rank) for entry, rank in rows)


def _telling(session: Session, terms: Sequence[str], chunks: int) -> Sequence[str]:
    rare = [term for term in terms if _holders(session, term) * COMMON_SHARE <= chunks]
    return rare or terms


def _holders(session: Session, term: str) -> int:
    """How many entries may hold the term: a term of several tokens is no more common than its rarest one."""
    stems = session.stemmer()(term)
    counts = [session.one("SELECT doc FROM lexical_terms WHERE term = ?", stem) or (0,) for stem in stems]
    return min((count for (count,) in counts), default=0)


def _quoted(term: str) -> str:
    # FTS5 ends its query at a NUL, inside a string too.
    return '"' + term.replace("\0", " ").replace('"', '""') + '"'

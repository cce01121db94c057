"""Whether each lexical row has the words that its entry's text gives, without the text having been kept there.

1. What is indexed is read from FTS5's own dictionary, word by word; what should be is tokenised anew from the text.
2. Both are summed up by entry without regard to order: eight bytes an entry, whatever the texts are.
3. An entry that is not what its hash says has no words that it should have; whoever checks entries names it.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from steadlith_adapters.stores.columns import read_headings
from steadlith_adapters.stores.sqlite import lexical
from steadlith_core.digest import Digest
from steadlith_core.errors import SteadlithError
from steadlith_core.state.identity import entry_hash, text_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_adapters.stores.sqlite.session import Row, Session

_COLUMNS = ("title", "headings", "body")
_MASK = 2**64 - 1
_INSTANCES = "SELECT doc, term || ' ' || col || ' ' || offset FROM lexical_instances"
_LIVE = """
    SELECT e.entry, e.entry_hash, e.title, e.headings, e.context_hash, t.text_hash, CAST(t.body AS BLOB)
    FROM entry e JOIN text t ON t.text = e.text WHERE e.live = 1"""
_UNINDEXED = "SELECT entry FROM entry WHERE live = 1 AND entry NOT IN (SELECT rowid FROM lexical)"
_OVERINDEXED = "SELECT rowid FROM lexical WHERE rowid NOT IN (SELECT entry FROM entry WHERE live = 1)"


def broken(session: Session) -> str | None:
    """What FTS5 itself finds wrong, if it does: then no row of it can be believed."""
    try:
        # FTS5 looks for commits of other connections before a query only: its own check would believe an old structure.
        session.run("SELECT rowid FROM lexical WHERE lexical MATCH '\"\"' LIMIT 1")
        lines = [line for (line,) in session.run("PRAGMA integrity_check('lexical')") if line != "ok"]
    except SteadlithError as error:
        return str(error)
    return lines[0] if lines else None


def unindexed(session: Session) -> list[int]:
    """Live entries without a lexical row."""
    return [entry for (entry,) in session.run(_UNINDEXED)]


def overindexed(session: Session) -> list[int]:
    """Lexical rows of what is no live entry."""
    return [entry for (entry,) in session.run(_OVERINDEXED)]


def differing(session: Session) -> Iterator[int]:
    """Live entries whose row has other words than their text gives."""
    indexed = _indexed(session)
    stems = session.stemmer()
    for row in session.stream(_LIVE):
        fields = _fields(row)
        if fields is None:
            continue
        # One string, not a tuple: hashes of tuples add up alike when two words change places.
        wanted = sum(
            hash(f"{stem} {column} {offset}")
            for column, text in zip(_COLUMNS, fields, strict=True)
            for offset, stem in enumerate(stems(text))
        )
        if wanted & _MASK != indexed[row[0]]:
            yield row[0]


def _indexed(session: Session) -> array[int]:
    """For every entry's number, the sum over the words of its row."""
    # `hash` differs from process to process and not within one, which is all that is compared.
    sums = array("Q", bytes(8 * (session.value("SELECT coalesce(max(entry), 0) FROM entry") + 1)))
    for entry, instance in session.stream(_INSTANCES):
        if 0 < entry < len(sums):  # others are no entries; `overindexed` has them
            sums[entry] = (sums[entry] + hash(instance)) & _MASK
    return sums


def _fields(row: Row) -> Sequence[str] | None:
    _, name, title, headings, context, text, body = row
    try:
        path = read_headings(headings)
        whole = body.decode()
        intact = text_hash(whole) == text
        intact = intact and entry_hash(Digest(text), title, path, Digest(context) if context else None) == name
    except ValueError:
        return None
    return lexical.columns(title, path, whole) if intact else None

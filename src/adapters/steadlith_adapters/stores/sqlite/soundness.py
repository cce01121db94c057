"""Whether what is kept of a space's vectors is what was put: `faults`, and what can be set right of them.

1. A full vector that does not match its checksum, or is no entry's, is a fault: nothing here can make it again.
2. A code that is lost or is not its vector's is one too, and is made again, as the vector is there.
3. A full vector that is lost is not made of its code: a code is not the vector that was paid for.
4. A row that a search does not find where it stands is told apart by no statement to vec0: the table is made anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.stores.packing import vector_checksum
from steadlith_adapters.stores.sqlite import blocks, tombstones, vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_adapters.stores.sqlite.blocks import Row
    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_adapters.stores.sqlite.spaces import SpaceTable
    from steadlith_core.vectors import Vector

_NOTED = """
    SELECT v.entry, v.vector_key, v.checksum, e.live FROM vector v LEFT JOIN entry e ON e.entry = v.entry
    WHERE v.space = ? AND v.entry IN ({})"""
_FULL = "SELECT entry, vector FROM {full} WHERE entry IN ({{}})"
_LOST = "SELECT entry FROM vector WHERE space = ?1 AND entry NOT IN (SELECT rowid FROM {table})"
_CODED_LOST = """
    SELECT v.entry, f.vector, v.vector_key, v.checksum, e.live
    FROM vector v LEFT JOIN entry e ON e.entry = v.entry LEFT JOIN {full} f ON f.entry = v.entry
    WHERE v.space = ?1 AND v.entry NOT IN (SELECT rowid FROM {table})"""
_STRAY = """
    SELECT entry FROM {full}
    WHERE entry NOT IN (SELECT entry FROM vector WHERE space = ?1) AND entry NOT IN (SELECT rowid FROM {table})"""


@dataclass(frozen=True, slots=True)
class Fault:
    """A vector that is not as it was put. With `live` the full vector is: that is what its tombstone should be, and if
    its code is wrong (`code`), it can be made again.
    """

    entry: int
    what: str
    live: int | None = None
    code: bool = False


class _Noted(NamedTuple):
    """What stands beside a vector: of nothing, if it is no entry's of its space."""

    key: bytes | None = None
    checksum: bytes | None = None
    live: int | None = None


_NOTHING = _Noted()


def faults(session: Session, table: SpaceTable) -> Iterator[Fault]:
    """Everything that is wrong in a space's tables, compared with what stands beside them."""
    misplaced = frozenset(blocks.misplaced(session, table))
    for entry in sorted(misplaced):
        yield Fault(entry, "does not stand where a search finds it")
    seen = 0
    for rows in blocks.rows(session, table, misplaced):
        entries = [row.entry for row in rows]
        noted = {entry: _Noted(*columns) for entry, *columns in session.lookup(_NOTED, entries, table.number)}
        seen += len(noted)
        if table.form.coded:
            full: dict[int, Vector] = dict(session.lookup(_FULL.format(full=table.full), entries))
            yield from _coded(table, rows, noted, full)
            continue
        for row in rows:
            yield from _of_row(row, row.value, noted.get(row.entry, _NOTHING))
    if seen != session.value("SELECT count(*) FROM vector WHERE space = ?", table.number) or table.form.coded:
        yield from (fault for fault in _lost(session, table) if fault.entry not in misplaced)


def _lost(session: Session, table: SpaceTable) -> Iterator[Fault]:
    """What no row of the vec0 table stands for."""
    names = {"table": table.name, "full": table.full}
    if not table.form.coded:
        yield from (Fault(entry, "is missing") for (entry,) in session.run(_LOST.format(**names), table.number))
        return
    for entry, full, key, checksum, live in session.run(_CODED_LOST.format(**names), table.number):
        if live is not None and _is_whole(full, key, checksum):
            yield Fault(entry, "has no code", live, code=True)
        else:
            yield Fault(entry, "is missing")
    for (entry,) in session.run(_STRAY.format(**names), table.number):
        yield Fault(entry, "is no entry's of its space, and has no code")


def mend(session: Session, table: SpaceTable, fault: Fault) -> None:
    """Set right what can be made of what is kept; the rest goes, as it counted as absent."""
    if fault.live is None:
        vectors.forget(session, table, fault.entry)
    elif fault.code:
        vectors.place_code(session, table, fault.entry, fault.live)
    else:
        tombstones.set_many(session, table, [(fault.live, fault.entry)])


def _of_row(row: Row, full: Vector | None, noted: _Noted) -> Iterator[Fault]:
    if noted.checksum is None or noted.live is None:
        yield Fault(row.entry, "is no entry's of its space")
    elif full is None:
        yield Fault(row.entry, "is missing, and its code is not")
    elif not _is_whole(full, noted.key, noted.checksum):
        yield Fault(row.entry, "does not match its checksum")
    elif row.live != noted.live:
        yield Fault(row.entry, f"has live={row.live}, the entry {noted.live}", noted.live)


def _coded(
    table: SpaceTable, rows: Sequence[Row], noted: Mapping[int, _Noted], full: Mapping[int, Vector]
) -> Iterator[Fault]:
    beside = [(row, full.get(row.entry), noted.get(row.entry, _NOTHING)) for row in rows]
    whole = {
        row.entry: vector
        for row, vector, note in beside
        if vector is not None and note.live is not None and _is_whole(vector, note.key, note.checksum)
    }
    made = dict(zip(whole, table.form.encode(list(whole.values()), table.dimensions), strict=True))
    for row, vector, note in beside:
        if made.get(row.entry, row.value) != row.value:
            yield Fault(row.entry, "has a code that is not its own", note.live, code=True)
        else:
            yield from _of_row(row, vector, note)


def _is_whole(full: Vector | None, key: bytes | None, checksum: bytes | None) -> bool:
    return full is not None and key is not None and vector_checksum(key, full) == checksum

"""Whether what is kept of a space's vectors is what was put: `faults`, and what can be set right of them.

1. A full vector that does not match its checksum, or is no entry's, is a fault: nothing here can make it again.
2. A code that is lost or is not its vector's is one too, and is made again, as the vector is there.
3. A full vector that is lost is not made of its code: a code is not the vector that was paid for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from steadlith_adapters.stores.packing import vector_checksum
from steadlith_adapters.stores.sqlite import vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_adapters.stores.sqlite.session import Row, Session
    from steadlith_adapters.stores.sqlite.spaces import SpaceTable
    from steadlith_core.vectors import Vector

COMPARED = 1024
"""Rows whose codes are made again together."""
_ROWS = """
    SELECT t.rowid, t.live, t.vector, v.vector_key, v.checksum, e.live
    FROM {table} t LEFT JOIN vector v ON v.space = ?1 AND v.entry = t.rowid LEFT JOIN entry e ON e.entry = t.rowid"""
_CODED_ROWS = """
    SELECT t.rowid, t.live, f.vector, v.vector_key, v.checksum, e.live, t.vector
    FROM {table} t LEFT JOIN vector v ON v.space = ?1 AND v.entry = t.rowid LEFT JOIN entry e ON e.entry = t.rowid
    LEFT JOIN {full} f ON f.entry = t.rowid"""
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


def faults(session: Session, table: SpaceTable) -> Iterator[Fault]:
    """Everything that is wrong in a space's tables, compared with what stands beside them."""

    def sql(statement: str) -> str:
        return statement.format(table=table.name, full=table.full)

    if not table.form.coded:
        for row in session.stream(sql(_ROWS), table.number):
            yield from _of_row(*row)
        for (entry,) in session.run(sql(_LOST), table.number):
            yield Fault(entry, "is missing")
        return
    rows = session.stream(sql(_CODED_ROWS), table.number)
    while batch := list(islice(rows, COMPARED)):
        yield from _coded(table, batch)
    for entry, full, key, checksum, live in session.run(sql(_CODED_LOST), table.number):
        if live is not None and _is_whole(full, key, checksum):
            yield Fault(entry, "has no code", live, code=True)
        else:
            yield Fault(entry, "is missing")
    for (entry,) in session.run(sql(_STRAY), table.number):
        yield Fault(entry, "is no entry's of its space, and has no code")


def mend(session: Session, table: SpaceTable, fault: Fault) -> None:
    """Set right what can be made of what is kept; the rest goes, as it counted as absent."""
    if fault.live is None:
        vectors.forget(session, table, fault.entry)
    elif fault.code:
        vectors.place_code(session, table, fault.entry, fault.live)
    else:
        vectors.set_live(session, table, fault.entry, fault.live)


def _of_row(
    entry: int,
    live: int,
    full: Vector | None,
    key: bytes | None,
    checksum: bytes | None,
    entry_live: int | None,
) -> Iterator[Fault]:
    if checksum is None or entry_live is None:
        yield Fault(entry, "is no entry's of its space")
    elif full is None:
        yield Fault(entry, "is missing, and its code is not")
    elif not _is_whole(full, key, checksum):
        yield Fault(entry, "does not match its checksum")
    elif live != entry_live:
        yield Fault(entry, f"has live={live}, the entry {entry_live}", entry_live)


def _coded(table: SpaceTable, rows: Sequence[Row]) -> Iterator[Fault]:
    whole = [row for row in rows if row[5] is not None and _is_whole(*row[2:5])]
    made = table.form.encode([row[2] for row in whole], table.dimensions)
    wrong = {row[0] for row, code in zip(whole, made, strict=True) if row[6] != code}
    for entry, live, full, key, checksum, entry_live, _ in rows:
        if entry in wrong:
            yield Fault(entry, "has a code that is not its own", entry_live, code=True)
        else:
            yield from _of_row(entry, live, full, key, checksum, entry_live)


def _is_whole(full: Vector | None, key: bytes | None, checksum: bytes | None) -> bool:
    return full is not None and key is not None and vector_checksum(key, full) == checksum

"""Whether what is kept of a space's vectors is what was put: `faults`, and what can be set right of them.

1. A full vector that does not match its checksum, stands there twice or is no entry's is a fault: nothing here can make
   it again.
2. A code that is lost or is not its vector's is one too, and is made again, as the vector is there.
3. A full vector that is lost is not made of its code: a code is not the vector that was paid for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_adapters.stores.packing import vector_checksum
from steadlith_adapters.stores.postgres import forms, vectors
from steadlith_adapters.stores.postgres.session import batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_adapters.stores.postgres.session import Row, Session
    from steadlith_adapters.stores.postgres.spaces import SpaceTable

COMPARED = 1024
"""Rows whose codes are made again together."""
_ROWS = """
    SELECT f.entry, f.vector, v.vector_key, v.checksum, e.entry IS NOT NULL, {code}
    FROM {full} f LEFT JOIN vector v ON v.space = %s AND v.entry = f.entry LEFT JOIN entry e ON e.entry = f.entry
    {codes}"""
_CODES = "LEFT JOIN (SELECT DISTINCT ON (entry) entry, vector FROM {searched} ORDER BY entry) c ON c.entry = f.entry"
_TWICE = "SELECT entry FROM {name} GROUP BY entry HAVING count(*) > 1 ORDER BY entry"
_LOST = """
    SELECT v.entry FROM vector v
    WHERE v.space = %s AND NOT EXISTS (SELECT 1 FROM {full} f WHERE f.entry = v.entry) ORDER BY v.entry"""
_STRAY = """
    SELECT c.entry FROM {searched} c
    WHERE NOT EXISTS (SELECT 1 FROM {full} f WHERE f.entry = c.entry)
    AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.space = %s AND v.entry = c.entry) ORDER BY c.entry"""


@dataclass(frozen=True, slots=True)
class Fault:
    """A vector that is not as it was put; if only its code is wrong (`code`), it can be made again."""

    entry: int
    what: str
    code: bool = False


def faults(session: Session, table: SpaceTable) -> Iterator[Fault]:
    """Everything that is wrong in a space's tables, compared with what stands beside them."""
    names = {"full": table.full, "searched": table.searched}
    coded = table.form.coded
    sql = _ROWS.format(code="c.vector" if coded else "NULL", codes=_CODES.format(**names) if coded else "", **names)
    for batch in batches(session.stream(sql, table.number), COMPARED):
        yield from _of_rows(table, batch)
    for (entry,) in session.run(_TWICE.format(name=table.full)):
        yield Fault(entry, "is there twice")
    for (entry,) in session.run(_LOST.format(**names), table.number):
        yield Fault(entry, "is missing")
    if coded:
        for (entry,) in session.run(_TWICE.format(name=table.searched)):
            yield Fault(entry, "has two codes", code=True)
        for (entry,) in session.run(_STRAY.format(**names), table.number):
            yield Fault(entry, "is no entry's of its space, and has a code")


def mend(session: Session, table: SpaceTable, fault: Fault) -> None:
    """Set right what can be made of what is kept; the rest goes, as it counted as absent."""
    if not fault.code:
        vectors.forget(session, table, fault.entry)
        return
    session.run(f"DELETE FROM {table.searched} WHERE entry = %s", fault.entry)  # noqa: S608
    rows = session.run(f"SELECT entry, vector FROM {table.full} WHERE entry = %s", fault.entry)  # noqa: S608
    vectors.place_codes(session, table, [(entry, forms.read(value)) for entry, value in rows])


def _of_rows(table: SpaceTable, rows: Sequence[Row]) -> Iterator[Fault]:
    made = table.form.encode([forms.read(row[1]) for row in rows], table.dimensions) if table.form.coded else ()
    for place, (entry, value, key, checksum, is_known, code) in enumerate(rows):
        if checksum is None or not is_known:
            yield Fault(entry, "is no entry's of its space")
        elif vector_checksum(key, forms.read(value)) != checksum:
            yield Fault(entry, "does not match its checksum")
        elif made and code is None:
            yield Fault(entry, "has no code", code=True)
        elif made and code != made[place]:
            yield Fault(entry, "has a code that is not its own", code=True)

"""Vectors as they are written and given out: rows by entry in the tables of a space, and a checksum beside each.

1. A vector that its entry had none of goes straight into the tables of its space, where nobody looks for it before its
   row in `vector` is committed; one that replaces another waits for the commit.
2. The checksum is over the full vector and its key. In a quantized space the code is made here, of the full vector.
3. What does not match its checksum counts as absent.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from steadlith_adapters.stores.packing import vector_checksum
from steadlith_adapters.stores.postgres import forms, spaces, staging
from steadlith_adapters.stores.postgres.forms import copied
from steadlith_adapters.stores.postgres.session import batches
from steadlith_core.digest import Digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_adapters.stores.postgres.spaces import SpaceTable
    from steadlith_core.rows import VectorRow
    from steadlith_core.vectors import Vector

SIZE = 1000
# The latest of what is kept, put and replaced comes last.
_NOTED = """
    SELECT entry, vector_key, checksum FROM (
        SELECT entry, vector_key, checksum, -1 AS at FROM vector WHERE space = %s AND entry = ANY(%s::bigint[])
        UNION ALL
        SELECT entry, vector_key, checksum, 0 FROM staged_vector WHERE space = %s AND entry = ANY(%s::bigint[])
        UNION ALL
        SELECT entry, vector_key, checksum, at FROM replaced_vector WHERE space = %s AND entry = ANY(%s::bigint[])) n
    ORDER BY at"""
_NOTE = """
    INSERT INTO vector(space, entry, vector_key, checksum)
    SELECT space, entry, vector_key, checksum FROM staged_vector"""
_LAST = """
    CREATE TEMP TABLE last_vector ON COMMIT DROP AS
    SELECT DISTINCT ON (space, entry) space, entry, vector_key, checksum, vector FROM replaced_vector
    ORDER BY space, entry, at DESC"""
_RENOTE = """
    INSERT INTO vector(space, entry, vector_key, checksum) SELECT space, entry, vector_key, checksum FROM last_vector
    ON CONFLICT (space, entry) DO UPDATE SET vector_key = excluded.vector_key, checksum = excluded.checksum"""
_CLEAR = "DELETE FROM {} WHERE entry IN (SELECT entry FROM last_vector WHERE space = %s)"
_BY_KEY = """
    SELECT v.vector_key, v.checksum, f.vector FROM vector v JOIN {full} f ON f.entry = v.entry
    WHERE v.space = %s AND v.vector_key = ANY(%s::bytea[]) ORDER BY v.entry"""


def put(
    session: Session, table: SpaceTable, rows: Sequence[tuple[int, VectorRow]], at: Iterator[int], *, mend: bool
) -> None:
    """Stage vectors of (entry, row); the last row of an entry stands, as if they were put one by one."""
    given = {entry: (row.vector_key, vector_checksum(row.vector_key, row.vector), row.vector) for entry, row in rows}
    asked = (table.number, list(given))
    noted = {entry: (key, checksum) for entry, key, checksum in session.run(_NOTED, *asked, *asked, *asked)}
    fresh = [entry for entry in given if entry not in noted]
    if mend:
        clear(session, table, fresh)  # damage: rows that nothing notes
    place(session, table, [(entry, given[entry][2]) for entry in fresh])
    staging.put(session, "staged_vector", [(table.number, entry, *given[entry][:2]) for entry in fresh])
    whole = _whole(session, table, {entry: row for entry, row in given.items() if noted.get(entry) == row[:2]})
    other = [entry for entry in given if entry in noted and entry not in whole]
    staging.put(session, "replaced_vector", [(next(at), table.number, entry, *given[entry]) for entry in other])


def _whole(session: Session, table: SpaceTable, given: Mapping[int, tuple[Digest, bytes, Vector]]) -> set[int]:
    """Entries that have exactly these vectors, once: a note of one is not believed, since it may be damaged."""
    if not given:
        return set()
    rows = session.run(f"SELECT entry, vector FROM {table.full} WHERE entry = ANY(%s::bigint[])", list(given))  # noqa: S608
    times = Counter(entry for entry, _ in rows)
    return {entry for entry, value in rows if times[entry] == 1 and forms.read(value) == given[entry][2]}


def clear(session: Session, table: SpaceTable, entries: Sequence[int]) -> None:
    """Drop what the tables of a space have of these entries; harmless where that is nothing."""
    for name in table.names:
        session.run(f"DELETE FROM {name} WHERE entry = ANY(%s::bigint[])", list(entries))  # noqa: S608


def forget(session: Session, table: SpaceTable, entry: int) -> None:
    """Drop all that is kept of an entry's vector."""
    clear(session, table, [entry])
    session.run("DELETE FROM vector WHERE space = %s AND entry = %s", table.number, entry)


def place(session: Session, table: SpaceTable, rows: Sequence[tuple[int, Vector]]) -> None:
    """Insert (entry, vector), of which the tables have none, into the tables of the space."""
    if not rows:
        return
    entries, given = zip(*rows, strict=True)
    made = forms.full(given, table.dimensions)
    session.copy_bytes(f"{table.full}(entry, vector)", copied(list(zip(entries, made, strict=True))))
    if table.form.coded:
        place_codes(session, table, rows)


def place_codes(session: Session, table: SpaceTable, rows: Sequence[tuple[int, Vector]]) -> None:
    """Insert the codes of (entry, vector)."""
    if rows:
        entries, given = zip(*rows, strict=True)
        made = table.form.encode(given, table.dimensions)
        session.copy_bytes(f"{table.searched}(entry, vector)", copied(list(zip(entries, made, strict=True))))


def settle(session: Session) -> None:
    """Note the vectors that were put, and replace those that were put anew."""
    session.run(_NOTE)
    if session.one("SELECT 1 FROM replaced_vector") is None:
        return
    session.run(_LAST)
    numbers = {number for (number,) in session.run("SELECT DISTINCT space FROM last_vector")}
    for table in spaces.find_all(session):
        if table.number not in numbers:
            continue
        for name in table.names:
            session.run(_CLEAR.format(name), table.number)
        rows = session.stream("SELECT entry, vector FROM last_vector WHERE space = %s ORDER BY entry", table.number)
        for batch in batches(rows, SIZE):
            place(session, table, [(entry, vector) for entry, vector in batch])
    session.run(_RENOTE)


def held(session: Session, table: SpaceTable, keys: Sequence[Digest]) -> frozenset[Digest]:
    """Which of the keys `fetch` would answer."""
    return frozenset(key for key, _ in _intact(session, table, keys))


def fetch(session: Session, table: SpaceTable, keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
    """Vectors by key, each from the first of its entries that passes its checksum."""
    return dict(_intact(session, table, keys))


def _intact(session: Session, table: SpaceTable, keys: Sequence[Digest]) -> Iterator[tuple[Digest, Vector]]:
    seen: set[bytes] = set()
    for key, checksum, value in session.lookup(_BY_KEY.format(full=table.full), [*map(bytes, keys)], table.number):
        if key in seen:
            continue
        vector = forms.read(value)
        if vector_checksum(key, vector) == checksum:
            seen.add(key)
            yield Digest(key), vector

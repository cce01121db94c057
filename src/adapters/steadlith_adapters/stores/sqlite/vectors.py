"""Vectors as they are written and given out: rows by entry in the tables of a space, and a checksum beside each.

1. The checksum is over the full vector and its key. In a quantized space the code is made here, of the full vector.
2. `live` is flipped in the commit; the row itself stays, so a rollback pays nothing.
3. What does not match its checksum counts as absent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.packing import vector_checksum
from steadlith_adapters.stores.sqlite import hashes, tombstones
from steadlith_adapters.stores.sqlite.schema import is_one_of
from steadlith_adapters.stores.sqlite.spaces import find_all
from steadlith_core.digest import Digest
from steadlith_core.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_adapters.stores.sqlite.spaces import SpaceTable
    from steadlith_core.rows import VectorRow
    from steadlith_core.vectors import Vector

_NOTED = "SELECT entry FROM vector WHERE space = ? AND entry IN ({})"
LIT = "CREATE TEMP TABLE lit(space INTEGER, entry INTEGER, PRIMARY KEY (space, entry)) WITHOUT ROWID"
"""Vectors that this write put as searched, of entries that were not live then: most are about to be."""
# Flipped, but for those that were lit in advance; and those that were lit and that nothing made live after all.
_FLIPPED = """
    SELECT f.live, f.entry FROM flipped f CROSS JOIN vector v ON v.space = ?1 AND v.entry = f.entry
    WHERE NOT EXISTS (SELECT 1 FROM lit l WHERE l.space = ?1 AND l.entry = f.entry)
    UNION ALL
    SELECT 0, l.entry FROM lit l CROSS JOIN entry e ON e.entry = l.entry WHERE l.space = ?1 AND e.live = 0"""
_BY_KEY = f"FROM vector {{indexed}} WHERE space = ? AND entry {{side}} AND {is_one_of('vector_key')}"


def put_many(session: Session, table: SpaceTable, rows: Sequence[tuple[int, int, VectorRow]]) -> None:
    """`put` of many (entry, live, row). Entries without a vector get one that is searched: `LIT` tells `flip`."""
    number = table.number
    there = {entry for (entry,) in session.lookup(_NOTED, [entry for entry, _, _ in rows], number)}
    # The last row of an entry stands, as if they were put one by one.
    fresh = {entry: (live, row) for entry, live, row in rows if entry not in there}
    try:
        _place(session, table, [(entry, 1, row.vector) for entry, (_, row) in fresh.items()])
    except AdapterError as error:
        if "UNIQUE" not in str(error):
            raise
        # Damage: a vec0 row was left alone. Rows are put one by one, which makes all of them anew.
        there |= fresh.keys()
        fresh = {}
    session.run_many(
        "INSERT INTO vector VALUES (?, ?, ?, ?)",
        [
            (number, entry, row.vector_key, vector_checksum(row.vector_key, row.vector))
            for entry, (_, row) in fresh.items()
        ],
    )
    session.run_many(
        "INSERT INTO lit VALUES (?, ?)", [(number, entry) for entry, (live, _) in fresh.items() if not live]
    )
    for entry, live, row in rows:
        if entry in there:
            put(session, table, entry, live, row)


def put(session: Session, table: SpaceTable, entry: int, live: int, row: VectorRow) -> None:
    """Add an entry's vector, or replace it."""
    checksum = vector_checksum(row.vector_key, row.vector)
    session.run(
        "UPDATE vector SET vector_key = ?, checksum = ? WHERE space = ? AND entry = ?",
        row.vector_key,
        checksum,
        table.number,
        entry,
    )
    noted = session.changed() > 0
    if not noted:
        session.run("INSERT INTO vector VALUES (?, ?, ?, ?)", table.number, entry, row.vector_key, checksum)
    elif not table.form.coded:
        session.run(f"UPDATE {table.name} SET vector = ? WHERE rowid = ?", row.vector, entry)  # noqa: S608
        if session.changed():
            return
    # By damage the row is gone, and made again, or every later plan would miss the vector; or there is one though none
    # was noted: it was left alone, or is that of a lost entry whose number was free.
    kept = session.one(f"SELECT live FROM {table.name} WHERE rowid = ?", entry)  # noqa: S608
    if kept:
        session.run(f"DELETE FROM {table.name} WHERE rowid = ?", entry)  # noqa: S608
        live = kept[0] if noted else live  # what this write lit stays lit
    _place(session, table, [(entry, live, row.vector)])


def place_code(session: Session, table: SpaceTable, entry: int, live: int) -> None:
    """Make an entry's code again, of its full vector."""
    vector = session.value(f"SELECT vector FROM {table.full} WHERE rowid = ?", entry)  # noqa: S608
    session.run(f"DELETE FROM {table.name} WHERE rowid = ?", entry)  # noqa: S608
    _place(session, table, [(entry, live, vector)])


def _place(session: Session, table: SpaceTable, rows: Sequence[tuple[int, int, Vector]]) -> None:
    """Insert (entry, live, vector), which must not be in the vec0 table, into the tables of the space."""
    codes = table.form.encode([vector for _, _, vector in rows], table.dimensions)
    insert(session, table, [(entry, code, live) for (entry, live, _), code in zip(rows, codes, strict=True)])
    if table.form.coded:
        session.run_many(
            f"INSERT OR REPLACE INTO {table.full} VALUES (?, ?)",  # noqa: S608
            [(entry, vector) for entry, _, vector in rows],
        )


def insert(session: Session, table: SpaceTable, rows: Sequence[tuple[int, bytes, int]]) -> None:
    """Put rows that are not in it into the vec0 table: (entry, code or vector, live)."""
    session.run_many(f"INSERT INTO {table.name}(rowid, vector, live) VALUES (?, {table.form.value}, ?)", rows)  # noqa: S608


def renew(session: Session, table: SpaceTable, entry: int, live: int, row: VectorRow) -> None:
    """Put an entry's vector whatever is kept of it, unless that is the same. A wrong code of it is for `mend`."""
    kept = session.one(f"SELECT vector FROM {table.full} WHERE rowid = ?", entry)  # noqa: S608
    noted = session.one("SELECT vector_key, checksum FROM vector WHERE space = ? AND entry = ?", table.number, entry)
    if kept == (row.vector,) and noted == (row.vector_key, vector_checksum(row.vector_key, row.vector)):
        return
    forget(session, table, entry)
    put(session, table, entry, live, row)


def forget(session: Session, table: SpaceTable, entry: int) -> None:
    """Drop all that is kept of an entry's vector; harmless where nothing is."""
    for name in table.names:
        session.run(f"DELETE FROM {name} WHERE rowid = ?", entry)  # noqa: S608
    session.run("DELETE FROM vector WHERE space = ? AND entry = ?", table.number, entry)


def flip(session: Session) -> None:
    """Make the tombstones of the entries in `flipped` what their entries are, in every space."""
    for table in find_all(session):
        rows = session.run(_FLIPPED, table.number)
        if rows:
            session.load_vectors()
            tombstones.set_many(session, table, rows)


def held(session: Session, table: SpaceTable, keys: Sequence[Digest]) -> frozenset[Digest]:
    """Which of the keys `fetch` would answer. Where that needs the extension, and it is missing, their rows are
    believed: a plan needs no vec0.
    """
    if table.form.coded or session.can_load_vectors():
        return frozenset(digest for digest, _ in _intact(session, table, keys))
    return frozenset(
        Digest(key) for (key,) in hashes.find(session, "vector", f"SELECT vector_key {_BY_KEY}", keys, table.number)
    )


def fetch(session: Session, table: SpaceTable, keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
    """Vectors by key, each from the first of its entries that passes its checksum."""
    if not table.form.coded:
        session.load_vectors()
    return dict(_intact(session, table, keys))


def _intact(session: Session, table: SpaceTable, keys: Sequence[Digest]) -> Iterator[tuple[Digest, Vector]]:
    seen: set[Digest] = set()
    found = hashes.find(session, "vector", f"SELECT vector_key, entry, checksum {_BY_KEY}", keys, table.number)
    for key, entry, checksum in found:
        digest = Digest(key)
        if digest in seen:
            continue
        row = session.one(f"SELECT vector FROM {table.full} WHERE rowid = ?", entry)  # noqa: S608
        if row and vector_checksum(key, row[0]) == checksum:
            seen.add(digest)
            yield digest, row[0]

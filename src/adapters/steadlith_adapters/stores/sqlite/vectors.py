"""Vectors: one vec0 table per space, rows by entry, and a checksum beside each.

1. Unit length and L2, so that distance and cosine order alike; the score returned is the exact cosine in float64.
2. vec0 computes in float32 and breaks ties as it likes, so candidates are taken with a margin that covers its error,
   and ordered here by (cosine, entry).
3. `live` is flipped in the commit; the row itself stays, so a rollback pays nothing.
4. What does not match its checksum, or is no entry's, is a fault and counts as absent.
5. Tables are never renamed (vec0 would break); a table's name is data of its space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_adapters.stores.arguments import check_space
from steadlith_adapters.stores.sqlite.packing import vector_checksum
from steadlith_core import vectors
from steadlith_core.digest import Digest
from steadlith_core.errors import AdapterError
from steadlith_core.rows import ArmHit
from steadlith_core.state.roots import space_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.records import Space
    from steadlith_core.rows import VectorRow
    from steadlith_core.vectors import Vector

QUANTIZATION = frozenset({"float32"})
MAX_K = 4096
"""The most neighbours that vec0 answers with."""
_ROWS = """
    SELECT t.rowid, t.live, t.vector, v.vector_key, v.checksum, e.live
    FROM {table} t LEFT JOIN vector v ON v.space = ? AND v.entry = t.rowid LEFT JOIN entry e ON e.entry = t.rowid"""
_LOST = "SELECT entry FROM vector WHERE space = ? AND entry NOT IN (SELECT rowid FROM {table})"
_NOTED = "SELECT entry FROM vector WHERE space = ? AND entry IN ({})"
LIT = "CREATE TEMP TABLE lit(space INTEGER, entry INTEGER, PRIMARY KEY (space, entry)) WITHOUT ROWID"
"""Vectors that this write put as searched, of entries that were not live then: most are about to be."""
# Flipped, but for those that were lit in advance; and those that were lit and that nothing made live after all.
_FLIPPED = """
    SELECT f.live, f.entry FROM flipped f CROSS JOIN vector v ON v.space = ?1 AND v.entry = f.entry
    WHERE NOT EXISTS (SELECT 1 FROM lit l WHERE l.space = ?1 AND l.entry = f.entry)
    UNION ALL
    SELECT 0, l.entry FROM lit l CROSS JOIN entry e ON e.entry = l.entry WHERE l.space = ?1 AND e.live = 0"""
# Named: without statistics SQLite would rather read the whole space than ask the index for each of many keys.
_BY_KEY = "FROM vector INDEXED BY vector_by_key WHERE space = ? AND vector_key IN ({})"
MARGIN = 16
"""Neighbours asked for beyond the limit at first; doubled while the last one may still belong to the answer."""


@dataclass(frozen=True, slots=True)
class SpaceTable:
    """Where a space is kept."""

    number: int
    name: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Fault:
    """A row of a space that is not as it was put. `live` is what its tombstone should be, none if more is wrong."""

    entry: int
    what: str
    live: int | None = None


def find(session: Session, space: Space) -> SpaceTable | None:
    """The table of a space, if anything was ever put into it."""
    row = session.one("SELECT space, vec_table, dimensions FROM space WHERE space_id = ?", space_id(space))
    return SpaceTable(*row) if row else None


def find_all(session: Session) -> list[SpaceTable]:
    """The tables of all spaces."""
    rows = session.run("SELECT space, vec_table, dimensions FROM space ORDER BY space")
    return [SpaceTable(*row) for row in rows]


def create(session: Session, space: Space) -> SpaceTable:
    """A new, empty table for a space."""
    check_space(space, QUANTIZATION)
    # Not one that rows of a lost space are left under.
    number = session.value(
        "SELECT 1 + max((SELECT coalesce(max(space), 0) FROM space), (SELECT coalesce(max(space), 0) FROM vector))"
    )
    table = SpaceTable(number, f"vec_{number}_1", space.dimensions)
    # vec0 writes a whole chunk of vectors when it opens one: its default of 1,024 would write megabytes for one row.
    chunk = 256 if space.dimensions <= 1024 else 64
    session.load_vectors()
    session.run(
        f"CREATE VIRTUAL TABLE {table.name} USING vec0("
        f"vector float[{space.dimensions}] distance_metric=L2, live integer, chunk_size={chunk})"
    )
    session.run(
        "INSERT INTO space(space, space_id, model_id, params_hash, dimensions, quantization, vec_table) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        number,
        space_id(space),
        space.model_id,
        space.params_hash,
        space.dimensions,
        space.quantization,
        table.name,
    )
    return table


def put_many(session: Session, table: SpaceTable, rows: Sequence[tuple[int, int, VectorRow]]) -> None:
    """`put` of many (entry, live, row). Entries without a vector get one that is searched: `LIT` tells `flip`."""
    number = table.number
    there = {entry for (entry,) in session.lookup(_NOTED, [entry for entry, _, _ in rows], number)}
    # The last row of an entry stands, as if they were put one by one.
    fresh = {entry: (live, row) for entry, live, row in rows if entry not in there}
    try:
        session.run_many(
            f"INSERT INTO {table.name}(rowid, vector, live) VALUES (?, ?, 1)",  # noqa: S608
            [(entry, row.vector) for entry, (_, row) in fresh.items()],
        )
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
    if session.changed():
        session.run(f"UPDATE {table.name} SET vector = ? WHERE rowid = ?", row.vector, entry)  # noqa: S608
        if session.changed():
            return
        # Damage: the vec0 row is gone. It is made again, or the same vector would be missed by every later plan.
    else:
        session.run("INSERT INTO vector VALUES (?, ?, ?, ?)", table.number, entry, row.vector_key, checksum)
        if session.one(f"SELECT 1 FROM {table.name} WHERE rowid = ?", entry):  # noqa: S608
            # Damage: a vec0 row was left alone, or is that of a lost entry whose number was free.
            session.run(f"DELETE FROM {table.name} WHERE rowid = ?", entry)  # noqa: S608
    session.run(
        f"INSERT INTO {table.name}(rowid, vector, live) VALUES (?, ?, ?)",  # noqa: S608
        entry,
        row.vector,
        live,
    )


def renew(session: Session, table: SpaceTable, entry: int, live: int, row: VectorRow) -> None:
    """Put an entry's vector whatever is kept of it, unless that is the same."""
    kept = session.one(f"SELECT vector FROM {table.name} WHERE rowid = ?", entry)  # noqa: S608
    noted = session.one("SELECT vector_key, checksum FROM vector WHERE space = ? AND entry = ?", table.number, entry)
    if kept == (row.vector,) and noted == (row.vector_key, vector_checksum(row.vector_key, row.vector)):
        return
    forget(session, table, entry)
    put(session, table, entry, live, row)


def forget(session: Session, table: SpaceTable, entry: int) -> None:
    """Drop all that is kept of an entry's vector; harmless where nothing is."""
    session.run(f"DELETE FROM {table.name} WHERE rowid = ?", entry)  # noqa: S608
    session.run("DELETE FROM vector WHERE space = ? AND entry = ?", table.number, entry)


def exists(session: Session, table: SpaceTable) -> bool:
    """Whether the table of a space is there at all."""
    return session.one("SELECT 1 FROM sqlite_schema WHERE name = ?", table.name) is not None


def faults(session: Session, table: SpaceTable) -> Iterator[Fault]:
    """Everything that is wrong in a space's table, compared with what stands beside it."""
    for entry, live, vector, key, checksum, entry_live in session.stream(_ROWS.format(table=table.name), table.number):
        if checksum is None or entry_live is None:
            yield Fault(entry, "is no entry's of its space")
        elif vector_checksum(key, vector) != checksum:
            yield Fault(entry, "does not match its checksum")
        elif live != entry_live:
            yield Fault(entry, f"has live={live}, the entry {entry_live}", entry_live)
    for (entry,) in session.run(_LOST.format(table=table.name), table.number):
        yield Fault(entry, "is missing")


def set_live(session: Session, tables: Sequence[SpaceTable], entry: int, live: int) -> None:
    """Flip the tombstone of an entry in every space that holds it."""
    for table in tables:
        if session.one("SELECT 1 FROM vector WHERE space = ? AND entry = ?", table.number, entry):
            session.load_vectors()
            session.run(f"UPDATE {table.name} SET live = ? WHERE rowid = ?", live, entry)  # noqa: S608


def flip(session: Session) -> None:
    """Make the tombstones of the entries in `flipped` what their entries are, in every space."""
    for table in find_all(session):
        rows = session.run(_FLIPPED, table.number)
        if rows:
            session.load_vectors()
            session.run_many(f"UPDATE {table.name} SET live = ? WHERE rowid = ?", rows)  # noqa: S608


def nearest(session: Session, table: SpaceTable, query: Vector, limit: int) -> tuple[ArmHit, ...]:
    """The `limit` live entries of greatest cosine, ties by entry."""
    session.load_vectors()
    entries = _candidates(session, table, query, limit)
    scores = cosines(session, table, query, entries)
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return tuple(ArmHit(entry, score) for entry, score in ranked[:limit])


def cosines(session: Session, table: SpaceTable, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:
    """Exact cosines of the entries that have a vector."""
    session.load_vectors()
    found: dict[int, Vector] = {}
    for entry in entries:
        # One point query each: `rowid IN (...)` makes vec0 read its whole table.
        row = session.one(f"SELECT vector FROM {table.name} WHERE rowid = ?", entry)  # noqa: S608
        if row:
            found[entry] = row[0]
    # Equal vectors are multiplied once, so that they tie exactly wherever they stand in the batch.
    distinct = list(dict.fromkeys(found.values()))
    score = dict(zip(distinct, vectors.cosines(distinct, query), strict=True))
    return {entry: score[vector] for entry, vector in found.items()}


def held(session: Session, table: SpaceTable, keys: Sequence[Digest]) -> frozenset[Digest]:
    """Which of the keys `fetch` would answer. Without the extension their rows are believed: a plan needs no vec0."""
    if session.can_load_vectors():
        return frozenset(digest for digest, _ in _intact(session, table, keys))
    return frozenset(Digest(key) for (key,) in session.lookup(f"SELECT vector_key {_BY_KEY}", keys, table.number))


def fetch(session: Session, table: SpaceTable, keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
    """Vectors by key, each from the first of its entries that passes its checksum."""
    session.load_vectors()
    return dict(_intact(session, table, keys))


def _intact(session: Session, table: SpaceTable, keys: Sequence[Digest]) -> Iterator[tuple[Digest, Vector]]:
    seen: set[Digest] = set()
    for key, entry, checksum in session.lookup(f"SELECT vector_key, entry, checksum {_BY_KEY}", keys, table.number):
        digest = Digest(key)
        if digest in seen:
            continue
        row = session.one(f"SELECT vector FROM {table.name} WHERE rowid = ?", entry)  # noqa: S608
        if row and vector_checksum(key, row[0]) == checksum:
            seen.add(digest)
            yield digest, row[0]


def _candidates(session: Session, table: SpaceTable, query: Vector, limit: int) -> Sequence[int]:
    """Live entries among which the true `limit` nearest certainly are."""
    asked = limit + MARGIN
    while asked <= MAX_K:
        rows = session.run(
            f"SELECT rowid, distance FROM {table.name} WHERE vector MATCH ? AND k = ? AND live = 1",  # noqa: S608
            query,
            asked,
        )
        if len(rows) < asked:
            return [entry for entry, _ in rows]
        squares = sorted(distance * distance for _, distance in rows)
        edge = squares[limit - 1] + _slack(squares[limit - 1], table.dimensions)
        if squares[-1] > edge:
            return [entry for entry, distance in rows if distance * distance <= edge]
        asked *= 2
    return list(_live(session, table))


def _slack(square: float, dimensions: int) -> float:
    # A sum of n float32 terms is off by at most n x 2^-24 of itself, on either side of the comparison; the rest covers
    # lengths that are not exactly 1 (arguments.UNIT_TOLERANCE).
    return square * (dimensions + 8) * 2**-23 + 1e-5


def _live(session: Session, table: SpaceTable) -> Iterator[int]:
    sql = "SELECT v.entry FROM vector v JOIN entry e ON e.entry = v.entry WHERE v.space = ? AND e.live = 1"
    for (entry,) in session.stream(sql, table.number):
        yield entry

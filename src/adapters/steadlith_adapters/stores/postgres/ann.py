"""The HNSW index of a space: derived, droppable, and asked only where the settings say `ann = "hnsw"`.

1. It is made after a commit, in a transaction of its own, once the space has `ann_from` vectors; and by a compaction,
   for the tables that it copies into. Who asks before that is answered by a full comparison.
2. Making it waits a few seconds for other writes, and gives up: where one is under way, the next commit makes it.
3. It is asked with an iterative scan in strict order: candidates that are dead, or do not pass a filter, are passed
   over until there are enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import spaces
from steadlith_adapters.stores.postgres.connection import transaction

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_adapters.stores.postgres.spaces import SpaceTable
    from steadlith_adapters.stores.postgres.target import Target

PATIENCE_MS = 5000
"""Longer than the server's own VACUUM of a table that was just filled takes to step aside (one second)."""
MEMORY_MB = 64, 1024
"""Least and most memory that the graph is made in; one that does not fit is made many times as slowly."""
_THERE = """
    SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = to_regclass(%s) AND c.relname = %s AND i.indisvalid"""
_WIDEN = """
    SELECT set_config('hnsw.ef_search', least(1000, %s)::text, true)
    WHERE current_setting('hnsw.ef_search')::integer < least(1000, %s)"""
_PREPARE = """
    SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', %s, true),
           set_config('hnsw.max_scan_tuples', '2147483647', true)"""


def is_there(session: Session, table: SpaceTable) -> bool:
    """Whether a space has its index."""
    return session.one(_THERE, table.searched, table.index) is not None


def prepare(session: Session, table: SpaceTable, ef_search: int) -> bool:
    """Make the running transaction ask the index of a space; whether it has one."""
    if not is_there(session, table):
        return False
    session.run(_PREPARE, str(ef_search))
    return True


def widen(session: Session, wanted: int) -> None:
    """Let the index keep at least as many candidates as are wanted, up to what it can keep."""
    session.run(_WIDEN, wanted, wanted)


def tend(session: Session, target: Target) -> None:
    """Make the indexes that are due, outside of any transaction."""
    if target.ann != "hnsw":
        return
    for table in spaces.find_all(session):
        possible = table.dimensions <= table.form.indexable
        if possible and not is_there(session, table) and count(session, table) >= target.ann_from:
            with transaction(session):
                session.run(f"SET LOCAL lock_timeout = '{PATIENCE_MS}ms'")
                session.run(f"LOCK TABLE {table.searched} IN SHARE MODE")
                make(session, table)


def make(session: Session, table: SpaceTable) -> None:
    """Make the index of a space's tables; nothing where it has more dimensions than an index takes."""
    if table.dimensions > table.form.indexable:
        return
    needed = int(count(session, table) * (table.form.bytes * table.dimensions + 400) / 2**20) + 1
    memory = min(max(needed, MEMORY_MB[0]), MEMORY_MB[1])
    session.run(f"SET LOCAL maintenance_work_mem = '{memory}MB'")
    session.run("SET LOCAL statement_timeout = 0")
    operators = f"{session.vector}.{table.form.operators}"
    session.run(f"CREATE INDEX {table.index} ON {table.searched} USING hnsw (vector {operators})")


def count(session: Session, table: SpaceTable) -> int:
    """How many vectors a space has."""
    found: int = session.value("SELECT count(*) FROM vector WHERE space = %s", table.number)
    return found

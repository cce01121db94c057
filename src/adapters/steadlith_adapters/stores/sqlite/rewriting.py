"""Tables made anew: of a space, without dead rows, into a table of the next name; of versions, as they are made today.

1. vec0 gives the space of a deleted row back only when all of its block is dead: so a table is rewritten, not thinned.
2. A table is never renamed (vec0 would break); readers find its name in `space`, in their snapshot.
3. The new table is declared as a new space's is, whatever release declared the old one. A code is bound by its type
   anew: copied as it is read, it would be taken for a float32 vector.
4. Rows are read block by block, as they lie: asked for one by one, vec0 goes through a block for each.
5. Full vectors that stand beside codes are rows of a plain table, and go one by one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite import blocks, spaces, vectors
from steadlith_adapters.stores.sqlite.schema import CREATE_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Container

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_adapters.stores.sqlite.spaces import SpaceTable

_NAMED = "SELECT entry FROM vector WHERE space = ? AND entry IN ({})"
_CLUSTERED = "SELECT 1 FROM sqlite_schema WHERE name = ? AND sql LIKE '%WITHOUT ROWID'"
_DROP_FULL = "DELETE FROM {full} WHERE entry NOT IN (SELECT entry FROM vector WHERE space = ?)"


def has_dead_blocks(session: Session, table: SpaceTable) -> bool:
    """Whether the table has more blocks than its rows need."""
    blocks, slots = session.run(f"SELECT count(*), coalesce(max(size), 1) FROM {table.name}_chunks")[0]  # noqa: S608
    rows: int = session.value("SELECT count(*) FROM vector WHERE space = ?", table.number)
    return bool(blocks > -(-rows // slots))


def rewrite(session: Session, table: SpaceTable, but: Container[int] = ()) -> None:
    """Copy the rows that `vector` names, `but` these, drop the old table, and point the space at the new one."""
    new = replace(table, name=_next_name(table.name))
    spaces.declare(session, new)
    for rows in blocks.rows(session, table, but):
        named = {entry for (entry,) in session.lookup(_NAMED, [row.entry for row in rows], table.number)}
        vectors.insert(session, new, [(row.entry, row.value, row.live) for row in sorted(rows) if row.entry in named])
    if table.form.coded:
        session.run(_DROP_FULL.format(full=table.full), table.number)
    session.run(f"DROP TABLE {table.name}")
    session.run("UPDATE space SET vec_table = ? WHERE space = ?", new.name, table.number)


def uncluster(session: Session) -> None:
    """Make the tables of versions anew that an older release clustered by document; foreign keys are not enforced."""
    for table, declared in CREATE_VERSIONS.items():
        if session.one(_CLUSTERED, table) is None:
            continue
        for statement in (
            f"CREATE TEMP TABLE moved AS SELECT * FROM {table}",  # noqa: S608
            f"DROP TABLE {table}",
            declared,
            f"INSERT INTO {table} SELECT * FROM moved ORDER BY document, valid_from",  # noqa: S608
            "DROP TABLE moved",
        ):
            session.run(statement)


def _next_name(name: str) -> str:
    stem, _, version = name.rpartition("_")
    return f"{stem}_{int(version) + 1}"

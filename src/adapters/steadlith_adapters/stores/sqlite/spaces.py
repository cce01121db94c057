"""Spaces: which there are, and the tables that each is kept in.

1. A space has a vec0 table of what is searched. In a quantized space that is codes, and the full vectors stand in a
   plain table beside it; in a float32 space the one table is both.
2. Tables are never renamed (vec0 would break); the vec0 table's name is data of its space.
3. A row of `space` that is not what its id says is damage: by another form or width its bytes would be read as numbers
   that nobody put.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_adapters.stores.arguments import check_space
from steadlith_adapters.stores.sqlite.forms import FORMS
from steadlith_adapters.stores.sqlite.schema import INDEX
from steadlith_core.digest import Digest
from steadlith_core.records import Space
from steadlith_core.state.roots import space_id

if TYPE_CHECKING:
    from steadlith_adapters.stores.sqlite.forms import Form
    from steadlith_adapters.stores.sqlite.session import Session

QUANTIZATION = frozenset(FORMS)
_NAME = re.compile(r"vec_[0-9]+_[0-9]+|full_[0-9]+")
"""Of the tables of any space; those that vec0 makes beside its own have longer names."""
_ALL = "SELECT space, space_id, model_id, params_hash, dimensions, quantization, vec_table FROM space"


@dataclass(frozen=True, slots=True)
class SpaceTable:
    """Where a space is kept."""

    number: int
    name: str
    dimensions: int
    form: Form

    @property
    def full(self) -> str:
        """The table of the full vectors, by rowid."""
        return f"full_{self.number}" if self.form.coded else self.name

    @property
    def names(self) -> tuple[str, ...]:
        """All tables of the space."""
        return (self.name, self.full) if self.form.coded else (self.name,)

    @property
    def searched_bytes(self) -> int:
        """What the vec0 table keeps of one vector: its code, or all of it."""
        return (self.form.bits - 32 * self.form.coded) * self.dimensions // 8

    @property
    def row_bytes(self) -> int:
        """What is kept of one vector."""
        return self.form.bits * self.dimensions // 8


def find(session: Session, space: Space) -> SpaceTable | None:
    """The table of a space, if anything was ever put into it."""
    row = session.one(f"{_ALL} WHERE space_id = ?", space_id(space))
    return _table(session, *row) if row else None


def find_all(session: Session) -> list[SpaceTable]:
    """The tables of all spaces."""
    return [_table(session, *row) for row in session.run(f"{_ALL} ORDER BY space")]


def create(session: Session, space: Space) -> SpaceTable:
    """New, empty tables for a space."""
    check_space(space, QUANTIZATION)
    # Not one that rows of a lost space are left under.
    number = session.value(
        "SELECT 1 + max((SELECT coalesce(max(space), 0) FROM space), (SELECT coalesce(max(space), 0) FROM vector))"
    )
    table = SpaceTable(number, f"vec_{number}_1", space.dimensions, FORMS[space.quantization])
    declare(session, table)
    if table.form.coded:
        session.run(f"CREATE TABLE {table.full}(entry INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT")
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


def declare(session: Session, table: SpaceTable) -> None:
    """Make the vec0 table of a space, empty. One that schema 5 or an older one made has `live integer`."""
    # vec0 writes a whole chunk of vectors when it opens one: its default of 1,024 would write megabytes for one row.
    chunk = table.form.chunk if table.dimensions <= 1024 else 64
    session.load_vectors()
    session.run(
        f"CREATE VIRTUAL TABLE {table.name} USING vec0("
        f"vector {table.form.column.format(table.dimensions)}, live boolean, chunk_size={chunk})"
    )


def exist(session: Session, table: SpaceTable) -> bool:
    """Whether the tables of a space are there at all."""
    return all(session.one("SELECT 1 FROM sqlite_schema WHERE name = ?", name) for name in table.names)


def drop(session: Session, table: SpaceTable) -> None:
    """Drop a space and all that is kept of it."""
    session.load_vectors()
    for name in table.names:
        session.run(f"DROP TABLE {name}")
    session.run("DELETE FROM vector WHERE space = ?", table.number)
    session.run("DELETE FROM space WHERE space = ?", table.number)


def drop_lost(session: Session) -> None:
    """Drop what is kept of spaces whose row is lost: nobody can tell whose vectors they were."""
    session.run("DELETE FROM vector WHERE space NOT IN (SELECT space FROM space)")
    known = {name for table in find_all(session) for name in table.names}
    for (name,) in session.run("SELECT name FROM sqlite_schema WHERE type = 'table'"):
        if _NAME.fullmatch(name) and name not in known:
            session.run(f"DROP TABLE {name}")


def _table(
    session: Session,
    number: int,
    id_: bytes,
    model_id: str,
    params_hash: bytes,
    dimensions: int,
    quantization: str,
    name: str,
) -> SpaceTable:
    try:
        as_it_is = space_id(Space(model_id, Digest(params_hash), dimensions, quantization))
    except ValueError as error:
        raise INDEX.damaged(session.path, f"space {number} cannot be read ({error})") from error
    if as_it_is != id_ or quantization not in FORMS:
        raise INDEX.damaged(session.path, f"space {number} is not the one that its id says")
    return SpaceTable(number, name, dimensions, FORMS[quantization])

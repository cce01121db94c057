"""Spaces: which there are, and the tables that each is kept in.

1. A space has a table of full vectors, and in a quantized one a table of what is searched beside it. Both are named by
   the space's number and a version, which a compaction raises: it copies into new tables.
2. A row of `space` that is not what its id says is damage: by another form or width its bytes would be read as numbers
   that nobody put.
3. A write makes the tables of a new space under a number that nobody else has, and names them in `space` at its commit:
   until then no other write waits for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_adapters.stores.arguments import check_space
from steadlith_adapters.stores.postgres import border
from steadlith_adapters.stores.postgres.forms import FORMS
from steadlith_core.digest import Digest
from steadlith_core.records import Space
from steadlith_core.state.roots import space_id

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.forms import Form
    from steadlith_adapters.stores.postgres.session import Row, Session

QUANTIZATION = frozenset(FORMS)
NAME = re.compile(r"(?:full|code)_[0-9]+_[0-9]+")
"""Of the tables of any space."""
_ALL = "SELECT space, space_id, model_id, params_hash, dimensions, quantization, version FROM space"


@dataclass(frozen=True, slots=True)
class SpaceTable:
    """Where a space is kept."""

    number: int
    dimensions: int
    form: Form
    version: int = 1

    @property
    def full(self) -> str:
        """The table of the full vectors: (entry, vector)."""
        return f"full_{self.number}_{self.version}"

    @property
    def searched(self) -> str:
        """The table of what is searched: (entry, vector)."""
        return f"code_{self.number}_{self.version}" if self.form.coded else self.full

    @property
    def names(self) -> tuple[str, ...]:
        """All tables of the space."""
        return (self.full, self.searched) if self.form.coded else (self.full,)

    @property
    def row_bytes(self) -> int:
        """What is kept of one vector."""
        return int((4 + (self.form.bytes if self.form.coded else 0)) * self.dimensions)

    @property
    def index(self) -> str:
        """The name of its HNSW index."""
        return f"{self.searched}_hnsw"


def find(session: Session, space: Space) -> SpaceTable | None:
    """The tables of a space, if anything was ever put into it."""
    row = session.one(f"{_ALL} WHERE space_id = %s", bytes(space_id(space)))
    return _table(session, row) if row else None


def find_all(session: Session) -> list[SpaceTable]:
    """The tables of all spaces."""
    return [_table(session, row) for row in session.run(f"{_ALL} ORDER BY space")]


def create(session: Session, space: Space) -> SpaceTable:
    """New, empty tables for a space that `enter` is to name."""
    check_space(space, QUANTIZATION)
    # Not one that rows of a lost space are left under: a sequence never goes back.
    number = session.value("SELECT nextval(pg_get_serial_sequence('space', 'space'))")
    table = SpaceTable(number, space.dimensions, FORMS[space.quantization])
    make(session, table)
    return table


def make(session: Session, table: SpaceTable) -> None:
    """The tables of a space, without any row."""
    for name, type_ in ((table.full, "vector"), (table.searched, table.form.type))[: 1 + table.form.coded]:
        column = f"bit({table.dimensions})" if type_ == "bit" else f"{session.vector}.{type_}({table.dimensions})"
        session.run(f"CREATE TABLE {name}(entry bigint NOT NULL, vector {column} NOT NULL)")
        session.run(f"CREATE INDEX ON {name}(entry)")
        # Nobody asks for the most common vectors, and finding them out sorts a sample of all.
        session.run(f"ALTER TABLE {name} ALTER COLUMN vector SET STATISTICS 0")


def enter(session: Session, space: Space, table: SpaceTable) -> None:
    """Name the tables of a new space."""
    session.run(
        "INSERT INTO space(space, space_id, model_id, params_hash, dimensions, quantization, version) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s)",
        table.number,
        bytes(space_id(space)),
        space.model_id.encode(),
        bytes(space.params_hash),
        space.dimensions,
        space.quantization,
        table.version,
    )


def exist(session: Session, table: SpaceTable) -> bool:
    """Whether the tables of a space are there at all."""
    return all(session.value("SELECT to_regclass(%s) IS NOT NULL", name) for name in table.names)


def retire(session: Session, table: SpaceTable) -> None:
    """Leave the tables to whoever still reads them; `returning` drops them when nobody does."""
    for name in table.names:
        session.run(
            "INSERT INTO retired VALUES (%s, coalesce(pg_total_relation_size(to_regclass(%s)), 0)) "
            "ON CONFLICT DO NOTHING",
            name,
            name,
        )


def forget(session: Session, table: SpaceTable) -> None:
    """Forget a space and all that is kept of it."""
    retire(session, table)
    session.run("DELETE FROM vector WHERE space = %s", table.number)
    session.run("DELETE FROM space WHERE space = %s", table.number)


def _table(session: Session, row: Row) -> SpaceTable:
    number, id_, model_id, params_hash, dimensions, quantization, version = row
    try:
        as_it_is = space_id(Space(model_id.decode(), Digest(params_hash), dimensions, quantization))
    except ValueError as error:
        raise border.damaged(session.place, f"space {number} cannot be read ({error})") from error
    if as_it_is != id_ or quantization not in FORMS:
        raise border.damaged(session.place, f"space {number} is not the one that its id says")
    return SpaceTable(number, dimensions, FORMS[quantization], version)

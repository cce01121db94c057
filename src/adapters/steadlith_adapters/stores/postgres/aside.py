"""Moving a damaged index out of the way: its schema gets another name, and nothing in it is changed.

Only a schema that bears our mark, or none of whose tables is there, is renamed.
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import connection, schema
from steadlith_core.errors import StoreCorrupt

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_adapters.stores.postgres.target import Target

NAME_BYTES = 63
_ASIDE = """
    SELECT n.nspname::text FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = %s
    WHERE n.nspname ~ %s ORDER BY n.nspname"""


def set_aside(target: Target) -> str:
    """Rename the schema; where the index is now, as messages name it."""
    with closing(connection.open_session(target)) as session:
        with suppress(StoreCorrupt):  # ours, and damaged: that is why it goes
            connection.is_made(session, target)
        taken = {name for (name,) in session.run("SELECT nspname::text FROM pg_namespace")}
        if target.schema not in taken:
            return target.place
        number = next(each for each in range(1, len(taken) + 2) if named(target.schema, each) not in taken)
        name = named(target.schema, number)
        session.run(f'ALTER SCHEMA "{target.schema}" RENAME TO "{name}"')
    return place_of(target, name)


def place_of(target: Target, name: str) -> str:
    """What messages call an index of that schema on the same server."""
    return target.place.replace(f"schema {target.schema} ", f"schema {name} ", 1)


def named(name: str, number: int) -> str:
    """What a schema is called once it is out of the way."""
    suffix = f"_damaged_{number}"
    return name[: NAME_BYTES - len(suffix)] + suffix


def left(session: Session, target: Target) -> list[str]:
    """Schemas of indexes that were moved away and are still there."""
    pattern = f"^{target.schema[: NAME_BYTES - 12]}_damaged_[0-9]+$"
    return [name for (name,) in session.run(_ASIDE, schema.MARK, pattern)]

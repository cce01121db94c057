"""The cache's tables, and how an older file gets them.

1. What is known of an entry besides its vector is a row of `note`: small, so that noting a use, counting, and choosing
   what is pruned touch no vector.
2. A file of schema 1 has the same `embedding` and `probe`, so it is read as it is; the first write adds the rest, in
   its own transaction.
3. A process that knows only schema 1 may still write: rows without a note get one from the next who prunes.
4. `due` has a row while removed entries have left space that was not given back yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadlith_adapters.sqlite.kind import FileKind
from steadlith_core.errors import AdapterError, StoreCorrupt

if TYPE_CHECKING:
    import apsw

APPLICATION_ID = int.from_bytes(b"StlC", "big")
SCHEMA_VERSION = 2

CACHE = FileKind(
    noun="cache",
    setting="cache.path",
    application_id=APPLICATION_ID,
    schema_version=SCHEMA_VERSION,
    oldest_readable=1,
    table_of_1x="cache_meta",
    rebuild="run again: only what the index does not hold is embedded again",
    no_database=StoreCorrupt,
    busy=AdapterError,
)

SCHEMA_1 = (
    """create table embedding(
        id integer primary key, key blob not null unique, vector blob not null, checksum blob not null
    ) strict""",
    """create table probe(
        id integer primary key, model_id text not null, params_hash blob not null,
        vectors blob not null, checksum blob not null, unique(model_id, params_hash)
    ) strict""",
    f"pragma application_id = {APPLICATION_ID}",
)
ADDED_BY_2 = (
    """create table note(
        id integer primary key, day integer not null, dimensions integer not null, imported integer not null
    ) strict""",
    "create table due(id integer primary key check (id = 1)) strict",
    f"pragma user_version = {SCHEMA_VERSION}",
)
SCHEMA = (*SCHEMA_1, *ADDED_BY_2)

NOTE_NEW = """
insert into note(id, day, dimensions, imported) select id, ?, length(vector) / 4, ? from embedding where id > ?
"""
NOTE_MISSING = """
insert into note(id, day, dimensions, imported)
select id, ?, length(vector) / 4, 0 from embedding where id not in (select id from note)
"""

NOTES = {1: "(select id, null as day, length(vector) / 4 as dimensions, 0 as imported from embedding)", 2: "note"}
"""The notes of a file, by its schema."""


def version(connection: apsw.Connection) -> int:
    """The schema of the file as it is now; another process may migrate it at any time."""
    return one_number(connection, "pragma user_version")


def one_number(connection: apsw.Connection, query: str) -> int:
    """The answer to a query that has one."""
    row: tuple[Any, ...] = connection.execute(query).fetchall()[0]
    return int(row[0])


def migrate(connection: apsw.Connection, today: int) -> None:
    """Bring an older file to this schema, inside the caller's transaction: what is in it counts as used today."""
    if version(connection) < SCHEMA_VERSION:
        for statement in ADDED_BY_2:
            connection.execute(statement).fetchall()
        connection.execute(NOTE_NEW, (today, 0, 0))

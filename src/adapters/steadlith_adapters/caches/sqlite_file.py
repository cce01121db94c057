"""The cache's file: its marks, its tables, and how it is made.

1. Making it is one transaction: a process that dies on the way leaves a file that the next one completes, and of two
   that make it at once, one waits and finds it made.
2. Reading changes nothing: an absent, empty or half-made file is an empty cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.sqlite import opening
from steadlith_adapters.sqlite.kind import FileKind
from steadlith_core.errors import AdapterError, StoreCorrupt

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

APPLICATION_ID = int.from_bytes(b"StlC", "big")
SCHEMA_VERSION = 1
BUSY_MILLISECONDS = 30_000
PAGE_SIZE = 16_384  # measured: twice the rows a second of 4 KiB pages, and a fifth less space

CACHE = FileKind(
    noun="cache",
    setting="cache.path",
    application_id=APPLICATION_ID,
    schema_version=SCHEMA_VERSION,
    oldest_readable=SCHEMA_VERSION,
    table_of_1x="cache_meta",
    rebuild="run again: only what the index does not hold is embedded again",
    no_database=StoreCorrupt,
    busy=AdapterError,
)

SCHEMA = (
    """create table embedding(
        id integer primary key, key blob not null unique, vector blob not null, checksum blob not null
    ) strict""",
    """create table probe(
        id integer primary key, model_id text not null, params_hash blob not null,
        vectors blob not null, checksum blob not null, unique(model_id, params_hash)
    ) strict""",
    f"pragma application_id = {APPLICATION_ID}",
    f"pragma user_version = {SCHEMA_VERSION}",
)


def open_writing(path: Path) -> apsw.Connection:
    """The file at `path`, made if need be."""
    connection = opening.for_writing(CACHE, path, busy_ms=BUSY_MILLISECONDS)
    with CACHE.translated(str(path)), opening.closed_on_error(connection):
        connection.execute(f"pragma page_size = {PAGE_SIZE}").fetchall()  # counts for a new file only
        if not opening.is_made(CACHE, connection, path):
            _make(connection, path)
        # Where no write-ahead log can be kept, SQLite's older journal stays, which is as durable.
        connection.execute("pragma journal_mode = wal").fetchall()
        connection.execute("pragma synchronous = full").fetchall()
    return connection


def open_reading(path: Path) -> apsw.Connection | None:
    """The file at `path` for reading; none if there is nothing in it yet."""
    return opening.for_reading(CACHE, path, busy_ms=BUSY_MILLISECONDS)


def _make(connection: apsw.Connection, path: Path) -> None:
    connection.execute("begin immediate")
    try:
        if not opening.is_made(CACHE, connection, path):  # another process may have been first
            for statement in SCHEMA:
                connection.execute(statement).fetchall()
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise

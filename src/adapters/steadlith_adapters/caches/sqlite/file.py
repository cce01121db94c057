"""The cache's file: how it is opened, and made.

1. Making it is one transaction: a process that dies on the way leaves a file that the next one completes, and of two
   that make it at once, one waits and finds it made.
2. Reading changes nothing: an absent, empty or half-made file is an empty cache.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from steadlith_adapters.caches.sqlite.schema import CACHE, SCHEMA
from steadlith_adapters.sqlite import opening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw

BUSY_MILLISECONDS = 30_000
PAGE_SIZE = 16_384  # measured: twice the rows a second of 4 KiB pages, and a fifth less space


def open_writing(path: Path) -> apsw.Connection:
    """The file at `path`, made if need be; one of an older schema is left as it is until something is written."""
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


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """One transaction, the only writer from its first moment on; whole or not at all."""
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        # A failed commit may have rolled back by itself.
        if connection.in_transaction:
            connection.execute("rollback")
        raise


def _make(connection: apsw.Connection, path: Path) -> None:
    with transaction(connection):
        if not opening.is_made(CACHE, connection, path):  # another process may have been first
            for statement in SCHEMA:
                connection.execute(statement).fetchall()

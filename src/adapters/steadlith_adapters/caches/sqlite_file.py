"""Opening the cache's file: who it belongs to, how it is made, and how it is only looked at.

1. A file is ours by `application_id`, and of this version by `user_version`; tables without both are somebody else's.
2. Making it is one transaction: a process that dies on the way leaves a file that the next one completes, and of two
   that make it at once, one waits and finds it made.
3. Reading changes nothing: an absent, empty or half-made file is an empty cache. Where the folder can be written, the
   file is opened so that SQLite can tidy up after itself (no side files stay); where it cannot, it is opened as
   immutable, and refused if a writer left a log that would be needed.
4. No SQLite error leaves this package: each becomes ours, with the way out.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from steadlith_core.errors import AdapterError, ForeignFile, StoreCorrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

SIDE_FILES = ("-wal", "-shm", "-journal")
LOGS = ("-wal", "-journal")
APPLICATION_ID = int.from_bytes(b"StlC", "big")
SCHEMA_VERSION = 1
BUSY_MILLISECONDS = 30_000
PAGE_SIZE = 16_384  # measured: twice the rows a second of 4 KiB pages, and a fifth less space

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

# One statement, so that another process's schema is seen whole or not at all.
IDENTITY = """
select (select application_id from pragma_application_id), (select user_version from pragma_user_version),
    (select group_concat(name) from sqlite_schema where type = 'table')
"""

WAY_OUT = "move it away: the cache is made anew, and only what the index does not hold is embedded again"


def open_writing(path: str) -> apsw.Connection:
    """The file at `path`, made if need be."""
    with translated(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        try:
            connection.set_busy_timeout(BUSY_MILLISECONDS)
            _pragma(connection, f"page_size = {PAGE_SIZE}")  # counts for a new file only
            if not _is_made(connection, path):
                _make(connection, path)
            _pragma(connection, "journal_mode = wal")
            _pragma(connection, "synchronous = full")
        except BaseException:
            connection.close()
            raise
        return connection


def open_reading(path: str) -> apsw.Connection | None:
    """The file at `path` for reading; none if there is nothing in it yet."""
    file = Path(path)
    with translated(path):
        if not file.exists() or file.stat().st_size == 0:
            return None
        connection = _opened_for_reading(file)
        try:
            if _is_made(connection, path):
                return connection
        except BaseException:
            connection.close()
            raise
        connection.close()
        return None


@contextmanager
def translated(path: str) -> Iterator[None]:
    """The border: SQLite's errors and the file system's become ours here, and only here."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError, apsw.FormatError) as error:
        raise StoreCorrupt(f"the cache {path!r} is damaged, or is not a SQLite file ({error}); {WAY_OUT}") from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise AdapterError(
            f"another process kept the cache {path!r} locked for {BUSY_MILLISECONDS // 1000} s; run again when it ended"
        ) from error
    except apsw.FullError as error:
        raise AdapterError(f"the disk of the cache {path!r} is full; make room, then run again") from error
    except (apsw.Error, OSError) as error:
        raise AdapterError(
            f"the cache {path!r} cannot be used ({error}); check the path, its rights and the disk"
        ) from error


def _opened_for_reading(file: Path) -> apsw.Connection:
    if os.access(file, os.W_OK) and os.access(file.parent, os.W_OK):
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        _pragma(connection, "query_only = 1")
        return connection
    for log in (Path(f"{file}{suffix}") for suffix in LOGS):
        if log.exists() and log.stat().st_size:
            raise AdapterError(
                f"the cache {str(file)!r} cannot be written, and its last writer left {log.name!r} behind, without "
                "which it cannot be read; open it once where it can be written (`steadlith status`), or copy it again"
            )
    return apsw.Connection(file.as_uri() + "?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _is_made(connection: apsw.Connection, path: str) -> bool:
    """Whether the schema is there. Raises `ForeignFile` for a file that is not ours, or not of this version."""
    application, version, names = next(iter(connection.execute(IDENTITY)))
    if application == APPLICATION_ID and version == SCHEMA_VERSION:
        return True
    if application == APPLICATION_ID:
        raise ForeignFile(
            f"the cache {path!r} was made by another version of Steadlith (schema {version}, this one reads "
            f"{SCHEMA_VERSION}); {WAY_OUT}"
        )
    if "cache_meta" in (names or "").split(","):
        raise ForeignFile(
            f"{path!r} is a cache of steadlith 1.x, which this version does not read; see `steadlith import`, and set "
            "another path for the cache"
        )
    if names or application or version:
        raise ForeignFile(f"{path!r} is a database of another program; set another path for the cache")
    return False


def _make(connection: apsw.Connection, path: str) -> None:
    connection.execute("begin immediate")
    try:
        if not _is_made(connection, path):  # another process may have been first
            for statement in SCHEMA:
                connection.execute(statement)
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


def _pragma(connection: apsw.Connection, text: str) -> None:
    # apsw is lazy: a statement that answers is over only when its answer is read.
    list(connection.execute(f"pragma {text}"))

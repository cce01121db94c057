"""How a SQLite file of ours is opened: whose it is, and how reading leaves no trace.

1. A file is ours by `application_id`, and of this version by `user_version`. Absent, empty, or without any table, it
   is not made yet: a kill while it was made leaves one of these.
2. A file of another program, of steadlith 1.x or of a newer version is refused before anything is changed; so is one
   of a version too old to be read, which is to be rebuilt.
3. Reading opens the file for writing with `query_only` where that is allowed: then the last one out removes the side
   files. Where it is not, the file is opened as immutable, and only if no log beside it holds anything.
4. Only SQLite opens the file: closing any other descriptor of it would drop this process's locks.
5. Who wants to write is told at once that a file may not be written: SQLite would open it, and fail when what was to be
   written is paid for.
6. On a network file system a file is opened as immutable or not at all; an absent one is refused as well, before
   anything is paid for that could not be kept there.
7. A file whose first write is in progress, or was cut off, is not made yet, whatever it holds. Who reads leaves it
   alone; for who writes, SQLite takes back what was cut off.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import apsw

from steadlith_adapters.sqlite import network, undo
from steadlith_core.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from steadlith_adapters.sqlite.kind import FileKind

HEADER_BYTES = 100
LOGS = {"-wal": "commits", "-journal": "what takes half a write back"}

# One statement, so that another process's schema is seen whole or not at all.
IDENTITY = """
SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
    count(*), total(name = ?) FROM sqlite_schema WHERE type = 'table'
"""


def for_reading(kind: FileKind, path: Path, *, busy_ms: int) -> apsw.Connection | None:
    """A connection that cannot change anything; none while the file is not made."""
    with kind.translated(str(path)):
        if not _is_there(kind, path):
            network.refuse(path, kind.setting)
            return None
        connection = _readable(kind, path, busy_ms)
        with closed_on_error(connection):
            if _is_made_now(kind, connection, path):
                return connection
        connection.close()
        return None


def for_writing(kind: FileKind, path: Path, *, busy_ms: int) -> apsw.Connection:
    """A connection to the file, in a folder that is made if need be; what is in the file is not changed yet."""
    network.refuse(path, kind.setting)
    refuse_unwritable(kind, path)
    with kind.translated(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        _is_there(kind, path)
        connection = _connected(str(path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, busy_ms)
        with closed_on_error(connection):
            # Before anything is changed: switching a foreign file to a log of ours would already be a write.
            is_made(kind, connection, path)
        return connection


def refuse_unwritable(kind: FileKind, path: Path) -> None:
    """Raise `AdapterError` for a file that is there and may not be written."""
    if path.exists() and not os.access(path, os.W_OK):
        raise AdapterError(
            f"{path}: this user may not write the {kind.noun}; grant access, or set another {kind.setting}"
        )


def is_made(kind: FileKind, connection: apsw.Connection, path: Path) -> bool:
    """Whether the file has our tables; raises for a file that is somebody else's."""
    name = str(path)
    with kind.translated(name):
        row: tuple[Any, ...] = connection.execute(IDENTITY, (kind.table_of_1x,)).fetchall()[0]
    application, version, tables, of_1x = row
    if application == kind.application_id:
        if version > kind.schema_version:
            whose = f"made by a newer Steadlith (schema {version}, this one reads {kind.readable}); upgrade"
            raise kind.foreign(name, whose)
        if 0 < version < kind.oldest_readable:
            whose = f"made by an older Steadlith (schema {version}, this one reads {kind.readable})"
            raise kind.damaged(name, whose)
        if version < 1 or not tables:
            raise kind.damaged(name, f"half-made (schema {version}, {tables} tables)")
        return True
    if of_1x:
        raise kind.foreign(name, f"the {kind.noun} of steadlith 1.x; see `steadlith import`")
    if application or version or tables:
        mark = f"application id {application:#x}, schema {version}, {tables} tables"
        raise kind.foreign(name, f"a SQLite database of another program ({mark}); move it away")
    return False


@contextmanager
def closed_on_error(connection: apsw.Connection) -> Iterator[None]:
    """Close `connection` if the body raises."""
    try:
        yield
    except BaseException:
        connection.close(True)
        raise


def _is_made_now(kind: FileKind, connection: apsw.Connection, path: Path) -> bool:
    try:
        return is_made(kind, connection, path)
    except kind.busy:
        if undo.is_first(path):  # it began since it was looked for
            return False
        raise


def _is_there(kind: FileKind, path: Path) -> bool:
    """Whether there is anything for SQLite to look at; it would take a file of one byte for an empty one."""
    try:
        size = path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return False
    if size and undo.is_first(path):
        return False
    if 0 < size < HEADER_BYTES:
        raise kind.not_a_database(str(path), f"it has {size} bytes")
    return size > 0


def _readable(kind: FileKind, path: Path, busy_ms: int) -> apsw.Connection:
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        network.refuse(path, kind.setting)
        connection = _connected(str(path), apsw.SQLITE_OPEN_READWRITE, busy_ms)
        with closed_on_error(connection):
            connection.execute("PRAGMA query_only = 1").fetchall()
        return connection
    for suffix, kept in LOGS.items():
        log = path.with_name(path.name + suffix)
        if undo.is_begun(path) if suffix == "-journal" else log.exists() and log.stat().st_size:
            raise AdapterError(
                f"{path}: its last writer left a log: {log.name} holds {kept}, and cannot be read where nothing may be "
                f"written; open the {kind.noun} once with write access to its folder (`steadlith status`), or copy "
                "both files to such a folder"
            )
    uri = path.absolute().as_uri() + "?immutable=1"
    return _connected(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, busy_ms)


def _connected(name: str, flags: int, busy_ms: int) -> apsw.Connection:
    connection = apsw.Connection(name, flags=flags)
    connection.set_busy_timeout(busy_ms)
    return connection

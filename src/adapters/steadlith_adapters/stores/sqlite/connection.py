"""How an index file is opened: what counts as ours, and how reading leaves no trace.

1. Absent, empty, or without any table is generation 0: a kill during the first commit leaves one of these.
2. A file of another program, of steadlith 1.x or of a newer version is refused before anything is changed.
3. Reading opens the file for writing with `query_only` where that is allowed: then the last one out removes the
   side files. Where it is not, the file is opened as immutable, and only if its log holds nothing.
4. Only SQLite opens the file: closing any other descriptor of it would drop this process's locks.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import apsw

from steadlith_adapters.stores.sqlite import schema
from steadlith_adapters.stores.sqlite.border import border, damaged, not_a_database
from steadlith_adapters.stores.sqlite.session import Session
from steadlith_core.errors import AdapterError, ForeignFile

if TYPE_CHECKING:
    from pathlib import Path

BUSY_MS = 1000
"""How long a statement waits for another connection: only recovery and the first commit ever hold one up."""
MMAP_BYTES = 1 << 30
HEADER_BYTES = 100


def reading(path: Path) -> Session | None:
    """A session that cannot change anything; none when there is nothing committed to read."""
    return _recognised(_reader(path), path) if _has_header(path) else None


def writing(path: Path) -> Session:
    """A session inside BEGIN IMMEDIATE, on a file with all of our tables; creates folder, file and tables."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{path}: its folder cannot be made ({error}); check store.path and permissions"
        raise AdapterError(message) from error
    _has_header(path)
    session = _connect(str(path), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, str(path))
    try:
        # Before anything is changed: switching a foreign file to WAL would already be a write.
        _is_initialised(session)
        session.run(f"PRAGMA page_size = {schema.PAGE_SIZE}")
        if session.value("PRAGMA journal_mode = WAL") != "wal":
            message = f"{path}: no write-ahead log can be kept here (a network file system?); set another store.path"
            raise AdapterError(message)  # noqa: TRY301 -- the session must be closed like after any other failure
        session.run("PRAGMA synchronous = FULL")
        session.run("PRAGMA foreign_keys = ON")
        session.run("BEGIN IMMEDIATE")
        if not _is_initialised(session):  # asked again: another writer may have been first
            for statement in schema.CREATE:
                session.run(statement)
    except BaseException:
        session.close()
        raise
    return session


def empty() -> Session:
    """A session on an index that nothing was ever committed to."""
    session = Session(apsw.Connection(":memory:"), "(no index)")
    for statement in schema.CREATE:
        session.run(statement)
    return session


def _has_header(path: Path) -> bool:
    """Whether there is anything for SQLite to look at; it would take a file of one byte for an empty one."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return False
    if 0 < size < HEADER_BYTES:
        raise not_a_database(str(path), f"it has {size} bytes")
    return size > 0


def _reader(path: Path) -> Session:
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        session = _connect(str(path), apsw.SQLITE_OPEN_READWRITE, str(path))
        session.run("PRAGMA query_only = 1")
    else:
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            message = (
                f"{path}: its log {log.name} holds commits that cannot be read where nothing may be written; "
                "open the index once with write access to its folder, or copy both files to such a folder"
            )
            raise AdapterError(message)
        uri = path.absolute().as_uri() + "?immutable=1"
        session = _connect(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, str(path))
    session.run(f"PRAGMA mmap_size = {MMAP_BYTES}")
    return session


def _connect(name: str, flags: int, path: str) -> Session:
    with border(path):
        session = Session(apsw.Connection(name, flags), path)
    session.run(f"PRAGMA busy_timeout = {BUSY_MS}")
    return session


def _recognised(session: Session, path: Path) -> Session | None:
    try:
        initialised = _is_initialised(session)
        headless = initialised and session.one("SELECT 1 FROM head JOIN generation ON number = generation") is None
    except BaseException:
        session.close()
        raise
    if initialised and not headless:
        return session
    session.close()
    if headless:
        raise damaged(str(path), "its head is missing")
    return None


def _is_initialised(session: Session) -> bool:
    """Whether the file has our tables; raises for a file that is somebody else's."""
    path = session.path
    application = session.value("PRAGMA application_id")
    version = session.value("PRAGMA user_version")
    tables = {name for (name,) in session.run("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if application == schema.APPLICATION_ID:
        if version > schema.SCHEMA_VERSION:
            message = (
                f"{path}: made by a newer Steadlith (schema {version}, this one reads {schema.SCHEMA_VERSION}); "
                "upgrade, or set another store.path"
            )
            raise ForeignFile(message)
        if version < schema.SCHEMA_VERSION or not tables:
            raise damaged(path, f"half-made (schema {version}, {len(tables)} tables)")
        return True
    if "index_meta" in tables:
        message = f"{path}: an index of steadlith 1.x; `steadlith import` reads it, or set another store.path"
        raise ForeignFile(message)
    if application or tables:
        message = (
            f"{path}: a SQLite database of another program (application id {application:#x}, "
            f"{len(tables)} tables); set another store.path"
        )
        raise ForeignFile(message)
    return False

"""The sessions on an index file: one that reads, one that writes, and one on no file at all.

1. Whose file it is, and how reading leaves no trace, is decided in `steadlith_adapters.sqlite.opening`.
2. A file that is not made yet is generation 0; the first commit's transaction makes all of it, without a log: there is
   nothing that it could change, and a log would be a second copy of the whole index. Its lock is kept until the file
   has its log; if it is killed in between, the next one to open the file gives it one.
3. A file of ours without a head is damaged.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import apsw

from steadlith_adapters.sqlite import opening
from steadlith_adapters.stores.sqlite import schema
from steadlith_adapters.stores.sqlite.migrating import migrate
from steadlith_adapters.stores.sqlite.schema import INDEX
from steadlith_adapters.stores.sqlite.session import Session
from steadlith_core.errors import AdapterError, SteadlithError

BUSY_MS = 1000
"""How long a statement waits for another connection: only recovery and the first commit ever hold one up."""
MMAP_BYTES = 1 << 30
WRITE_CACHE_KIB = 64 * 1024


def reading(path: Path) -> Session | None:
    """A session that cannot change anything; none when there is nothing committed to read."""
    connection = opening.for_reading(INDEX, path, busy_ms=BUSY_MS)
    if connection is None:
        return None
    session = Session(connection, str(path))
    with opening.closed_on_error(connection):
        if not session.is_frozen() and not session.has_log():
            # Its first writer was killed just before it gave it one. Without it, who reads is in every writer's way.
            with suppress(SteadlithError):
                keep_log(session)
        session.run(f"PRAGMA mmap_size = {MMAP_BYTES}")
        if session.one("SELECT 1 FROM head JOIN generation ON number = generation") is None:
            raise INDEX.damaged(str(path), "its head is missing")
    return session


def structure(session: Session) -> list[str]:
    """What SQLite finds wrong with the pages of a session's file; nothing where there is no file."""
    connection = opening.for_reading(INDEX, Path(session.path), busy_ms=BUSY_MS)
    if connection is None:
        return []
    with INDEX.translated(session.path), opening.closed_on_error(connection):
        # On a connection that knows no module: FTS5's check of itself takes longer than all the rest, and is made with
        # the check of its rows.
        connection.drop_modules([])
        lines = [line for (line,) in connection.execute("PRAGMA quick_check") if line != "ok"]
    connection.close()
    return lines


def writing(path: Path, *, mend: bool = False) -> Session:
    """A session inside BEGIN IMMEDIATE, on a file with all of our tables; creates folder, file and tables.

    Of an older file, a write that mends makes the lexical index itself.
    """
    connection = opening.for_writing(INDEX, path, busy_ms=BUSY_MS)
    session = Session(connection, str(path))
    with opening.closed_on_error(connection):
        session.run(f"PRAGMA page_size = {schema.PAGE_SIZE}")
        if session.value("PRAGMA page_count"):
            keep_log(session)
        session.run("PRAGMA synchronous = FULL")
        # Pages that a commit changes wait here until its end: what does not fit goes to the log more than once.
        session.run(f"PRAGMA cache_size = -{WRITE_CACHE_KIB}")
        session.run("PRAGMA foreign_keys = ON")
        session.run("BEGIN IMMEDIATE")
        if not opening.is_made(INDEX, connection, path):  # asked again: another writer may have been first
            if not session.has_log():
                session.run("PRAGMA locking_mode = EXCLUSIVE")
            for statement in schema.CREATE:
                session.run(statement)
        migrate(session, mend=mend)
    return session


def keep_log(session: Session) -> None:
    """Have what is written go to a write-ahead log first, so that nobody who reads is in the way."""
    if session.value("PRAGMA journal_mode = WAL") != "wal":
        message = (
            f"{session.path}: no write-ahead log can be kept here (a network file system?); set another store.path"
        )
        raise AdapterError(message)


def empty() -> Session:
    """A session on an index that nothing was ever committed to."""
    session = Session(apsw.Connection(":memory:"), "(no index)")
    for statement in schema.CREATE:
        session.run(statement)
    return session

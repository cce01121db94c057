"""The advisory locks of an index: what keeps writers, compaction and readers out of each other's way.

1. WRITER is held by whoever holds the port's `Lock`, for as long as its own connection lives.
2. WRITING is shared by writes in progress; a compaction, which removes what a write may have looked up, takes it alone.
3. READING is shared by readers; alone it is taken to drop or to rewrite tables that a reader's snapshot may need.
4. MAKING is taken alone, for as long as the tables are made or migrated.

The server frees them when the session that took them ends, however it ends.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from steadlith_core.digest import hasher

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.stores.postgres.session import Session

WRITER, WRITING, READING, MAKING = "writer", "writing", "reading", "making"

_hash = hasher("postgres-lock")


def key(schema: str, purpose: str) -> int:
    """The number that the server knows the lock by; it is one of its database."""
    return int.from_bytes(_hash(f"{schema}\0{purpose}".encode())[:8], "big", signed=True)


def share(session: Session, number: int) -> None:
    """Take a lock with others, until `unshare` or the session's end; waits for who has it alone."""
    session.run("SELECT pg_advisory_lock_shared(%s)", number)


def unshare(session: Session, number: int) -> None:
    """Give one share back."""
    session.run("SELECT pg_advisory_unlock_shared(%s)", number)


@contextmanager
def alone(session: Session, number: int, *, patience_ms: int) -> Iterator[bool]:
    """Take a lock alone, waiting so long for others; whether that worked."""
    taken = take(session, number, patience_ms=patience_ms)
    try:
        yield taken
    finally:
        if taken and not session.is_lost:
            session.run("SELECT pg_advisory_unlock(%s)", number)


def take(session: Session, number: int, *, patience_ms: int) -> bool:
    """Take a lock alone for as long as the session lives, waiting so long for others; whether that worked."""
    from steadlith_core.errors import LockHeld

    if session.value("SELECT pg_try_advisory_lock(%s)", number):
        return True
    if patience_ms <= 0:
        return False
    before = session.value("SELECT current_setting('lock_timeout')")
    session.run("SELECT set_config('lock_timeout', %s, false)", f"{patience_ms}ms")
    try:
        session.run("SELECT pg_advisory_lock(%s)", number)
    except LockHeld:
        return False
    finally:
        if not session.is_lost:
            session.run("SELECT set_config('lock_timeout', %s, false)", before)
    return True

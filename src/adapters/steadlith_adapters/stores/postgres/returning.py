"""Giving space back to the file system, no faster than readers allow.

1. A reader's snapshot may need the tables that were replaced and the rows that were removed: while there is one, they
   stay, and what is to be given back is noted in `retired` for a later compaction.
2. Where a snapshot of anybody else's is open in the database, the server keeps some dead rows for it. That is enough
   where space is wanted, and not where something is to be erased: then a later compaction goes on.
3. What is waited for is a short read, not a reader that stays. Readers that come meanwhile wait in turn, for as long as
   the tables are written anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import guards
from steadlith_adapters.stores.postgres.connection import transaction
from steadlith_adapters.stores.postgres.schema import TABLES
from steadlith_core.errors import LockHeld

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_adapters.stores.postgres.target import Target

PATIENCE_MS = 500
ROWS = ""
"""Under which `retired` notes the room of removed rows."""
SCRUB = " "
"""Under which it notes that nothing removed may be left."""
ATTEMPTS = 3
"""How often the tables are written anew, a second apart, until no dead row is left."""
_TAKEN = """
    SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"""
_NOTE = "INSERT INTO retired VALUES ('', %s) ON CONFLICT (name) DO UPDATE SET bytes = retired.bytes + excluded.bytes"


def bytes_taken(session: Session) -> int:
    """What the tables and indexes of the schema take on disk."""
    taken: int = session.value(_TAKEN)
    return taken


def left_bytes(session: Session) -> int:
    """About how many bytes earlier compactions left to be given back."""
    left: int = session.value("SELECT coalesce(sum(bytes), 0)::bigint FROM retired")
    return left


def note(session: Session, size: int) -> None:
    """Note that removed rows of about this size leave room."""
    session.run(_NOTE, size)


def give_back(session: Session, target: Target, *, scrub: bool) -> bool:
    """Drop what was replaced and write the tables anew without what was removed, after a commit; whether that was
    possible. With `scrub` they are written anew whether or not anything is known to have been removed.
    """
    if scrub:
        session.run("INSERT INTO retired VALUES (%s, 0) ON CONFLICT DO NOTHING", SCRUB)
    if session.one("SELECT 1 FROM retired") is None:
        return True
    with guards.alone(session, guards.key(target.schema, guards.READING), patience_ms=PATIENCE_MS) as taken:
        try:
            return taken and _is_given_back(session)
        except LockHeld:  # somebody else reads our tables, a dump say
            return False


def _is_given_back(session: Session) -> bool:
    with transaction(session):
        for (name,) in session.run("SELECT name FROM retired WHERE name NOT IN (%s, %s)", ROWS, SCRUB):
            session.run(f"DROP TABLE IF EXISTS {name}")
            session.run("DELETE FROM retired WHERE name = %s", name)
    strict = session.one("SELECT 1 FROM retired WHERE name = %s", SCRUB) is not None
    left = list(TABLES)
    for attempt in range(ATTEMPTS):
        if attempt:
            session.run("SELECT pg_sleep(1)")  # the server itself looks at a table now and then, in a snapshot
        left = [name for name in left if session.rewrite(name)]
        if not left or not strict:
            break
    if left and strict:
        return False
    session.run("DELETE FROM retired")
    return True

"""Giving space back to the file system, no faster than readers allow.

1. A reader that has a snapshot open needs the old pages: while there is one, the file is not copied anew, since its
   copy would only lie in the log beside it.
2. What is waited for is a short read, not a reader that stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.errors import LockHeld

if TYPE_CHECKING:
    from steadlith_adapters.stores.sqlite.session import Session

PATIENCE_MS = 1000


def free_bytes(session: Session) -> int:
    """Bytes of pages inside the file that hold nothing."""
    pages: int = session.value("PRAGMA freelist_count")
    return pages * int(session.value("PRAGMA page_size"))


def give_back(session: Session, *, scrub: bool) -> bool:
    """Make the file as small as what it holds, after a commit; whether that was possible.

    With `scrub` the file is copied anew even if no page is free: what was deleted may lie between rows.
    """
    session.run(f"PRAGMA busy_timeout = {PATIENCE_MS}")
    if not _is_folded_in(session):
        return False
    if scrub or free_bytes(session):
        try:
            session.run("VACUUM")
        except LockHeld:
            return False
        return _is_folded_in(session)
    return True


def _is_folded_in(session: Session) -> bool:
    """Fold the log into the file and empty it; false while a reader is in the way."""
    busy, _, _ = session.run("PRAGMA wal_checkpoint(TRUNCATE)")[0]
    return not busy

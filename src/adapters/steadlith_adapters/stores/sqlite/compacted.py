"""Which generation is the oldest one on purpose: the row that a compaction leaves.

1. The table is made by the first compaction; a file without it was never compacted.
2. A generation that is missing above the oldest one is damage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steadlith_adapters.stores.sqlite.session import Session

_CREATE = "CREATE TABLE IF NOT EXISTS compacted(id INTEGER PRIMARY KEY CHECK (id = 1), oldest INTEGER NOT NULL) STRICT"
_NOTE = "INSERT INTO compacted VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET oldest = ?1"


def note(session: Session, oldest: int) -> None:
    """Say that what is older than `oldest` was removed."""
    session.run(_CREATE)
    session.run(_NOTE, oldest)


def oldest(session: Session) -> int:
    """The oldest generation that the last compaction kept; 0 without any."""
    if session.one("SELECT 1 FROM sqlite_schema WHERE name = 'compacted'") is None:
        return 0
    row = session.one("SELECT oldest FROM compacted")
    return row[0] if row else 0

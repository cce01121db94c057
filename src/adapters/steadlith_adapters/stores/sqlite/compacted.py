"""Which generation is the oldest one on purpose: the row that a compaction leaves.

1. A file without the table, of an older schema, was never compacted.
2. A generation that is missing above the oldest one is damage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steadlith_adapters.stores.sqlite.session import Session

_NOTE = "INSERT INTO compacted VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET oldest = ?1"


def note(session: Session, oldest: int) -> None:
    """Say that what is older than `oldest` was removed."""
    session.run(_NOTE, oldest)


def oldest(session: Session) -> int:
    """The oldest generation that the last compaction kept; 0 without any."""
    if session.one("SELECT 1 FROM sqlite_schema WHERE name = 'compacted'") is None:
        return 0
    row = session.one("SELECT oldest FROM compacted")
    return row[0] if row else 0

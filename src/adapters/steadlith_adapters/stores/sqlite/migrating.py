"""Index files of older releases: read as they are, and brought to today's schema by the first write to them.

1. The statements run inside that write's transaction: a write that fails or is killed leaves the old file.
2. A file's pages keep their size: only a new file has today's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite.schema import MIGRATIONS, SCHEMA_VERSION

if TYPE_CHECKING:
    from steadlith_adapters.stores.sqlite.session import Session


def migrate(session: Session) -> None:
    """Bring the session's file to today's schema; nothing happens to one that has it."""
    version: int = session.value("PRAGMA user_version")
    for older in range(version, SCHEMA_VERSION):
        for statement in MIGRATIONS[older]:
            session.run(statement)
    if version != SCHEMA_VERSION:
        session.run(f"PRAGMA user_version = {SCHEMA_VERSION}")

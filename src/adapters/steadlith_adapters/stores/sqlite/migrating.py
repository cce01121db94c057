"""Index files of older releases: read as they are, and brought to today's schema by the first write to them.

1. The statements run inside that write's transaction: a write that fails or is killed leaves the old file.
2. A file's pages keep their size: only a new file has today's. A vec0 table keeps its columns until it is rewritten.
3. A lexical table that was made anew is filled from the texts; a write that mends does that itself, of what it can
   read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite import lexical
from steadlith_adapters.stores.sqlite.schema import CREATE_LEXICAL, MIGRATIONS, SCHEMA_VERSION

if TYPE_CHECKING:
    from steadlith_adapters.stores.sqlite.session import Session


def migrate(session: Session, *, mend: bool = False) -> None:
    """Bring the session's file to today's schema; nothing happens to one that has it."""
    version: int = session.value("PRAGMA user_version")
    statements = [statement for older in range(version, SCHEMA_VERSION) for statement in MIGRATIONS[older]]
    for statement in statements:
        session.run(statement)
    if CREATE_LEXICAL in statements and not mend:
        lexical.add_live(session, session)
        lexical.merge(session)
    if version != SCHEMA_VERSION:
        session.run(f"PRAGMA user_version = {SCHEMA_VERSION}")

"""What the server is told after a write that made an index much larger: it plans by what it knows of its tables, and
would look for itself only minutes later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import spaces
from steadlith_adapters.stores.postgres.schema import TABLES

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.session import Session


def count_anew(session: Session) -> None:
    """Let the server look at a sample of every table's rows."""
    of_spaces = [name for table in spaces.find_all(session) for name in table.names]
    session.run(f"ANALYZE {', '.join([*TABLES, *of_spaces])}")

"""What can be seen to be wrong around an index on a server, without changing anything.

1. A server that cannot be reached, or an extension that is missing, is said here in a sentence; opening says the same.
2. An index that was moved out of the way stays until somebody drops it.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import aside, connection
from steadlith_core.errors import SteadlithError
from steadlith_core.ports import Ailment, Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.stores.postgres.target import Target


_ADDABLE = """
    SELECT 1 FROM pg_available_extension_versions v
    WHERE v.name = 'vector' AND (
        NOT v.superuser OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
        OR (v.trusted AND has_database_privilege(current_database(), 'CREATE'))) LIMIT 1"""


def troubles(target: Target) -> Iterator[Trouble]:
    """See `StoreFactory.troubles`."""
    try:
        session = connection.open_session(target)
    except SteadlithError as error:
        yield Trouble(Ailment.NETWORK, target.place, str(error))
        return
    with closing(session):
        if session.vector is None and session.one(_ADDABLE) is None:
            message = "the database has no pgvector, and this role may not add it"
            way_out = "install it on the server, and let an administrator run: CREATE EXTENSION vector"
            yield Trouble(Ailment.EXTENSION, target.place, message, way_out)
        for name in aside.left(session, target):
            message = "an index was set aside here as damaged"
            way_out = f"drop it when you need nothing of it: DROP SCHEMA {name} CASCADE"
            yield Trouble(Ailment.SET_ASIDE, aside.place_of(target, name), message, way_out, grave=False)

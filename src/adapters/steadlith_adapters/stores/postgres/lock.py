"""The writer's lock: an advisory lock of a session of its own, so that the server frees it when its holder dies.

1. Who holds it is told by the session's `application_name` and by when it began: nothing is left behind by a holder
   that died, and nobody is believed who does not hold it.
2. It keeps writers of every host out of each other's way; what keeps the index right is the commit's own comparison.
"""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import connection, guards
from steadlith_core.errors import LockHeld, SteadlithError

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_adapters.stores.postgres.target import Target

NAME_BYTES = 63
"""What the server keeps of an application's name."""
NO_NAME = "it left no name"
_HOLDER = """
    SELECT a.application_name, to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (l.classid::bigint << 32) | l.objid::bigint = %s AND l.objsubid = 1"""


class PostgresLock:
    """The lock of one index, for one holder."""

    __slots__ = ("_holder", "_session", "_target", "_timeout")

    def __init__(self, target: Target, *, timeout: float, holder: str) -> None:
        self._target = target
        self._timeout = max(0.0, timeout)
        self._holder = holder
        self._session: Session | None = None

    def acquire(self) -> None:
        """See `Lock.acquire`."""
        session = connection.open_session(self._target, application=_named(self._holder))
        number = guards.key(self._target.schema, guards.WRITER)
        with connection.closed_on_error(session):
            # What waits is the lock, as long as it may: not a statement.
            session.run("SELECT set_config('statement_timeout', '0', false)")
            if not guards.take(session, number, patience_ms=round(1000 * self._timeout)):
                waited = f" (waited {self._timeout:g} s)" if self._timeout else ""
                message = (
                    f"another writer holds {self._target.place}: {_holder_of(session, number)}{waited}; "
                    "wait for it (--lock-timeout SECONDS), or stop it: the lock ends with its process"
                )
                raise LockHeld(message)
        self._session = session

    def release(self) -> None:
        """See `Lock.release`."""
        session, self._session = self._session, None
        if session:
            session.close()


def _named(holder: str) -> str:
    """The holder's name as the server keeps it, in ASCII: what this process does, and which it is."""
    who = f", process {os.getpid()} on {socket.gethostname()}".encode("ascii", "replace")[: NAME_BYTES - 20]
    does = holder.replace("\0", " ").encode("ascii", "replace")[: NAME_BYTES - len(who)]
    return (does + who).decode("ascii")


def _holder_of(session: Session, number: int) -> str:
    try:
        row = session.one(_HOLDER, number)
    except SteadlithError:
        return NO_NAME  # the message is worth more without it than not at all
    return f"{row[0]}, since {row[1]}" if row and row[0] else NO_NAME

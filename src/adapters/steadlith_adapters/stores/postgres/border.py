"""The one border for the server's errors, and how damage and strangers are named.

1. No error of psycopg leaves the adapter: each becomes one of ours, with its cause chained.
2. Each message names the index as `Target.place` does, which holds no password, and the way out.
3. A lost connection is an error of its own class here: who has written nothing may ask again on another one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
from psycopg import errors

from steadlith_core.errors import AdapterError, ForeignFile, LockHeld, StoreCorrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_core.errors import SteadlithError

RAISED = (psycopg.Error, UnicodeError)
REBUILD = (
    "move the schema out of the way (`steadlith doctor --repair` does) and apply again: the cache keeps the embeddings"
)

_DAMAGE = (errors.UndefinedTable, errors.UndefinedColumn, errors.DataCorrupted, errors.IndexCorrupted)
_BUSY = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)
_GONE = (errors.AdminShutdown, errors.CrashShutdown, errors.CannotConnectNow)


class ConnectionLost(AdapterError):
    """The server, or the way to it, went away in the middle."""


def damaged(place: str, what: str) -> StoreCorrupt:
    """The error for an index of ours that holds something it cannot hold."""
    fault = f"{place}: {what}"
    return StoreCorrupt(f"{fault}; {REBUILD}", fault)


def foreign(place: str, whose: str) -> ForeignFile:
    """The error for a schema that is not ours, or not of this version."""
    return ForeignFile(f"{place}: {whose}, or set another store.schema")


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Translate whatever the server raises inside."""
    try:
        yield
    except RAISED as error:
        raise translate(place, error) from error


def translate(place: str, error: Exception) -> SteadlithError:
    """One of `RAISED` as an error of ours, to be raised from it."""
    # Without the line of SQL that the server repeats.
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    said = " ".join((primary or str(error)).split()) or type(error).__name__
    match error:
        case errors.QueryCanceled():
            return AdapterError(f"{place}: the server stopped a statement ({said}); raise store.statement_timeout")
        case _ if isinstance(error, _BUSY):
            return LockHeld(f"{place}: another session is in the way ({said}); try again when it is done")
        case _ if isinstance(error, _DAMAGE):
            return damaged(place, f"the schema is damaged ({said})")
        case errors.InsufficientPrivilege():
            return AdapterError(f"{place}: the role may not do that ({said}); grant it USAGE and CREATE on the schema")
        case errors.DiskFull() | errors.OutOfMemory():
            return AdapterError(f"{place}: the server has no room left ({said}); free some and try again")
        case errors.ReadOnlySqlTransaction():
            return AdapterError(f"{place}: the server only reads ({said}); a standby? write to its primary")
        case _ if isinstance(error, _GONE) or (isinstance(error, psycopg.OperationalError) and not error.sqlstate):
            return ConnectionLost(
                f"{place}: the connection was lost ({said}); what was being read cannot go on: run the command again, "
                "or take another snapshot"
            )
        case _:
            return AdapterError(f"{place}: the index cannot be used ({type(error).__name__}: {said})")

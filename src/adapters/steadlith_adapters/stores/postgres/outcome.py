"""What a write finds out about its commit: whether it happened.

A commit that was sent and not answered may still be under way on the server: its lock on the head's row is waited for
before the answer is read, so that what is said then stays true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import connection, generations
from steadlith_core.errors import AdapterError, OutcomeUnknown, SteadlithError

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_adapters.stores.postgres.target import Target
    from steadlith_core.records import Generation


def hold_head(session: Session) -> None:
    """Take the head's row until the transaction ends: whoever commits comes after, or has come before."""
    session.run("SELECT 1 FROM head WHERE id = 1 FOR UPDATE")


def look(target: Target, given: Generation, error: SteadlithError) -> None:
    """Raise unless the generation, whose commit ended in `error`, is there after all."""
    try:
        found = _settled(target, given.number)
    except SteadlithError as unreadable:
        message = (
            f"{target.place}: the commit of generation {given.number} was sent and no answer came ({error}), and the "
            f"head cannot be read ({unreadable}); run `steadlith status` before trying again"
        )
        raise OutcomeUnknown(message) from error
    if found != given:
        message = f"{target.place}: nothing was committed, generation {given.number} is not there: {error}"
        raise AdapterError(message) from error


def _settled(target: Target, number: int) -> Generation | None:
    session = connection.open_session(target)
    with connection.closed_on_error(session):
        session.run("BEGIN")
        hold_head(session)
        found = generations.read(session, number)
    session.close()
    return found

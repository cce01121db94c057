"""`steadlith migrate` to another store: shown, done, gone on with, taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith.cli import options
from steadlith.cli.changes import approve
from steadlith.cli.progress import Progress

if TYPE_CHECKING:
    from steadlith.cli.stopping import Stopping
    from steadlith.index import Index


def is_one(index: Index, text: str | None) -> bool:
    """Whether this text of the configuration asks for a move; without one, whether a move is to be gone on with."""
    stores = index.migrations.stores
    return stores.is_under_way() if text is None else stores.is_one(text)


def move(
    index: Index,
    text: str | None,
    lock_timeout: float,
    stop: Stopping,
    *,
    do: bool,
    yes: bool,
    json_output: bool,
) -> None:
    """Show the move, and do it if that is asked for."""
    from steadlith.report import documents, moves

    stores = index.migrations.stores
    found = stores.begun() if text is None else stores.plan(text)
    assert found is not None  # it is under way
    if not json_output:
        options.show(moves.preview(found, asked=do))
    elif not do:
        options.put(documents.dumps(moves.document(found)))
    if not do:
        return
    approve(yes=yes, json_output=json_output)
    stop.gently()
    done = stores.apply(found, lock_timeout=lock_timeout, report=Progress(), stop_requested=stop.requested)
    if json_output:
        options.put(documents.dumps(moves.result_document(found, done)))
    else:
        options.show(moves.result(found, done))


def abort(index: Index, lock_timeout: float, *, force: bool, json_output: bool) -> bool:
    """Take away what a move left; whether there was one."""
    from steadlith.report import documents, moves

    there, aside = index.migrations.stores.abort(force=force, lock_timeout=lock_timeout)
    if there and json_output:
        options.put(documents.dumps(moves.aborted_document(aside)))
    elif there:
        options.show(moves.aborted(aside))
    return there

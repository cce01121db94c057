"""The levels: which checks are made, and what a check is that cannot go on.

1. The head's level asks a fixed number of rows, however large the index is: no scan.
2. A check that cannot go on says so and does not stop the next one.
3. Identities are computed anew from what is stored; nothing vouches for itself.
4. What the head shows has the kind of what is damaged. What only older generations show is HISTORY, whatever it is: no
   source can mend it.
5. Checks that other processes make are answered in the same order: how many there are decides how long it takes only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite.checks import arms, contents, documents, history, nodes, twice, whole
from steadlith_adapters.stores.sqlite.checks.beside import beside
from steadlith_core.errors import SteadlithError
from steadlith_core.records import DriftKind
from steadlith_core.rows import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from steadlith_adapters.stores.sqlite.session import Session

    Check = Callable[[Session], Iterator[Problem]]

# Each check, and the kind of the problem when it cannot go on: what SQLite cannot read is damage to the file.
HEAD: dict[Check, DriftKind] = {
    whole.file: DriftKind.INDEX_DAMAGED,
    whole.tables: DriftKind.INDEX_DAMAGED,
    whole.head: DriftKind.HEAD,
    whole.topmost: DriftKind.NODES,
}
FULL: dict[Check, DriftKind] = HEAD | {
    whole.structure: DriftKind.INDEX_DAMAGED,
    whole.counts: DriftKind.INDEX_DAMAGED,
    history.seals: DriftKind.INDEX_DAMAGED,
    history.counts: DriftKind.INDEX_DAMAGED,
    contents.texts: DriftKind.INDEX_DAMAGED,
    contents.entries: DriftKind.INDEX_DAMAGED,
    twice.texts: DriftKind.INDEX_DAMAGED,
    twice.entries: DriftKind.INDEX_DAMAGED,
    documents.names: DriftKind.INDEX_DAMAGED,
    documents.versions: DriftKind.INDEX_DAMAGED,
    documents.strays: DriftKind.INDEX_DAMAGED,
    documents.spans: DriftKind.INDEX_DAMAGED,
    nodes.nodes: DriftKind.NODES,
    arms.liveness: DriftKind.INDEX_DAMAGED,
    arms.lexical: DriftKind.LEXICAL,
    arms.vectors: DriftKind.VECTOR,
}


SHARES: Sequence[Sequence[Check]] = ((arms.lexical,), (arms.vectors, documents.versions, contents.texts))
"""What each further process checks: about a half of all is the words."""


def problems(session: Session, *, full: bool, workers: int = 1) -> Iterator[Problem]:
    """Run the checks of a level in order; the others than this process begin at once."""
    found = _in_order(session, FULL if full else HEAD, workers if full else 1)
    next(found)
    return (problem for problem in found if problem)


def made(session: Session, name: str) -> Iterator[Problem]:
    """The check of the full level that has this name."""
    for check, stopped in FULL.items():
        if name_of(check) == name:
            yield from _guarded(session, check, stopped)


def name_of(check: Check) -> str:
    """What a check is called in another process."""
    return f"{check.__module__}.{check.__name__}"


def _in_order(session: Session, checks: dict[Check, DriftKind], workers: int) -> Iterator[Problem | None]:
    """None, when the others have begun; then what is found. Whoever drops it ends them."""
    shares = [[name_of(check) for check in share] for share in SHARES[: workers - 1]]
    with beside(session, shares) as others:
        yield None
        for check, stopped in checks.items():
            found = others.answer(name_of(check))
            yield from _guarded(session, check, stopped) if found is None else found


def _guarded(session: Session, check: Check, stopped: DriftKind) -> Iterator[Problem]:
    try:
        yield from check(session)
    except SteadlithError as error:
        yield Problem(stopped, str(error))

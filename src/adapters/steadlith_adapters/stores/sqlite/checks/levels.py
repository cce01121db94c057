"""The levels: which checks are made, and what a check is that cannot go on.

1. The head's level asks a fixed number of rows, however large the index is: no scan.
2. A check that cannot go on says so and does not stop the next one.
3. Identities are computed anew from what is stored; nothing vouches for itself.
4. What the head shows has the kind of what is damaged. What only older generations show is HISTORY, whatever it is: no
   source can mend it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite.checks import arms, contents, documents, history, nodes, twice, whole
from steadlith_core.errors import SteadlithError
from steadlith_core.records import DriftKind
from steadlith_core.rows import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def problems(session: Session, *, full: bool) -> Iterator[Problem]:
    """Run the checks of a level in order."""
    for check, stopped in (FULL if full else HEAD).items():
        try:
            yield from check(session)
        except SteadlithError as error:
            yield Problem(stopped, str(error))

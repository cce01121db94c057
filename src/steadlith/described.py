"""One kept generation, with all that is known of it: what `steadlith show` tells.

1. What it changed is told against its parent, at the cost of that. A parent that is not kept can tell nothing, and the
   first generation has none: everything in it is new.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith import between
from steadlith.border import adapter
from steadlith_core.errors import GenerationGone

if TYPE_CHECKING:
    from steadlith.differences import Comparison
    from steadlith_core.ports import Store
    from steadlith_core.records import Generation


@dataclass(frozen=True, slots=True)
class Described:
    """A generation, the names that it was given, and what it changed against its parent, where that is kept.

    `reconfigured` if it was made under the text of another configuration than its parent.
    """

    generation: Generation
    names: tuple[str, ...]
    changes: Comparison | None = None
    reconfigured: bool = False


def described(store: Store, number: int) -> Described:
    """The generation of this number. Raises `GenerationGone`."""
    with adapter("looking for a generation"):
        history, tags = store.history(), store.tags()
    kept = {made.number: made for made in history}
    if number not in kept:
        there = f"kept are {history[0].number} to {history[-1].number}" if history else "there is no index yet"
        raise GenerationGone(f"generation {number} is not kept; {there}")
    made = kept[number]
    names = tuple(name for name, named in tags.items() if named == number)
    if made.parent not in kept:
        return Described(made, names)
    reconfigured = made.configuration != kept[made.parent].configuration
    with between.opened(store, made.parent, number) as found:
        return Described(made, names, found.found, reconfigured)

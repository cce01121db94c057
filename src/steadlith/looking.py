"""Looking and planning under one configuration: everything is opened read-only, and no model is built."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from steadlith.books import opened
from steadlith.collecting import collecting_seldom
from steadlith.observe import observe
from steadlith.terms import terms
from steadlith_core.planning.make import make_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steadlith.assembly import Assembly
    from steadlith.books import Books
    from steadlith.observe import Look
    from steadlith_core.planning.make import Planned
    from steadlith_core.planning.world import World
    from steadlith_core.ports import Store


@contextmanager
def planning(
    assembly: Assembly, open_store: Callable[[], Store], look: Look, *, stat_cache: bool, workers: int
) -> Iterator[tuple[Books, World, Planned]]:
    """The plan of now, with what it was made of, while that is open."""
    with collecting_seldom, opened(assembly, open_store, stat_cache=stat_cache) as books:
        world = observe(assembly, books, look, workers=workers).world
        yield books, world, make_plan(world, terms(assembly))

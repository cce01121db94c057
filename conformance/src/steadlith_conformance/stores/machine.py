"""Random histories, led through the adapter under test and through the memory store at once.

1. Whatever is done, every generation reads as the model of each side says (`sides.py`).
2. Both sides answer the same, but for what a store numbers as it likes; lexical arms agree on what they find, not on
   scores.
3. The memory store is found by its entry point, as the engine finds it: the kit knows no adapter.
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import entry_points
from itertools import count
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from steadlith_conformance.stores.sides import Side
from steadlith_core.records import DocumentId

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Store, StoreFactory

IDS = st.sampled_from([DocumentId("docs", name) for name in ("a.md", "b.md", "c/d.md")])
TEXTS = st.lists(st.sampled_from(["alpha", "bravo", "charlie", "delta", "echo"]).map("shared {}".format), max_size=5)
PARENTS = st.lists(st.tuples(st.integers(-1, 4), st.booleans()), min_size=5, max_size=5)
FLAT = [(-1, True)] * 5
_numbers = count()


def oracle() -> Store:
    """A memory store of one's own."""
    (point,) = entry_points(group="steadlith.stores", name="memory")
    factory: StoreFactory = point.load()
    return factory.open({}, root="/", readonly=False)


class _Oracle(Side):
    """The memory store: what it holds lives as long as it is open, so it is never opened again."""

    def reopen(self) -> None:
        """Nothing to do."""


class StoreMachine(RuleBasedStateMachine):
    """Drives both sides through one life."""

    def __init__(self, make_store: MakeStore) -> None:
        super().__init__()
        self.side = Side(partial(make_store, f"machine-{next(_numbers)}"))
        self.oracle = _Oracle(oracle)
        self.words = self.side.has_words

    def _both(self, act: Callable[[Side], object]) -> None:
        act(self.oracle)
        act(self.side)

    @rule(id=IDS, texts=TEXTS, keep=st.booleans(), tree=st.just(FLAT) | PARENTS)
    def write(self, id: DocumentId, texts: list[str], keep: bool, tree: list[tuple[int, bool]]) -> None:  # noqa: A002
        """Replace a document."""
        self._both(lambda side: side.write(id, texts, keep=keep, tree=tree))

    @rule(old=IDS, new=IDS, extra=TEXTS)
    def relocate(self, old: DocumentId, new: DocumentId, extra: list[str]) -> None:
        """Move all of a document into another one."""
        if old != new and old in self.side.now.documents:
            self._both(lambda side: side.relocate(old, new, extra))

    @rule(id=IDS)
    def close(self, id: DocumentId) -> None:  # noqa: A002
        """Close a document."""
        if id in self.side.now.documents:
            self._both(lambda side: side.commit({id: None}))

    @rule(id=IDS, shift=st.integers(0, 5))
    def respan(self, id: DocumentId, shift: int) -> None:  # noqa: A002
        """Same document, other source bytes."""
        if id in self.side.now.documents:
            self._both(lambda side: side.respan(id, shift))

    @rule(id=IDS, texts=TEXTS)
    def abort(self, id: DocumentId, texts: list[str]) -> None:  # noqa: A002
        """Put a whole document, and think better of it."""
        self._both(lambda side: side.abort(id, texts))

    @rule(keep=st.booleans())
    def mend(self, keep: bool) -> None:
        """Write every document anew, believing nothing."""
        self._both(lambda side: side.mend(keep=keep))

    @precondition(lambda self: len(self.side.past) > 1)
    @rule(data=st.data())
    def roll_back(self, data: st.DataObject) -> None:
        """Commit a kept generation's documents again."""
        number = data.draw(st.integers(self.side.oldest, len(self.side.past) - 1))
        self._both(lambda side: side.roll_back(number))

    @precondition(lambda self: len(self.side.past) > 1)
    @rule(data=st.data(), scrub=st.booleans())
    def compact(self, data: st.DataObject, scrub: bool) -> None:
        """Remove the generations before one that is kept."""
        keep_from = data.draw(st.integers(max(1, self.side.oldest), len(self.side.past) - 1))
        self._both(lambda side: side.compact(keep_from, scrub=scrub))

    @precondition(lambda self: len(self.side.past) > 1)
    @rule(data=st.data(), name=st.sampled_from(["good", "事务"]), take=st.booleans())
    def tag(self, data: st.DataObject, name: str, take: bool) -> None:
        """Give a kept generation a name, or take the name away."""
        oldest = max(1, self.side.oldest)
        number = None if take else data.draw(st.integers(oldest, len(self.side.past) - 1))
        self._both(lambda side: side.store.tag(name, number))

    @precondition(lambda self: len(self.side.past) > 1 and self.side.store.capabilities.time_travel == "search")
    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        """Search a kept generation."""
        number = data.draw(st.integers(max(1, self.side.oldest), len(self.side.past) - 1))
        wanted, told = (side.searched(number, words=self.words) for side in (self.oracle, self.side))
        assert {name: answer for name, answer in told.items() if answer != wanted[name]} == {}

    @rule()
    def reopen(self) -> None:
        """Close the store and open it again."""
        self._both(lambda side: side.reopen())

    @invariant()
    def each_side_reads_as_its_model_says(self) -> None:
        """The adapter's above all."""
        self._both(Side.check)

    @invariant()
    def both_sides_tell_the_same(self) -> None:
        """What the memory store answers, the adapter answers."""
        wanted, told = self.oracle.told(words=self.words), self.side.told(words=self.words)
        assert {name: answer for name, answer in told.items() if answer != wanted[name]} == {}

    def teardown(self) -> None:
        """At the end nothing is wrong, and both sides know the same of what could go."""
        told = self.side.told_of_upkeep()
        assert told["problems"] == []
        assert told == self.oracle.told_of_upkeep()
        self.side.store.close()
        self.oracle.store.close()


class MachineRules:
    """The port as a whole."""

    def test_any_history_reads_as_the_model_and_the_memory_store_say(self, make_store: MakeStore) -> None:
        """Whatever is written, moved, closed, rolled back and compacted in any order, nothing is lost or doubled.

        The history that is printed is the shortest that was found. Play it by hand, and look at the first step after
        which the answers differ from the memory store's.
        """
        run_state_machine_as_test(
            lambda: StoreMachine(make_store),  # type: ignore[arg-type]  # any factory will do, whatever the stub says
            settings=settings(
                max_examples=25,
                stateful_step_count=20,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            ),
        )

"""The store: a list of states, the last of which is the head.

1. All generations are kept for as long as the list lives, or until they are compacted away; nothing survives the
   process.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_adapters.stores.heads import has_moved
from steadlith_adapters.stores.memory import compaction
from steadlith_adapters.stores.memory.reader import MAX_LIMIT, MemoryReader
from steadlith_adapters.stores.memory.state import State
from steadlith_adapters.stores.memory.transaction import QUANTIZATION, MemoryTransaction
from steadlith_core.errors import GenerationGone, StaleHead, UsageError
from steadlith_core.ports import Capabilities, Compaction, Removable, Traces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.records import DocumentId, Generation, Head

CAPABILITIES = Capabilities(
    commit="atomic",
    cas="transactional",
    writers="cas",
    isolation="snapshot",
    durability="process",
    dense=frozenset({"exact"}),
    prefilter="exact",
    lexical="bm25",
    lexical_stats="head",
    quantization=QUANTIZATION,
    time_travel="search",
    max_limit=MAX_LIMIT,
    reclaims_space=False,
    remote=False,
)


class MemoryStore:
    """One logical index. Stores over the same `history` list are one index, opened several times."""

    __slots__ = ("_closed", "_history", "_readers", "_readonly", "_writes")

    def __init__(self, history: list[State] | None = None, *, readonly: bool = False) -> None:
        self._history = [] if history is None else history
        if not self._history:
            self._history.append(State())
        self._readonly = readonly
        self._closed = False
        self._readers: list[MemoryReader] = []
        self._writes: list[MemoryTransaction] = []

    @property
    def capabilities(self) -> Capabilities:
        """See `Store.capabilities`."""
        return CAPABILITIES

    def head(self) -> Head:
        """See `Store.head`."""
        return self._states()[-1].head

    def snapshot(self, generation: int | None = None) -> MemoryReader:
        """See `Store.snapshot`."""
        states = self._states()
        head = states[-1].head
        wanted = head.generation if generation is None else generation
        kept = {
            state.head.generation: state for state in states if state.generation is not None or head.generation == 0
        }
        if wanted in kept:
            reader = MemoryReader(kept[wanted], head, kept)
            self._readers.append(reader)
            return reader
        message = f"generation {wanted} is not kept; the index is at generation {head.generation}"
        raise GenerationGone(message)

    def begin(self, expected: Head, *, mend: bool = False) -> MemoryTransaction:
        """See `Store.begin`."""
        head = self._states()[-1].head
        self._refuse_to_write()
        if has_moved(head, expected):
            message = f"the index is at generation {head.generation}, not at {expected.generation}; plan again"
            raise StaleHead(message)
        write = MemoryTransaction(self._history, mend=mend)
        self._writes.append(write)
        return write

    def history(self) -> tuple[Generation, ...]:
        """See `Store.history`."""
        return tuple(state.generation for state in self._states() if state.generation)

    def tags(self) -> Mapping[str, int]:
        """See `Store.tags`."""
        return dict(sorted(self._states()[-1].tags.items()))

    def tag(self, name: str, generation: int | None) -> None:
        """See `Store.tag`."""
        self._refuse_to_write()
        tags = {given: number for given, number in self.tags().items() if given != name}
        if generation is not None:
            self.snapshot(generation).close()  # raises for a generation that is not kept
            tags[name] = generation
        self._name(tags)

    def removable(self, keep_from: int) -> Removable:
        """See `Store.removable`."""
        return compaction.removed(self._states(), self._kept(keep_from))

    def traces(self, ids: Sequence[DocumentId]) -> Traces:
        """See `Store.traces`."""
        return compaction.traces(self._states(), ids)

    def compact(self, expected: Head, keep_from: int, *, scrub: bool = False) -> Compaction:
        """See `Store.compact`. What nothing refers to is free at once, so there is nothing to scrub."""
        del scrub
        head = self._states()[-1].head
        self._refuse_to_write()
        if any(write.is_open for write in self._writes):
            message = "a write of this store is in progress; commit or abort it before compacting"
            raise UsageError(message)
        if head != expected:
            message = f"the index is at generation {head.generation}, not at {expected.generation}; compact again"
            raise StaleHead(message)
        kept = self._kept(keep_from)
        removed = compaction.removed(self._history, kept)
        self._history[:] = kept
        self._name({name: number for name, number in self.tags().items() if number >= keep_from})
        return Compaction(keep_from, removed, 0, 0, given_back=True)

    def backup(self, path: str) -> MemoryStore:
        """See `Store.backup`."""
        self._states()
        message = f"{path}: an index in memory has no file to copy; `steadlith manifest export` writes what it holds"
        raise UsageError(message)

    def copied(self) -> list[State]:
        """The kept generations as a history of its own: a store over it is another index, and begins like this one."""
        return list(self._states())

    def close(self) -> None:
        """See `Store.close`."""
        for reader in self._readers:
            reader.close()
        for write in self._writes:
            write.abort()
        self._closed = True

    def _refuse_to_write(self) -> None:
        if self._readonly:
            message = "opened for reading only, so nothing can be written"
            raise UsageError(message)

    def _name(self, tags: Mapping[str, int]) -> None:
        self._history[-1] = replace(self._history[-1], tags=tags)

    def _kept(self, keep_from: int) -> list[State]:
        self.snapshot(keep_from).close()  # raises for a generation that is not kept
        return compaction.kept(self._states(), keep_from)

    def _states(self) -> list[State]:
        if self._closed:
            message = "this store is closed; open it again"
            raise UsageError(message)
        return self._history

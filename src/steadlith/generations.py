"""What is kept of the past: generations by name, the names that they are given, texts of documents as they were."""

from __future__ import annotations

from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Protocol

from steadlith import naming, restoring
from steadlith.border import adapter
from steadlith.compacting import document_ids
from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith.assembly import Assembly
    from steadlith.between import Between
    from steadlith.described import Described
    from steadlith_core.ports import Store


class Open(Protocol):
    """Opens the index's store, and closes it with the stack where that is due."""

    def __call__(self, stack: ExitStack, *, readonly: bool) -> Store:
        """Open it."""
        ...


class Generations:
    """The past of one index. Every call opens the store anew."""

    def __init__(self, assembly: Assembly, open_store: Open) -> None:
        self._assembly = assembly
        self._open = open_store

    def tags(self) -> Mapping[str, int]:
        """The names that generations were given, with their numbers."""
        with ExitStack() as stack:
            return self._open(stack, readonly=True).tags()

    def find(self, name: str) -> int:
        """The number of the generation of this name. Raises `UsageError` if it names none, and `GenerationGone`."""
        with ExitStack() as stack:
            store = self._open(stack, readonly=True)
            found = naming.find(store.history(), store.tags(), name)
        if found is None:
            message = f"{name!r} names no generation; expected {naming.EXPECTED}"
            raise UsageError(message)
        return found

    def tag(self, name: str, generation: int, *, lock_timeout: float = 0.0) -> None:
        """Give a kept generation a name, moving the name if it is in use.

        A name keeps its generation, and all later ones, from being compacted away. Raises `UsageError` for a name that
        cannot be, `GenerationGone`, `LockHeld`.
        """
        self._tag(naming.checked(name), generation, lock_timeout)

    def untag(self, name: str, *, lock_timeout: float = 0.0) -> None:
        """Take a name away. Raises `UsageError` for one that was never given, `LockHeld`."""
        known = self.tags()
        if name not in known:
            message = f"no generation is named {name!r}; there are {', '.join(known) or 'no names'}"
            raise UsageError(message)
        self._tag(name, None, lock_timeout)

    def restore(self, document: str, *, at: int | None = None) -> str:
        """The text of a document (`SOURCE:PATH`, or `PATH` where there is one source) at a kept generation, or at the
        head: canonical (docs/format.md, section 8), without front matter.

        Raises `UsageError` for a document that is not there, `GenerationGone`.
        """
        (id_,) = document_ids((document,), self._assembly.config.sources)
        with ExitStack() as stack:
            reader = stack.enter_context(closing(self._open(stack, readonly=True).snapshot(at)))
            return restoring.text(reader, id_)

    def describe(self, number: int) -> Described:
        """All that is known of a kept generation, and what it changed. Raises `GenerationGone`."""
        from steadlith import described

        with ExitStack() as stack:
            return described.described(self._open(stack, readonly=True), number)

    @contextmanager
    def between(self, old: int, new: int) -> Iterator[Between]:
        """What two kept generations differ in, at the cost of that; their texts can be asked for until it is closed.

        Raises `GenerationGone`.
        """
        from steadlith import between

        with ExitStack() as stack:
            yield stack.enter_context(between.opened(self._open(stack, readonly=True), old, new))

    def _tag(self, name: str, generation: int | None, lock_timeout: float) -> None:
        with ExitStack() as stack:
            lock = self._assembly.lock(timeout=lock_timeout, holder="steadlith tag")
            lock.acquire()
            stack.callback(lock.release)
            with adapter("naming a generation"):
                self._open(stack, readonly=False).tag(name, generation)

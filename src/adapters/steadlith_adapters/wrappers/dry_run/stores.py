"""A dry run of a store: from the first write on it goes on in a copy that is thrown away.

1. The index itself is opened for reading only, and never changed. Until the first write everything is read from it.
2. The first write copies all that is committed, with whatever copies such a store; every check of a write is the
   store's own. (What a store keeps cannot be copied through its port: no reader tells the keys of an entry's vectors.)
3. Stores that one dry run opened are one index, as stores over one file are; readers that are open stay what they were.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steadlith_core.ports import (
        Capabilities,
        Compaction,
        Reader,
        Removable,
        Store,
        StoreFactory,
        Traces,
        Transaction,
    )
    from steadlith_core.records import DocumentId, Generation, Head

OpenCopy: TypeAlias = "Callable[[bool], Store]"
"""Opens the copy; the argument says whether for reading only."""

FILE = "index"


def by_backup(factory: StoreFactory, folder: str) -> Callable[[Store], OpenCopy]:
    """Copies with the store's own `backup`, into an empty folder, for stores whose setting `path` names their file."""

    def opened(readonly: bool) -> Store:
        return factory.open({"path": FILE}, root=folder, readonly=readonly)

    def copy(store: Store) -> OpenCopy:
        if store.head().generation:
            store.backup(f"{folder}/{FILE}").close()
        return opened

    return copy


class DryRun:
    """One dry run over one index. `original` opens the index for reading only, `copy` copies it as it is then."""

    def __init__(self, original: Callable[[], Store], copy: Callable[[Store], OpenCopy]) -> None:
        self._original = original
        self._copy = copy
        self._lock = threading.Lock()
        self.copied: OpenCopy | None = None

    def open(self, *, readonly: bool = False) -> DryRunStore:
        """The index as the dry run has it by now."""
        return DryRunStore(self, self._original(), readonly=readonly)

    def leave(self, original: Store) -> None:
        """Copy the index, unless it is copied already."""
        with self._lock:
            if self.copied is None:
                self.copied = self._copy(original)


class DryRunStore:
    """The methods of `ports.Store`, carried out by the index or by its copy."""

    __slots__ = ("_closed", "_copy", "_original", "_readonly", "_run")

    def __init__(self, run: DryRun, original: Store, *, readonly: bool) -> None:
        self._run = run
        self._original = original
        self._readonly = readonly
        self._copy: Store | None = None
        self._closed = False

    @property
    def capabilities(self) -> Capabilities:
        """See `Store.capabilities`."""
        return self._original.capabilities

    def head(self) -> Head:
        """See `Store.head`."""
        return self._now().head()

    def snapshot(self, generation: int | None = None) -> Reader:
        """See `Store.snapshot`."""
        return self._now().snapshot(generation)

    def begin(self, expected: Head, *, mend: bool = False) -> Transaction:
        """See `Store.begin`."""
        return self._writable().begin(expected, mend=mend)

    def history(self) -> tuple[Generation, ...]:
        """See `Store.history`."""
        return self._now().history()

    def tags(self) -> Mapping[str, int]:
        """See `Store.tags`."""
        return self._now().tags()

    def tag(self, name: str, generation: int | None) -> None:
        """See `Store.tag`."""
        return self._writable().tag(name, generation)

    def removable(self, keep_from: int) -> Removable:
        """See `Store.removable`."""
        return self._now().removable(keep_from)

    def traces(self, ids: Sequence[DocumentId]) -> Traces:
        """See `Store.traces`."""
        return self._now().traces(ids)

    def compact(self, expected: Head, keep_from: int, *, scrub: bool = False) -> Compaction:
        """See `Store.compact`."""
        return self._writable().compact(expected, keep_from, scrub=scrub)

    def backup(self, path: str) -> Store:
        """See `Store.backup`; the copy that is asked for is made."""
        return self._now().backup(path)

    def close(self) -> None:
        """See `Store.close`."""
        self._closed = True
        self._original.close()
        if self._copy is not None:
            self._copy.close()

    def _writable(self) -> Store:
        if not self._readonly and not self._closed:
            self._run.leave(self._original)
        return self._now()

    def _now(self) -> Store:
        if self._copy is None and self._run.copied is not None and not self._closed:
            self._copy = self._run.copied(self._readonly)
        return self._copy or self._original

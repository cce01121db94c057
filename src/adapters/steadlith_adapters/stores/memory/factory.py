"""Memory stores from configuration: for tests, and for Python programs that index and search in one process.

Every `open` gives a new, empty store; whoever needs the same one twice keeps it, or shares a `MemoryStore` history.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from steadlith_adapters.settings import Table
from steadlith_adapters.stores.memory.store import MemoryStore
from steadlith_core.errors import LockHeld

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.ports import Settings, Trouble


class MemoryLock:
    """The lock of one root folder's memory store: a thread lock, and who holds it."""

    __slots__ = ("_cell", "_held", "_holder", "_timeout")

    def __init__(self, cell: _Cell, *, timeout: float, holder: str) -> None:
        self._cell = cell
        self._timeout = max(0.0, timeout)
        self._holder = holder
        self._held = False

    def acquire(self) -> None:
        """See `Lock.acquire`."""
        if not self._cell.lock.acquire(timeout=self._timeout):
            message = f"another writer of this process holds the index: {self._cell.holder}"
            raise LockHeld(message)
        self._cell.holder = self._holder
        self._held = True

    def release(self) -> None:
        """See `Lock.release`."""
        if self._held:
            self._held = False
            self._cell.lock.release()


class MemoryStoreFactory:
    """Makes memory stores; there is nothing to set."""

    __slots__ = ("_cells",)

    def __init__(self) -> None:
        self._cells: dict[str, _Cell] = {}

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """See `StoreFactory.files`."""
        _refuse_settings(settings)
        del root
        return ()

    def open(self, settings: Settings, *, root: str, readonly: bool) -> MemoryStore:
        """See `StoreFactory.open`."""
        _refuse_settings(settings)
        del root
        return MemoryStore(readonly=readonly)

    def set_aside(self, settings: Settings, *, root: str) -> str:
        """See `StoreFactory.set_aside`; a memory store has no file to be damaged."""
        _refuse_settings(settings)
        del root
        return ""

    def troubles(self, settings: Settings, *, root: str) -> Sequence[Trouble]:
        """See `StoreFactory.troubles`; there is nothing around a memory store."""
        _refuse_settings(settings)
        del root
        return ()

    def lock(self, settings: Settings, *, root: str, timeout: float, holder: str) -> MemoryLock:
        """See `StoreFactory.lock`."""
        _refuse_settings(settings)
        return MemoryLock(self._cells.setdefault(root, _Cell()), timeout=timeout, holder=holder)


FACTORY = MemoryStoreFactory()


class _Cell:
    __slots__ = ("holder", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holder = "it left no name"


def _refuse_settings(settings: Settings) -> None:
    Table("store 'memory'", settings).only()

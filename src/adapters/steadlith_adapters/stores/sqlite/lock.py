"""The writer's lock: held by an open file, so that the kernel frees it when its holder dies.

1. `<index>.lock` is locked and never removed: removing it would let two writers lock two files.
2. `<index>.lock.info` says who holds it; it serves the message and decides nothing.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from steadlith_core.errors import AdapterError, LockHeld

if TYPE_CHECKING:
    from pathlib import Path

    import filelock

LOCK_SUFFIX = ".lock"
INFO_SUFFIX = ".lock.info"


class SqliteLock:
    """The lock of one index file, for one holder."""

    __slots__ = ("_file", "_holder", "_info", "_lock", "_timeout")

    def __init__(self, index: Path, *, timeout: float, holder: str) -> None:
        self._file = index.with_name(index.name + LOCK_SUFFIX)
        self._info = index.with_name(index.name + INFO_SUFFIX)
        self._timeout = max(0.0, timeout)
        self._holder = holder
        self._lock: filelock.BaseFileLock | None = None

    def acquire(self) -> None:
        """See `Lock.acquire`."""
        import filelock

        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(self._file, thread_local=False)
            lock.acquire(timeout=self._timeout)
            self._write_info()
        except filelock.Timeout as error:
            message = (
                f"another writer holds {self._file}: {self._read_holder()}; "
                f"wait for it (waited {self._timeout:g} s), or stop it: the lock ends with its process"
            )
            raise LockHeld(message) from error
        except OSError as error:
            message = f"{self._file}: cannot be locked ({error}); check store.path and permissions"
            raise AdapterError(message) from error
        self._lock = lock

    def release(self) -> None:
        """See `Lock.release`."""
        lock, self._lock = self._lock, None
        if lock:
            self._info.unlink(missing_ok=True)
            lock.release()

    def _write_info(self) -> None:
        # Renamed into place, so that whoever reads it while we hold the lock sees all of it.
        fresh = self._info.with_name(f"{self._info.name}.{os.getpid()}")
        fresh.write_text(json.dumps({"holder": self._holder}, ensure_ascii=False) + "\n", encoding="utf-8")
        fresh.replace(self._info)

    def _read_holder(self) -> str:
        try:
            info: Any = json.loads(self._info.read_text(encoding="utf-8"))
            return str(info["holder"])
        except (OSError, ValueError, KeyError, TypeError):
            return "it left no name"

"""The writer's lock: held by an open file, so that the kernel frees it when its holder dies.

1. `<index>.lock` is locked and never removed: removing it would let two writers lock two files.
2. `<index>.lock.info` says who holds it; it serves the message and decides nothing. One that a dead process left is not
   believed: between locking and writing our name, whoever asks would be told a wrong one.
3. On a network file system nothing is locked: it would keep nobody out.
"""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from steadlith_adapters.sqlite import network
from steadlith_core.errors import AdapterError, LockHeld

if TYPE_CHECKING:
    from pathlib import Path

    import filelock

LOCK_SUFFIX = ".lock"
INFO_SUFFIX = ".lock.info"
NO_NAME = "it left no name"


class SqliteLock:
    """The lock of one index file, for one holder."""

    __slots__ = ("_file", "_holder", "_index", "_info", "_lock", "_timeout")

    def __init__(self, index: Path, *, timeout: float, holder: str) -> None:
        self._index = index
        self._file = index.with_name(index.name + LOCK_SUFFIX)
        self._info = index.with_name(index.name + INFO_SUFFIX)
        self._timeout = max(0.0, timeout)
        self._holder = holder
        self._lock: filelock.BaseFileLock | None = None

    def acquire(self) -> None:
        """See `Lock.acquire`."""
        import filelock

        network.refuse(self._index, "store.path")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(self._file, thread_local=False)
            lock.acquire(timeout=self._timeout)
            self._lock = lock
            self._write_info()
        except filelock.Timeout as error:
            waited = f" (waited {self._timeout:g} s)" if self._timeout else ""
            message = (
                f"another writer holds {self._file}: {self._read_holder()}{waited}; "
                "wait for it (--lock-timeout SECONDS), or stop it: the lock ends with its process"
            )
            raise LockHeld(message) from error
        except OSError as error:
            self.release()
            message = f"{self._file}: cannot be locked ({error}); check store.path and permissions"
            raise AdapterError(message) from error

    def release(self) -> None:
        """See `Lock.release`."""
        lock, self._lock = self._lock, None
        if lock:
            with suppress(OSError):
                self._info.unlink()
            lock.release()

    def _write_info(self) -> None:
        # Written in place: who reads half of it takes it for no name, and it decides nothing.
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        info = {"command": self._holder, "pid": os.getpid(), "host": socket.gethostname(), "since": since}
        self._info.write_text(json.dumps(info, ensure_ascii=False) + "\n", encoding="utf-8")

    def _read_holder(self) -> str:
        found = _record(self._info)
        return found.holder if found is not None and found.may_run else NO_NAME


class _Record(NamedTuple):
    """Who wrote an info record; and whether that process may still run, as far as this machine knows."""

    holder: str
    may_run: bool


def left_record(index: Path) -> tuple[Path, str] | None:
    """The record that a process of this machine left when it died, and who that was; none if there is no such."""
    path = index.with_name(index.name + INFO_SUFFIX)
    found = _record(path)
    return None if found is None or found.may_run else (path, found.holder)


def _record(path: Path) -> _Record | None:
    """The record at `path`; none where there is none that can be read."""
    try:
        info: Any = json.loads(path.read_text(encoding="utf-8"))
        command, pid, host, since = (info[key] for key in ("command", "pid", "host", "since"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    may_run = host != socket.gethostname() or _runs(pid)
    return _Record(f"{command}, process {pid} on {host}, since {since}", may_run)


def _runs(pid: Any) -> bool:
    """Whether a process of this machine has that number. One in another container may not be seen: it has another host
    name there, as a rule.
    """
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # somebody else's
    return True

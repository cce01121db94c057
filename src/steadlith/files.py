"""Files of ours that are written whole or not at all: plans, manifests, locks, proofs, configuration, fingerprints.

1. What is new is written beside the old file, synced, put in its place, and the folder is synced. After a kill or a
   power cut the old file is there or the new one, and no part of either.
2. What a killed writer left beside is never read and stands in nobody's way. The next write of the same file removes
   it: a writer holds a lock on what it writes, so nothing of a living one is taken for left.
3. A file that is replaced keeps its permissions. A link stays, and what it leads to is replaced.
4. A pipe or a device has no old content to lose: it is written into.

All of it goes through the five operations of `FileSystem`, so that a test can put a failing one in place of the real.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from glob import escape
from io import BufferedWriter
from stat import S_IMODE
from typing import TYPE_CHECKING, Protocol

from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from io import FileIO
    from pathlib import Path


class FileSystem(Protocol):
    """What writing a file takes. Each raises `OSError`."""

    def create(self, path: Path) -> FileIO:
        """A new, empty file, open for writing. `FileExistsError` if there is one."""
        ...

    def sync(self, file: FileIO) -> None:
        """Return once the file's bytes survive a power cut."""
        ...

    def replace(self, path: Path, target: Path) -> None:
        """`path` is called `target` from now on; what was called so is gone. At once or not at all."""
        ...

    def sync_folder(self, folder: Path) -> None:
        """Return once the folder's names survive a power cut, where it can be asked to."""
        ...

    def remove(self, path: Path) -> None:
        """The file is gone. `FileNotFoundError` if it was not there."""
        ...


class Posix:
    """The file system of this machine."""

    def create(self, path: Path) -> FileIO:
        """See `FileSystem.create`."""
        return path.open("xb", buffering=0)

    def sync(self, file: FileIO) -> None:
        """See `FileSystem.sync`."""
        os.fsync(file.fileno())

    def replace(self, path: Path, target: Path) -> None:
        """See `FileSystem.replace`."""
        path.replace(target)

    def sync_folder(self, folder: Path) -> None:
        """See `FileSystem.sync_folder`."""
        try:
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)
        except OSError as error:
            # Some folders may be written to and not read, and some file systems sync none. A failing disk is told.
            if error.errno == errno.EIO:
                raise

    def remove(self, path: Path) -> None:
        """See `FileSystem.remove`."""
        path.unlink()


SYSTEM: FileSystem = Posix()
"""The one that is used."""


class Replacement:
    """A new file on its way: what is written into `stream` takes the place of `file` when it is finished."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._finished = False
        sweep(file)
        self._path, self._raw = _create(file)
        self.stream = BufferedWriter(self._raw)
        with suppress(OSError):  # there is no old file, or it is somebody else's
            os.fchmod(self._raw.fileno(), S_IMODE(file.stat().st_mode))

    def finish(self) -> None:
        """Put it in place. Raises `OSError`; then the old file is there, or the new one whole."""
        self.stream.flush()
        SYSTEM.sync(self._raw)
        self.stream.close()
        SYSTEM.replace(self._path, self._file)
        self._finished = True
        SYSTEM.sync_folder(self._file.parent)

    def drop(self) -> None:
        """Leave no trace of what was not finished. Harmless afterwards."""
        with suppress(OSError):  # what could not be written cannot be flushed either
            self.stream.close()
        if not self._finished:
            with suppress(OSError):
                SYSTEM.remove(self._path)


def write(file: Path, pieces: Iterable[bytes]) -> int:
    """Replace `file` whole or not at all by `pieces`. How many bytes. Raises `OSError`, and what `pieces` raise."""
    new = Replacement(file)
    try:
        size = sum(map(new.stream.write, pieces))
        new.finish()
    finally:
        new.drop()
    return size


def save(file: Path, pieces: Iterable[bytes], option: str = "--out") -> int:
    """As `write`, for whatever a user named by `option`. `UsageError` says what is wrong with it."""
    if not file.name:
        raise UsageError(f"{option} {str(file)!r}: expected the name of a file")
    try:
        if file.exists() and not file.is_file():
            with file.open("wb") as stream:
                return sum(map(stream.write, pieces))
        target = file.resolve()
        if target.is_symlink():  # from Python 3.13 on, resolve says nothing of a link that leads to itself
            raise UsageError(f"{option} {file}: a link that leads to itself")
        return write(target, pieces)
    except (
        OSError,
        RuntimeError,
    ) as error:  # RuntimeError: before Python 3.13, of a link that leads to itself
        raise UsageError(f"{option} {file}: {getattr(error, 'strerror', None) or error}") from error


def _create(file: Path) -> tuple[Path, FileIO]:
    while True:
        path = file.with_name(f".{file.name}.{os.urandom(8).hex()}.tmp")
        raw = SYSTEM.create(path)
        with suppress(OSError):  # where files cannot be locked nothing is swept either
            fcntl.flock(raw, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(raw.fileno()).st_nlink:
            return path, raw
        raw.close()  # swept between the two lines


def sweep(file: Path) -> None:
    """Remove what killed writers of `file` left."""
    for left in file.parent.glob(f".{escape(file.name)}.*.tmp"):
        with suppress(OSError), left.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            SYSTEM.remove(left)

"""Reading the bytes of one file below a root, and of nothing else.

1. Each part of the path is opened in the folder before it without following links, so that a link swapped in at any
   moment cannot lead outside. (Where the system cannot do that, the resolved path is checked before and after.)
2. Only regular files are read; opening never blocks.
3. The bytes are those of one moment: size and time of the open file are the same before and after.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from steadlith_core.errors import DocumentError
from steadlith_core.records import FindingKind

if TYPE_CHECKING:
    from collections.abc import Sequence

CAN_OPEN_IN_FOLDER = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY")


class LinkMet(Exception):
    """The last part of the path is a symbolic link."""


def read_below(root: str, names: Sequence[str], *, path: str, max_bytes: int) -> bytes:
    """The bytes of `root`/`names`; `path` is what messages call it. Raises `LinkMet` or `DocumentError`."""
    try:
        file = _open_in_folder(root, names) if CAN_OPEN_IN_FOLDER else _open_resolved(root, names)
    except OSError as error:
        raise _explained(error, path) from error
    try:
        before = os.fstat(file)
        if not stat.S_ISREG(before.st_mode):
            raise DocumentError(FindingKind.NOT_A_FILE, f"{path!r} is not a file any more; run again")
        if before.st_size > max_bytes:
            raise DocumentError(
                FindingKind.TOO_LARGE,
                f"{path!r} has {before.st_size} bytes, more than max_file_bytes = {max_bytes}; raise it or exclude it",
            )
        with os.fdopen(file, "rb", closefd=False) as stream:
            # One byte more than there should be shows a file that grew, without reading the rest of it.
            data = stream.read(before.st_size + 1)
        after = os.fstat(file)
    except OSError as error:
        raise _explained(error, path) from error
    finally:
        os.close(file)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(data) != before.st_size:
        raise DocumentError(FindingKind.CHANGED_WHILE_READING, f"{path!r} changed while it was read; run again")
    return data


def _explained(error: OSError, path: str) -> DocumentError:
    if error.errno == errno.ELOOP:
        return DocumentError(FindingKind.LINK_OUTSIDE, f"{path!r} leads through a link to a folder; it is not read")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return DocumentError(FindingKind.VANISHED, f"{path!r} is not there any more; run again")
    if error.errno == errno.ENXIO:
        return DocumentError(FindingKind.NOT_A_FILE, f"{path!r} is not a file any more; run again")
    return DocumentError(
        FindingKind.UNREADABLE_FILE, f"{path!r} cannot be read ({error.strerror}); grant access or exclude it"
    )


def _open_in_folder(root: str, names: Sequence[str]) -> int:
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in names[:-1]:
            inner = _open_folder(name, folder)
            os.close(folder)
            folder = inner
        return _open_last(names[-1], folder)
    finally:
        os.close(folder)


def _open_folder(name: str, folder: int) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    except NotADirectoryError as error:
        # With O_DIRECTORY, Linux reports a link as "not a directory"; others as a loop.
        if stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
        raise


def _open_last(name: str, folder: int) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=folder)
    except OSError as error:
        if stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode):
            raise LinkMet from error
        raise


def _open_resolved(root: str, names: Sequence[str]) -> int:
    path = Path(root, *names)
    if path.is_symlink():
        raise LinkMet
    if path.resolve() != path:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    if path.resolve() != path:
        os.close(file)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return file

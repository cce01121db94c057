"""What SQLite's rollback journal beside a file says: whether a write has begun that did not end.

1. A journal counts while its first byte is not zero. Who commits empties it, overwrites its beginning, or removes it:
   https://www.sqlite.org/fileformat.html, 3.
2. Its header has the size that the file had before the write. Where that is nothing, all that is in the file is the
   file's first write, of which nothing is committed yet. It is on the disk before the file's first byte is.
3. SQLite locks the file itself and never the journal, so reading it here drops nobody's lock.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC = bytes.fromhex("d9d505f920a163d7")
_HEADER = struct.Struct(">8s8xI")
"""The mark, two numbers that are of no interest here, and how many pages the file had."""


def is_begun(path: Path) -> bool:
    """Whether the last write to the file at `path` is in progress, or was cut off and is to be taken back."""
    return _header(path)[:1] not in {b"", b"\0"}


def is_first(path: Path) -> bool:
    """Whether that write is the file's first one, so that nothing was ever committed to it."""
    header = _header(path)
    if len(header) < _HEADER.size:
        return False
    mark, pages = _HEADER.unpack(header)
    return bool(mark == _MAGIC and not pages)


def _header(path: Path) -> bytes:
    try:
        with path.with_name(f"{path.name}-journal").open("rb") as journal:
            return journal.read(_HEADER.size)
    except FileNotFoundError:
        return b""

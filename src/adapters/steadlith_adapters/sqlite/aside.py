"""How a damaged file of ours is moved out of the way: renamed, with what SQLite put beside it, and never deleted.

1. A file that SQLite reads is moved if it bears our mark, or no mark and no table at all.
2. A file that SQLite cannot read may be ours with its first bytes gone, so it is moved, unless it is plainly somebody's
   text. Either way it is kept under its new name.
3. The main file goes first: were it left without its log, an older commit would look whole.
"""

from __future__ import annotations

import os
from codecs import getincrementaldecoder
from glob import escape
from itertools import count
from typing import TYPE_CHECKING

import apsw

from steadlith_adapters.sqlite.opening import HEADER_BYTES, closed_on_error, is_made
from steadlith_adapters.sqlite.places import SIDE_FILES
from steadlith_core.errors import SteadlithError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from steadlith_adapters.sqlite.kind import FileKind

MAGIC = b"SQLite format 3\0"
_MARK_AT, _VERSION_AT = 68, 60
"""Where the header keeps application id and user version: four bytes each, big-endian (SQLite's file format, 1.3)."""
_SAMPLE = 4096


def set_aside(kind: FileKind, path: Path) -> Path:
    """Rename the file to `<name>.damaged-<n>`, `n` the first that is free; its side files likewise. The new path.

    Nobody of this process may have the file open.
    """
    with kind.translated(str(path)):
        _refuse_foreign(kind, path)
        target = next(free for free in _targets(path) if not any(each.exists() for each in _with_side_files(free)))
        for old, new in zip(_with_side_files(path), _with_side_files(target), strict=True):
            if old == path or old.exists():
                old.rename(new)
    return target


def left(path: Path) -> list[Path]:
    """Files that were set aside from `path`, earliest first; their side files are not named."""
    found = path.parent.glob(f"{escape(path.name)}.damaged-*") if os.path.isdir(path.parent) else ()  # noqa: PTH112
    numbers = {int(number): each for each in found if (number := each.name.rpartition("-")[2]).isdecimal()}
    return [numbers[number] for number in sorted(numbers)]


def _targets(path: Path) -> Iterator[Path]:
    return (path.with_name(f"{path.name}.damaged-{number}") for number in count(1))


def _with_side_files(path: Path) -> list[Path]:
    return [path, *(path.with_name(path.name + suffix) for suffix in SIDE_FILES)]


def _refuse_foreign(kind: FileKind, path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(_SAMPLE)
    mark, version = (int.from_bytes(start[at : at + 4], "big") for at in (_MARK_AT, _VERSION_AT))
    if mark == kind.application_id:
        if version > kind.schema_version:
            whose = f"made by a newer Steadlith (schema {version}, this one reads {kind.readable}); upgrade"
            raise kind.foreign(str(path), whose)
    elif not start.startswith(MAGIC) or len(start) < HEADER_BYTES:
        if _is_text(start):
            raise kind.foreign(str(path), "it holds somebody's text; move it away yourself")
    elif mark:
        whose = f"a SQLite database of another program (application id {mark:#x}); move it away yourself"
        raise kind.foreign(str(path), whose)
    else:
        _refuse_tables(kind, path)


def _refuse_tables(kind: FileKind, path: Path) -> None:
    """Refuse an unmarked database that can be read and is not empty."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        with closed_on_error(connection):
            is_made(kind, connection, path)
        connection.close()
    except SteadlithError as error:
        if not isinstance(error.__cause__, apsw.Error):
            raise  # it was read, and says whose it is
    except apsw.Error:
        pass  # not even opened: whatever it was, it is kept under the new name


def _is_text(start: bytes) -> bool:
    """Whether these bytes are text that a person may have written; a page of SQLite's always has zero bytes."""
    try:
        # A character may be cut in two at the end.
        text = getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    return bool(text.strip()) and "\0" not in text

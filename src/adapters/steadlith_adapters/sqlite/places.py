"""Where a file of ours stands, from an adapter's settings; known without loading SQLite."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steadlith_adapters.settings import Table

SIDE_FILES = ("-wal", "-shm", "-journal")


def file_path(table: Table, default: str, *, root: str) -> Path:
    """The file of an adapter whose one setting is `path`, relative to the folder `root`. `ConfigError` for a folder."""
    table.only("path")
    given = table.text("path", default)
    path = Path(root).absolute() / given
    if os.path.isdir(path):  # noqa: PTH112 -- False, not an error, where nothing may be looked at
        inside = f"{given.rstrip('/')}/{Path(default).name}"
        raise table.wrong("path", given, f"a file, such as {inside!r}; {str(path)!r} is a folder")
    return path


def with_side_files(path: Path, *more: str) -> list[str]:
    """The file, what SQLite may put beside it, and what else is beside it with the suffixes `more`."""
    return [str(path), *(f"{path}{suffix}" for suffix in (*SIDE_FILES, *more))]


def bytes_taken(path: Path) -> int:
    """What the file and its write-ahead log take; 0 where there is none."""
    files = (path, Path(f"{path}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())

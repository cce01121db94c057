"""Where a file of ours stands, from an adapter's settings; known without loading SQLite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steadlith_adapters.settings import Table

SIDE_FILES = ("-wal", "-shm", "-journal")


def file_path(table: Table, default: str, *, root: str) -> Path:
    """The file of an adapter whose one setting is `path`, relative to the folder `root`."""
    table.only("path")
    return Path(root).absolute() / table.text("path", default)


def with_side_files(path: Path, *more: str) -> list[str]:
    """The file, what SQLite may put beside it, and what else is beside it with the suffixes `more`."""
    return [str(path), *(f"{path}{suffix}" for suffix in (*SIDE_FILES, *more))]

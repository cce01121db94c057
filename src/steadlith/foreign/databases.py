"""SQLite files of others, read and never written.

1. Without anything in its write-ahead log a file is opened as immutable, which leaves no side file and needs no rights
   to write; with it, as SQLite reads it, so that nothing that was committed is missed.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from steadlith.foreign.whole import cannot_read
from steadlith_core.errors import ImportFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = b"SQLite format 3\0"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, for reading. Raises `ImportFileError` for a file that is none, or is damaged."""
    try:
        with path.open("rb") as stream:
            found = stream.read(len(_MAGIC))
        log = Path(f"{path}-wal")
        logged = log.exists() and log.stat().st_size > 0
    except OSError as error:
        raise cannot_read(path, error) from error
    if found != _MAGIC:
        raise ImportFileError(f"{path} is no SQLite database")
    how = "mode=ro" if logged else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True)) as database:
            # What is no UTF-8 is one bad row's matter, and stops no other.
            database.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
            yield database
    except (sqlite3.Error, OverflowError) as error:
        raise ImportFileError(f"{path} cannot be read: {error}") from error

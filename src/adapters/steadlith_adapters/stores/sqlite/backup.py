"""A copy of the index file, made while others read and write.

1. It is one snapshot: what is committed meanwhile is not in it, and waits for nothing but the log to be emptied.
2. It is a file like the one it was copied from, and opens as an index.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from steadlith_adapters.sqlite.places import SIDE_FILES
from steadlith_adapters.stores.sqlite import generations
from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from steadlith_adapters.stores.sqlite.session import Session


def copy(session: Session, path: str) -> None:
    """Copy what the session sees to `path`, where nothing is yet; a copy that fails leaves nothing there."""
    if generations.read_head(session).generation == 0:
        message = f"{session.path}: there is no index yet, so there is nothing to copy: run `steadlith apply` first"
        raise UsageError(message)
    if Path(path).exists():
        message = f"{path}: there is a file already; a copy goes to a new one"
        raise UsageError(message)
    session.run("BEGIN")
    try:
        generations.read_head(session)  # the first read takes the snapshot
        session.copy_to(path)
    except BaseException:
        for suffix in ("", *SIDE_FILES):
            with suppress(OSError):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
        raise
    finally:
        session.run("ROLLBACK")

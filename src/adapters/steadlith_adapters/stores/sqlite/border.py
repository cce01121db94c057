"""The one place where errors of SQLite become errors of Steadlith.

1. Damage is `StoreCorrupt`, contention is `LockHeld`, a file without SQLite's header is `ForeignFile`, all else is
   `AdapterError`; the cause is chained.
2. Each message names the file and the way out.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from steadlith_core.errors import AdapterError, ForeignFile, LockHeld, StoreCorrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

WAY_OUT = "delete it and apply again: the cache keeps the embeddings"


def damaged(path: str, what: str) -> StoreCorrupt:
    """The error for a file of ours that holds something it cannot hold."""
    return StoreCorrupt(f"{path}: {what}; {WAY_OUT}")


def not_a_database(path: str, why: str) -> ForeignFile:
    """The error for a file that SQLite cannot open; it may be somebody's, so nobody is told to delete it."""
    return ForeignFile(
        f"{path}: not a SQLite database ({why}), so not an index, or one damaged in its first bytes; "
        "move it away and apply again (the cache keeps the embeddings), or set another store.path"
    )


@contextmanager
def border(path: str) -> Iterator[None]:
    """Translate whatever SQLite raises inside."""
    try:
        yield
    except apsw.NotADBError as error:
        raise not_a_database(path, str(error)) from error
    except (apsw.CorruptError, UnicodeDecodeError) as error:
        raise damaged(path, f"the file is damaged ({error})") from error
    except (apsw.BusyError, apsw.LockedError) as error:
        message = f"{path}: another program is writing to the index ({error}); try again when it is done"
        raise LockHeld(message) from error
    except apsw.FullError as error:
        message = f"{path}: the disk is full ({error}); free some space and try again"
        raise AdapterError(message) from error
    except apsw.Error as error:
        message = f"{path}: SQLite failed: {type(error).__name__}: {error}"
        raise AdapterError(message) from error

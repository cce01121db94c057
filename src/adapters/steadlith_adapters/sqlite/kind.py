"""What a SQLite file of ours is called, marked by and mended with; and the one border for SQLite's errors.

1. No error of SQLite or of the file system leaves an adapter: each becomes one of ours, with its cause chained.
2. Each message names the file and the way out.
3. Nobody is told to delete what may be somebody's: a file that is no database is moved away, or left alone.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from steadlith_core.errors import AdapterError, ForeignFile, StoreCorrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_core.errors import SteadlithError


@dataclass(frozen=True, slots=True)
class FileKind:
    """One kind of file of ours: the index, or the cache.

    `setting` is the key that names its place, `table_of_1x` a table that only steadlith 1.x made, `rebuild` what to do
    once a damaged file is out of the way. Files of a schema from `oldest_readable` on are read as they are; who writes
    to one migrates it first. `no_database` and `busy` are the errors of a file without SQLite's header, and of one that
    another process keeps locked.
    """

    noun: str
    setting: str
    application_id: int
    schema_version: int
    oldest_readable: int
    table_of_1x: str
    rebuild: str
    no_database: type[SteadlithError]
    busy: type[SteadlithError]

    @property
    def readable(self) -> str:
        """The schema versions that are read, for a message."""
        oldest, newest = self.oldest_readable, self.schema_version
        return f"{newest}" if oldest == newest else f"{oldest} to {newest}"

    def damaged(self, path: str, what: str) -> StoreCorrupt:
        """The error for a file of ours that holds something it cannot hold."""
        fault = f"{path}: {what}"
        return StoreCorrupt(f"{fault}; move it away or delete it and {self.rebuild}", fault)

    def not_a_database(self, path: str, why: str) -> SteadlithError:
        """The error for a file that SQLite cannot open."""
        return self.no_database(
            f"{path}: not a SQLite database ({why}), so not our {self.noun}, or damaged in its first bytes; "
            f"move it away and {self.rebuild}; or set another {self.setting}"
        )

    def foreign(self, path: str, whose: str) -> ForeignFile:
        """The error for a database that is not ours, or not of this version."""
        return ForeignFile(f"{path}: {whose}, or set another {self.setting}")

    @contextmanager
    def translated(self, path: str) -> Iterator[None]:
        """Translate whatever SQLite or the file system raises inside."""
        try:
            yield
        except apsw.NotADBError as error:
            raise self.not_a_database(path, str(error)) from error
        except (apsw.CorruptError, apsw.FormatError, UnicodeDecodeError) as error:
            raise self.damaged(path, f"the file is damaged ({error})") from error
        except (apsw.BusyError, apsw.LockedError) as error:
            raise self.busy(
                f"{path}: another process is writing to the {self.noun} ({error}); try again when it is done"
            ) from error
        except apsw.FullError as error:
            raise AdapterError(f"{path}: the disk is full ({error}); free some space and try again") from error
        except (apsw.Error, OSError) as error:
            raise AdapterError(
                f"{path}: the {self.noun} cannot be used ({type(error).__name__}: {error}); "
                f"check {self.setting}, permissions and the disk"
            ) from error

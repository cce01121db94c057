"""The setting of the sqlite cache, and the files that are its own; known without loading SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.settings import Table
from steadlith_adapters.sqlite.places import file_path, with_side_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from steadlith_adapters.caches.sqlite.cache import SqliteCache
    from steadlith_core.ports import Settings, Trouble

DEFAULT_PATH = ".steadlith/cache.sqlite3"


class SqliteCacheFactory:
    """Makes SQLite caches. The one setting is `path`."""

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """The file and its side files."""
        return with_side_files(_path(settings, root))

    def open(self, settings: Settings, *, root: str, readonly: bool, today: int) -> SqliteCache:
        """Open the file, or with `readonly` an empty cache where there is none."""
        from steadlith_adapters.caches.sqlite.cache import SqliteCache
        from steadlith_adapters.caches.sqlite.file import open_reading, open_writing

        path = _path(settings, root)
        connection = open_reading(path) if readonly else open_writing(path)
        return SqliteCache(path, connection, readonly=readonly, today=today)

    def set_aside(self, settings: Settings, *, root: str) -> str:
        """Move a damaged file out of the way."""
        from steadlith_adapters.caches.sqlite.schema import CACHE
        from steadlith_adapters.sqlite.aside import set_aside

        return str(set_aside(CACHE, _path(settings, root)))

    def troubles(self, settings: Settings, *, root: str) -> Sequence[Trouble]:
        """What is wrong around the file."""
        from steadlith_adapters.caches.sqlite.schema import CACHE
        from steadlith_adapters.sqlite.surroundings import troubles

        return tuple(troubles(CACHE, _path(settings, root)))


FACTORY = SqliteCacheFactory()


def _path(settings: Settings, root: str) -> Path:
    return file_path(Table("cache 'sqlite'", settings), DEFAULT_PATH, root=root)

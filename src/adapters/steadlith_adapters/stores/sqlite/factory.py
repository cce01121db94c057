"""Settings of the sqlite store, and the files that are its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.settings import Table
from steadlith_adapters.sqlite.places import file_path, with_side_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from steadlith_adapters.stores.sqlite.lock import SqliteLock
    from steadlith_adapters.stores.sqlite.store import SqliteStore
    from steadlith_core.ports import Settings, Trouble

DEFAULT_PATH = ".steadlith/index.sqlite3"
LOCK_FILES = (".lock", ".lock.info")
ONE_INDEX = ("alias", "collection")


class SqliteStoreFactory:
    """Makes sqlite stores. `path` is the one setting: the index file, relative to the configuration's folder."""

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """See `StoreFactory.files`."""
        return with_side_files(_index_path(settings, root), *LOCK_FILES)

    def open(self, settings: Settings, *, root: str, readonly: bool) -> SqliteStore:
        """See `StoreFactory.open`."""
        from steadlith_adapters.stores.sqlite.store import SqliteStore

        return SqliteStore(_index_path(settings, root), readonly=readonly)

    def set_aside(self, settings: Settings, *, root: str) -> str:
        """See `StoreFactory.set_aside`."""
        from steadlith_adapters.sqlite.aside import set_aside
        from steadlith_adapters.stores.sqlite.schema import INDEX

        return str(set_aside(INDEX, _index_path(settings, root)))

    def troubles(self, settings: Settings, *, root: str) -> Sequence[Trouble]:
        """See `StoreFactory.troubles`."""
        from steadlith_adapters.stores.sqlite.surroundings import troubles

        return tuple(troubles(_index_path(settings, root)))

    def lock(self, settings: Settings, *, root: str, timeout: float, holder: str) -> SqliteLock:
        """See `StoreFactory.lock`."""
        from steadlith_adapters.stores.sqlite.lock import SqliteLock

        return SqliteLock(_index_path(settings, root), timeout=timeout, holder=holder)


FACTORY = SqliteStoreFactory()


def _index_path(settings: Settings, root: str) -> Path:
    table = Table("store 'sqlite'", settings)
    for key in ONE_INDEX:
        if key in settings:
            raise table.wrong(key, settings[key], "none: one file holds one logical index; set another path")
    return file_path(table, DEFAULT_PATH, root=root)

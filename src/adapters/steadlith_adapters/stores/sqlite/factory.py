"""Settings of the sqlite store, and the files that are its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from steadlith_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.stores.sqlite.lock import SqliteLock
    from steadlith_adapters.stores.sqlite.store import SqliteStore
    from steadlith_core.ports import Settings

DEFAULT_PATH = ".steadlith/index.sqlite3"
SIDE_SUFFIXES = ("-wal", "-shm", "-journal", ".lock", ".lock.info")
ONE_INDEX = ("alias", "collection")


class SqliteStoreFactory:
    """Makes sqlite stores. `path` is the one setting: the index file, relative to the configuration's folder."""

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """See `StoreFactory.files`."""
        path = _index_path(settings, root)
        return (str(path), *(str(path) + suffix for suffix in SIDE_SUFFIXES))

    def open(self, settings: Settings, *, root: str, readonly: bool) -> SqliteStore:
        """See `StoreFactory.open`."""
        from steadlith_adapters.stores.sqlite.store import SqliteStore

        return SqliteStore(_index_path(settings, root), readonly=readonly)

    def lock(self, settings: Settings, *, root: str, timeout: float, holder: str) -> SqliteLock:
        """See `StoreFactory.lock`."""
        from steadlith_adapters.stores.sqlite.lock import SqliteLock

        return SqliteLock(_index_path(settings, root), timeout=timeout, holder=holder)


FACTORY = SqliteStoreFactory()


def _index_path(settings: Settings, root: str) -> Path:
    for key in settings:
        if key in ONE_INDEX:
            message = f"store.{key}: one file holds one logical index; set another store.path for another index"
            raise ConfigError(message)
        if key != "path":
            message = f"store.{key}: no such setting of the sqlite store; it has: path"
            raise ConfigError(message)
    path = settings.get("path", DEFAULT_PATH)
    if not isinstance(path, str) or not path or "\0" in path:
        message = f"store.path: {path!r} is not a file name (default: {DEFAULT_PATH!r})"
        raise ConfigError(message)
    return Path(root).absolute() / path

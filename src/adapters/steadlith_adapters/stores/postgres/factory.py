"""Settings of the postgres store, and what stands around an index on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import target as targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.stores.postgres.lock import PostgresLock
    from steadlith_adapters.stores.postgres.store import PostgresStore
    from steadlith_core.ports import Settings, Trouble


class PostgresStoreFactory:
    """Makes postgres stores; `target` knows the settings."""

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """See `StoreFactory.files`; all of the index is on the server."""
        targets.check(settings)
        del root
        return ()

    def open(self, settings: Settings, *, root: str, readonly: bool) -> PostgresStore:
        """See `StoreFactory.open`."""
        target = _target(settings, root)
        from steadlith_adapters.stores.postgres.store import PostgresStore

        return PostgresStore(target, readonly=readonly)

    def set_aside(self, settings: Settings, *, root: str) -> str:
        """See `StoreFactory.set_aside`; the schema is renamed, and nothing of it changed."""
        target = _target(settings, root)
        from steadlith_adapters.stores.postgres.aside import set_aside

        return set_aside(target)

    def troubles(self, settings: Settings, *, root: str) -> Sequence[Trouble]:
        """See `StoreFactory.troubles`."""
        target = _target(settings, root)
        from steadlith_adapters.stores.postgres.surroundings import troubles

        return tuple(troubles(target))

    def lock(self, settings: Settings, *, root: str, timeout: float, holder: str) -> PostgresLock:
        """See `StoreFactory.lock`."""
        target = _target(settings, root)
        from steadlith_adapters.stores.postgres.lock import PostgresLock

        return PostgresLock(target, timeout=timeout, holder=holder)


FACTORY = PostgresStoreFactory()


def _target(settings: Settings, root: str) -> targets.Target:
    del root  # a server is nowhere below a folder
    try:
        return targets.target(settings)
    except ImportError as error:
        raise targets.missing_driver(error) from error

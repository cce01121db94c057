"""What another factory makes, with something round it: wrappers for whoever chooses adapters by configuration.

Settings, files, locks and troubles are the inner factory's own; so is the identity of an embedder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.wrappers.caches import WrappedCache
from steadlith_adapters.wrappers.embedders import WrappedEmbedder
from steadlith_adapters.wrappers.sources import WrappedSource
from steadlith_adapters.wrappers.stores import WrappedStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.wrappers.calls import Around
    from steadlith_core.ports import (
        CacheFactory,
        EmbedderFactory,
        EmbedderIdentity,
        FormatRule,
        Lock,
        Settings,
        SourceFactory,
        StoreFactory,
        Trouble,
    )


class WrappedEmbedders:
    """The methods of `ports.EmbedderFactory`."""

    def __init__(self, inner: EmbedderFactory, around: Around) -> None:
        self._inner = inner
        self._around = around

    def describe(self, settings: Settings) -> EmbedderIdentity:
        """See `EmbedderFactory.describe`."""
        return self._inner.describe(settings)

    def build(self, settings: Settings) -> WrappedEmbedder:
        """See `EmbedderFactory.build`."""
        return WrappedEmbedder(self._inner.build(settings), self._around)


class WrappedSources:
    """The methods of `ports.SourceFactory`."""

    def __init__(self, inner: SourceFactory, around: Around) -> None:
        self._inner = inner
        self._around = around

    def build(self, name: str, settings: Settings, *, root: str, private: Sequence[str]) -> WrappedSource:
        """See `SourceFactory.build`."""
        return WrappedSource(self._inner.build(name, settings, root=root, private=private), self._around)

    def formats(self, settings: Settings) -> FormatRule:
        """See `SourceFactory.formats`."""
        return self._inner.formats(settings)


class WrappedCaches:
    """The methods of `ports.CacheFactory`."""

    def __init__(self, inner: CacheFactory, around: Around) -> None:
        self._inner = inner
        self._around = around

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """See `CacheFactory.files`."""
        return self._inner.files(settings, root=root)

    def open(self, settings: Settings, *, root: str, readonly: bool, today: int) -> WrappedCache:
        """See `CacheFactory.open`."""
        return WrappedCache(self._inner.open(settings, root=root, readonly=readonly, today=today), self._around)

    def set_aside(self, settings: Settings, *, root: str) -> str:
        """See `CacheFactory.set_aside`."""
        return self._inner.set_aside(settings, root=root)

    def troubles(self, settings: Settings, *, root: str) -> Sequence[Trouble]:
        """See `CacheFactory.troubles`."""
        return self._inner.troubles(settings, root=root)


class WrappedStores:
    """The methods of `ports.StoreFactory`."""

    def __init__(self, inner: StoreFactory, around: Around) -> None:
        self._inner = inner
        self._around = around

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """See `StoreFactory.files`."""
        return self._inner.files(settings, root=root)

    def open(self, settings: Settings, *, root: str, readonly: bool) -> WrappedStore:
        """See `StoreFactory.open`."""
        return WrappedStore(self._inner.open(settings, root=root, readonly=readonly), self._around)

    def set_aside(self, settings: Settings, *, root: str) -> str:
        """See `StoreFactory.set_aside`."""
        return self._inner.set_aside(settings, root=root)

    def troubles(self, settings: Settings, *, root: str) -> Sequence[Trouble]:
        """See `StoreFactory.troubles`."""
        return self._inner.troubles(settings, root=root)

    def lock(self, settings: Settings, *, root: str, timeout: float, holder: str) -> Lock:
        """See `StoreFactory.lock`."""
        return self._inner.lock(settings, root=root, timeout=timeout, holder=holder)

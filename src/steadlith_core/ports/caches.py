"""Where vectors are kept that were paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.ports.settings import Settings
    from steadlith_core.vectors import Vector


class Cache(Protocol):
    """Vectors by what the model was really given. Content-addressed: losing it costs money, never truth."""

    def contains(self, keys: Sequence[Digest]) -> frozenset[Digest]:
        """Which of `keys` would `get` answer. Changes nothing, on disk or in recency."""
        ...

    def get(self, keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
        """The vectors that are there and intact; a damaged one counts as absent."""
        ...

    def put(self, vectors: Mapping[Digest, Vector]) -> None:
        """Keep all of `vectors` durably, in one transaction. Putting a key again is harmless."""

    def probe(self, model_id: str, params_hash: Digest) -> tuple[Vector, ...] | None:
        """The vectors of the probe texts that the first run recorded under this model, if any."""
        ...

    def put_probe(self, model_id: str, params_hash: Digest, vectors: Sequence[Vector]) -> None:
        """Record the probe's vectors; a second call for the same model changes nothing."""

    def close(self) -> None:
        """Release the file. Closing twice is harmless; any other call afterwards raises `UsageError`."""


class CacheFactory(Protocol):
    """Makes caches from configuration."""

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """Absolute paths of the cache's own files and side files, never to be taken for documents."""
        ...

    def open(self, settings: Settings, *, root: str, readonly: bool) -> Cache:
        """Open it. With `readonly` nothing is created or changed: an absent file is an empty cache."""
        ...

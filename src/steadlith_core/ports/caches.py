"""Where vectors are kept that were paid for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.ports.settings import Settings
    from steadlith_core.vectors import Vector


class Kept(NamedTuple):
    """One entry as it is kept; `problem` says why it counts as absent, if it does."""

    key: Digest
    vector: Vector
    problem: str | None


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """Bytes of the files before and after; `held_back` says why not all space could be given back, if so."""

    before: int
    after: int
    held_back: str | None


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

    def entries(self) -> Iterator[Kept]:
        """Every entry in the order of the keys, checked. Holds nobody back: it may have what others write meanwhile."""
        ...

    def drop(self, keys: Sequence[Digest]) -> int:
        """Remove these entries, damaged or not, in one transaction, and overwrite them. How many were there."""
        ...

    def reclaim(self) -> Reclaimed:
        """Give space that removed entries left back to the file system, as far as nobody else holds it."""
        ...

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

    def set_aside(self, settings: Settings, *, root: str) -> str:
        """Move a damaged cache with its side files out of the way, deleting nothing; the new path of the cache itself.

        Raises `ForeignFile` for what is not ours.
        """
        ...

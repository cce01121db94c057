"""Where vectors are kept that were paid for, and what its keeper asks of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.ports.settings import Settings
    from steadlith_core.ports.upkeep import Trouble
    from steadlith_core.vectors import Vector


class Kept(NamedTuple):
    """One entry as it is kept; `problem` says why it counts as absent, if it does."""

    key: Digest
    vector: Vector
    problem: str | None


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds. `imported` entries came out of a file. `widths` are entries by dimensions.

    `oldest_use` and `latest_use` are days (since 1970-01-01), none where no use is noted.
    """

    entries: int
    imported: int
    vector_bytes: int
    file_bytes: int
    widths: Mapping[int, int]
    oldest_use: int | None
    latest_use: int | None


@dataclass(frozen=True, slots=True)
class PruneRule:
    """Which entries go: those last used before a day, those that were imported, and of the rest, the least recently
    used first, as many as make the vectors more than `max_bytes`. Of one day the earliest written goes first.
    """

    unused_before: int | None = None
    max_bytes: int | None = None
    imported: bool = False


class Tally(NamedTuple):
    """So many entries, and what their vectors take."""

    entries: int
    vector_bytes: int


@dataclass(frozen=True, slots=True)
class Reclaimed:
    """Bytes of the files before and after; `held_back` says why not all space could be given back, if so."""

    before: int
    after: int
    held_back: str | None


class Cache(Protocol):
    """Vectors by what the model was really given. Content-addressed: losing it costs money, never truth.

    An entry that is damaged, of other dimensions than are asked for, not finite or zero is absent.
    """

    def contains(self, keys: Sequence[Digest], dimensions: int) -> frozenset[Digest]:
        """Which of `keys` would `get` answer. Changes nothing, on disk or in recency."""
        ...

    def get(self, keys: Sequence[Digest], dimensions: int) -> Mapping[Digest, Vector]:
        """The vectors that are there, intact, and of so many dimensions. Changes nothing; see `touch`."""
        ...

    def put(self, vectors: Mapping[Digest, Vector]) -> None:
        """Keep all of `vectors` durably, in one transaction, as used today. Putting a key again is harmless."""

    def touch(self, keys: Sequence[Digest]) -> None:
        """Note that these were used today; once a run, by who applied. Writes only what is not noted yet."""

    def probe(self, model_id: str, params_hash: Digest) -> tuple[Vector, ...] | None:
        """The vectors of the probe texts that the first run recorded under this model, if any."""
        ...

    def put_probe(self, model_id: str, params_hash: Digest, vectors: Sequence[Vector]) -> None:
        """Record the probe's vectors; a second call for the same model changes nothing."""

    def stats(self) -> CacheStats:
        """What is there, without reading a vector."""
        ...

    def entries(self) -> Iterator[Kept]:
        """Every entry in the order of the keys, checked. Holds nobody back: it may have what others write meanwhile."""
        ...

    def add(self, vectors: Mapping[Digest, Vector]) -> int:
        """Keep those of `vectors` durably that are not there intact, marked as imported, in one transaction.

        An intact entry is never replaced. How many were kept. `AdapterError` for one that has no direction.
        """
        ...

    def prunable(self, rule: PruneRule) -> Tally:
        """What `prune` would remove. Changes nothing."""
        ...

    def prune(self, rule: PruneRule) -> Tally:
        """Remove in one transaction what the rule names. `reclaim` gives the space back."""
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
        """Absolute paths of the cache's own files and side files, never to be taken for documents.

        A folder stands for all that is in it. The first is the cache itself.
        """
        ...

    def open(self, settings: Settings, *, root: str, readonly: bool, today: int) -> Cache:
        """Open it. With `readonly` nothing is created or changed: an absent file is an empty cache.

        `today` is the day (since 1970-01-01, in UTC) under which uses are noted.
        """
        ...

    def set_aside(self, settings: Settings, *, root: str) -> str:
        """Move a damaged cache with its side files out of the way, deleting nothing; the new path of the cache itself.

        Raises `ForeignFile` for what is not ours.
        """
        ...

    def troubles(self, settings: Settings, *, root: str) -> Sequence[Trouble]:
        """What can be seen to be wrong around the cache, without opening it and without changing anything."""
        ...

"""A dry run of a cache: what is put stays in memory, what is dropped only looks dropped.

1. The cache itself is read and never written.
2. What was put or dropped here is what is answered, listed and counted here. Listing, counting and dropping read the
   whole cache: its port tells nothing cheaper of single entries.
3. The port does not tell which entries were imported, nor the days on which they were used. So pruning tells what would
   go of what is kept, and removes nothing; touching changes nothing; of imports and days the cache's own counts stand.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from heapq import merge
from itertools import groupby
from typing import TYPE_CHECKING

from steadlith_core import vectors as vec
from steadlith_core.errors import AdapterError, UsageError
from steadlith_core.ports import Kept, Reclaimed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Cache, CacheStats, PruneRule, Tally
    from steadlith_core.vectors import Vector


class DryRunCache:
    """The methods of `ports.Cache`. Threads may share it, as they may share what it reads."""

    def __init__(self, inner: Cache) -> None:
        self._inner = inner
        self._own: dict[Digest, Vector] = {}
        self._gone: set[Digest] = set()
        self._probes: dict[tuple[str, Digest], tuple[Vector, ...]] = {}
        self._closed = False
        self._lock = threading.Lock()

    def contains(self, keys: Sequence[Digest], dimensions: int) -> frozenset[Digest]:
        """See `Cache.contains`."""
        return frozenset(self.get(keys, dimensions))

    def get(self, keys: Sequence[Digest], dimensions: int) -> Mapping[Digest, Vector]:
        """See `Cache.get`."""
        with self._open():
            own = {key: self._own[key] for key in keys if key in self._own}
            others = [key for key in keys if key not in self._own and key not in self._gone]
        found = dict(self._inner.get(others, dimensions))
        return found | {key: vector for key, vector in own.items() if not vec.problems(vector, dimensions)}

    def put(self, vectors: Mapping[Digest, Vector]) -> None:
        """See `Cache.put`."""
        for key, vector in vectors.items():
            if not vector or len(vector) % vec.WIDTH:
                message = f"the vector for {key} has {len(vector)} bytes, not a multiple of {vec.WIDTH}"
                raise AdapterError(message)
        with self._open():
            self._own.update(vectors)

    def touch(self, keys: Sequence[Digest]) -> None:
        """See `Cache.touch`."""
        del keys
        with self._open():
            return

    def probe(self, model_id: str, params_hash: Digest) -> tuple[Vector, ...] | None:
        """See `Cache.probe`."""
        with self._open():
            return self._inner.probe(model_id, params_hash) or self._probes.get((model_id, params_hash))

    def put_probe(self, model_id: str, params_hash: Digest, vectors: Sequence[Vector]) -> None:
        """See `Cache.put_probe`."""
        with self._open():
            self._probes.setdefault((model_id, params_hash), tuple(vectors))

    def stats(self) -> CacheStats:
        """See `Cache.stats`."""
        found, sizes = self._inner.stats(), Counter(len(kept.vector) for kept in self.entries())
        return replace(
            found,
            entries=sizes.total(),
            vector_bytes=sum(size * count for size, count in sizes.items()),
            widths={size // vec.WIDTH: count for size, count in sizes.items()},
        )

    def entries(self) -> Iterator[Kept]:
        """See `Cache.entries`."""
        with self._open():
            own, hidden = dict(self._own), self._gone | self._own.keys()
        kept = (each for each in self._inner.entries() if each.key not in hidden)
        made = [Kept(key, own[key], _problem(own[key])) for key in sorted(own)]
        return merge(kept, made, key=lambda each: each.key)

    def add(self, vectors: Mapping[Digest, Vector]) -> int:
        """See `Cache.add`."""
        for key, vector in vectors.items():
            if not vector or _problem(vector):
                message = f"the vector for {key} has no direction, so nothing was imported"
                raise AdapterError(message)
        there: set[Digest] = set()
        for size, keys in groupby(sorted(vectors, key=lambda key: len(vectors[key])), lambda key: len(vectors[key])):
            there |= self.contains(list(keys), size // vec.WIDTH)
        self.put({key: vector for key, vector in vectors.items() if key not in there})
        return len(vectors) - len(there)

    def prunable(self, rule: PruneRule) -> Tally:
        """See `Cache.prunable`: of what is kept."""
        return self._inner.prunable(rule)

    def prune(self, rule: PruneRule) -> Tally:
        """See `Cache.prune`; nothing is removed (rule 3)."""
        return self._inner.prunable(rule)

    def drop(self, keys: Sequence[Digest]) -> int:
        """See `Cache.drop`."""
        there = {kept.key for kept in self.entries()}.intersection(keys)
        with self._open():
            self._gone |= there
            for key in there:
                self._own.pop(key, None)
        return len(there)

    def reclaim(self) -> Reclaimed:
        """See `Cache.reclaim`; there is nothing to give back."""
        taken = self._inner.stats().file_bytes
        return Reclaimed(taken, taken, "a dry run removes nothing")

    def close(self) -> None:
        """See `Cache.close`."""
        with self._lock:
            self._closed = True
        self._inner.close()

    @contextmanager
    def _open(self) -> Iterator[None]:
        with self._lock:
            if self._closed:
                message = "this cache is closed; open it again"
                raise UsageError(message)
            yield


def _problem(vector: Vector) -> str | None:
    return next(iter(vec.problems(vector, len(vector) // vec.WIDTH)), None)

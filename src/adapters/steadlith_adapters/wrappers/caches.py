"""A cache with something round its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.wrappers.calls import Call, begun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_adapters.wrappers.calls import Around
    from steadlith_core.digest import Digest
    from steadlith_core.ports import Cache, CacheStats, Kept, PruneRule, Reclaimed, Tally
    from steadlith_core.vectors import Vector

PORT = "cache"


class WrappedCache:
    """The methods of `ports.Cache`."""

    __slots__ = ("_around", "_inner")

    def __init__(self, inner: Cache, around: Around) -> None:
        self._inner = inner
        self._around = around

    def contains(self, keys: Sequence[Digest], dimensions: int) -> frozenset[Digest]:
        """See `Cache.contains`."""
        call = Call(PORT, "contains", {"keys": keys, "dimensions": dimensions})
        return self._around(call, lambda: self._inner.contains(keys, dimensions))

    def get(self, keys: Sequence[Digest], dimensions: int) -> Mapping[Digest, Vector]:
        """See `Cache.get`."""
        call = Call(PORT, "get", {"keys": keys, "dimensions": dimensions})
        return self._around(call, lambda: self._inner.get(keys, dimensions))

    def put(self, vectors: Mapping[Digest, Vector]) -> None:
        """See `Cache.put`."""
        return self._around(Call(PORT, "put", {"vectors": vectors}), lambda: self._inner.put(vectors))

    def touch(self, keys: Sequence[Digest]) -> None:
        """See `Cache.touch`."""
        return self._around(Call(PORT, "touch", {"keys": keys}), lambda: self._inner.touch(keys))

    def probe(self, model_id: str, params_hash: Digest) -> tuple[Vector, ...] | None:
        """See `Cache.probe`."""
        call = Call(PORT, "probe", {"model_id": model_id, "params_hash": params_hash})
        return self._around(call, lambda: self._inner.probe(model_id, params_hash))

    def put_probe(self, model_id: str, params_hash: Digest, vectors: Sequence[Vector]) -> None:
        """See `Cache.put_probe`."""
        call = Call(PORT, "put_probe", {"model_id": model_id, "params_hash": params_hash, "vectors": vectors})
        return self._around(call, lambda: self._inner.put_probe(model_id, params_hash, vectors))

    def stats(self) -> CacheStats:
        """See `Cache.stats`."""
        return self._around(Call(PORT, "stats", {}), self._inner.stats)

    def entries(self) -> Iterator[Kept]:
        """See `Cache.entries`."""
        return self._around(Call(PORT, "entries", {}), lambda: begun(self._inner.entries()))

    def add(self, vectors: Mapping[Digest, Vector]) -> int:
        """See `Cache.add`."""
        return self._around(Call(PORT, "add", {"vectors": vectors}), lambda: self._inner.add(vectors))

    def prunable(self, rule: PruneRule) -> Tally:
        """See `Cache.prunable`."""
        return self._around(Call(PORT, "prunable", {"rule": rule}), lambda: self._inner.prunable(rule))

    def prune(self, rule: PruneRule) -> Tally:
        """See `Cache.prune`."""
        return self._around(Call(PORT, "prune", {"rule": rule}), lambda: self._inner.prune(rule))

    def drop(self, keys: Sequence[Digest]) -> int:
        """See `Cache.drop`."""
        return self._around(Call(PORT, "drop", {"keys": keys}), lambda: self._inner.drop(keys))

    def reclaim(self) -> Reclaimed:
        """See `Cache.reclaim`."""
        return self._around(Call(PORT, "reclaim", {}), self._inner.reclaim)

    def close(self) -> None:
        """See `Cache.close`."""
        return self._around(Call(PORT, "close", {}), self._inner.close)

"""The cache as the engine sees it: one open file, shared by threads, with other processes beside it.

1. What `put` returned from survives a power loss: one transaction, write-ahead log, `synchronous=FULL`.
2. Every write is one transaction; the first one to an older file migrates it.
3. Nothing here is truth: a damaged file may be deleted, at the price of embedding again what the index lacks.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, cast

from steadlith_adapters.caches.sqlite import file, pruning, rows, schema
from steadlith_adapters.sqlite.places import bytes_taken
from steadlith_core import canon
from steadlith_core import vectors as vec
from steadlith_core.digest import SIZE, Digest, hasher
from steadlith_core.errors import AdapterError, UsageError
from steadlith_core.ports import CacheStats, Reclaimed, Tally
from steadlith_core.vectors import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import apsw

    from steadlith_core.ports import Kept, PruneRule
    from steadlith_core.vectors import Vector

GET_PROBE = "select vectors, checksum from probe where model_id = ? and params_hash = ?"
PUT_PROBE = "insert or replace into probe(model_id, params_hash, vectors, checksum) values (?, ?, ?, ?)"
NOTHING = CacheStats(0, 0, 0, 0, {}, None, None)


class SqliteCache:
    """One open cache file; without a connection, a cache that is empty."""

    def __init__(self, path: Path, connection: apsw.Connection | None, *, readonly: bool, today: int) -> None:
        self._path = path
        self._connection = connection
        self._readonly = readonly
        self._today = today
        self._closed = False
        self._lock = Lock()

    def contains(self, keys: Sequence[Digest], dimensions: int) -> frozenset[Digest]:
        """Which of `keys` `get` would answer: every one is checked, so that a plan never counts on a damaged one."""
        return frozenset(self.get(keys, dimensions))

    def get(self, keys: Sequence[Digest], dimensions: int) -> Mapping[Digest, Vector]:
        """The vectors that are there and can be used."""
        with self._use() as connection:
            return rows.intact(connection, keys, dimensions) if connection else {}

    def put(self, vectors: Mapping[Digest, Vector]) -> None:
        """Keep `vectors` durably."""
        for key, vector in vectors.items():
            if not vector or len(vector) % WIDTH:
                raise AdapterError(f"the vector for {key} has {len(vector)} bytes, not a multiple of {WIDTH}")
        with self._write() as connection:
            rows.put(connection, vectors, self._today, imported=False)

    def touch(self, keys: Sequence[Digest]) -> None:
        """Note that these were used today."""
        with self._writable() as connection:
            if not pruning.is_stale(connection, keys, self._today):
                return
        with self._write() as connection:
            pruning.touch(connection, keys, self._today)

    def probe(self, model_id: str, params_hash: Digest) -> tuple[Vector, ...] | None:
        """The recorded probe vectors; none if there are none or they are damaged."""
        with self._use() as connection:
            return _probe(connection, model_id, params_hash) if connection else None

    def put_probe(self, model_id: str, params_hash: Digest, vectors: Sequence[Vector]) -> None:
        """Record the probe vectors unless intact ones are there."""
        with self._write() as connection:
            if _probe(connection, model_id, params_hash) is None:
                packed = canon.encode(list(vectors))
                row = (model_id, params_hash, packed, _probe_checksum(model_id, params_hash, packed))
                connection.execute(PUT_PROBE, row)

    def stats(self) -> CacheStats:
        """What is there."""
        with self._use() as connection:
            return pruning.stats(connection, self._path) if connection else NOTHING

    def entries(self) -> Iterator[Kept]:
        """Every entry in the order of the keys, some rows at a time."""
        after = b""
        while True:
            with self._use() as connection:
                found = rows.pages(connection, after) if connection else []
            if not found:
                return
            yield from rows.judged([(self._digest(key), vector, checksum) for key, vector, checksum in found])
            after = found[-1][0]

    def add(self, vectors: Mapping[Digest, Vector]) -> int:
        """Keep those that are not there intact, as imported."""
        for key, good in zip(vectors, vec.sound(list(vectors.values())), strict=True):
            if not good:
                raise AdapterError(f"the vector for {key} has no direction; it is not kept")
        with self._write() as connection:
            there = rows.intact_of_any_width(connection, list(vectors))
            new = {key: vector for key, vector in vectors.items() if key not in there}
            rows.put(connection, new, self._today, imported=True)
        return len(new)

    def prunable(self, rule: PruneRule) -> Tally:
        """What `prune` would remove."""
        with self._use() as connection:
            return pruning.prunable(connection, rule) if connection else Tally(0, 0)

    def prune(self, rule: PruneRule) -> Tally:
        """Remove what the rule names."""
        with self._write() as connection:
            return pruning.prune(connection, rule, self._today)

    def drop(self, keys: Sequence[Digest]) -> int:
        """Remove these entries, and overwrite what they were."""
        with self._writable() as connection:
            connection.execute("pragma secure_delete = on").fetchall()
            try:
                with self._transaction(connection):
                    return pruning.drop(connection, keys)
            finally:
                connection.execute("pragma secure_delete = off").fetchall()

    def reclaim(self) -> Reclaimed:
        """Give back what removed entries left."""
        with self._writable() as connection:
            before = bytes_taken(self._path)
            with self._transaction(connection):
                pass  # an older file has no word that space is due
            connection.set_busy_timeout(pruning.SPACE_BUSY_MILLISECONDS)
            try:
                held_back = pruning.reclaim(connection)
            finally:
                connection.set_busy_timeout(file.BUSY_MILLISECONDS)
            return Reclaimed(before, bytes_taken(self._path), held_back)

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _use(self) -> Iterator[apsw.Connection | None]:
        with self._lock, schema.CACHE.translated(str(self._path)):
            if self._closed:
                raise UsageError(f"{self._path}: this cache is closed; open it again")
            yield self._connection

    @contextmanager
    def _writable(self) -> Iterator[apsw.Connection]:
        with self._use() as connection:
            if self._readonly or connection is None:
                raise UsageError(f"{self._path}: opened for reading only, so nothing can be written")
            yield connection

    @contextmanager
    def _write(self) -> Iterator[apsw.Connection]:
        with self._writable() as connection, self._transaction(connection):
            yield connection

    @contextmanager
    def _transaction(self, connection: apsw.Connection) -> Iterator[None]:
        with file.transaction(connection):
            schema.migrate(connection, self._today)
            yield

    def _digest(self, key: bytes) -> Digest:
        if len(key) != SIZE:
            raise schema.CACHE.damaged(str(self._path), f"an entry has a key of {len(key)} bytes")
        return Digest(key)


def _probe(connection: apsw.Connection, model_id: str, params_hash: Digest) -> tuple[Vector, ...] | None:
    for packed, checksum in connection.execute(GET_PROBE, (model_id, params_hash)):
        if _probe_checksum(model_id, params_hash, packed) == checksum:
            return tuple(cast("list[Vector]", canon.decode(packed)))
    return None


def _probe_checksum(model_id: str, params_hash: Digest, packed: bytes) -> Digest:
    return hasher("cache-probe")(canon.encode([model_id, params_hash, packed]))

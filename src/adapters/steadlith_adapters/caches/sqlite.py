"""Cache `sqlite`: vectors by what the model was given, in one SQLite file that processes may share.

1. What `put` returned from survives a power loss: one transaction, write-ahead log, `synchronous=FULL`.
2. A checksum stands beside every vector; an entry that does not match it is absent, and `put` replaces it.
3. Nothing here is truth: a damaged file may be deleted, at the price of embedding again what the index lacks.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import apsw

from steadlith_adapters.caches.sqlite_file import BUSY_MILLISECONDS, CACHE, open_reading, open_writing
from steadlith_adapters.settings import Table
from steadlith_adapters.sqlite.aside import set_aside
from steadlith_adapters.sqlite.places import file_path, with_side_files
from steadlith_core import canon
from steadlith_core.digest import Digest, hasher
from steadlith_core.errors import AdapterError, UsageError
from steadlith_core.ports import Kept, Reclaimed
from steadlith_core.vectors import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.ports import Settings
    from steadlith_core.vectors import Vector

DEFAULT_PATH = ".steadlith/cache.sqlite3"
KEYS_A_QUERY = 500
SPACE_BUSY_MILLISECONDS = 1000

GET = "select key, vector, checksum from embedding where key in ({})"
# An equal row is not written again; a row that differs is a damaged one, or the same text from another batch.
PUT = """
insert into embedding(key, vector, checksum) values (?, ?, ?)
on conflict(key) do update set vector = excluded.vector, checksum = excluded.checksum
where vector is not excluded.vector or checksum is not excluded.checksum
"""
PAGE = "select key, vector, checksum from embedding where key > ? order by key limit ?"
DROP = "delete from embedding where key in ({})"
GET_PROBE = "select vectors, checksum from probe where model_id = ? and params_hash = ?"
PUT_PROBE = "insert or replace into probe(model_id, params_hash, vectors, checksum) values (?, ?, ?, ?)"


class SqliteCache:
    """One open cache file; without a connection, a cache that is empty."""

    def __init__(self, path: Path, connection: apsw.Connection | None, *, readonly: bool) -> None:
        self._path = str(path)
        self._connection = connection
        self._readonly = readonly
        self._closed = False
        self._lock = Lock()

    def contains(self, keys: Sequence[Digest]) -> frozenset[Digest]:
        """Which of `keys` are there and intact: every one is checked, so that a plan never counts on a damaged one."""
        with self._use() as connection:
            return frozenset(key for key, _ in _intact(connection, keys))

    def get(self, keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
        """The vectors that are there and intact."""
        with self._use() as connection:
            return dict(_intact(connection, keys))

    def put(self, vectors: Mapping[Digest, Vector]) -> None:
        """Keep `vectors` durably."""
        for key, vector in vectors.items():
            if not vector or len(vector) % WIDTH:
                raise AdapterError(f"the vector for {key} has {len(vector)} bytes, not a multiple of {WIDTH}")
        with self._write() as connection:
            # Ordered, so that the rows of one batch touch each page of the index once.
            rows = [(key, vectors[key], _checksum(key, vectors[key])) for key in sorted(vectors)]
            connection.executemany(PUT, rows)

    def probe(self, model_id: str, params_hash: Digest) -> tuple[Vector, ...] | None:
        """The recorded probe vectors; none if there are none or they are damaged."""
        with self._use() as connection:
            return _probe(connection, model_id, params_hash)

    def put_probe(self, model_id: str, params_hash: Digest, vectors: Sequence[Vector]) -> None:
        """Record the probe vectors unless intact ones are there."""
        with self._write() as connection:
            if _probe(connection, model_id, params_hash) is None:
                packed = canon.encode(list(vectors))
                row = (model_id, params_hash, packed, _probe_checksum(model_id, params_hash, packed))
                connection.execute(PUT_PROBE, row)

    def entries(self) -> Iterator[Kept]:
        """Every entry in the order of the keys, some rows at a time."""
        after = b""
        while True:
            found: list[tuple[Any, ...]] = []
            with self._use() as connection:
                found = connection.execute(PAGE, (after, KEYS_A_QUERY)).fetchall() if connection else []
            if not found:
                return
            for key, vector, checksum in found:
                digest = Digest(key)
                problem = None if _checksum(digest, vector) == checksum else "it does not match its checksum"
                yield Kept(digest, vector, problem)
            after = found[-1][0]

    def drop(self, keys: Sequence[Digest]) -> int:
        """Remove these entries, and overwrite what they were."""
        with self._write() as connection:
            connection.execute("pragma secure_delete = on").fetchall()
            gone = 0
            for start in range(0, len(keys), KEYS_A_QUERY):
                some = keys[start : start + KEYS_A_QUERY]
                connection.execute(DROP.format(",".join("?" * len(some))), some).fetchall()
                gone += connection.changes()
        return gone

    def reclaim(self) -> Reclaimed:
        """Give back what removed entries left."""
        with self._use() as connection:
            if self._readonly or connection is None:
                raise UsageError(f"{self._path}: opened for reading only, so nothing can be written")
            before = self._size()
            held_back = None
            connection.set_busy_timeout(SPACE_BUSY_MILLISECONDS)
            try:
                connection.execute("vacuum").fetchall()
                if connection.execute("pragma wal_checkpoint(truncate)").fetchall()[0][0]:
                    held_back = "another process is reading the cache; the rest is given back when it is done"
            except (apsw.BusyError, apsw.LockedError):
                held_back = "another process is writing to the cache"
            finally:
                connection.set_busy_timeout(BUSY_MILLISECONDS)
            return Reclaimed(before, self._size(), held_back)

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _size(self) -> int:
        files = (Path(self._path), Path(f"{self._path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    @contextmanager
    def _use(self) -> Iterator[apsw.Connection | None]:
        with self._lock, CACHE.translated(self._path):
            if self._closed:
                raise UsageError(f"{self._path}: this cache is closed; open it again")
            yield self._connection

    @contextmanager
    def _write(self) -> Iterator[apsw.Connection]:
        with self._use() as connection:
            if self._readonly or connection is None:
                raise UsageError(f"{self._path}: opened for reading only, so nothing can be written")
            connection.execute("begin immediate")
            try:
                yield connection
                connection.execute("commit")
            except BaseException:
                # A failed commit may have rolled back by itself.
                if connection.in_transaction:
                    connection.execute("rollback")
                raise


class SqliteCacheFactory:
    """Makes SQLite caches. The one setting is `path`."""

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """The file and its side files."""
        return with_side_files(_path(settings, root))

    def open(self, settings: Settings, *, root: str, readonly: bool) -> SqliteCache:
        """Open the file, or with `readonly` an empty cache where there is none."""
        path = _path(settings, root)
        connection = open_reading(path) if readonly else open_writing(path)
        return SqliteCache(path, connection, readonly=readonly)

    def set_aside(self, settings: Settings, *, root: str) -> str:
        """Move a damaged file out of the way."""
        return str(set_aside(CACHE, _path(settings, root)))


def _path(settings: Settings, root: str) -> Path:
    return file_path(Table("cache 'sqlite'", settings), DEFAULT_PATH, root=root)


def _intact(connection: apsw.Connection | None, keys: Sequence[Digest]) -> Iterator[tuple[Digest, Vector]]:
    if connection is None:
        return
    distinct = list(dict.fromkeys(keys))
    for start in range(0, len(distinct), KEYS_A_QUERY):
        some = distinct[start : start + KEYS_A_QUERY]
        for key, vector, checksum in connection.execute(GET.format(",".join("?" * len(some))), some):
            found = Digest(key)
            if _checksum(found, vector) == checksum:
                yield found, vector


def _probe(connection: apsw.Connection | None, model_id: str, params_hash: Digest) -> tuple[Vector, ...] | None:
    if connection is None:
        return None
    for packed, checksum in connection.execute(GET_PROBE, (model_id, params_hash)):
        if _probe_checksum(model_id, params_hash, packed) == checksum:
            return tuple(cast("list[Vector]", canon.decode(packed)))
    return None


def _checksum(key: Digest, vector: Vector) -> Digest:
    return hasher("cache-entry")(key + vector)


def _probe_checksum(model_id: str, params_hash: Digest, packed: bytes) -> Digest:
    return hasher("cache-probe")(canon.encode([model_id, params_hash, packed]))


FACTORY = SqliteCacheFactory()

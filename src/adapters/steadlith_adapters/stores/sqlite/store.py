"""The store: one index file, its readers and its writer.

1. Every reader and every write has a connection of its own, so a reader never sees a commit of its own store.
2. One connection is kept idle between readers; it is dropped when the file was replaced or became a newer release's.
   One that would not see what others write is not kept.
3. Closing the store ends them all.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from steadlith_adapters.sqlite import opening
from steadlith_adapters.stores.sqlite import backup, compaction, connection, generations, told
from steadlith_adapters.stores.sqlite.reader import MAX_LIMIT, SqliteReader
from steadlith_adapters.stores.sqlite.schema import INDEX, SCHEMA_VERSION
from steadlith_adapters.stores.sqlite.spaces import QUANTIZATION
from steadlith_adapters.stores.sqlite.traces import traces
from steadlith_adapters.stores.sqlite.transaction import SqliteTransaction
from steadlith_core.errors import SteadlithError, UsageError
from steadlith_core.ports import Capabilities, Compaction, Removable, Traces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.records import DocumentId, Generation, Head

T = TypeVar("T")

CAPABILITIES = Capabilities(
    commit="atomic",
    cas="transactional",
    writers="serialized",
    isolation="snapshot",
    durability="fsync",
    dense=frozenset({"exact", "rescored"}),
    prefilter="exact",
    lexical="bm25",
    lexical_stats="head",
    quantization=QUANTIZATION,
    time_travel="search",
    max_limit=MAX_LIMIT,
    reclaims_space=True,
    remote=False,
)


class SqliteStore:
    """One logical index in one SQLite file."""

    __slots__ = ("_closed", "_idle", "_path", "_readers", "_readonly", "_write")

    def __init__(self, path: Path, *, readonly: bool) -> None:
        self._path = path
        self._readonly = readonly
        self._closed = False
        self._idle: tuple[Session, tuple[int, int]] | None = None
        self._readers: set[SqliteReader] = set()
        self._write: SqliteTransaction | None = None
        if not readonly:
            opening.refuse_unwritable(INDEX, path)
        # Opening says at once whether the file is ours and whole.
        self._give_back(self._take())

    @property
    def capabilities(self) -> Capabilities:
        """See `Store.capabilities`."""
        return CAPABILITIES

    def head(self) -> Head:
        """See `Store.head`."""
        return self._asked(generations.read_head)

    def snapshot(self, generation: int | None = None) -> SqliteReader:
        """See `Store.snapshot`."""
        session = self._take()
        try:
            session.run("BEGIN")
            reader = SqliteReader(session, generation, self._reader_closed)
        except BaseException:
            session.close()
            raise
        self._readers.add(reader)
        return reader

    def begin(self, expected: Head, *, mend: bool = False) -> SqliteTransaction:
        """See `Store.begin`."""
        self._refuse_to_write()
        self._write = SqliteTransaction(self._path, expected, self._write_ended, mend=mend)
        return self._write

    def history(self) -> tuple[Generation, ...]:
        """See `Store.history`."""
        return self._asked(generations.read_history)

    def tags(self) -> Mapping[str, int]:
        """See `Store.tags`."""
        return self._asked(told.tags)

    def tag(self, name: str, generation: int | None) -> None:
        """See `Store.tag`."""
        self._refuse_to_write()
        if generation is not None:
            self.snapshot(generation).close()  # raises for a generation that is not kept
        if self.head().generation == 0:
            return
        session = connection.writing(self._path)
        try:
            told.tag(session, name, generation)
            session.run("COMMIT")
        finally:
            session.close()

    def removable(self, keep_from: int) -> Removable:
        """See `Store.removable`."""
        if keep_from == self.head().generation == 0:
            return Removable()
        return self._asked(lambda session: compaction.removable(session, keep_from))

    def traces(self, ids: Sequence[DocumentId]) -> Traces:
        """See `Store.traces`."""
        return self._asked(lambda session: traces(session, ids))

    def compact(self, expected: Head, keep_from: int, *, scrub: bool = False) -> Compaction:
        """See `Store.compact`."""
        self._refuse_to_write()
        if keep_from == self.head().generation == 0:
            return Compaction(0, Removable(), 0, 0, given_back=True)
        return compaction.compact(self._path, expected, keep_from, scrub=scrub)

    def backup(self, path: str) -> SqliteStore:
        """See `Store.backup`."""
        self._asked(lambda session: backup.copy(session, path))
        return SqliteStore(Path(path), readonly=True)

    def close(self) -> None:
        """See `Store.close`."""
        if self._write:
            self._write.abort()
        for reader in tuple(self._readers):
            reader.close()
        self._closed = True
        self._drop_idle()

    # ------------------------------------------------------------------------------------------ inside

    def _refuse_closed(self) -> None:
        if self._closed:
            message = f"{self._path}: this store is closed; open it again"
            raise UsageError(message)

    def _refuse_to_write(self) -> None:
        self._refuse_closed()
        if self._readonly:
            message = f"{self._path}: opened for reading only, so nothing can be written"
            raise UsageError(message)
        if self._write:
            message = f"{self._path}: a write is in progress; commit or abort it first"
            raise UsageError(message)

    def _asked(self, question: Callable[[Session], T]) -> T:
        session = self._take()
        try:
            return question(session)
        finally:
            self._give_back(session)

    def _take(self) -> Session:
        self._refuse_closed()
        if self._idle and self._idle[1] == self._file() and _is_readable(self._idle[0]):
            session, self._idle = self._idle[0], None
            session.halves.clear()
            return session
        self._drop_idle()
        return connection.reading(self._path) or connection.empty()

    def _give_back(self, session: Session) -> None:
        file = self._file()
        foreign = session.path != str(self._path) or session.is_frozen()
        if self._idle or self._closed or file is None or foreign:
            session.close()
        else:
            self._idle = (session, file)

    def _drop_idle(self) -> None:
        if self._idle:
            self._idle[0].close()
            self._idle = None

    def _file(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino)

    def _reader_closed(self, reader: SqliteReader, session: Session) -> None:
        self._readers.discard(reader)
        try:
            session.run("ROLLBACK")
        except SteadlithError:
            # SQLite ended the transaction itself (an I/O error): the connection is not worth keeping.
            session.close()
        else:
            self._give_back(session)

    def _write_ended(self, write: SqliteTransaction) -> None:
        if self._write is write:
            self._write = None


def _is_readable(session: Session) -> bool:
    """Whether the file is still one that this release reads; opened anew, one that is not says why."""
    try:
        return bool(session.value("PRAGMA user_version") <= SCHEMA_VERSION)
    except SteadlithError:
        return False

"""The store: one schema of a server, its readers and its writer.

1. Every reader and every write has a connection of its own, so a reader never sees a commit of its own store.
2. One connection is kept idle between readers. One that broke while it was idle is replaced without a word; one that
   breaks while it is read from is an error, since its snapshot is gone.
3. Closing the store ends them all.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from steadlith_adapters.stores.postgres import compaction, connection, generations, guards, tags
from steadlith_adapters.stores.postgres.border import ConnectionLost
from steadlith_adapters.stores.postgres.reader import MAX_LIMIT, PostgresReader
from steadlith_adapters.stores.postgres.session import Nothing
from steadlith_adapters.stores.postgres.spaces import QUANTIZATION
from steadlith_adapters.stores.postgres.traces import traces
from steadlith_adapters.stores.postgres.transaction import PostgresTransaction
from steadlith_core.errors import SteadlithError, UsageError
from steadlith_core.ports import Capabilities, Compaction, Removable, Traces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_adapters.stores.postgres.target import Target
    from steadlith_core.records import DocumentId, Generation, Head

T = TypeVar("T")


class PostgresStore:
    """One logical index in one schema."""

    __slots__ = ("_closed", "_idle", "_readers", "_readonly", "_target", "_write")

    def __init__(self, target: Target, *, readonly: bool) -> None:
        self._target = target
        self._readonly = readonly
        self._closed = False
        self._idle: Session | None = None
        self._readers: set[PostgresReader] = set()
        self._write: PostgresTransaction | None = None
        # Opening says at once whether the schema is ours and whole.
        self._asked(generations.read_head)

    @property
    def capabilities(self) -> Capabilities:
        """See `Store.capabilities`."""
        graph = self._target.ann == "hnsw"
        return Capabilities(
            commit="atomic",
            cas="transactional",
            writers="cas",
            isolation="snapshot",
            durability="fsync",
            dense=frozenset({"exact", "rescored", "hnsw"} if graph else {"exact", "rescored"}),
            prefilter="iterative" if graph else "exact",
            lexical="ts_rank",
            lexical_stats="head",
            quantization=QUANTIZATION,
            time_travel="manifest",
            max_limit=MAX_LIMIT,
            reclaims_space=True,
            remote=True,
        )

    def head(self) -> Head:
        """See `Store.head`."""
        return self._asked(generations.read_head)

    def snapshot(self, generation: int | None = None) -> PostgresReader:
        """See `Store.snapshot`."""

        def take(session: Session) -> PostgresReader:
            guards.share(session, guards.key(self._target.schema, guards.READING))
            session.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return PostgresReader(session, self._target, generation, self._reader_closed)

        reader = self._with_session(take)
        self._readers.add(reader)
        return reader

    def begin(self, expected: Head, *, mend: bool = False) -> PostgresTransaction:
        """See `Store.begin`."""
        self._refuse_to_write()
        self._write = PostgresTransaction(self._target, expected, self._write_ended, mend=mend)
        return self._write

    def history(self) -> tuple[Generation, ...]:
        """See `Store.history`."""
        return self._asked(generations.read_history)

    def tags(self) -> Mapping[str, int]:
        """See `Store.tags`."""
        return self._asked(tags.read)

    def tag(self, name: str, generation: int | None) -> None:
        """See `Store.tag`."""
        self._refuse_to_write()
        if generation is not None:
            self.snapshot(generation).close()  # raises for a generation that is not kept
        if self.head().generation == 0:
            return
        with closing(connection.writing(self._target)) as session:
            guards.share(session, guards.key(self._target.schema, guards.WRITING))  # no compaction removes it meanwhile
            if generation is None or generations.is_kept(session, generation):
                tags.put(session, name, generation)

    def removable(self, keep_from: int) -> Removable:
        """See `Store.removable`."""
        if keep_from == self.head().generation == 0:
            return Removable()
        return self._asked(lambda session: compaction.removable_now(session, keep_from))

    def traces(self, ids: Sequence[DocumentId]) -> Traces:
        """See `Store.traces`."""
        return self._asked(lambda session: traces(session, ids))

    def compact(self, expected: Head, keep_from: int, *, scrub: bool = False) -> Compaction:
        """See `Store.compact`."""
        self._refuse_to_write()
        if keep_from == self.head().generation == 0:
            return Compaction(0, Removable(), 0, 0, given_back=True)
        return compaction.compact(self._target, expected, keep_from, scrub=scrub)

    def backup(self, path: str) -> PostgresStore:
        """See `Store.backup`."""
        del path
        self._refuse_closed()
        message = (
            f"{self._target.place}: an index on a server is no file to copy; let the server do it: "
            f"pg_dump --schema={self._target.schema} --file=..., and `steadlith manifest export` writes what it holds"
        )
        raise UsageError(message)

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
            message = f"{self._target.place}: this store is closed; open it again"
            raise UsageError(message)

    def _refuse_to_write(self) -> None:
        self._refuse_closed()
        if self._readonly:
            message = f"{self._target.place}: opened for reading only, so nothing can be written"
            raise UsageError(message)
        if self._write:
            message = f"{self._target.place}: a write is in progress; commit or abort it first"
            raise UsageError(message)

    def _asked(self, question: Callable[[Session], T]) -> T:
        def ask(session: Session) -> T:
            answer = question(session)
            self._give_back(session)
            return answer

        return self._with_session(ask)

    def _with_session(self, use: Callable[[Session], T]) -> T:
        """What `use` makes of a session; asked again on a new one, if the idle one turns out to be broken."""
        self._refuse_closed()
        session, self._idle = self._idle, None
        if session:
            try:
                with connection.closed_on_error(session):
                    if connection.is_made(session, self._target):
                        return use(session)
                session.close()
            except ConnectionLost:
                pass
        session = connection.reading(self._target) or Nothing(self._target.place)
        with connection.closed_on_error(session):
            return use(session)

    def _give_back(self, session: Session) -> None:
        if self._idle or self._closed or session.is_lost or isinstance(session, Nothing):
            session.close()
        else:
            self._idle = session

    def _drop_idle(self) -> None:
        if self._idle:
            self._idle.close()
            self._idle = None

    def _reader_closed(self, reader: PostgresReader, session: Session) -> None:
        self._readers.discard(reader)
        try:
            session.run("ROLLBACK")
            guards.unshare(session, guards.key(self._target.schema, guards.READING))
        except SteadlithError:
            session.close()  # it was lost: the server has let go of everything
        else:
            self._give_back(session)

    def _write_ended(self, write: PostgresTransaction) -> None:
        if self._write is write:
            self._write = None

"""One write: BEGIN IMMEDIATE, puts, and a commit that shows all of it with the new head, or nothing.

1. The head is checked inside the transaction; nobody else can move it until this one ends.
2. A put that fails, also inside a caller's iterator, ends the whole write.
3. When COMMIT does not answer, the head is read again before anything is said.
4. A write that mends believes nothing that is kept: what differs there stands in `mending`.
"""

from __future__ import annotations

from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from steadlith_adapters.stores import heads
from steadlith_adapters.stores.arguments import check_embedded, check_parents, check_root, check_vectors
from steadlith_adapters.stores.sqlite import (
    connection,
    generations,
    hashes,
    lexical,
    settle,
    spaces,
    trie,
    vectors,
    versions,
)
from steadlith_adapters.stores.sqlite.ahead import Ahead
from steadlith_adapters.stores.sqlite.contents import Contents
from steadlith_adapters.stores.sqlite.mending import Mending
from steadlith_adapters.stores.sqlite.reader import SqliteReader
from steadlith_adapters.stores.sqlite.session import BATCH
from steadlith_core.errors import AdapterError, OutcomeUnknown, SteadlithError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_adapters.stores.sqlite.spaces import SpaceTable
    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId, Generation, Head, Space, Span
    from steadlith_core.rows import DocumentVersion, EntryRow, TextRow, TrieNode, VectorRow

T = TypeVar("T")


class SqliteTransaction:
    """A write in progress; holds SQLite's write lock until it ends."""

    __slots__ = (
        "_ahead",
        "_chunks",
        "_contents",
        "_documents",
        "_ended",
        "_first_new",
        "_generation",
        "_head",
        "_mending",
        "_next",
        "_on_end",
        "_path",
        "_session",
        "_touched",
    )

    def __init__(self, path: Path, expected: Head, on_end: Callable[[SqliteTransaction], None], *, mend: bool) -> None:
        self._path = path
        self._on_end = on_end
        self._ended = False
        self._touched: set[DocumentId] = set()
        self._ahead: Ahead | None = None
        self._session = connection.writing(path, mend=mend)
        try:
            self._head = generations.read_head(self._session)
            heads.refuse_moved(self._head, expected, path)
            for statement in settle.STAGE:
                self._session.run(statement)
            row = self._session.one("SELECT next_occurrence FROM head")
            self._generation = self._head.generation + 1
            self._contents = Contents(self._session)
            self._mending = Mending(self._session, self._contents, self._generation) if mend else None
            self._first_new = self._next = max(row[0] if row else 1, self._mending.first_new if self._mending else 1)
        except BaseException:
            self._session.close()
            raise
        self._documents = self._head.documents
        self._chunks = self._head.chunks

    def put_texts(self, rows: Iterable[TextRow]) -> None:
        """See `Transaction.put_texts`."""
        with self._writing():
            for batch in _batches(rows):
                if self._mending:
                    self._mending.put_texts(batch)
                else:
                    self._contents.put_texts(batch)

    def put_entries(self, rows: Iterable[EntryRow]) -> None:
        """See `Transaction.put_entries`."""
        with self._writing():
            for batch in _batches(rows):
                texts = self._contents.texts([row.text_hash for row in batch])
                for row in batch:
                    if row.text_hash not in texts:
                        message = f"entry {row.entry_hash.short} is of text {row.text_hash.short}, which was never put"
                        raise AdapterError(message)
                if self._mending:
                    self._mending.put_entries(batch, texts)
                else:
                    self._contents.put_entries(batch, texts)
                self._index_ahead()

    def put_vectors(self, space: Space, rows: Iterable[VectorRow]) -> None:
        """See `Transaction.put_vectors`."""
        with self._writing() as session:
            table: SpaceTable | None = None
            for batch in _batches(rows):
                check_vectors(space, batch)
                entries = self._contents.entries([row.entry_hash for row in batch])
                found = []
                for row in batch:
                    kept = entries.get(row.entry_hash)
                    if kept is None:
                        message = f"a vector for entry {row.entry_hash.short}, which was never put"
                        raise AdapterError(message)
                    check_embedded(row.entry_hash, embed=bool(kept.embed))
                    found.append((kept.number, kept.live, row))
                if table is None:
                    table = spaces.find(session, space) or spaces.create(session, space)
                    session.load_vectors()
                if self._mending:
                    for entry, live, row in found:
                        vectors.renew(session, table, entry, live, row)
                else:
                    vectors.put_many(session, table, found)
                self._index_ahead()

    def put_document(self, version: DocumentVersion) -> None:
        """See `Transaction.put_document`."""
        with self._writing() as session:
            self._touch(version.id)
            check_parents(version)
            self._close(version.id)
            ids = [self._occurrence(placement.occurrence) for placement in version.placements]
            versions.open(session, version, ids, self._generation)
            self._documents += 1
            self._chunks += len(ids)
            self._index_ahead()

    def close_document(self, id: DocumentId) -> None:  # noqa: A002
        """See `Transaction.close_document`."""
        with self._writing():
            self._touch(id)
            if not self._close(id):
                message = f"{id} is not in the index, so it cannot be closed"
                raise AdapterError(message)

    def respan(self, id: DocumentId, source_digest: Digest, spans: Sequence[Span]) -> None:  # noqa: A002
        """See `Transaction.respan`."""
        with self._writing() as session:
            self._touch(id)
            versions.respan(session, id, source_digest, spans, self._generation)

    def put_nodes(self, nodes: Mapping[str, TrieNode], dropped: Iterable[str]) -> None:
        """See `Transaction.put_nodes`."""
        with self._writing() as session:
            if self._mending:
                trie.replace(session, nodes)
            else:
                trie.put(session, nodes, dropped)

    def commit(self, generation: Generation, check: Callable[[Reader], None] | None = None) -> Head:
        """See `Transaction.commit`."""
        with self._writing() as session:
            if self._mending:
                self._documents, self._chunks = self._mending.settle(self._first_new)
            # Counted along the write, from a head that was checked like this; a write that mends counts the rows.
            heads.refuse_mismatch(self._head, generation, self._documents, self._chunks, self._path)
            check_root(trie.nodes(session, [""]).get(""), generation)
            if self._ahead:
                self._ahead.merge()
            if not self._mending:
                settle.occurrences(session, self._generation, self._first_new)
                settle.liveness(session, self._head.chunks, self._ahead)
            hashes.settle(session)
            generations.write(session, generation, self._next)
            committed = generations.read_head(session)
            if check:
                with closing(SqliteReader(session, None, lambda _reader, _session: None)) as reader:
                    check(reader)
            try:
                session.run("COMMIT")
            except SteadlithError as error:
                self._end()
                self._look(committed, error)
                return committed
        # Best effort: a reader may still need the log, and the next commit tries again.
        with suppress(SteadlithError):
            session.checkpoint()
        self._end()
        return committed

    def abort(self) -> None:
        """See `Transaction.abort`."""
        self._end()

    # ------------------------------------------------------------------------------------------ inside

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        if self._ended:
            message = "this write has ended (committed, aborted or failed); begin another one"
            raise UsageError(message)
        try:
            yield self._session
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            if self._ahead:
                self._ahead.close()
            self._session.close()
            self._on_end(self)

    def _index_ahead(self) -> None:
        """A first load of some size has its words indexed meanwhile."""
        if self._ahead:
            self._ahead.feed(self._contents.last_entry)
        elif self._head.generation == 0 and not self._mending and self._contents.last_entry >= lexical.AT_ONCE:
            self._ahead = Ahead(self._session)

    def _touch(self, id: DocumentId) -> None:  # noqa: A002
        if id in self._touched:
            message = f"{id} is put, closed or respanned twice in one write"
            raise AdapterError(message)
        self._touched.add(id)

    def _close(self, id: DocumentId) -> bool:  # noqa: A002
        """Close what is open of a document; whether anything was."""
        if self._mending:
            return versions.end(self._session, id, self._generation)
        chunks = versions.close(self._session, id, self._generation)
        if chunks is None:
            return False
        self._documents -= 1
        self._chunks -= chunks
        return True

    def _occurrence(self, claimed: int | None) -> int:
        if claimed is None:
            self._next += 1
            return self._next - 1
        if claimed >= self._first_new:
            message = f"occurrence {claimed} does not exist; new ones are placed with none, and get their id here"
            raise AdapterError(message)
        return claimed

    def _look(self, committed: Head, error: SteadlithError) -> None:
        """Raise unless the new head is there after all."""
        try:
            session = connection.reading(self._path)
            found = generations.read_head(session).generation if session else 0
            if session:
                session.close()
        except SteadlithError as unreadable:
            message = (
                f"{self._path}: the commit of generation {committed.generation} failed ({error}), and the head cannot "
                f"be read ({unreadable}); run `steadlith status` before trying again"
            )
            raise OutcomeUnknown(message) from error
        if found != committed.generation:
            message = f"{self._path}: nothing was committed, the index is still at generation {found}: {error}"
            raise AdapterError(message) from error


def _batches(rows: Iterable[T]) -> Iterator[list[T]]:
    """The caller's rows, a statement's worth at a time: what it raises is raised here, and nothing is held for long."""
    rows = iter(rows)
    while batch := list(islice(rows, BATCH)):
        yield batch

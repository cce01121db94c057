"""One write: puts that nobody sees, and a commit that shows all of it with the new head, or nothing.

1. Until the commit nothing is locked: writes run side by side, and the first to commit wins. The others find the head
   moved, by the lock on its row and the comparison in the same transaction.
2. A put that fails, also inside a caller's iterator, ends the whole write.
3. When COMMIT does not answer, the head is read again on another connection before anything is said.
4. A compaction keeps out: it would remove what this write has looked up.
"""

from __future__ import annotations

from contextlib import closing, contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING

from steadlith_adapters.stores import heads
from steadlith_adapters.stores.arguments import check_embedded, check_root, check_vectors
from steadlith_adapters.stores.postgres import (
    ann,
    connection,
    entering,
    generations,
    guards,
    lexical,
    mending,
    outcome,
    settle,
    spaces,
    staging,
    tending,
    trie,
    vectors,
)
from steadlith_adapters.stores.postgres.placing import Placing
from steadlith_adapters.stores.postgres.reader import PostgresReader
from steadlith_adapters.stores.postgres.session import batches
from steadlith_core.errors import AdapterError, StaleHead, SteadlithError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_adapters.stores.postgres.spaces import SpaceTable
    from steadlith_adapters.stores.postgres.target import Target
    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId, Generation, Head, Space, Span
    from steadlith_core.rows import DocumentVersion, EntryRow, TextRow, TrieNode, VectorRow

SIZE = 1000
"""Rows that are sent together."""
LARGE = 1000
"""Chunks from which on the server's plans depend on what it knows of the tables."""


class PostgresTransaction:
    """A write in progress, on a connection of its own."""

    __slots__ = (
        "_at",
        "_ended",
        "_first_new",
        "_has_nodes",
        "_head",
        "_made",
        "_mend",
        "_nodes",
        "_on_end",
        "_placing",
        "_session",
        "_target",
    )

    def __init__(
        self, target: Target, expected: Head, on_end: Callable[[PostgresTransaction], None], *, mend: bool
    ) -> None:
        self._target = target
        self._on_end = on_end
        self._ended = False
        self._mend = mend
        self._at = count(1)
        self._made: dict[Space, SpaceTable] = {}
        self._nodes: dict[str, TrieNode | None] = {}
        self._has_nodes = False
        self._session = session = connection.writing(target)
        with connection.closed_on_error(session):
            guards.share(session, guards.key(target.schema, guards.WRITING))
            session.run("BEGIN ISOLATION LEVEL READ COMMITTED")
            self._head = generations.read_head(session)
            heads.refuse_moved(self._head, expected, target.place)
            session.script(staging.CREATE)
            self._first_new = session.value("SELECT next_occurrence FROM head")
            if mend:
                self._first_new = max(self._first_new, mending.first_new(session, self._head.generation + 1))
            self._placing = Placing(session, self._first_new)

    def put_texts(self, rows: Iterable[TextRow]) -> None:
        """See `Transaction.put_texts`."""
        with self._writing() as session:
            for batch in batches(rows, SIZE):
                staged = [(next(self._at), row.text_hash, staging.utf8(row.text)) for row in batch]
                staging.put(session, "staged_text", staged)

    def put_entries(self, rows: Iterable[EntryRow]) -> None:
        """See `Transaction.put_entries`."""
        with self._writing() as session:
            for batch in batches(rows, SIZE):
                entering.put(session, batch, self._at, mend=self._mend)

    def put_vectors(self, space: Space, rows: Iterable[VectorRow]) -> None:
        """See `Transaction.put_vectors`."""
        with self._writing() as session:
            table: SpaceTable | None = None
            for batch in batches(rows, SIZE):
                check_vectors(space, batch)
                entries = entering.known(session, batch, mend=self._mend)
                for row in batch:
                    if row.entry_hash not in entries:
                        message = f"a vector for entry {row.entry_hash.short}, which was never put"
                        raise AdapterError(message)
                    check_embedded(row.entry_hash, embed=entries[row.entry_hash][1])
                table = table or self._space(space)
                numbered = [(entries[row.entry_hash][0], row) for row in batch]
                vectors.put(session, table, numbered, self._at, mend=self._mend)

    def put_document(self, version: DocumentVersion) -> None:
        """See `Transaction.put_document`."""
        with self._writing():
            self._placing.put(version)

    def close_document(self, id: DocumentId) -> None:  # noqa: A002
        """See `Transaction.close_document`. What is not there is found at the commit."""
        with self._writing():
            self._placing.close(id)

    def respan(self, id: DocumentId, source_digest: Digest, spans: Sequence[Span]) -> None:  # noqa: A002
        """See `Transaction.respan`. What does not fit is found at the commit."""
        with self._writing():
            self._placing.respan(id, source_digest, spans)

    def put_nodes(self, nodes: Mapping[str, TrieNode], dropped: Iterable[str]) -> None:
        """See `Transaction.put_nodes`."""
        with self._writing():
            if self._mend:  # they are all there are
                self._nodes = dict(nodes)
            else:
                self._nodes |= dict.fromkeys(dropped) | dict(nodes)
            self._has_nodes = True

    def commit(self, generation: Generation, check: Callable[[Reader], None] | None = None) -> Head:
        """See `Transaction.commit`."""
        with self._writing() as session:
            self._placing.send()
            staging.analyze(session)
            outcome.hold_head(session)
            heads.refuse_moved(generations.read_head(session), self._head, self._target.place)
            self._settle(session, generation)
            generations.write(session, generation)
            if not generations.swap(session, self._head, generation, self._placing.next_occurrence):
                raise StaleHead(f"{self._target.place}: the head moved during this write; plan again")
            if check:
                with closing(PostgresReader(session, self._target, None, lambda _reader, _session: None)) as reader:
                    check(reader)
            try:
                session.run("COMMIT")
            except SteadlithError as error:
                self._end()
                outcome.look(self._target, generation, error)
                return generation.head
        # Best effort: what is derived can be made by the next commit, by a compaction, or by the server itself.
        with suppress(SteadlithError):
            lexical.spread(session)
            if generation.chunks >= LARGE and generation.chunks - self._head.chunks >= self._head.chunks / 10:
                tending.count_anew(session)
            ann.tend(session, self._target)
        self._end()
        return generation.head

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
            self._session.close()
            self._on_end(self)

    def _settle(self, session: Session, generation: Generation) -> None:
        """Make everything follow from what was staged, or raise what is wrong with it."""
        number = self._head.generation + 1
        if self._mend:
            mending.contents(session)
            documents, chunks = mending.documents(session, number, self._first_new)
        else:
            settle.contents(session)
            documents, chunks = settle.documents(session, number)
            documents, chunks = self._head.documents + documents, self._head.chunks + chunks
        heads.refuse_mismatch(self._head, generation, documents, chunks, self._target.place)
        if self._has_nodes:
            trie.put(session, self._nodes, replace=self._mend)
        check_root(trie.nodes(session, [""]).get(""), generation)
        for space, table in self._made.items():
            spaces.enter(session, space, table)
        vectors.settle(session)
        if self._mend:
            mending.arms(session)
        else:
            settle.occurrences(session, number, self._first_new)
            settle.liveness(session)

    def _space(self, space: Space) -> SpaceTable:
        table = self._made.get(space) or spaces.find(self._session, space)
        if table is None:
            table = self._made[space] = spaces.create(self._session, space)
        return table

"""One write: puts that nobody sees, and a commit that shows all of it with the new head, or nothing.

1. Until the commit nothing is locked: writes run side by side, and the first to commit wins. The others find the head
   moved, by the lock on its row and the comparison in the same transaction.
2. A put that fails, also inside a caller's iterator, ends the whole write.
3. When COMMIT does not answer, the head is read again on another connection before anything is said.
4. A compaction keeps out: it would remove what this write has looked up.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING

from steadlith_adapters.stores import packing
from steadlith_adapters.stores.arguments import check_embedded, check_parents, check_root, check_vectors
from steadlith_adapters.stores.postgres import (
    ann,
    connection,
    generations,
    guards,
    mending,
    settle,
    spaces,
    staging,
    trie,
    vectors,
)
from steadlith_adapters.stores.postgres.session import batches
from steadlith_core import canon
from steadlith_core.errors import AdapterError, OutcomeUnknown, StaleHead, SteadlithError, UsageError
from steadlith_core.records import Head
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_adapters.stores.postgres.spaces import SpaceTable
    from steadlith_adapters.stores.postgres.target import Target
    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId, Generation, Space, Span
    from steadlith_core.rows import DocumentVersion, EntryRow, TextRow, TrieNode, VectorRow

SIZE = 1000
"""Rows that are sent together."""
_KNOWN_TEXTS = """
    SELECT text_hash FROM text WHERE text_hash = ANY(%s::bytea[])
    UNION SELECT text_hash FROM staged_text WHERE text_hash = ANY(%s::bytea[])"""
_KNOWN_ENTRIES = """
    SELECT entry_hash, entry, context_hash IS NOT NULL, false FROM entry WHERE entry_hash = ANY(%s::bytea[])
    UNION ALL
    SELECT entry_hash, entry, context_hash IS NOT NULL, true FROM (
        SELECT DISTINCT ON (entry_hash) entry_hash, entry, context_hash FROM staged_entry
        WHERE entry_hash = ANY(%s::bytea[]) ORDER BY entry_hash, at DESC) staged"""
_NUMBERS = "SELECT nextval(pg_get_serial_sequence('entry', 'entry')) FROM generate_series(1, %s)"


class PostgresTransaction:
    """A write in progress, on a connection of its own."""

    __slots__ = (
        "_at",
        "_claims",
        "_closing",
        "_ended",
        "_first_new",
        "_has_nodes",
        "_head",
        "_made",
        "_mend",
        "_next",
        "_nodes",
        "_on_end",
        "_respans",
        "_session",
        "_target",
        "_touched",
        "_versions",
    )

    def __init__(
        self, target: Target, expected: Head, on_end: Callable[[PostgresTransaction], None], *, mend: bool
    ) -> None:
        self._target = target
        self._on_end = on_end
        self._ended = False
        self._mend = mend
        self._touched: set[DocumentId] = set()
        self._at = count(1)
        self._made: dict[Space, SpaceTable] = {}
        self._versions: list[tuple[object, ...]] = []
        self._claims: list[tuple[object, ...]] = []
        self._closing: list[tuple[object, ...]] = []
        self._respans: list[tuple[object, ...]] = []
        self._nodes: dict[str, TrieNode | None] = {}
        self._has_nodes = False
        self._session = connection.writing(target)
        with connection.closed_on_error(self._session):
            session = self._session
            guards.share(session, guards.key(target.schema, guards.WRITING))
            session.run("BEGIN ISOLATION LEVEL READ COMMITTED")
            self._head = generations.read_head(session)
            _refuse_moved(self._head, expected, target.place)
            session.script(staging.CREATE)
            self._first_new = self._next = session.value("SELECT next_occurrence FROM head")
            if mend:
                self._first_new = self._next = max(self._next, mending.first_new(session, self._head.generation + 1))

    def put_texts(self, rows: Iterable[TextRow]) -> None:
        """See `Transaction.put_texts`."""
        with self._writing() as session:
            for batch in batches(rows, SIZE):
                staged = [(next(self._at), row.text_hash, _utf8(row.text)) for row in batch]
                staging.put(session, "staged_text", staged)

    def put_entries(self, rows: Iterable[EntryRow]) -> None:
        """See `Transaction.put_entries`."""
        with self._writing() as session:
            for batch in batches(rows, SIZE):
                hashes = [bytes(row.text_hash) for row in batch]
                texts = {name for (name,) in session.run(_KNOWN_TEXTS, hashes, hashes)}
                for row in batch:
                    if row.text_hash not in texts:
                        message = f"entry {row.entry_hash.short} is of text {row.text_hash.short}, which was never put"
                        raise AdapterError(message)
                numbers = {name: number for name, (number, *_) in self._entries(batch).items()}
                new = list(dict.fromkeys(row.entry_hash for row in batch if row.entry_hash not in numbers))
                given = [number for (number,) in session.run(_NUMBERS, len(new))] if new else []
                numbers |= zip(new, given, strict=True)
                staged = {
                    row.entry_hash: (
                        next(self._at),
                        numbers[row.entry_hash],
                        row.entry_hash,
                        row.text_hash,
                        _utf8(row.title),
                        _headings(row.headings),
                        row.context_hash,
                    )
                    # The first one of a name stands, unless this write mends: then the last one does.
                    for row in (batch if self._mend else reversed(batch))
                    if self._mend or row.entry_hash in new
                }
                staging.put(session, "staged_entry", sorted(staged.values(), key=lambda each: each[1]))

    def put_vectors(self, space: Space, rows: Iterable[VectorRow]) -> None:
        """See `Transaction.put_vectors`."""
        with self._writing() as session:
            table: SpaceTable | None = None
            for batch in batches(rows, SIZE):
                check_vectors(space, batch)
                entries = self._entries(batch)
                for row in batch:
                    if row.entry_hash not in entries:
                        message = f"a vector for entry {row.entry_hash.short}, which was never put"
                        raise AdapterError(message)
                    check_embedded(row.entry_hash, embed=bool(entries[row.entry_hash][1]))
                table = table or self._space(space)
                numbered = [(entries[row.entry_hash][0], row) for row in batch]
                vectors.put(session, table, numbered, self._at, mend=self._mend)

    def put_document(self, version: DocumentVersion) -> None:
        """See `Transaction.put_document`."""
        with self._writing():
            self._touch(version.id)
            check_parents(version)
            at = next(self._at)
            ids = [self._occurrence(placement.occurrence) for placement in version.placements]
            entries = [placement.entry_hash for placement in version.placements]
            packed = packing.pack_ids(ids)
            positions = packing.pack_spans(placement.span for placement in version.placements)
            self._versions.append(
                (
                    at,
                    document_key(version.id),
                    _utf8(version.id.source),
                    _utf8(version.id.path),
                    version.root,
                    packing.seal(packed, packing.pack_digests(entries)),
                    canon.encode(version.metadata),
                    packed,
                    packing.pack_digests(placement.chunk_hash for placement in version.placements),
                    packing.pack_parents([placement.parent for placement in version.placements]),
                    version.source_digest,
                    packing.seal(version.source_digest, positions),
                    positions,
                )
            )
            self._claims += [(occurrence, at, entry) for occurrence, entry in zip(ids, entries, strict=True)]
            if len(self._claims) + len(self._versions) > SIZE:
                self._send()

    def close_document(self, id: DocumentId) -> None:  # noqa: A002
        """See `Transaction.close_document`."""
        with self._writing():
            self._touch(id)
            self._closing.append((document_key(id), _shown(id)))

    def respan(self, id: DocumentId, source_digest: Digest, spans: Sequence[Span]) -> None:  # noqa: A002
        """See `Transaction.respan`."""
        with self._writing():
            self._touch(id)
            positions = packing.pack_spans(spans)
            seal = packing.seal(source_digest, positions)
            self._respans.append((document_key(id), _shown(id), len(spans), source_digest, seal, positions))

    def put_nodes(self, nodes: Mapping[str, TrieNode], dropped: Iterable[str]) -> None:
        """See `Transaction.put_nodes`."""
        with self._writing():
            if self._mend:  # they are all there are
                self._nodes = dict(nodes)
            else:
                self._nodes |= dict.fromkeys(dropped) | dict(nodes)
            self._has_nodes = True

    def commit(self, generation: Generation) -> Head:
        """See `Transaction.commit`."""
        with self._writing() as session:
            self._send()
            staging.analyze(session)
            # From here on other commits wait: whoever of them comes second finds the head moved.
            session.run("SELECT 1 FROM head WHERE id = 1 FOR UPDATE")
            _refuse_moved(generations.read_head(session), self._head, self._target.place)
            number = self._head.generation + 1
            contents = mending.contents if self._mend else settle.contents
            contents(session)
            if self._mend:
                documents, chunks = mending.documents(session, number, self._first_new)
            else:
                more_documents, more_chunks = settle.documents(session, number)
                documents, chunks = self._head.documents + more_documents, self._head.chunks + more_chunks
            self._refuse_mismatch(generation, documents, chunks)
            if self._has_nodes:
                trie.put(session, self._nodes, replace=self._mend)
            check_root(trie.nodes(session, [""]).get(""), generation)
            if not self._mend:
                settle.occurrences(session, number, self._first_new)
            for space, table in self._made.items():
                spaces.enter(session, space, table)
            vectors.settle(session)
            if self._mend:
                mending.arms(session)
            else:
                settle.liveness(session)
            generations.write(session, generation)
            if not generations.swap(session, self._head, generation, self._next):
                raise StaleHead(f"{self._target.place}: the head moved during this write; plan again")
            committed = _head(generation)
            try:
                session.run("COMMIT")
            except SteadlithError as error:
                self._end()
                self._look(generation, error)
                return committed
        # Best effort: what is derived can be made by the next commit, or by a compaction.
        with suppress(SteadlithError):
            ann.tend(session, self._target)
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
            self._session.close()
            self._on_end(self)

    def _touch(self, id: DocumentId) -> None:  # noqa: A002
        if id in self._touched:
            message = f"{id} is put, closed or respanned twice in one write"
            raise AdapterError(message)
        self._touched.add(id)

    def _send(self) -> None:
        """Stage what was gathered of documents."""
        for table, gathered in (
            ("staged_version", self._versions),
            ("staged_claim", self._claims),
            ("staged_close", self._closing),
            ("staged_respan", self._respans),
        ):
            staging.put(self._session, table, gathered)
            gathered.clear()

    def _entries(self, rows: Sequence[EntryRow] | Sequence[VectorRow]) -> dict[bytes, tuple[int, bool]]:
        """What is known of the rows' entries, put before or in this write: (number, is embedded)."""
        hashes = [bytes(row.entry_hash) for row in rows]
        found = self._session.run(_KNOWN_ENTRIES, hashes, hashes)
        # What this write puts stands for what is kept only where it mends.
        if self._mend:
            found.sort(key=lambda each: each[3])
        else:
            found.sort(key=lambda each: not each[3])
        return {name: (number, embed) for name, number, embed, _ in found}

    def _space(self, space: Space) -> SpaceTable:
        table = self._made.get(space) or spaces.find(self._session, space)
        if table is None:
            table = self._made[space] = spaces.create(self._session, space)
        return table

    def _occurrence(self, claimed: int | None) -> int:
        if claimed is None:
            self._next += 1
            return self._next - 1
        if claimed >= self._first_new:
            message = f"occurrence {claimed} does not exist; new ones are placed with none, and get their id here"
            raise AdapterError(message)
        return claimed

    def _refuse_mismatch(self, generation: Generation, documents: int, chunks: int) -> None:
        lineage = self._head.lineage or generation.lineage
        expected = (self._head.generation + 1, self._head.generation, lineage, documents, chunks)
        given = (generation.number, generation.parent, generation.lineage, generation.documents, generation.chunks)
        names = ("number", "parent", "lineage", "documents", "chunks")
        wrong = [
            f"{name} {is_given!r} where the store has {ours!r}"
            for name, ours, is_given in zip(names, expected, given, strict=True)
            if ours != is_given
        ]
        if wrong:
            message = f"{self._target.place}: the generation does not fit the write: {', '.join(wrong)}; nothing was committed"
            raise AdapterError(message)

    def _look(self, given: Generation, error: SteadlithError) -> None:
        """Raise unless the generation is there after all."""
        place = self._target.place
        try:
            found = _settled(self._target, given.number)
        except SteadlithError as unreadable:
            message = (
                f"{place}: the commit of generation {given.number} was sent and no answer came ({error}), and "
                f"the head cannot be read ({unreadable}); run `steadlith status` before trying again"
            )
            raise OutcomeUnknown(message) from error
        if found != given:
            message = f"{place}: nothing was committed, generation {given.number} is not there: {error}"
            raise AdapterError(message) from error


def _settled(target: Target, number: int) -> Generation | None:
    """What is kept under a number, once no commit is on its way any more: the server may still be at it."""
    session = connection.open_session(target)
    with connection.closed_on_error(session):
        session.run("BEGIN")
        session.run("SELECT 1 FROM head WHERE id = 1 FOR UPDATE")
        found = generations.read(session, number)
    session.close()
    return found


def _utf8(text: str) -> bytes:
    # A lone half of a pair is no UTF-8; it comes back as it was put all the same.
    return text.encode("utf-8", "surrogatepass")


def _shown(id: DocumentId) -> str:  # noqa: A002
    return str(id).replace("\0", " ").encode("utf-8", "replace").decode()


@lru_cache(maxsize=1024)
def _headings(path: tuple[str, ...]) -> bytes:
    """A heading path as it is kept; neighbours share theirs."""
    return canon.encode(path)


def _refuse_moved(head: Head, expected: Head, place: str) -> None:
    found = (head.lineage, head.generation, head.state_root)
    # The empty roots depend on the configured identity versions, so generation 0 is compared by its number alone.
    if found != (expected.lineage, expected.generation, expected.state_root) and head.generation + expected.generation:
        message = (
            f"{place}: the index is at generation {head.generation} ({head.state_root.short}), not at "
            f"{expected.generation} ({expected.state_root.short}) as planned; plan again"
        )
        raise StaleHead(message)


def _head(generation: Generation) -> Head:
    return Head(
        lineage=generation.lineage,
        generation=generation.number,
        corpus_root=generation.corpus_root,
        state_root=generation.state_root,
        recipe=generation.recipe,
        plan_digest=generation.plan_digest,
        documents=generation.documents,
        chunks=generation.chunks,
    )

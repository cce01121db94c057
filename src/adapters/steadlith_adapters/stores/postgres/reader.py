"""One generation, frozen by a transaction: all arms and look-ups see the same commit.

1. The snapshot is taken when the head is read, and lasts until `close`. It ends with its connection: nothing can go on
   reading it then.
2. Any kept generation can be read and searched; below the head the arms are those of `past`, and cost more.
3. A share in READING, taken before the snapshot, keeps the tables that it may look into.
4. A version is unpacked only if something of it is answered.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from steadlith_adapters.stores.arguments import check_limit, check_query
from steadlith_adapters.stores.columns import read_headings, read_metadata
from steadlith_adapters.stores.postgres import (
    ann,
    checks,
    generations,
    lexical,
    neighbours,
    packed,
    past,
    spaces,
    trie,
    vectors,
)
from steadlith_adapters.stores.postgres.session import numbers
from steadlith_core.digest import SIZE as DIGEST_SIZE
from steadlith_core.digest import Digest
from steadlith_core.errors import GenerationGone, UsageError
from steadlith_core.rows import EntryRow, RecordedDocument
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from steadlith_adapters.stores.postgres.session import Row, Session
    from steadlith_adapters.stores.postgres.spaces import SpaceTable
    from steadlith_adapters.stores.postgres.target import Target
    from steadlith_core.records import DocumentId, Head, Space
    from steadlith_core.rows import ArmHit, OccurrenceHit, Problem, RecordedChunk, TrieNode, TrieRow
    from steadlith_core.vectors import Vector

MAX_LIMIT = 1000

_DOCUMENT = """
    SELECT d.source, d.path, v.root, v.metadata, s.source_digest, length(v.leaves)
    FROM document d
    JOIN document_version v ON v.document = d.document AND v.valid_from <= %s AND v.valid_to > %s
    JOIN span s ON s.document = v.document AND s.version = v.valid_from AND s.valid_from <= %s AND s.valid_to > %s"""
_DOCUMENTS = f"{_DOCUMENT} ORDER BY d.source, d.path"
_FIND = f"{_DOCUMENT} WHERE d.key = ANY(%s::bytea[])"
# All occurrences of an entry in the first documents that hold it; which come first there, only their versions know.
_OCCURRENCES = """
    SELECT entry, document, occurrence FROM (
        SELECT o.entry, o.document, o.occurrence, d.source, d.path,
               dense_rank() OVER (PARTITION BY o.entry ORDER BY d.source, d.path) AS nth
        FROM occurrence o JOIN document d ON d.document = o.document
        WHERE o.valid_from <= %s AND o.valid_to > %s AND o.entry = ANY(%s::bigint[])
            AND (%s::bytea[] IS NULL OR d.key = ANY(%s::bytea[]))) o
    WHERE nth <= %s ORDER BY entry, source, path"""
# Spans alone: they are closed and opened with every version, and besides.
_CHANGED = """
    SELECT d.source, d.path FROM document d
    WHERE d.document IN (
        SELECT s.document FROM span s
        WHERE s.valid_from BETWEEN %s AND %s OR s.valid_to BETWEEN %s AND %s)"""
_ENTRIES = """
    SELECT e.entry_hash, t.text_hash, e.title, e.headings, e.context_hash
    FROM entry e JOIN text t ON t.text = e.text WHERE e.entry_hash = ANY(%s::bytea[])"""
_TEXTS = "SELECT text_hash, body FROM text WHERE text_hash = ANY(%s::bytea[])"


class PostgresReader:
    """What a session sees inside its transaction: a snapshot, or a write as it is about to be committed.

    The session is given back when the reader is closed.
    """

    __slots__ = ("_generation", "_graphs", "_head", "_on_close", "_session", "_tables", "_target")

    def __init__(
        self,
        session: Session,
        target: Target,
        generation: int | None,
        on_close: Callable[[PostgresReader, Session], None],
    ) -> None:
        # In a snapshot this first read takes the snapshot; everything later sees the same commit.
        self._head = generations.read_head(session)
        self._generation = self._head.generation if generation is None else generation
        self._refuse_gone(session, self._generation)
        self._session: Session | None = session
        self._target = target
        self._tables: dict[Space, SpaceTable | None] = {}
        self._graphs: dict[str, bool] = {}
        self._on_close = on_close

    @property
    def head(self) -> Head:
        """See `Reader.head`."""
        return self._head

    @property
    def generation(self) -> int:
        """See `Reader.generation`."""
        return self._generation

    def documents(self) -> Iterator[RecordedDocument]:
        """See `Reader.documents`."""
        session = self._live()
        return (self._document(session, row) for row in session.stream(_DOCUMENTS, *self._visible(2)))

    def find(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, RecordedDocument]:
        """See `Reader.find`."""
        session = self._live()
        rows = session.lookup(_FIND, [bytes(document_key(id_)) for id_ in ids], *self._visible(2))
        found = {document.id: document for document in (self._document(session, row) for row in rows)}
        # Damage may keep a document at another one's key.
        return {id_: found[id_] for id_ in ids if id_ in found}

    def nodes(self, prefixes: Sequence[str]) -> Mapping[str, TrieNode]:
        """See `Reader.nodes`."""
        return trie.nodes(self._session_of_head(), prefixes)

    def rows(self, prefix: str) -> Sequence[TrieRow]:
        """See `Reader.rows`."""
        return trie.rows(self._live(), self._generation, prefix)

    def chunks(self, id: DocumentId) -> tuple[RecordedChunk, ...]:  # noqa: A002
        """See `Reader.chunks`."""
        session = self._live()
        row = session.one("SELECT document FROM document WHERE key = %s", bytes(document_key(id)))
        return packed.chunks(session, self._generation, row[0]) if row else ()

    def entries(self, entry_hashes: Sequence[Digest]) -> Mapping[Digest, EntryRow]:
        """See `Reader.entries`."""
        session = self._live()
        found = {}
        for entry, text, title, headings, context in session.lookup(_ENTRIES, [*map(bytes, entry_hashes)]):
            key = Digest(entry)
            path = session.decode(read_headings, headings, f"headings of entry {key.short}")
            named = packed.text(session, title, f"title of entry {key.short}")
            found[key] = EntryRow(key, Digest(text), named, path, Digest(context) if context else None)
        return found

    def texts(self, text_hashes: Sequence[Digest]) -> Mapping[Digest, str]:
        """See `Reader.texts`."""
        session = self._live()
        rows = session.lookup(_TEXTS, [*map(bytes, text_hashes)])
        return {Digest(key): packed.text(session, body, f"text {key.hex()[:12]}") for key, body in rows}

    def held(self, space: Space, vector_keys: Sequence[Digest]) -> frozenset[Digest]:
        """See `Reader.held`."""
        session = self._live()
        table = self._table(session, space)
        return vectors.held(session, table, vector_keys) if table else frozenset()

    def vectors(self, space: Space, vector_keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
        """See `Reader.vectors`."""
        session = self._live()
        table = self._table(session, space)
        return vectors.fetch(session, table, vector_keys) if table else {}

    def changed_since(self, generation: int) -> Sequence[DocumentId]:
        """See `Reader.changed_since`."""
        session = self._live()
        self._refuse_gone(session, generation)
        if generation > self._generation:
            message = f"generation {generation} came after {self._generation}, which this reader shows"
            raise GenerationGone(message)
        since = (generation + 1, self._generation)
        rows = session.run(_CHANGED, *since, *since)
        return sorted(packed.document_id(session, source, path) for source, path in rows)

    def within(self, ids: Sequence[DocumentId]) -> tuple[int, ...]:
        """See `Reader.within`."""
        return packed.entries(self._live(), self._generation, [document_key(id_) for id_ in ids])

    def dense(
        self, space: Space, query: Vector, limit: int, among: Sequence[int] | None = None, *, exact: bool = False
    ) -> tuple[ArmHit, ...]:
        """See `Reader.dense`."""
        session = self._live()
        check_limit(limit, MAX_LIMIT)
        check_query(space, query)
        table = self._table(session, space)
        if table is None:
            return ()
        if not self._is_head:
            return past.nearest(session, self._generation, table, query, limit, among)
        graph = not exact and self._has_graph(session, table)
        return neighbours.nearest(session, table, query, limit, among, exact=exact, graph=graph)

    def lexical(self, terms: Sequence[str], limit: int, among: Sequence[int] | None = None) -> tuple[ArmHit, ...]:
        """See `Reader.lexical`."""
        session = self._live()
        check_limit(limit, MAX_LIMIT)
        if not self._is_head:
            return past.search(session, self._generation, terms, limit, among)
        return lexical.search(session, terms, limit, among)

    def cosines(self, space: Space, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:
        """See `Reader.cosines`."""
        session = self._live()
        check_query(space, query)
        table = self._table(session, space)
        return neighbours.cosines(session, table, query, entries) if table else {}

    def occurrences(
        self, entries: Sequence[int], most: int, ids: Sequence[DocumentId] | None = None
    ) -> tuple[OccurrenceHit, ...]:
        """See `Reader.occurrences`."""
        session = self._live()
        asked = numbers(entries)
        keys = None if ids is None else [bytes(document_key(id_)) for id_ in ids]
        rows = session.run(_OCCURRENCES, *self._visible(1), asked, keys, keys, most)
        wanted = list(_enough(rows, most))
        versions = packed.holders(session, self._generation, list(dict.fromkeys(document for _, document, _ in wanted)))
        contents = packed.contents(session, list(dict.fromkeys(entry for entry, _, _ in wanted)))
        hits: list[OccurrenceHit] = []
        for entry, of_entry in groupby(wanted, key=itemgetter(0)):
            found: list[OccurrenceHit] = []
            for _, document, occurrences in of_entry:
                found += packed.hits(session, entry, contents.get(entry), versions[document], occurrences)
            hits += found[:most]
        return tuple(sorted(hits, key=lambda hit: (hit.id, hit.position)))

    def problems(self, *, full: bool, workers: int = 1) -> Iterator[Problem]:  # noqa: ARG002
        """See `Reader.problems`."""
        return checks.problems(self._live(), full=full)

    def close(self) -> None:
        """See `Reader.close`."""
        session, self._session = self._session, None
        if session:
            self._on_close(self, session)

    # ------------------------------------------------------------------------------------------ inside

    def _live(self) -> Session:
        if self._session is None:
            message = "this reader is closed; take another snapshot"
            raise UsageError(message)
        return self._session

    def _visible(self, tables: int) -> tuple[int, ...]:
        """The values of so many pairs of `valid_from <= %s AND valid_to > %s`."""
        return (self._generation,) * (2 * tables)

    def _table(self, session: Session, space: Space) -> SpaceTable | None:
        """The tables of a space; looked up once, since nothing of a snapshot changes."""
        if space not in self._tables:
            self._tables[space] = spaces.find(session, space)
        return self._tables[space]

    def _has_graph(self, session: Session, table: SpaceTable) -> bool:
        """Whether this reader asks the HNSW index of a space; told once, so its answers do not change under way."""
        if self._target.ann != "hnsw":
            return False
        if table.index not in self._graphs:
            self._graphs[table.index] = ann.prepare(session, table, self._target.ef_search)
        return self._graphs[table.index]

    def _refuse_gone(self, session: Session, generation: int) -> None:
        head = self._head.generation
        if generation != head and not (0 <= generation < head and generations.is_kept(session, generation)):
            message = (
                f"{session.place}: generation {generation} is not kept; the index is at generation {head} "
                "(`steadlith history` lists what is kept)"
            )
            raise GenerationGone(message)

    @property
    def _is_head(self) -> bool:
        return self._generation == self._head.generation

    def _session_of_head(self) -> Session:
        session = self._live()
        if not self._is_head:
            message = (
                f"the nodes of the corpus trie at generation {self._generation}: this store keeps those of its head "
                f"only, which is generation {self._head.generation}"
            )
            raise GenerationGone(message)
        return session

    @staticmethod
    def _document(session: Session, row: Row) -> RecordedDocument:
        source, path, root, metadata, source_digest, leaves = row
        try:
            fields = read_metadata(metadata)
        except ValueError:
            # Damage: no metadata has this root, so whoever checks it finds out; and a plan to mend it can be made.
            fields = {}
        return RecordedDocument(
            id=packed.document_id(session, source, path),
            root=session.decode(Digest, root, f"the root of {source!r}:{path!r}"),
            metadata=fields,
            source_digest=Digest(source_digest),
            chunk_count=leaves // DIGEST_SIZE,
        )


def _enough(rows: Iterable[Row], most: int) -> Iterator[tuple[int, int, list[int]]]:
    """Entry, document and occurrences there: of each entry the first documents that hold `most` of it together."""
    for entry, of_entry in groupby(rows, key=itemgetter(0)):
        count = 0
        for document, group in groupby(of_entry, key=itemgetter(1)):
            if count >= most:
                break
            occurrences = [occurrence for *_, occurrence in group]
            count += len(occurrences)
            yield entry, document, occurrences

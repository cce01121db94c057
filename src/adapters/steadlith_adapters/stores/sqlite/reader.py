"""One generation, frozen by a transaction: all arms and look-ups see the same commit.

1. The snapshot is taken when the head is read, and lasts until `close`.
2. Any kept generation can be read and searched; below the head the arms are those of `past`, and cost more.
3. A version is unpacked only if something of it is answered.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from steadlith_adapters.stores.arguments import check_limit, check_query
from steadlith_adapters.stores.columns import read_headings, read_metadata
from steadlith_adapters.stores.sqlite import (
    checks,
    generations,
    hashes,
    lexical,
    neighbours,
    packed,
    past,
    spaces,
    trie,
    vectors,
)
from steadlith_adapters.stores.sqlite.schema import is_one_of
from steadlith_adapters.stores.sqlite.session import listed
from steadlith_core.digest import SIZE as DIGEST_SIZE
from steadlith_core.digest import Digest
from steadlith_core.errors import GenerationGone, UsageError
from steadlith_core.records import DocumentId
from steadlith_core.rows import EntryRow, RecordedDocument
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from steadlith_adapters.stores.sqlite.session import Row, Session
    from steadlith_core.records import Head, Space
    from steadlith_core.rows import ArmHit, OccurrenceHit, Problem, RecordedChunk, TrieNode, TrieRow
    from steadlith_core.vectors import Vector

MAX_LIMIT = 1000
"""Far enough below vec0's 4,096 that ties at the edge can be looked at."""

_VISIBLE = "{0}.valid_from <= ?1 AND {0}.valid_to > ?1"
_DOCUMENT = f"""
    SELECT d.source, d.path, v.root, v.metadata, s.source_digest, length(v.leaves)
    FROM document d
    JOIN document_version v ON v.document = d.document AND {_VISIBLE.format("v")}
    JOIN span s ON s.document = v.document AND s.version = v.valid_from AND {_VISIBLE.format("s")}"""  # noqa: S608
_DOCUMENTS = f"{_DOCUMENT} ORDER BY d.source, d.path"
_FIND = f"{_DOCUMENT} WHERE d.key IN ({{}})"
# All occurrences of an entry in the first documents that hold it; which come first there, only their versions know.
_OCCURRENCES = f"""
    SELECT document, occurrence FROM (
        SELECT o.document, o.occurrence, dense_rank() OVER (ORDER BY d.source, d.path) AS nth
        FROM occurrence o JOIN document d ON d.document = o.document
        WHERE {_VISIBLE.format("o")} AND o.entry = ?2
            AND (?4 IS NULL OR o.document IN (SELECT value FROM json_each(?4))))
    WHERE nth <= ?3 ORDER BY nth"""  # noqa: S608
# Spans alone: they are closed and opened with every version, and besides.
_CHANGED = """
    SELECT d.source, d.path FROM document d
    WHERE d.document IN (
        SELECT s.document FROM span s
        WHERE s.valid_from BETWEEN ?1 + 1 AND ?2 OR s.valid_to BETWEEN ?1 + 1 AND ?2)
    ORDER BY d.source, d.path"""
_NUMBERS = "SELECT document FROM document WHERE key IN ({})"
_ENTRIES = f"""
    SELECT e.entry_hash, t.text_hash, e.title, e.headings, e.context_hash
    FROM entry e {{indexed}} JOIN text t ON t.text = e.text WHERE e.entry {{side}} AND {is_one_of("e.entry_hash")}"""  # noqa: S608
_TEXTS = f"SELECT text_hash, body FROM text {{indexed}} WHERE text {{side}} AND {is_one_of('text_hash')}"  # noqa: S608


class SqliteReader:
    """What a session sees inside its transaction: a snapshot, or a write as it is about to be committed.

    The session is given back when the reader is closed.
    """

    __slots__ = ("_generation", "_head", "_on_close", "_session")

    def __init__(
        self, session: Session, generation: int | None, on_close: Callable[[SqliteReader, Session], None]
    ) -> None:
        # In a snapshot this first read takes the snapshot; everything later sees the same commit.
        self._head = generations.read_head(session)
        self._generation = self._head.generation if generation is None else generation
        self._refuse_gone(session, self._generation)
        self._session: Session | None = session
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
        return (self._document(session, row) for row in session.stream(_DOCUMENTS, self._generation))

    def find(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, RecordedDocument]:
        """See `Reader.find`."""
        session = self._live()
        rows = session.lookup(_FIND, [document_key(id_) for id_ in ids], self._generation)
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
        return packed.chunks(self._live(), self._generation, id)

    def entries(self, entry_hashes: Sequence[Digest]) -> Mapping[Digest, EntryRow]:
        """See `Reader.entries`."""
        session = self._live()
        found = {}
        for entry, text, title, headings, context in hashes.find(session, "entry", _ENTRIES, entry_hashes):
            key = Digest(entry)
            path = session.decode(read_headings, headings, f"headings of entry {key.short}")
            found[key] = EntryRow(key, Digest(text), title, path, Digest(context) if context else None)
        return found

    def texts(self, text_hashes: Sequence[Digest]) -> Mapping[Digest, str]:
        """See `Reader.texts`."""
        return {Digest(key): body for key, body in hashes.find(self._live(), "text", _TEXTS, text_hashes)}

    def held(self, space: Space, vector_keys: Sequence[Digest]) -> frozenset[Digest]:
        """See `Reader.held`."""
        session = self._live()
        table = spaces.find(session, space)
        return vectors.held(session, table, vector_keys) if table else frozenset()

    def vectors(self, space: Space, vector_keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
        """See `Reader.vectors`."""
        session = self._live()
        table = spaces.find(session, space)
        return vectors.fetch(session, table, vector_keys) if table else {}

    def changed_since(self, generation: int) -> Sequence[DocumentId]:
        """See `Reader.changed_since`."""
        session = self._live()
        self._refuse_gone(session, generation)
        if generation > self._generation:
            message = f"generation {generation} came after {self._generation}, which this reader shows"
            raise GenerationGone(message)
        return [DocumentId(*row) for row in session.run(_CHANGED, generation, self._generation)]

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
        table = spaces.find(session, space)
        if table is None:
            return ()
        if not self._is_head:
            return past.nearest(session, self._generation, table, query, limit, among)
        return neighbours.nearest(session, table, query, limit, among, exact=exact)

    def lexical(self, terms: Sequence[str], limit: int, among: Sequence[int] | None = None) -> tuple[ArmHit, ...]:
        """See `Reader.lexical`."""
        session = self._live()
        check_limit(limit, MAX_LIMIT)
        if not self._is_head:
            return past.search(session, self._generation, terms, limit, among)
        return lexical.search(session, terms, limit, among, self._head.chunks)

    def cosines(self, space: Space, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:
        """See `Reader.cosines`."""
        session = self._live()
        check_query(space, query)
        table = spaces.find(session, space)
        return neighbours.cosines(session, table, query, entries) if table else {}

    def occurrences(
        self, entries: Sequence[int], most: int, ids: Sequence[DocumentId] | None = None
    ) -> tuple[OccurrenceHit, ...]:
        """See `Reader.occurrences`."""
        session = self._live()
        passing = None
        if ids is not None:
            found = session.lookup(_NUMBERS, [document_key(id_) for id_ in ids])
            passing = listed([number for (number,) in found])
        versions: dict[int, packed.Version] = {}
        hits: list[OccurrenceHit] = []
        for entry in dict.fromkeys(entries):
            enough = len(hits) + most
            rows = session.run(_OCCURRENCES, self._generation, entry, most, passing)
            for document, group in groupby(rows, key=itemgetter(0)):
                if len(hits) >= enough:
                    break
                if document not in versions:
                    versions[document] = packed.holder(session, self._generation, document)
                hits += packed.hits(session, entry, versions[document], [occurrence for _, occurrence in group])
            del hits[enough:]
        return tuple(sorted(hits, key=lambda hit: (hit.id, hit.position)))

    def problems(self, *, full: bool, workers: int = 1) -> Iterator[Problem]:
        """See `Reader.problems`."""
        return checks.problems(self._live(), full=full, workers=workers)

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

    def _refuse_gone(self, session: Session, generation: int) -> None:
        head = self._head.generation
        if generation != head and not (0 <= generation < head and generations.is_kept(session, generation)):
            message = (
                f"{session.path}: generation {generation} is not kept; the index is at generation {head} "
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
            id=DocumentId(source, path),
            root=session.decode(Digest, root, f"the root of {source}:{path}"),
            metadata=fields,
            source_digest=Digest(source_digest),
            chunk_count=leaves // DIGEST_SIZE,
        )

"""One generation, frozen by a read transaction: all arms and look-ups see the same commit.

1. The snapshot is taken when the head is read, and lasts until `close`.
2. Documents and chunks can be read at any kept generation; the arms only at the head.
3. Positions and spans come from the version's packed columns, in one order; a version is unpacked only if something
   of it is answered.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.stores.arguments import check_limit, check_query
from steadlith_adapters.stores.sqlite import checks, generations, lexical, packing, trie, vectors
from steadlith_adapters.stores.sqlite.rows import read_headings, read_metadata
from steadlith_adapters.stores.sqlite.schema import INDEX
from steadlith_core.digest import SIZE as DIGEST_SIZE
from steadlith_core.digest import Digest
from steadlith_core.errors import GenerationGone, UsageError
from steadlith_core.records import DocumentId
from steadlith_core.rows import EntryRow, OccurrenceHit, RecordedChunk, RecordedDocument
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from steadlith_adapters.stores.sqlite.session import Row, Session
    from steadlith_core.records import Head, Space, Span
    from steadlith_core.rows import ArmHit, Problem, TrieNode, TrieRow
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
_VERSION = f"""
    SELECT d.source, d.path, v.metadata, s.source_digest, v.occurrences, v.leaves, v.parents, s.positions
    FROM document d
    JOIN document_version v ON v.document = d.document AND {_VISIBLE.format("v")}
    JOIN span s ON s.document = v.document AND s.version = v.valid_from AND {_VISIBLE.format("s")}
    WHERE d.document = ?2"""  # noqa: S608
_IDENTITIES = f"""
    SELECT o.occurrence, e.entry_hash, t.text_hash, e.context_hash IS NOT NULL
    FROM occurrence o JOIN entry e ON e.entry = o.entry JOIN text t ON t.text = e.text
    WHERE {_VISIBLE.format("o")} AND o.occurrence IN ({{}})"""  # noqa: S608
# All occurrences of an entry in the first documents that hold it; which come first there, only their versions know.
_OCCURRENCES = f"""
    SELECT document, occurrence FROM (
        SELECT o.document, o.occurrence, dense_rank() OVER (ORDER BY d.source, d.path) AS nth
        FROM occurrence o JOIN document d ON d.document = o.document
        WHERE {_VISIBLE.format("o")} AND o.entry = ?2)
    WHERE nth <= ?3 ORDER BY nth"""  # noqa: S608
_ENTRY = "SELECT e.title, e.headings, t.body FROM entry e JOIN text t ON t.text = e.text WHERE e.entry = ?"
_ENTRIES = """
    SELECT e.entry_hash, t.text_hash, e.title, e.headings, e.context_hash
    FROM entry e JOIN text t ON t.text = e.text WHERE e.entry_hash IN ({})"""
_TEXTS = "SELECT text_hash, body FROM text WHERE text_hash IN ({})"


class _Version(NamedTuple):
    """A document as one generation shows it; the four sequences run in parallel.

    `positions` leads from an occurrence to its place in them.
    """

    id: DocumentId
    metadata: Mapping[str, str]
    source_digest: Digest
    occurrences: tuple[int, ...]
    leaves: tuple[Digest, ...]
    parents: tuple[int, ...]
    spans: tuple[Span, ...]
    positions: Mapping[int, int]


class SqliteReader:
    """A snapshot on a session of its own, given back when it is closed."""

    __slots__ = ("_generation", "_head", "_on_close", "_session")

    def __init__(
        self, session: Session, generation: int | None, on_close: Callable[[SqliteReader, Session], None]
    ) -> None:
        session.run("BEGIN")
        # This first read takes the snapshot; everything later sees the same commit.
        self._head = generations.read_head(session)
        self._generation = self._head.generation if generation is None else generation
        at_head = self._generation == self._head.generation
        if not at_head and not generations.is_kept(session, self._generation):
            message = (
                f"{session.path}: generation {generation} is not kept; the index is at generation "
                f"{self._head.generation} (`steadlith history` lists what is kept)"
            )
            raise GenerationGone(message)
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
        return {document.id: document for document in (self._document(session, row) for row in rows)}

    def nodes(self, prefixes: Sequence[str]) -> Mapping[str, TrieNode]:
        """See `Reader.nodes`."""
        return trie.nodes(self._at_head("the nodes of the corpus trie"), prefixes)

    def rows(self, prefix: str) -> Sequence[TrieRow]:
        """See `Reader.rows`."""
        return trie.rows(self._live(), self._generation, prefix)

    def chunks(self, id: DocumentId) -> tuple[RecordedChunk, ...]:  # noqa: A002
        """See `Reader.chunks`."""
        session = self._live()
        row = session.one("SELECT document FROM document WHERE source = ? AND path = ?", id.source, id.path)
        version = self._version(session, row[0]) if row else None
        if version is None:
            return ()
        identity = {
            occurrence: (Digest(text), Digest(entry), bool(embed))
            for occurrence, entry, text, embed in session.lookup(_IDENTITIES, version.occurrences, self._generation)
        }
        missing = [occurrence for occurrence in version.occurrences if occurrence not in identity]
        if missing:
            raise INDEX.damaged(session.path, f"occurrence {missing[0]} of {id} is missing")
        return tuple(
            RecordedChunk(occurrence, leaf, text, entry, span, parent, embed)
            for occurrence, leaf, parent, span in zip(
                version.occurrences, version.leaves, version.parents, version.spans, strict=True
            )
            for text, entry, embed in (identity[occurrence],)
        )

    def entries(self, entry_hashes: Sequence[Digest]) -> Mapping[Digest, EntryRow]:
        """See `Reader.entries`."""
        session = self._live()
        found = {}
        for entry, text, title, headings, context in session.lookup(_ENTRIES, entry_hashes):
            key = Digest(entry)
            path = session.decode(read_headings, headings, f"headings of entry {key.short}")
            found[key] = EntryRow(key, Digest(text), title, path, Digest(context) if context else None)
        return found

    def texts(self, text_hashes: Sequence[Digest]) -> Mapping[Digest, str]:
        """See `Reader.texts`."""
        return {Digest(key): body for key, body in self._live().lookup(_TEXTS, text_hashes)}

    def held(self, space: Space, vector_keys: Sequence[Digest]) -> frozenset[Digest]:
        """See `Reader.held`."""
        session = self._live()
        table = vectors.find(session, space)
        return vectors.held(session, table, vector_keys) if table else frozenset()

    def vectors(self, space: Space, vector_keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
        """See `Reader.vectors`."""
        session = self._live()
        table = vectors.find(session, space)
        return vectors.fetch(session, table, vector_keys) if table else {}

    def dense(self, space: Space, query: Vector, limit: int) -> tuple[ArmHit, ...]:
        """See `Reader.dense`."""
        session = self._at_head("dense search")
        check_limit(limit, MAX_LIMIT)
        check_query(space, query)
        table = vectors.find(session, space)
        return vectors.nearest(session, table, query, limit) if table else ()

    def lexical(self, terms: Sequence[str], limit: int) -> tuple[ArmHit, ...]:
        """See `Reader.lexical`."""
        session = self._at_head("lexical search")
        check_limit(limit, MAX_LIMIT)
        return lexical.search(session, terms, limit, self._head.chunks)

    def cosines(self, space: Space, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:
        """See `Reader.cosines`."""
        session = self._at_head("cosines")
        check_query(space, query)
        table = vectors.find(session, space)
        return vectors.cosines(session, table, query, entries) if table else {}

    def occurrences(self, entries: Sequence[int], most: int) -> tuple[OccurrenceHit, ...]:
        """See `Reader.occurrences`."""
        session = self._live()
        versions: dict[int, _Version] = {}
        hits: list[OccurrenceHit] = []
        for entry in dict.fromkeys(entries):
            enough = len(hits) + most
            rows = session.run(_OCCURRENCES, self._generation, entry, most)
            for document, group in groupby(rows, key=itemgetter(0)):
                if len(hits) >= enough:
                    break
                if document not in versions:
                    versions[document] = self._holder(session, document)
                hits += self._hits(session, entry, versions[document], [occurrence for _, occurrence in group])
            del hits[enough:]
        return tuple(sorted(hits, key=lambda hit: (hit.id, hit.position)))

    def problems(self, *, full: bool) -> Iterator[Problem]:
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

    def _at_head(self, what: str) -> Session:
        session = self._live()
        if self._generation != self._head.generation:
            message = (
                f"{what} at generation {self._generation}: this store searches its head only, which is generation "
                f"{self._head.generation}; documents and chunks of older generations can be read"
            )
            raise GenerationGone(message)
        return session

    @staticmethod
    def _document(session: Session, row: Row) -> RecordedDocument:
        source, path, root, metadata, source_digest, leaves = row
        return RecordedDocument(
            id=DocumentId(source, path),
            root=Digest(root),
            metadata=session.decode(read_metadata, metadata, f"metadata of {source}:{path}"),
            source_digest=Digest(source_digest),
            chunk_count=leaves // DIGEST_SIZE,
        )

    def _holder(self, session: Session, document: int) -> _Version:
        version = self._version(session, document)
        if version is None:
            raise INDEX.damaged(session.path, f"document {document} has occurrences and no version that holds them")
        return version

    def _hits(self, session: Session, entry: int, version: _Version, occurrences: Sequence[int]) -> list[OccurrenceHit]:
        """The occurrences of an entry in one document, by position."""
        row = session.one(_ENTRY, entry)
        if row is None:
            raise INDEX.damaged(session.path, f"entry {entry} of {version.id} is missing")
        title, headings, body = row
        path = session.decode(read_headings, headings, f"headings of entry {entry}")
        misplaced = [occurrence for occurrence in occurrences if occurrence not in version.positions]
        if misplaced:
            raise INDEX.damaged(session.path, f"occurrence {misplaced[0]} has no place in {version.id}")
        return [
            OccurrenceHit(
                entry=entry,
                occurrence=version.occurrences[position],
                position=position,
                parent=version.parents[position],
                id=version.id,
                metadata=version.metadata,
                source_digest=version.source_digest,
                span=version.spans[position],
                chunk_hash=version.leaves[position],
                title=title,
                headings=path,
                text=body,
            )
            for position in sorted(version.positions[occurrence] for occurrence in occurrences)
        ]

    def _version(self, session: Session, document: int) -> _Version | None:
        row = session.one(_VERSION, self._generation, document)
        if row is None:
            return None
        source, path, metadata, source_digest, occurrences, leaves, parents, positions = row
        name = f"{source}:{path}"
        ids = session.decode(packing.unpack_ids, occurrences, f"occurrences of {name}")
        unpack_parents = partial(packing.unpack_parents, count=len(ids))
        version = _Version(
            id=DocumentId(source, path),
            metadata=session.decode(read_metadata, metadata, f"metadata of {name}"),
            source_digest=Digest(source_digest),
            occurrences=ids,
            leaves=session.decode(packing.unpack_digests, leaves, f"chunk hashes of {name}"),
            parents=session.decode(unpack_parents, parents, f"parents of {name}"),
            spans=session.decode(packing.unpack_spans, positions, f"spans of {name}"),
            positions={occurrence: position for position, occurrence in enumerate(ids)},
        )
        if not len(version.occurrences) == len(version.leaves) == len(version.spans):
            raise INDEX.damaged(session.path, f"{name} has unequal numbers of occurrences, chunk hashes and spans")
        return version

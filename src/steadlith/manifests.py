"""Manifests as files: exporting what an index holds, and planning or comparing against it without the index.

1. An export streams: what is in memory is one document, whatever the index holds.
2. A manifest that is read is checked to its end before anything of it is used.
3. `ManifestReader` answers what planning asks of a store's reader. What a manifest does not hold is absent (texts,
   vectors), empty (titles, headings, spans), or refused (searching).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from steadlith.border import adapter
from steadlith_core.errors import GenerationGone, ManifestError, UsageError
from steadlith_core.records import Head, Span
from steadlith_core.rows import EntryRow, RecordedChunk, RecordedDocument
from steadlith_core.state.difference import WholeTrie
from steadlith_core.state.manifest import Header, ManifestChunk, ManifestDocument
from steadlith_core.state.manifestreading import Unpacking
from steadlith_core.state.manifestwriting import pack
from steadlith_core.state.moving import EMPTY
from steadlith_core.state.roots import empty_head, sources_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId, Generation, Recipe, Space
    from steadlith_core.rows import ArmHit, OccurrenceHit, Problem, TrieNode, TrieRow
    from steadlith_core.state.moving import Nodes
    from steadlith_core.vectors import Vector

LINEAGE = "manifest"
"""A manifest has no lineage and no generation; its reader's head has this one, and generation 1."""

PIECE = 1 << 20
NOWHERE = Span(0, 0, 0, 0)


def corpus_trie(reader: Reader) -> Nodes:
    """The trie that a reader shows: its own at the head; any other generation's is built, in memory."""
    if reader.generation == reader.head.generation:
        return reader
    with adapter("reading the index"):
        return WholeTrie(reader.rows(""))


def header(reader: Reader, trie: Nodes, history: Iterable[Generation] = ()) -> Header:
    """What the whole is at the reader's generation. `trie` is its `corpus_trie`, `history` has what is not the head.

    Raises `ManifestError` for a state root that does not follow from what was committed with it.
    """
    at_head = reader.generation == reader.head.generation
    with adapter("reading the index"):
        state = reader.head if at_head else _kept(reader.generation, history)
        top = trie.nodes([""]).get("", EMPTY)
    return Header(state.recipe, state.corpus_root, state.state_root, sources_root(top), state.documents, state.chunks)


def export(reader: Reader, header: Header) -> Iterator[bytes]:
    """The manifest of what `reader` shows, in pieces. `header` is the one of that.

    Raises `ManifestError` for what cannot be exported: rows that do not lead to what was committed with them.
    """
    try:
        yield from pack(header, _documents(reader))
    except ManifestError as error:
        raise ManifestError(f"the index cannot be exported: {error}; `steadlith verify` says what is wrong") from error


def load(file: Path) -> ManifestReader:
    """The manifest in `file`, read and checked whole. `ManifestError` for anything else."""
    try:
        with file.open("rb") as stream:
            return ManifestReader(iter(lambda: stream.read(PIECE), b""))
    except OSError as error:
        raise ManifestError(f"cannot read manifest {file}: {error.strerror or error}") from error
    except ManifestError as error:
        raise ManifestError(
            f"{file} is no manifest that can be used: {error} (export it again: steadlith manifest export)"
        ) from error


class ManifestReader:
    """What a manifest holds, as `Reader` answers it. Occurrences are counted in the manifest's own order, from 1."""

    __slots__ = ("_documents", "_entries", "_trie", "head", "header")

    def __init__(self, pieces: Iterable[bytes]) -> None:
        """Read all of it. `ManifestError` for anything that is not a whole manifest."""
        unpacking = Unpacking(pieces)
        self._documents: dict[DocumentId, tuple[int, ManifestDocument]] = {}
        self._entries: dict[Digest, tuple[Digest, Digest | None]] = {}
        number = 1
        for document in unpacking.documents():
            self._documents[document.id] = number, document
            number += len(document.chunks)
            self._learn(document)
        self._trie = WholeTrie(unpacking.rows, unpacking.trie)
        self.header = unpacking.header
        self.head = _head(self.header)

    @property
    def recipe(self) -> Recipe | None:
        """What decides the index besides its sources."""
        return self.header.recipe

    @property
    def generation(self) -> int:
        """The head's: there is one state in a manifest."""
        return self.head.generation

    def documents(self) -> Iterator[RecordedDocument]:
        """See `Reader.documents`."""
        return (_recorded(document) for _, document in self._documents.values())

    def find(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, RecordedDocument]:
        """See `Reader.find`."""
        return {id_: _recorded(self._documents[id_][1]) for id_ in ids if id_ in self._documents}

    def nodes(self, prefixes: Sequence[str]) -> Mapping[str, TrieNode]:
        """See `Reader.nodes`."""
        return self._trie.nodes(prefixes)

    def rows(self, prefix: str) -> Sequence[TrieRow]:
        """See `Reader.rows`."""
        return self._trie.rows(prefix)

    def chunks(self, id: DocumentId) -> tuple[RecordedChunk, ...]:  # noqa: A002
        """See `Reader.chunks`; a manifest has no spans."""
        if id not in self._documents:
            return ()
        first, document = self._documents[id]
        return tuple(
            RecordedChunk(
                number,
                chunk.chunk_hash,
                chunk.text_hash,
                chunk.entry_hash,
                NOWHERE,
                chunk.parent,
                chunk.context_hash is not None,
            )
            for number, chunk in enumerate(document.chunks, first)
        )

    def entries(self, entry_hashes: Sequence[Digest]) -> Mapping[Digest, EntryRow]:
        """See `Reader.entries`; a manifest has their hashes, and neither titles nor headings."""
        found = {key: self._entries[key] for key in entry_hashes if key in self._entries}
        return {key: EntryRow(key, text, "", (), context) for key, (text, context) in found.items()}

    def texts(self, text_hashes: Sequence[Digest]) -> Mapping[Digest, str]:  # noqa: ARG002 -- the port's name
        """There are none in a manifest."""
        return {}

    def held(self, space: Space, vector_keys: Sequence[Digest]) -> frozenset[Digest]:  # noqa: ARG002 -- see texts
        """None: a manifest does not say which vectors the index has, so what a plan would embed is at most that."""
        return frozenset()

    def vectors(self, space: Space, vector_keys: Sequence[Digest]) -> Mapping[Digest, Vector]:  # noqa: ARG002
        """There are none in a manifest."""
        return {}

    def dense(self, space: Space, query: Vector, limit: int) -> tuple[ArmHit, ...]:  # noqa: ARG002
        """Refused: see `UsageError`."""
        _cannot_search()

    def lexical(self, terms: Sequence[str], limit: int) -> tuple[ArmHit, ...]:  # noqa: ARG002
        """Refused: see `UsageError`."""
        _cannot_search()

    def cosines(self, space: Space, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:  # noqa: ARG002
        """Refused: see `UsageError`."""
        _cannot_search()

    def occurrences(self, entries: Sequence[int], most: int) -> tuple[OccurrenceHit, ...]:  # noqa: ARG002
        """Refused: see `UsageError`."""
        _cannot_search()

    def problems(self, *, full: bool, workers: int = 1) -> Iterator[Problem]:  # noqa: ARG002
        """None: it was checked when it was read."""
        return iter(())

    def close(self) -> None:
        """See `Reader.close`."""

    def _learn(self, document: ManifestDocument) -> None:
        for position, chunk in enumerate(document.chunks):
            said = chunk.text_hash, chunk.context_hash
            if self._entries.setdefault(chunk.entry_hash, said) != said:
                raise ManifestError(
                    f"{document.id}: chunk {position} has the entry {chunk.entry_hash} of another text or context"
                )


def _head(header: Header) -> Head:
    """The head that a plan against this manifest stands on; that of no index where nothing was ever committed."""
    if header.recipe is None:
        return empty_head()
    return Head(
        lineage=LINEAGE,
        generation=1,
        corpus_root=header.corpus_root,
        state_root=header.state_root,
        recipe=header.recipe,
        plan_digest=None,
        documents=header.documents,
        chunks=header.chunks,
    )


def _documents(reader: Reader) -> Iterator[ManifestDocument]:
    with adapter("reading the index"):
        for document in reader.documents():
            rows = reader.chunks(document.id)
            entries = reader.entries(sorted({row.entry_hash for row in rows}))
            yield ManifestDocument(
                id=document.id,
                root=document.root,
                source_digest=document.source_digest,
                metadata=document.metadata,
                chunks=tuple(_chunk(document.id, row, entries) for row in rows),
            )


def _chunk(id: DocumentId, row: RecordedChunk, entries: Mapping[Digest, EntryRow]) -> ManifestChunk:  # noqa: A002
    entry = entries.get(row.entry_hash)
    if entry is None:
        raise ManifestError(f"{id}: the entry {row.entry_hash} is missing")
    return ManifestChunk(row.chunk_hash, row.text_hash, row.entry_hash, entry.context_hash, row.parent)


def _recorded(document: ManifestDocument) -> RecordedDocument:
    return RecordedDocument(document.id, document.root, document.metadata, document.source_digest, len(document.chunks))


def _kept(number: int, history: Iterable[Generation]) -> Generation:
    for generation in history:
        if generation.number == number:
            return generation
    raise GenerationGone(f"generation {number} is not kept")


def _cannot_search() -> NoReturn:
    raise UsageError("a manifest holds no texts and no vectors: search the index that it was exported from")

"""Sample records for the suites: small documents whose identities are real and whose vectors follow from their text.

1. Everything follows from the arguments: no clock, no randomness, no model.
2. Texts, entries, document roots, trie nodes and corpus roots are what the core gives them, so a store may check them.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from steadlith_core import vectors
from steadlith_core.digest import Digest, hash_fields
from steadlith_core.records import DocumentId, Generation, Recipe, Space, Span
from steadlith_core.rows import DocumentVersion, EntryRow, Placement, TextRow, TrieRow, VectorRow
from steadlith_core.state import identity
from steadlith_core.state.moving import build, move
from steadlith_core.state.roots import corpus_root, state_root
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steadlith_core.ports import Reader, Store, Transaction
    from steadlith_core.records import Head
    from steadlith_core.rows import ArmHit, TrieNode
    from steadlith_core.state.moving import Moved
    from steadlith_core.vectors import Vector

AT = "2026-01-01T00:00:00Z"
LINEAGE = "sample-lineage"


@dataclass(frozen=True, slots=True)
class Piece:
    """One sample chunk. `occurrence` claims an id; none asks for a new one. `shift` moves its span in the source.

    `parent` is the position of the piece that it is a part of; without `embed` it is context only.
    """

    text: str
    occurrence: int | None = None
    title: str = "Sample"
    headings: tuple[str, ...] = ()
    shift: int = 0
    parent: int = -1
    embed: bool = True

    @property
    def text_hash(self) -> Digest:
        """What its text is kept under."""
        return identity.text_hash(self.text)

    @property
    def context_hash(self) -> Digest | None:
        """The context that its entry and its vector share, none if it has no vector."""
        return identity.context_hash("sample/1", (self.title, *self.headings)) if self.embed else None

    @property
    def entry_hash(self) -> Digest:
        """What its entry is kept under."""
        return identity.entry_hash(self.text_hash, self.title, self.headings, self.context_hash)

    @property
    def chunk_hash(self) -> Digest:
        """Its leaf in the document's tree."""
        return hash_fields("sample-chunk", self.text)


Changes: TypeAlias = "Mapping[DocumentId, Sequence[Piece] | None]"
"""Documents of one write: their new pieces, or none to close them."""

Versions: TypeAlias = "Mapping[DocumentId, DocumentVersion | None]"
"""Documents of one write as they are put, or none to close them."""


def doc(path: str, source: str = "docs") -> DocumentId:
    """A document's id."""
    return DocumentId(source, path)


def pieces(*texts: str) -> list[Piece]:
    """New pieces, one per text."""
    return [Piece(text) for text in texts]


def space(dimensions: int = 8, model_id: str = "sample-model/1", quantization: str = "float32") -> Space:
    """An embedding space."""
    return Space(model_id, hash_fields("sample-params", dimensions), dimensions, quantization)


SPACE = space()


def vector(label: str, dimensions: int = 8) -> Vector:
    """A unit vector that follows from a label; different labels point far apart."""
    numbers: list[float] = []
    while len(numbers) < dimensions:
        numbers += [byte - 127.5 for byte in hash_fields("sample-vector", label, len(numbers))]
    return vectors.unit(vectors.pack(numbers[:dimensions]))


def vector_row(piece: Piece, space: Space = SPACE) -> VectorRow:
    """The vector of a piece's entry."""
    key = identity.vector_key(f"{piece.title}\n{piece.text}", space.model_id, space.params_hash)
    return VectorRow(piece.entry_hash, key, vector(piece.text, space.dimensions))


def text_row(piece: Piece) -> TextRow:
    """The text of a piece."""
    return TextRow(piece.text_hash, piece.text)


def entry_row(piece: Piece) -> EntryRow:
    """The entry of a piece."""
    return EntryRow(piece.entry_hash, piece.text_hash, piece.title, piece.headings, piece.context_hash)


def spans(parts: Iterable[Piece]) -> list[Span]:
    """Spans of pieces that stand behind one another, one line each."""
    found: list[Span] = []
    start = 0
    for line, part in enumerate(parts, 1):
        end = start + len(part.text.encode()) + part.shift
        found.append(Span(start + part.shift, end, line, line))
        start = end + 1
    return found


def source_digest(id: DocumentId, parts: Iterable[Piece]) -> Digest:  # noqa: A002
    """The digest of the source that such pieces might come from."""
    return identity.source_digest("\n".join([str(id), *(f"{part.shift}{part.text}" for part in parts)]).encode())


def version(id: DocumentId, parts: Sequence[Piece], metadata: Mapping[str, str] | None = None) -> DocumentVersion:  # noqa: A002
    """A document made of pieces."""
    fields = {"title": parts[0].title if parts else ""} if metadata is None else metadata
    placements = tuple(
        Placement(part.occurrence, part.entry_hash, part.chunk_hash, span, part.parent)
        for part, span in zip(parts, spans(parts), strict=True)
    )
    root = document_root([part.chunk_hash for part in parts], fields, [(part.parent, part.embed) for part in parts])
    return DocumentVersion(id, root, fields, source_digest(id, parts), placements)


def recipe(*spaces: Space) -> Recipe:
    """A recipe with these spaces."""
    zero = hash_fields("sample-recipe")
    return Recipe("text/1", "sample/1", zero, zero, "sample/1", "bm25/1", spaces)


def versions(changes: Changes) -> Versions:
    """The changed documents as they are put, none for those that are closed."""
    return {each: None if parts is None else version(each, parts) for each, parts in changes.items()}


def trie_row(made: DocumentVersion) -> TrieRow:
    """A document as the corpus trie names it."""
    return TrieRow(document_key(made.id), made.root, made.source_digest)


def moved(reader: Reader, changed: Versions) -> Moved:
    """How the changes move the corpus trie from where `reader` shows it."""
    return move(reader, {document_key(each): trie_row(made) if made else None for each, made in changed.items()})


def generation(head: Head, top: TrieNode, chunks: int, *, spaces: Sequence[Space] = (SPACE,)) -> Generation:
    """The generation after `head` that `top` leads to."""
    made_by = recipe(*spaces)
    corpus = corpus_root(top.count, top.digest, normalizer_id=made_by.normalizer_id)
    return Generation(
        number=head.generation + 1,
        parent=head.generation,
        lineage=head.lineage or LINEAGE,
        corpus_root=corpus,
        state_root=state_root(corpus, made_by),
        recipe=made_by,
        plan_digest=hash_fields("sample-plan", head.generation + 1, corpus, chunks),
        documents=top.count,
        chunks=chunks,
        at=AT,
        summary={"add": chunks},
    )


def follow(write: Transaction, reader: Reader, changed: Versions, spaces: Sequence[Space] = (SPACE,)) -> Generation:
    """Put the nodes that the changes lead to, and nothing else; the generation that the write is then to commit.

    `reader` shows the head that the write began on.
    """
    trie = moved(reader, changed)
    write.put_nodes(trie.put, trie.dropped)
    before = sum(found.chunk_count for found in reader.find(list(changed)).values())
    after = sum(len(made.placements) for made in changed.values() if made)
    return generation(reader.head, trie.after, reader.head.chunks - before + after, spaces=spaces)


def stage(write: Transaction, reader: Reader, changes: Changes, spaces: Sequence[Space] = (SPACE,)) -> Generation:
    """Put everything that the changes need, without a commit; the generation that the write is then to commit.

    `reader` shows the head that the write began on.
    """
    stage_rows(write, changes, spaces)
    return follow(write, reader, versions(changes), spaces)


def stage_rows(write: Transaction, changes: Changes, spaces: Sequence[Space] = (SPACE,)) -> None:
    """Put everything that the changes need but the nodes of the trie."""
    parts = [part for held in changes.values() for part in held or ()]
    write.put_texts(map(text_row, parts))
    write.put_entries(map(entry_row, parts))
    for each in spaces:
        write.put_vectors(each, [vector_row(part, each) for part in parts if part.embed])
    for id, made in versions(changes).items():  # noqa: A001
        if made is None:
            write.close_document(id)
        else:
            write.put_document(made)


def write(store: Store, changes: Changes, *, spaces: Sequence[Space] = (SPACE,)) -> Head:
    """Commit the changes as the next generation."""
    with closing(store.snapshot()) as reader:
        transaction = store.begin(reader.head)
        given = stage(transaction, reader, changes, spaces)
    return transaction.commit(given)


def write_vectors(store: Store, given: Mapping[str, Vector], *spaces: Space, path: str = "a.md") -> Head:
    """Commit one document whose chunks, one a text, have exactly these vectors in each of the spaces."""
    parts = [Piece(text) for text in given]
    transaction = store.begin(store.head())
    transaction.put_texts(map(text_row, parts))
    transaction.put_entries(map(entry_row, parts))
    for each in spaces:
        transaction.put_vectors(each, [replace(vector_row(part, each), vector=given[part.text]) for part in parts])
    transaction.put_document(version(doc(path), parts))
    return transaction.commit(follow(transaction, store.snapshot(), versions({doc(path): parts}), spaces))


def texts_of(reader: Reader, hits: Iterable[ArmHit]) -> list[str]:
    """The texts of an arm's hits, in their order."""
    return [reader.occurrences([hit.entry], 1)[0].text for hit in hits]


def word_hits(store: Store, reader: Reader, *terms: str) -> tuple[ArmHit, ...]:
    """What the lexical arm finds; of a store without one, what the dense arm finds."""
    if store.capabilities.lexical == "none":
        return reader.dense(SPACE, vector(terms[0]), 50)
    return reader.lexical(terms, 50)


def mend(store: Store, changes: Changes, *, spaces: Sequence[Space] = (SPACE,)) -> Head:
    """Commit these documents, all that there are to be, as the next generation, believing nothing that is kept."""
    made = [each for each in versions(changes).values() if each]
    trie = build(map(trie_row, made))
    head = store.head()
    transaction = store.begin(head, mend=True)
    stage_rows(transaction, changes, spaces)
    transaction.put_nodes(trie.put, ())
    chunks = sum(len(each.placements) for each in made)
    return transaction.commit(generation(head, trie.after, chunks, spaces=spaces))


def held(reader: Reader, id: DocumentId, *, text: str) -> Piece:  # noqa: A002
    """The first piece of a document that has this text, claiming the occurrence that the store gave it."""
    for chunk in reader.chunks(id):
        if chunk.text_hash == identity.text_hash(text):
            entry = reader.entries([chunk.entry_hash])[chunk.entry_hash]
            return Piece(text, chunk.occurrence, entry.title, entry.headings, parent=chunk.parent, embed=chunk.embed)
    message = f"{id} holds no chunk with the text {text!r}"
    raise LookupError(message)

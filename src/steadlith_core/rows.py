"""The rows: frozen records that pass between planning, searching and a store.

1. What is put names everything by digest; a store's own numbers come back and enter no hash.
2. Positions and spans are those of one document version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId, DriftKind, Span
    from steadlith_core.vectors import Vector


@dataclass(frozen=True, slots=True)
class RecordedDocument:
    """A document as the store last committed it, without its chunks."""

    id: DocumentId
    root: Digest
    metadata: Mapping[str, str]
    source_digest: Digest
    chunk_count: int


@dataclass(frozen=True, slots=True)
class RecordedChunk:
    """One occurrence in its document's order. `occurrence` is the store's own number and enters no hash.

    `parent` is the position of the one that it is a part of, -1 without any; `embed` is its entry's.
    """

    occurrence: int
    chunk_hash: Digest
    text_hash: Digest
    entry_hash: Digest
    span: Span
    parent: int = -1
    embed: bool = True


@dataclass(frozen=True, slots=True)
class TextRow:
    """One distinct canonical text."""

    text_hash: Digest
    text: str


@dataclass(frozen=True, slots=True)
class EntryRow:
    """What one lexical row and one vector per space are kept of: a text in its context.

    Without a context no model ever sees it: it has no vector and no lexical row, and nothing finds it.
    """

    entry_hash: Digest
    text_hash: Digest
    title: str
    headings: tuple[str, ...]
    context_hash: Digest | None

    @property
    def embed(self) -> bool:
        """Whether it is embedded and searched."""
        return self.context_hash is not None


@dataclass(frozen=True, slots=True)
class VectorRow:
    """A unit vector for an entry; `vector_key` says what the model was really given."""

    entry_hash: Digest
    vector_key: Digest
    vector: Vector


@dataclass(frozen=True, slots=True)
class Placement:
    """One occurrence of a new document version. `occurrence` is none for a new one: the store allocates it.

    `parent` is the position of the earlier placement that it is a part of, -1 without any.
    """

    occurrence: int | None
    entry_hash: Digest
    chunk_hash: Digest
    span: Span
    parent: int = -1


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A document as it is to be from this generation on; replaces its open version, if any."""

    id: DocumentId
    root: Digest
    metadata: Mapping[str, str]
    source_digest: Digest
    placements: tuple[Placement, ...]


@dataclass(frozen=True, slots=True)
class ArmHit:
    """One entry as an arm ranked it; a higher score is better. `entry` is the store's own number."""

    entry: int
    score: float


@dataclass(frozen=True, slots=True)
class OccurrenceHit:
    """One visible occurrence of an entry with all that a reader wants to see of it. `parent` is as in `Placement`."""

    entry: int
    occurrence: int
    position: int
    parent: int
    id: DocumentId
    metadata: Mapping[str, str]
    source_digest: Digest
    span: Span
    chunk_hash: Digest
    title: str
    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class TrieRow:
    """One document as the corpus trie names it: its key, its root, and the digest of its source's bytes."""

    key: Digest
    root: Digest
    source_digest: Digest


@dataclass(frozen=True, slots=True)
class TrieNode:
    """A node of the corpus trie: how many documents are below it, and its digest over their roots (`digest`) and over
    their sources (`sources`).
    """

    count: int
    digest: Digest
    sources: Digest


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a store sees is not as it was committed, in a sentence; and whose it is, as far as known."""

    kind: DriftKind
    message: str
    document: DocumentId | None = None
    entry: Digest | None = None
    text: Digest | None = None

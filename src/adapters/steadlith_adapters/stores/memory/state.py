"""One generation in memory: plain dictionaries, never changed once committed.

1. A write works on copies; so every generation that was ever committed can still be read, and aborting is forgetting.
2. Liveness is derived, not kept: an entry is live if and only if it is embedded and a placement of this generation
   names it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from steadlith_core.digest import Digest, hash_fields
from steadlith_core.rows import TrieRow, VectorRow
from steadlith_core.state.roots import empty_head
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.records import DocumentId, Generation, Head, Space
    from steadlith_core.rows import DocumentVersion, EntryRow, TrieNode


@dataclass(frozen=True, slots=True)
class SealedVector(VectorRow):
    """A vector as it is kept, with a checksum: nothing else follows from a vector by which damage could be seen."""

    seal: Digest

    @property
    def is_intact(self) -> bool:
        """Whether it is what was put."""
        return self.seal == _seal(self)


def sealed(row: VectorRow) -> SealedVector:
    """The row as it is kept."""
    return SealedVector(row.entry_hash, row.vector_key, row.vector, _seal(row))


def _seal(row: VectorRow) -> Digest:
    return hash_fields("vector-seal", row.vector_key, row.vector)


@dataclass(frozen=True, slots=True)
class State:
    """What a store holds at one generation. Entries are numbered in the order they were first put.

    In `documents` every placement has its occurrence id; `used` are all ids that were ever given out. The `tags` of
    the last state are those of the index.
    """

    head: Head = field(default_factory=empty_head)
    generation: Generation | None = None
    texts: dict[Digest, str] = field(default_factory=dict)
    entries: dict[Digest, EntryRow] = field(default_factory=dict)
    numbers: dict[Digest, int] = field(default_factory=dict)
    vectors: dict[Space, dict[Digest, SealedVector]] = field(default_factory=dict)
    documents: dict[DocumentId, DocumentVersion] = field(default_factory=dict)
    nodes: dict[str, TrieNode] = field(default_factory=dict)
    used: frozenset[int] = frozenset()
    tags: Mapping[str, int] = field(default_factory=dict)

    def copy(self) -> State:
        """The same content in dictionaries of its own."""
        return replace(
            self,
            texts=dict(self.texts),
            entries=dict(self.entries),
            numbers=dict(self.numbers),
            vectors={space: dict(rows) for space, rows in self.vectors.items()},
            documents=dict(self.documents),
            nodes=dict(self.nodes),
        )

    def trie_rows(self) -> list[TrieRow]:
        """The documents as the corpus trie names them, in key order."""
        found = (
            TrieRow(document_key(id_), version.root, version.source_digest) for id_, version in self.documents.items()
        )
        return sorted(found, key=lambda row: row.key)

    def placed(self) -> frozenset[Digest]:
        """Entries that some placement uses."""
        return frozenset(
            placement.entry_hash for version in self.documents.values() for placement in version.placements
        )

    def live(self) -> frozenset[Digest]:
        """Entries that the arms search: placed and embedded."""
        return frozenset(key for key in self.placed() if self.entries[key].embed)

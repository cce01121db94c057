"""What the index holds at one generation, in memory: plain dictionaries that nobody changes once they are committed.

1. Rows (texts, entries, vectors) are kept by digest and stay, live or not, until a compaction removes them. A file of
   rows holds what one write put; the rows of a generation are those of its files, the later ones first.
2. Each row can be checked by itself: a text and an entry by their hash, a vector by a checksum. A vector that does not
   match is as good as absent: the next apply puts it again.
3. Entries and occurrences have numbers of our own, that are never given out twice.
4. Whether an entry is live is not kept: it is, if a placement of this generation names it and it is to be embedded.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from steadlith_core.digest import hash_fields
from steadlith_core.records import Head
from steadlith_core.rows import TrieRow
from steadlith_core.state.roots import empty_head
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId, Generation, Space
    from steadlith_core.rows import DocumentVersion, EntryRow, TrieNode, VectorRow


@dataclass(slots=True)
class Rows:
    """Rows by digest; `vectors` and their `checksums` are by space and entry."""

    texts: dict[Digest, str] = field(default_factory=dict)
    entries: dict[Digest, EntryRow] = field(default_factory=dict)
    vectors: dict[tuple[Space, Digest], VectorRow] = field(default_factory=dict)
    checksums: dict[tuple[Space, Digest], Digest] = field(default_factory=dict)

    def update(self, other: Rows) -> None:
        """Take over all of `other`."""
        for each in fields(self):
            getattr(self, each.name).update(getattr(other, each.name))

    def plain(self) -> list[Mapping[Any, Any]]:
        """What `Rows(*plain)` is made from."""
        return [getattr(self, each.name) for each in fields(self)]

    def put_vector(self, space: Space, row: VectorRow) -> None:
        """Add or replace a vector."""
        self.vectors[space, row.entry_hash] = row
        self.checksums[space, row.entry_hash] = _checksum(row)

    def take_damaged(self) -> tuple[Digest, ...]:
        """Forget vectors that do not match; the entries that they were of."""
        damaged = [at for at, row in self.vectors.items() if self.checksums.get(at) != _checksum(row)]
        for at in damaged:
            del self.vectors[at]
        return tuple(entry for _, entry in damaged)


def _checksum(row: VectorRow) -> Digest:
    return hash_fields("example-vector", row.vector_key, row.vector)


@dataclass(frozen=True, slots=True)
class State:
    """One generation. Every placement in `documents` has its occurrence; `numbers` are those of the entries.

    `files` are those of its rows, `damaged` entries with a vector that does not match.
    """

    generation: Generation | None = None
    documents: Mapping[DocumentId, DocumentVersion] = field(default_factory=dict)
    nodes: Mapping[str, TrieNode] = field(default_factory=dict)
    numbers: Mapping[Digest, int] = field(default_factory=dict)
    next_occurrence: int = 1
    next_entry: int = 1
    files: tuple[str, ...] = ()
    rows: Rows = field(default_factory=Rows)
    damaged: tuple[Digest, ...] = ()

    @property
    def head(self) -> Head:
        """The head that this generation is, or was."""
        made = self.generation
        if made is None:
            return empty_head()
        return Head(
            lineage=made.lineage,
            generation=made.number,
            corpus_root=made.corpus_root,
            state_root=made.state_root,
            recipe=made.recipe,
            plan_digest=made.plan_digest,
            documents=made.documents,
            chunks=made.chunks,
        )

    def is_whole(self) -> bool:
        """Whether every placement has its entry, and every entry its text and its number."""
        entries, texts = self.rows.entries, {row.text_hash for row in self.rows.entries.values()}
        return (
            self.placed() <= entries.keys()
            and texts <= self.rows.texts.keys()
            and entries.keys() <= self.numbers.keys()
        )

    def placed(self) -> frozenset[Digest]:
        """Entries that some placement uses."""
        return frozenset(each.entry_hash for version in self.documents.values() for each in version.placements)

    def live(self) -> frozenset[Digest]:
        """Entries that the arms may find."""
        return frozenset(entry for entry in self.placed() if self.rows.entries[entry].embed)

    def trie_rows(self) -> list[TrieRow]:
        """The documents as the corpus trie names them, in the order of their keys."""
        made = (TrieRow(document_key(id_), each.root, each.source_digest) for id_, each in self.documents.items())
        return sorted(made, key=lambda row: row.key)


def used(states: Sequence[State]) -> Rows:
    """The rows that these generations use, the last one's where they differ: what a compaction keeps."""
    placed = {entry for state in states for entry in state.placed()}
    spaces = {space for state in states if state.generation for space in state.generation.recipe.spaces}
    rows = states[-1].rows
    entries = {entry: row for entry, row in rows.entries.items() if entry in placed}
    texts = {row.text_hash for row in entries.values()}
    kept = Rows({name: text for name, text in rows.texts.items() if name in texts}, entries)
    for (space, entry), row in rows.vectors.items():
        if entry in placed and space in spaces:
            kept.put_vector(space, row)
    return kept

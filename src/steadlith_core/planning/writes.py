"""Writes: the rows that carry a plan out, from the same matching that its steps came from.

1. An occurrence that continues keeps its number; a new one gets its number from the store. What a rollback brings
   back has the number that it had, so a document may be written for its numbers alone.
2. A document whose root, entries and numbers did not change gets new spans only.
3. Only entries that are new to their occurrence, or to the space, need a vector, and of those only embedded ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_core.planning.plan import Fate
from steadlith_core.planning.steps import Reason, Update
from steadlith_core.rows import DocumentVersion, Placement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith_core.digest import Digest
    from steadlith_core.planning.matching import Matching, Recorded
    from steadlith_core.planning.plan import DocumentChange
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.planning.world import World
    from steadlith_core.records import DocumentId, Space, Span
    from steadlith_core.rows import EntryRow, TextRow, TrieNode


@dataclass(frozen=True, slots=True)
class Respan:
    """Other source bytes, same document: new spans in the same order."""

    id: DocumentId
    source_digest: Digest
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Writes:
    """Rows to put and documents to close. `vectors` maps each entry to the key of the vector that it needs;
    `inputs` maps each such key to the exact text a model would be given. `nodes` and `dropped` move the corpus trie.
    With `mend` what is put replaces what is kept under its name.
    """

    space: Space
    texts: Mapping[Digest, TextRow]
    entries: Mapping[Digest, EntryRow]
    vectors: Mapping[Digest, Digest]
    inputs: Mapping[Digest, str]
    versions: tuple[DocumentVersion, ...]
    respans: tuple[Respan, ...]
    closed: tuple[DocumentId, ...]
    nodes: Mapping[str, TrieNode]
    dropped: frozenset[str]
    mend: bool


def writes(
    space: Space,
    before: Recorded,
    world: World,
    matching: Matching,
    changes: tuple[DocumentChange, ...],
) -> Writes:
    """The rows for `changes`."""
    same_space = world.head.recipe is not None and world.head.recipe.spaces == world.recipe.spaces
    texts: dict[Digest, TextRow] = {}
    entries: dict[Digest, EntryRow] = {}
    vectors: dict[Digest, Digest] = {}
    inputs: dict[Digest, str] = {}
    versions: list[DocumentVersion] = []
    respans: list[Respan] = []
    steps = {change.id: change.steps for change in changes if change.fate is not Fate.REMOVED}
    renumbered = frozenset(_renumbered(before, world))
    for id_ in sorted(steps.keys() | world.mended | renumbered):
        document = world.wanted[id_]
        mended = id_ in world.mended
        if steps.get(id_) == (Update(None, Reason.SOURCE_BYTES),) and not mended and id_ not in renumbered:
            spans = tuple(chunk.span for chunk in document.chunks)
            respans.append(Respan(id_, document.source_digest, spans))
            continue
        placements = _placements(before, matching, document)
        versions.append(
            DocumentVersion(document.id, document.root, document.metadata, document.source_digest, placements)
        )
        for chunk, found in zip(document.chunks, matching.matches[document.id], strict=True):
            old = before[found.origin][1][found.old_position] if found else None
            if old is None or mended or old.entry_hash != chunk.entry.entry_hash:
                texts[chunk.text.text_hash] = chunk.text
                entries[chunk.entry.entry_hash] = chunk.entry
            if chunk.vector_key is None:
                continue
            if old is None or mended or old.entry_hash != chunk.entry.entry_hash or not same_space:
                vectors[chunk.entry.entry_hash] = chunk.vector_key
                inputs[chunk.vector_key] = chunk.model_input
    closed = tuple(change.id for change in changes if change.fate is Fate.REMOVED)
    return Writes(
        space,
        texts,
        entries,
        vectors,
        inputs,
        tuple(versions),
        tuple(respans),
        closed,
        world.moved.put,
        world.moved.dropped,
        mend=world.mend,
    )


def _placements(
    before: Recorded,
    matching: Matching,
    document: WantedDocument,
) -> tuple[Placement, ...]:
    placements = []
    for chunk, found in zip(document.chunks, matching.matches[document.id], strict=True):
        continued = before[found.origin][1][found.old_position].occurrence if found else None
        occurrence = continued if chunk.occurrence is None else chunk.occurrence
        placements.append(Placement(occurrence, chunk.entry.entry_hash, chunk.chunk_hash, chunk.span, chunk.parent))
    return tuple(placements)


def _renumbered(before: Recorded, world: World) -> Iterator[DocumentId]:
    """The recorded documents whose chunks must be other occurrences than they are."""
    if world.rollback_to is None:
        return
    for id_ in before.keys() & world.wanted.keys():
        if [row.occurrence for row in before[id_][1]] != [chunk.occurrence for chunk in world.wanted[id_].chunks]:
            yield id_

"""Writes: the rows that carry a plan out, from the same matching that its steps came from.

1. An occurrence that continues keeps its number; a new one gets its number from the store. What a rollback brings
   back has the number that it had, so a document may be written for its numbers alone.
2. A document whose root, entries and numbers did not change gets new spans only.
3. Only entries that are new to their occurrence, or to the space, need a vector, and of those only embedded ones.
4. Rows are made as they are asked for, and each time anew: of a first load they would weigh more than its plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from steadlith_core.planning.plan import Fate
from steadlith_core.planning.steps import Reason, Update
from steadlith_core.rows import DocumentVersion, Placement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.planning.matching import Matching, Recorded
    from steadlith_core.planning.plan import DocumentChange
    from steadlith_core.planning.wanted import WantedChunk, WantedDocument
    from steadlith_core.planning.world import World
    from steadlith_core.records import DocumentId, Space, Span
    from steadlith_core.rows import EntryRow, TextRow, TrieNode

T = TypeVar("T")
REMEMBERED = 8_192
"""Names of rows that are not given again while they are remembered: what many documents share is sent once."""


@dataclass(frozen=True, slots=True)
class Respan:
    """Other source bytes, same document: new spans in the same order."""

    id: DocumentId
    source_digest: Digest
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Writes:
    """Rows to put and documents to close. A row may come more than once, and is the same then.

    `written` are the documents that get a new version, `respanned` those that get new spans, each in id order.
    `entering` are the positions of their chunks whose entries are put: new to their occurrence, or written anew.
    `inputs` maps each vector key that is needed to the exact text a model would be given.
    """

    before: Recorded
    world: World
    matching: Matching
    written: tuple[DocumentId, ...]
    respanned: tuple[DocumentId, ...]
    closed: tuple[DocumentId, ...]
    entering: Mapping[DocumentId, Sequence[int]]
    inputs: Mapping[Digest, str]

    @property
    def space(self) -> Space:
        """Where the vectors go."""
        return self.world.recipe.spaces[0]

    @property
    def nodes(self) -> Mapping[str, TrieNode]:
        """The nodes of the corpus trie that change."""
        return self.world.moved.put

    @property
    def dropped(self) -> frozenset[str]:
        """The nodes of the corpus trie that go."""
        return self.world.moved.dropped

    @property
    def mend(self) -> bool:
        """Whether what is put replaces what is kept under its name."""
        return self.world.mend

    def texts(self) -> Iterator[TextRow]:
        """The texts of the entries."""
        return _once((chunk.text for chunk in self._entering()), lambda row: row.text_hash)

    def entries(self) -> Iterator[EntryRow]:
        """What is new to its occurrence."""
        return _once((chunk.entry for chunk in self._entering()), lambda row: row.entry_hash)

    def vectors(self) -> Iterator[tuple[Digest, Digest]]:
        """Each entry that needs a vector, and the key of it."""
        pairs = ((chunk.entry.entry_hash, key) for _, _, chunk, key in self.needing())
        return _once(pairs, lambda pair: pair[0])

    def needing(self) -> Iterator[tuple[DocumentId, int, WantedChunk, Digest]]:
        """Each chunk that needs a vector, by document and position, and the key of it."""
        return _needing(self.world, self.entering)

    def versions(self) -> Iterator[DocumentVersion]:
        """The new versions, in id order."""
        for id_ in self.written:
            document = self.world.wanted[id_]
            placements = _placements(self.before, self.matching, document)
            yield DocumentVersion(id_, document.root, document.metadata, document.source_digest, placements)

    def respans(self) -> Iterator[Respan]:
        """The new spans, in id order."""
        for id_ in self.respanned:
            document = self.world.wanted[id_]
            yield Respan(id_, document.source_digest, tuple(chunk.span for chunk in document.chunks))

    def _entering(self) -> Iterator[WantedChunk]:
        for id_, positions in self.entering.items():
            chunks = self.world.wanted[id_].chunks
            yield from (chunks[position] for position in positions)


def writes(before: Recorded, world: World, matching: Matching, changes: tuple[DocumentChange, ...]) -> Writes:
    """The rows for `changes`."""
    steps = {change.id: change.steps for change in changes if change.fate is not Fate.REMOVED}
    renumbered = frozenset(_renumbered(before, world))
    written: list[DocumentId] = []
    respanned: list[DocumentId] = []
    for id_ in sorted(steps.keys() | world.mended | renumbered):
        same = id_ not in world.mended and id_ not in renumbered
        only_bytes = same and steps[id_] == (Update(None, Reason.SOURCE_BYTES),)
        (respanned if only_bytes else written).append(id_)
    closed = tuple(change.id for change in changes if change.fate is Fate.REMOVED)
    entering = {id_: _positions(before, world, matching, id_) for id_ in written}
    inputs = {key: chunk.model_input for _, _, chunk, key in _needing(world, entering)}
    return Writes(before, world, matching, tuple(written), tuple(respanned), closed, entering, inputs)


def _positions(before: Recorded, world: World, matching: Matching, id: DocumentId) -> Sequence[int]:  # noqa: A002
    document = world.wanted[id]
    if id in world.mended:
        return range(len(document.chunks))
    pairs = enumerate(matching.pairs(before, document))
    return [at for at, (chunk, _, old) in pairs if old is None or old.entry_hash != chunk.entry.entry_hash]


def _needing(
    world: World, entering: Mapping[DocumentId, Sequence[int]]
) -> Iterator[tuple[DocumentId, int, WantedChunk, Digest]]:
    same_space = world.head.recipe is not None and world.head.recipe.spaces == world.recipe.spaces
    for id_, positions in entering.items():
        chunks = world.wanted[id_].chunks
        for position in positions if same_space else range(len(chunks)):
            chunk = chunks[position]
            if chunk.vector_key is not None:
                yield id_, position, chunk, chunk.vector_key


def _placements(before: Recorded, matching: Matching, document: WantedDocument) -> tuple[Placement, ...]:
    placements = []
    for chunk, _, old in matching.pairs(before, document):
        continued = old.occurrence if old else None
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


def _once(rows: Iterable[T], name: Callable[[T], Digest]) -> Iterator[T]:
    """The rows without those that came before, as far as that is remembered: at least `REMEMBERED` distinct ones."""
    older: set[Digest] = set()
    newer: set[Digest] = set()
    for row in rows:
        if name(row) in newer:
            continue
        if name(row) not in older:
            yield row
        newer.add(name(row))
        if len(newer) == REMEMBERED:
            older, newer = newer, set()

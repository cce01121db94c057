"""What two kept generations of one index differ in: documents, their chunks, and their texts.

1. The store says which documents may differ; nothing of the others is read, however large the index is.
2. A chunk is an occurrence: it is kept, in its place or in another one, or it is of one generation alone. So a chunk
   that went from one document to another is not taken for a new one.
3. Texts are canonical, put together from chunks (`restoring`), and only those of documents that are asked for.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import unified_diff
from typing import TYPE_CHECKING

from steadlith import restoring
from steadlith.border import adapter
from steadlith.differences import Changed, Chunks, Comparison, Kind, paired
from steadlith.lockfile import recipe_differences
from steadlith_core.errors import GenerationGone
from steadlith_core.planning.diff import diff

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.ports import Reader, Store
    from steadlith_core.records import DocumentId, Generation, Head
    from steadlith_core.rows import RecordedChunk, RecordedDocument


@dataclass(frozen=True, slots=True)
class Between:
    """What was found, and both generations, open."""

    found: Comparison
    old: Reader
    new: Reader

    def text(self, each: Changed) -> tuple[str, ...]:
        """The unified difference of a document's texts, line by line; empty where they are the same."""
        if each.kind in {Kind.METADATA, Kind.SOURCE_BYTES, Kind.RENAMED}:
            return ()
        before = [] if each.kind is Kind.ADDED else restoring.text(self.old, each.id).split("\n")
        after = [] if each.kind is Kind.REMOVED else restoring.text(self.new, each.id).split("\n")
        name, other = (f"{each.id} (generation {reader.generation})" for reader in (self.old, self.new))
        return tuple(unified_diff(before, after, name, other, lineterm=""))


@contextmanager
def opened(store: Store, old: int, new: int) -> Iterator[Between]:
    """Two kept generations, compared. Raises `GenerationGone`."""
    with adapter("opening two generations"):
        history = store.history()
        left = store.snapshot(old)
    try:
        with adapter("opening two generations"):
            right = store.snapshot(new)
        try:
            yield Between(compare(left, right, history), left, right)
        finally:
            right.close()
    finally:
        left.close()


def compare(old: Reader, new: Reader, history: Sequence[Generation]) -> Comparison:
    """What the generation of `new` has that that of `old` has not, and the other way round."""
    before, after = (state(reader, history) for reader in (old, new))
    earlier, later = sorted((old, new), key=lambda reader: reader.generation)
    with adapter("comparing two generations"):
        touched = later.changed_since(earlier.generation) if earlier.generation != later.generation else ()
        was, now = old.find(touched), new.find(touched)
        differ = [id_ for id_ in touched if was.get(id_) != now.get(id_)]  # the others changed and changed back
        rows = {id_: old.chunks(id_) for id_ in differ}, {id_: new.chunks(id_) for id_ in differ}
    recipe = tuple(recipe_differences(before.recipe, after.recipe))
    return Comparison(before, after, recipe, tuple(_documents(differ, was, now, *rows)))


def state(reader: Reader, history: Sequence[Generation]) -> Head:
    """What was committed with the generation that a reader shows."""
    if reader.generation == reader.head.generation:
        return reader.head
    for made in history:
        if made.number == reader.generation:
            return made.head
    raise GenerationGone(f"generation {reader.generation} is not kept")


def _documents(
    differ: Sequence[DocumentId],
    was: Mapping[DocumentId, RecordedDocument],
    now: Mapping[DocumentId, RecordedDocument],
    before: Mapping[DocumentId, Sequence[RecordedChunk]],
    after: Mapping[DocumentId, Sequence[RecordedChunk]],
) -> list[Changed]:
    stood = {row.occurrence for rows in before.values() for row in rows}
    stands = {row.occurrence for rows in after.values() for row in rows}
    both = [id_ for id_ in differ if id_ in was and id_ in now]
    gone = [was[id_] for id_ in differ if id_ not in now]
    come = [now[id_] for id_ in differ if id_ not in was]
    changed = [
        Changed(id_, _kind(was[id_], now[id_], before[id_], after[id_]), was[id_].chunk_count, now[id_].chunk_count)
        for id_ in both
    ]
    return [
        each.with_chunks(_chunks(before[each.origin or each.id], after[each.id], stood, stands))
        for each in sorted([*changed, *paired(gone, come)], key=lambda each: each.id)
    ]


def _kind(
    was: RecordedDocument, now: RecordedDocument, before: Sequence[RecordedChunk], after: Sequence[RecordedChunk]
) -> Kind:
    if was.root == now.root:
        return Kind.SOURCE_BYTES
    left, right = ([(row.chunk_hash, row.parent, row.embed) for row in rows] for rows in (before, after))
    return Kind.METADATA if left == right else Kind.CHANGED


def _chunks(
    before: Sequence[RecordedChunk], after: Sequence[RecordedChunk], stood: set[int], stands: set[int]
) -> Chunks:
    """What became of the chunks of a document; `stood` and `stands` are all occurrences of what differs."""
    old, new = ({row.occurrence: row for row in rows} for rows in (before, after))
    order = list(old)
    kept = [order[at] for at, _ in diff(order, list(new)).kept]
    count = Counter("kept" if _names(old[each]) == _names(new[each]) else "updated" for each in kept)
    return Chunks(
        kept=count["kept"],
        updated=count["updated"],
        moved=sum(each in stood for each in new) - len(kept),
        added=sum(each not in stood for each in new),
        removed=sum(each not in stands for each in old),
        left=sum(each in stands and each not in new for each in old),
    )


def _names(row: RecordedChunk) -> tuple[object, object]:
    return row.chunk_hash, row.entry_hash

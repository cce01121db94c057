"""What two states of an index differ in, one of which is a manifest or both; and two plans. (`between`: generations.)

1. Documents are named by their id; a document that vanished and one that appeared with its root are one, renamed.
2. Where both states have their trie, only what differs is read.
3. Two plans are compared by what they would do: documents that only one touches, and those with other steps.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from steadlith.border import adapter
from steadlith.lockfile import recipe_differences
from steadlith_core.state.difference import differences
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from steadlith_core.digest import Digest
    from steadlith_core.planning.plan import DocumentChange, Plan
    from steadlith_core.records import DocumentId, Head
    from steadlith_core.rows import RecordedChunk, RecordedDocument
    from steadlith_core.state.difference import Difference
    from steadlith_core.state.manifest import Header
    from steadlith_core.state.moving import Nodes


class Kind(StrEnum):
    """How a document differs. Closed; documented in docs/offline.md."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"
    METADATA = "metadata"
    SOURCE_BYTES = "source_bytes"


@dataclass(frozen=True, slots=True)
class Chunks:
    """What became of a document's chunks between two generations of one index.

    `kept` stand where they stood; `updated` too, and are embedded or named otherwise; `moved` stood elsewhere, in this
    document or in another one; `left` stand in another one now. `added` and `removed` are of one generation alone.
    """

    kept: int
    updated: int
    moved: int
    added: int
    removed: int
    left: int


@dataclass(frozen=True, slots=True)
class Changed:
    """One document that differs. `origin` is where a renamed one was; counts are none on a side that has not got it.
    `chunks` are known of generations, which have occurrences, and not of manifests.
    """

    id: DocumentId
    kind: Kind
    old_chunks: int | None
    new_chunks: int | None
    origin: DocumentId | None = None
    chunks: Chunks | None = None

    def with_chunks(self, chunks: Chunks) -> Changed:
        """The same, with this known of its chunks."""
        return replace(self, chunks=chunks)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two states differ in. `recipe` has a field, and what it is on each side."""

    old: Header | Head
    new: Header | Head
    recipe: tuple[tuple[str, str, str], ...]
    documents: tuple[Changed, ...]

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.recipe and not self.documents


class Answers(Protocol):
    """The part of a store's reader that is asked here; a manifest's answers too."""

    def documents(self) -> Iterator[RecordedDocument]:
        """See `Reader.documents`."""
        ...

    def chunks(self, id: DocumentId) -> tuple[RecordedChunk, ...]:  # noqa: A002
        """See `Reader.chunks`."""
        ...


@dataclass(frozen=True, slots=True)
class Side:
    """One of two states: what the whole is, what answers for its documents, and its corpus trie."""

    header: Header
    reader: Answers
    trie: Nodes

    def named(self, keys: set[Digest]) -> dict[Digest, RecordedDocument]:
        """The documents of these keys. O(documents): a key does not say whose it is."""
        if not keys:
            return {}
        found = ((document_key(document.id), document) for document in self.reader.documents())
        return {key: document for key, document in found if key in keys}


def compare(old: Side, new: Side) -> Comparison:
    """What `new` has that `old` has not, and the other way round."""
    with adapter("comparing"):
        found = differences(old.trie, new.trie)
        lefts = old.named({each.key for each in found if each.old})
        rights = new.named({each.key for each in found if each.new})
        changed = [
            Changed(lefts[each.key].id, _kind(old, new, each, lefts[each.key].id), *_counts(lefts, rights, each.key))
            for each in found
            if each.old and each.new
        ]
    gone = [lefts[each.key] for each in found if not each.new]
    come = [rights[each.key] for each in found if not each.old]
    documents = sorted([*changed, *paired(gone, come)], key=lambda each: each.id)
    recipe = tuple(recipe_differences(old.header.recipe, new.header.recipe))
    return Comparison(old.header, new.header, recipe, tuple(documents))


def _kind(old: Side, new: Side, each: Difference, id: DocumentId) -> Kind:  # noqa: A002
    assert each.old is not None
    assert each.new is not None
    if each.old.root == each.new.root:
        return Kind.SOURCE_BYTES
    left, right = ([(row.chunk_hash, row.parent, row.embed) for row in side.reader.chunks(id)] for side in (old, new))
    return Kind.METADATA if left == right else Kind.CHANGED


def _counts(
    lefts: Mapping[Digest, RecordedDocument], rights: Mapping[Digest, RecordedDocument], key: Digest
) -> tuple[int, int]:
    return lefts[key].chunk_count, rights[key].chunk_count


def paired(gone: Iterable[RecordedDocument], come: Iterable[RecordedDocument]) -> Iterator[Changed]:
    """Vanished and appeared documents with equal roots pair in the order of their ids, as in a plan."""
    left: defaultdict[Digest, list[RecordedDocument]] = defaultdict(list)
    for document in sorted(gone, key=_id, reverse=True):
        left[document.root].append(document)
    for document in sorted(come, key=_id):
        if before := left[document.root]:
            origin = before.pop()
            yield Changed(document.id, Kind.RENAMED, origin.chunk_count, document.chunk_count, origin.id)
        else:
            yield Changed(document.id, Kind.ADDED, None, document.chunk_count)
    for rest in left.values():
        yield from (Changed(document.id, Kind.REMOVED, document.chunk_count, None) for document in rest)


def _id(document: RecordedDocument) -> DocumentId:
    return document.id


@dataclass(frozen=True, slots=True)
class PlansCompared:
    """What two plans differ in. `facts` are names with what each plan says: its base, its target, its recipe."""

    facts: tuple[tuple[str, str, str], ...]
    only_old: tuple[DocumentChange, ...]
    only_new: tuple[DocumentChange, ...]
    other_steps: tuple[tuple[DocumentChange, DocumentChange], ...]

    @property
    def same(self) -> bool:
        """Whether both would do the same to the same."""
        return not (self.facts or self.only_old or self.only_new or self.other_steps)


def compare_plans(old: Plan, new: Plan) -> PlansCompared:
    """Which documents only one of them touches, and which they treat differently."""
    lefts, rights = ({change.id: change for change in plan.changes} for plan in (old, new))
    both = [(lefts[id_], rights[id_]) for id_ in lefts if id_ in rights]
    return PlansCompared(
        facts=(*_facts(old, new), *recipe_differences(old.recipe, new.recipe)),
        only_old=tuple(change for id_, change in lefts.items() if id_ not in rights),
        only_new=tuple(change for id_, change in rights.items() if id_ not in lefts),
        other_steps=tuple((left, right) for left, right in both if left != right),
    )


def _facts(old: Plan, new: Plan) -> Iterator[tuple[str, str, str]]:
    for name, left, right in (
        ("base lineage", old.base.lineage, new.base.lineage),
        ("base generation", old.base.generation, new.base.generation),
        ("base corpus root", old.base.corpus_root, new.base.corpus_root),
        ("base state root", old.base.state_root, new.base.state_root),
        ("target corpus root", old.target.corpus_root, new.target.corpus_root),
        ("target state root", old.target.state_root, new.target.state_root),
        ("documents afterwards", old.target.documents, new.target.documents),
        ("chunks afterwards", old.target.chunks, new.target.chunks),
        ("embeddings", old.cost.embeddings, new.cost.embeddings),
    ):
        if left != right:
            yield name, str(left), str(right)

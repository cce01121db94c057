"""What a generation can be seen to have wrong: what stands under a hash or a root that it does not have.

That a generation's file is as it was written, the digest in its name says; of rows, each one's own hash or checksum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.records import DriftKind
from steadlith_core.rows import Problem
from steadlith_core.state.identity import entry_hash, text_hash
from steadlith_core.state.moving import EMPTY, build
from steadlith_core.state.roots import corpus_root
from steadlith_core.state.tree import document_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_example.state import State


def problems(state: State, *, full: bool) -> Iterator[Problem]:
    """The head's own; with `full` every identity is computed anew."""
    yield from _head(state)
    if full:
        yield from _rows(state)
        yield from (
            Problem(DriftKind.VECTOR, f"a vector of entry {entry.short} does not match its checksum", entry=entry)
            for entry in state.damaged
        )
        yield from _documents(state)
        yield from _nodes(state)


def _head(state: State) -> Iterator[Problem]:
    if state.generation is None:
        return
    head, chunks = state.head, sum(len(version.placements) for version in state.documents.values())
    if (head.documents, head.chunks) != (len(state.documents), chunks):
        said = f"{head.documents} documents and {head.chunks} chunks"
        yield Problem(DriftKind.COUNTS, f"the head has {said}, {len(state.documents)} and {chunks} are held")
    top = state.nodes.get("", EMPTY)
    root = corpus_root(top.count, top.digest, normalizer_id=state.generation.recipe.normalizer_id)
    if root != head.corpus_root:
        yield Problem(DriftKind.NODES, f"the topmost node leads to {root.short}, the head has {head.corpus_root.short}")


def _rows(state: State) -> Iterator[Problem]:
    placed = state.placed()
    used = {state.rows.entries[key].text_hash for key in placed}
    for name, text in state.rows.texts.items():
        if text_hash(text) != name:
            kind = DriftKind.TEXT if name in used else DriftKind.HISTORY
            yield Problem(kind, f"text {name.short} does not match its hash", text=name)
    for key, row in state.rows.entries.items():
        if entry_hash(row.text_hash, row.title, row.headings, row.context_hash) != key:
            kind = DriftKind.ENTRY if key in placed else DriftKind.HISTORY
            yield Problem(kind, f"entry {key.short} does not match its hash", entry=key)


def _documents(state: State) -> Iterator[Problem]:
    for id_, version in state.documents.items():
        chunks = [each.chunk_hash for each in version.placements]
        topology = [(each.parent, state.rows.entries[each.entry_hash].embed) for each in version.placements]
        if document_root(chunks, version.metadata, topology) != version.root:
            message = f"{id_}: its root does not follow from its chunks and metadata"
            yield Problem(DriftKind.DOCUMENT, message, document=id_)


def _nodes(state: State) -> Iterator[Problem]:
    made = build(state.trie_rows()).put
    for prefix in sorted(made.keys() | state.nodes.keys()):
        if made.get(prefix) != state.nodes.get(prefix):
            message = f"the node at {prefix!r} is not what the documents below it make"
            yield Problem(DriftKind.NODES, message)

"""What a state in memory can be seen to have wrong: what was put under a hash or a root that it does not have.

The head's level looks at counts and at the topmost node; the full one computes every identity anew.
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

    from steadlith_adapters.stores.memory.state import State


def problems(state: State, *, full: bool) -> Iterator[Problem]:
    """The checks of a level."""
    yield from _head(state)
    if full:
        yield from _contents(state)
        yield from _vectors(state)
        yield from _documents(state)
        yield from _nodes(state)


def _head(state: State) -> Iterator[Problem]:
    head = state.head
    if head.recipe is None:
        return
    chunks = sum(len(version.placements) for version in state.documents.values())
    if (head.documents, head.chunks) != (len(state.documents), chunks):
        message = (
            f"the head has {head.documents} documents and {head.chunks} chunks, {len(state.documents)} and {chunks} "
            "are held"
        )
        yield Problem(DriftKind.COUNTS, message)
    top = state.nodes.get("", EMPTY)
    root = corpus_root(top.count, top.digest, normalizer_id=head.recipe.normalizer_id)
    if root != head.corpus_root:
        message = f"the topmost trie node leads to the corpus root {root}, the head has {head.corpus_root}"
        yield Problem(DriftKind.NODES, message)


def _contents(state: State) -> Iterator[Problem]:
    placed = state.placed()
    used = {state.entries[key].text_hash for key in placed}
    for name, text in state.texts.items():
        if text_hash(text) != name:
            kind = DriftKind.TEXT if name in used else DriftKind.HISTORY
            yield Problem(kind, f"text {name.short} does not match its hash", text=name)
    for key, row in state.entries.items():
        if entry_hash(row.text_hash, row.title, row.headings, row.context_hash) != key:
            kind = DriftKind.ENTRY if key in placed else DriftKind.HISTORY
            yield Problem(kind, f"entry {key.short} does not match its hash", entry=key)


def _vectors(state: State) -> Iterator[Problem]:
    placed = state.placed()
    for rows in state.vectors.values():
        for key, row in rows.items():
            if not row.is_intact:
                kind = DriftKind.VECTOR if key in placed else DriftKind.HISTORY
                message = f"the vector of entry {state.numbers[key]} does not match its checksum"
                yield Problem(kind, message, entry=key)


def _documents(state: State) -> Iterator[Problem]:
    for id_, version in state.documents.items():
        chunks = [placement.chunk_hash for placement in version.placements]
        topology = [(each.parent, state.entries[each.entry_hash].embed) for each in version.placements]
        if document_root(chunks, version.metadata, topology) != version.root:
            message = f"{id_}: its root does not follow from its chunks and metadata"
            yield Problem(DriftKind.DOCUMENT, message, document=id_)


def _nodes(state: State) -> Iterator[Problem]:
    made = build(state.trie_rows()).put
    for prefix in sorted(made.keys() | state.nodes.keys()):
        if made.get(prefix) != state.nodes.get(prefix):
            message = f"the trie node at {prefix!r} is not what the documents below it make"
            yield Problem(DriftKind.NODES, message)

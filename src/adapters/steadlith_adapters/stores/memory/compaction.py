"""Compaction in memory: the states that are kept, without what none of them uses.

1. States that were read before stay as they are: open readers hold them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_core.ports import Removable, Traces

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steadlith_adapters.stores.memory.state import State
    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId, Space
    from steadlith_core.rows import VectorRow


def kept(states: Sequence[State], keep_from: int) -> list[State]:
    """The states from `keep_from` on, each without what none of them uses."""
    left = [state for state in states if state.head.generation >= keep_from]
    placed = {entry for state in left for entry in state.placed()}
    spaces = {space for state in left if state.head.recipe for space in state.head.recipe.spaces}
    return [_without(state, placed, spaces) for state in left]


def removed(before: Sequence[State], after: Sequence[State]) -> Removable:
    """What goes when the states `before` become `after`."""
    old, new = _held(before), _held(after)
    generations, versions, occurrences, entries, texts, vectors = (len(a - b) for a, b in zip(old, new, strict=True))
    return Removable(generations, versions, occurrences, entries, texts, vectors)


def traces(states: Sequence[State], ids: Sequence[DocumentId]) -> Traces:
    """What is left of documents in any of the states."""
    versions = [state.documents[id_] for state in states for id_ in ids if id_ in state.documents]
    theirs = {placement.entry_hash for version in versions for placement in version.placements}
    head = states[-1]
    used = {row.vector_key for row in _rows(head, head.placed())}
    keys = {row.vector_key for row in _rows(head, theirs)}
    return Traces(frozenset(version.id for version in versions), frozenset(keys - used))


def _rows(state: State, entries: Iterable[Digest]) -> Sequence[VectorRow]:
    wanted = frozenset(entries)
    return [row for rows in state.vectors.values() for entry, row in rows.items() if entry in wanted]


def _without(state: State, placed: set[Digest], spaces: set[Space]) -> State:
    entries = {name: row for name, row in state.entries.items() if name in placed}
    texts = {row.text_hash for row in entries.values()}
    return replace(
        state,
        entries=entries,
        texts={name: text for name, text in state.texts.items() if name in texts},
        vectors={
            space: {entry: row for entry, row in rows.items() if entry in placed}
            for space, rows in state.vectors.items()
            if space in spaces
        },
    )


def _held(states: Sequence[State]) -> tuple[set[object], ...]:
    """What is kept of each kind, in the order of `Removable`. A version is one document under one root and source."""
    return (
        {state.head.generation for state in states if state.generation},
        {
            (id_, version.root, version.source_digest, *(each.occurrence for each in version.placements))
            for state in states
            for id_, version in state.documents.items()
        },
        {each.occurrence for state in states for version in state.documents.values() for each in version.placements},
        {name for state in states for name in state.entries},
        {name for state in states for name in state.texts},
        {(space, entry) for state in states for space, rows in state.vectors.items() for entry in rows},
    )

"""What every store refuses, said once: the arguments of an arm, the rows of a space, and a root without its trie.

1. A bad query is the caller's doing (`UsageError`); a bad row is its maker's (`AdapterError`).
2. A kept vector has unit length, so that distance and cosine order alike.
3. A generation's corpus root is the one that its topmost node leads to, so the next write can move it from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core import vectors
from steadlith_core.chunking import topology
from steadlith_core.errors import AdapterError, UsageError
from steadlith_core.retrieval import quantization
from steadlith_core.state.moving import EMPTY
from steadlith_core.state.roots import corpus_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.records import Generation, Space
    from steadlith_core.rows import DocumentVersion, TrieNode, VectorRow
    from steadlith_core.vectors import Vector

UNIT_TOLERANCE = 1e-6
"""How far from 1 a kept vector's length may be; rounding to float32 moves it by 6e-8."""


def check_limit(limit: int, max_limit: int) -> None:
    """Refuse a limit that no arm can answer."""
    if not 1 <= limit <= max_limit:
        message = f"limit {limit} is out of range: ask for 1 to {max_limit} hits"
        raise UsageError(message)


def check_query(space: Space, query: Vector) -> None:
    """Refuse a query that has no direction in this space."""
    found = unit_problem(space, query)
    if found:
        message = f"the query vector {found}; the index was built with {space.model_id!r}"
        raise UsageError(message)


def check_space(space: Space, offered: frozenset[str]) -> None:
    """Refuse a space that this store, or anybody, cannot keep."""
    if space.quantization not in offered:
        message = f"this store keeps {', '.join(sorted(offered))} vectors, not {space.quantization!r}"
        raise AdapterError(message)
    found = quantization.problem(space.quantization, space.dimensions)
    if found:
        message = f"{found} (space of {space.model_id!r})"
        raise AdapterError(message)


def check_vector(space: Space, row: VectorRow) -> None:
    """Refuse a row that would poison its space."""
    found = unit_problem(space, row.vector)
    if found:
        message = f"the vector of entry {row.entry_hash.short} {found} (space of {space.model_id!r})"
        raise AdapterError(message)


def check_vectors(space: Space, rows: Sequence[VectorRow]) -> None:
    """As `check_vector` of each row, all at once."""
    if vectors.are_unit([row.vector for row in rows], space.dimensions, UNIT_TOLERANCE):
        return
    for row in rows:
        check_vector(space, row)


def check_embedded(entry_hash: Digest, *, embed: bool) -> None:
    """Refuse a vector of what no model may have seen."""
    if not embed:
        message = f"a vector for entry {entry_hash.short}, which is not to be embedded (it has no context)"
        raise AdapterError(message)


def check_parents(version: DocumentVersion) -> None:
    """Refuse a placement that is part of itself, or of what does not stand before it."""
    found = topology.problems([placement.parent for placement in version.placements])
    if found:
        message = f"{version.id}: {found[0]}"
        raise AdapterError(message)


def check_root(top: TrieNode | None, generation: Generation) -> None:
    """Refuse a generation that the topmost node does not lead to; without any node the trie is empty."""
    found = top or EMPTY
    root = corpus_root(found.count, found.digest, normalizer_id=generation.recipe.normalizer_id)
    if (found.count, root) != (generation.documents, generation.corpus_root):
        message = (
            f"the topmost node of the trie counts {found.count} documents and leads to the corpus root {root.short}, "
            f"generation {generation.number} has {generation.documents} and {generation.corpus_root.short}; nothing "
            "was committed: put the nodes that `state.moving.move` gives"
        )
        raise AdapterError(message)


def unit_problem(space: Space, vector: Vector) -> str | None:
    """Why `vector` cannot stand in `space`, as the end of a sentence; none when it can."""
    found = vectors.problems(vector, space.dimensions)
    if found:
        return found[0]
    square = vectors.cosines([vector], vector)[0]
    if abs(square - 1) > 2 * UNIT_TOLERANCE:
        return f"has length {square**0.5:.6g}, not 1: pass it through `vectors.unit`"
    return None

"""What makes the parents of chunks a forest, judged for every policy and addressed to its author."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.records import Chunk


def problems(parents: Sequence[int]) -> tuple[str, ...]:
    """What is wrong with the parent of each chunk of one document, in sentences; empty if nothing is. O(chunks).

    -1 is a root; any other parent stands before its child. So there is no cycle, and one pass in order can store them.
    """
    return tuple(
        f"chunk {index} has the parent {parent}: a parent is -1 (none) or the index of an earlier chunk"
        for index, parent in enumerate(parents)
        if not -1 <= parent < index
    )


def checked(policy: str, chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    """The chunks as they are. Raises `AdapterError` naming the policy and the first problem."""
    found = problems([chunk.parent for chunk in chunks])
    if found:
        raise AdapterError(f"chunking policy {policy}: {found[0]}")
    return chunks

"""The audit path: what leads from one leaf of a document to the root of its tree (format.md 9.4).

1. The path is PATH(m, D[n]) of RFC 6962, section 2.1.1: the siblings from the leaf up.
2. Index and count decide how many siblings there are and on which side each stands, so a path carries digests alone.
3. A leaf that is last and has no sibling at a level goes up as it is; nothing is duplicated or padded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.state.tree import node

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steadlith_core.digest import Digest


def siblings_on_the_left(index: int, count: int) -> Iterator[bool]:
    """For each sibling on the way up from leaf `index` of `count`, whether it stands to the left."""
    last = count - 1
    while last:
        if index % 2:
            yield True
        elif index < last:  # the last node of an odd level has no sibling there
            yield False
        index //= 2
        last //= 2


def path_length(index: int, count: int) -> int:
    """How many siblings the path of leaf `index` of `count` has: at most the bits of `count - 1`."""
    return sum(1 for _ in siblings_on_the_left(index, count))


def audit_path(leaves: Sequence[Digest], index: int) -> tuple[Digest, ...]:
    """The siblings from leaf `index` up to the root; O(n). `ValueError` for a leaf that is not there."""
    if not 0 <= index < len(leaves):
        message = f"no leaf {index} in a tree of {len(leaves)}"
        raise ValueError(message)
    level = leaves
    path: list[Digest] = []
    while len(level) > 1:
        beside = index ^ 1
        if beside < len(level):
            path.append(level[beside])
        level = _above(level)
        index //= 2
    return tuple(path)


def climb(leaf: Digest, index: int, count: int, path: Iterable[Digest]) -> Digest:
    """The root of the tree that `path`, of `path_length(index, count)` digests, leads to from `leaf`."""
    digest = leaf
    for on_the_left, sibling in zip(siblings_on_the_left(index, count), path, strict=True):
        digest = node(sibling + digest if on_the_left else digest + sibling)
    return digest


def _above(level: Sequence[Digest]) -> list[Digest]:
    # Pairing neighbours from the left gives RFC 6962's split at the largest power of two; the odd one rises.
    pairs = [node(left + right) for left, right in zip(level[::2], level[1::2], strict=False)]
    return [*pairs, level[-1]] if len(level) % 2 else pairs

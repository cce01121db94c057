"""The corpus trie: a 16-way radix map from document keys to document roots, in one canonical shape.

1. A prefix is a leaf if and only if it holds at most 32 documents; so the shape depends on the set alone,
   never on the order of insertion.
2. An edit touches the nodes on one path; equal nodes are skipped when two tries are compared.
3. Keys are H[key] digests, so the trie is balanced whatever the paths look like.

Source: DESIGN section 4; the shape is that of a hash array mapped trie (Bagwell 2001) with bounded leaves.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from steadlith_core.digest import Digest, hash_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from steadlith_core.records import DocumentId

LEAF_CAPACITY = 32
FAN_OUT = 16


def document_key(id: DocumentId) -> Digest:  # noqa: A002
    """H[key] of (source, path): the document's place in the trie (format.md 5.1)."""
    return hash_fields("key", id.source, id.path)


def trie_root(documents: Iterable[tuple[Digest, Digest]]) -> Digest:
    """Root over (document key, document root) pairs in any order; O(n log n). `ValueError` for a key given twice."""
    rows = sorted(documents)
    for (left, _), (right, _) in pairwise(rows):
        if left == right:
            message = f"document key given twice: {left}"
            raise ValueError(message)
    return _node(rows, 0, len(rows), 0)


def _node(rows: Sequence[tuple[Digest, Digest]], start: int, stop: int, depth: int) -> Digest:
    if stop - start <= LEAF_CAPACITY:
        # format.md 5.2: a leaf lists its documents in key order.
        return hash_fields("trie-leaf", [field for row in rows[start:stop] for field in row])
    # format.md 5.3: an inner node lists (nibble, digest) of its children that hold documents, in nibble order.
    children: list[int | Digest] = []
    at = start
    for nibble in range(FAN_OUT):
        end = at
        while end < stop and _nibble(rows[end][0], depth) == nibble:
            end += 1
        if end > at:
            children += (nibble, _node(rows, at, end, depth + 1))
        at = end
    return hash_fields("trie-node", children)


def _nibble(key: bytes, depth: int) -> int:
    byte = key[depth // 2]
    return byte & 15 if depth % 2 else byte >> 4


EMPTY_TRIE_ROOT = trie_root(())

"""The corpus trie: a 16-way radix map from document keys to document roots, in one canonical shape.

1. A prefix is a leaf if and only if it holds at most 32 documents; so the shape depends on the set alone,
   never on the order of insertion.
2. An edit touches the nodes on one path; equal nodes are skipped when two tries are compared.
3. Keys are H[key] digests, so the trie is balanced whatever the paths look like.

Source: DESIGN section 4; the shape is that of a hash array mapped trie (Bagwell 2001) with bounded leaves.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain, pairwise
from typing import TYPE_CHECKING, TypeAlias

from steadlith_core.digest import Digest, hash_digests, hash_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steadlith_core.records import DocumentId

Row: TypeAlias = "tuple[Digest, Digest]"
"""A document's key and its root."""

LEAF_CAPACITY = 32
FAN_OUT = 16


def document_key(id: DocumentId) -> Digest:  # noqa: A002
    """H[key] of (source, path): the document's place in the trie (format.md 5.1)."""
    return hash_fields("key", id.source, id.path)


def trie_root(documents: Iterable[Row]) -> Digest:
    """Root over (document key, document root) pairs in any order; O(n log n). `ValueError` for a key given twice."""
    rows = in_order(documents)
    return _node(rows, 0, len(rows), 0)


def in_order(documents: Iterable[Row]) -> list[Row]:
    """The rows in key order. `ValueError` for a key given twice."""
    rows = sorted(documents)
    for (left, _), (right, _) in pairwise(rows):
        if left == right:
            message = f"document key given twice: {left}"
            raise ValueError(message)
    return rows


def leaf_digest(rows: Iterable[Row]) -> Digest:
    """H[trie-leaf] of the rows, which are in key order (format.md 5.2)."""
    return hash_digests("trie-leaf", chain.from_iterable(rows))


def node_digest(children: Iterable[tuple[int, Digest]]) -> Digest:
    """H[trie-node] of the children that hold documents, which are in nibble order (format.md 5.3)."""
    return hash_fields("trie-node", [field for child in children for field in child])


def children(rows: Sequence[Row], start: int, stop: int, depth: int) -> Iterator[tuple[int, int, int]]:
    """(nibble, start, stop) of each child of rows [start, stop), which share a prefix of `depth` nibbles."""
    at = start
    while at < stop:
        own = nibble(rows[at][0], depth)
        # The rows are in order, so their nibbles here are in order too.
        end = bisect_left(rows, own + 1, at, stop, key=lambda row: nibble(row[0], depth))
        yield own, at, end
        at = end


def nibble(key: bytes, depth: int) -> int:
    """The key's nibble at `depth`, high nibble first (format.md 5.2)."""
    byte = key[depth // 2]
    return byte & 15 if depth % 2 else byte >> 4


def _node(rows: Sequence[Row], start: int, stop: int, depth: int) -> Digest:
    if stop - start <= LEAF_CAPACITY:
        return leaf_digest(rows[start:stop])
    return node_digest((own, _node(rows, at, end, depth + 1)) for own, at, end in children(rows, start, stop, depth))


EMPTY_TRIE_ROOT = trie_root(())

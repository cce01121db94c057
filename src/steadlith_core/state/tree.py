"""The document tree: a Merkle tree over a document's chunks in source order.

1. The shape is that of RFC 6962 section 2.1: split at the largest power of two below n; nothing is duplicated
   or padded for odd counts.
2. One leaf per occurrence, repeats included; the count is bound into the root, so no leaf verifies at two places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.digest import Digest, hash_fields, hasher

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_leaf = hasher("leaf")
_node = hasher("node")

EMPTY_TREE_ROOT = hasher("empty")(b"")


def leaves_root(chunk_hashes: Sequence[Digest]) -> Digest:
    """Root over the chunk hashes in order; O(n)."""
    # format.md 4.1: the empty tree is H[empty] of no bytes.
    if not chunk_hashes:
        return EMPTY_TREE_ROOT
    # Complete left subtrees as a binary counter; folding them from the right gives RFC 6962's shape without recursion.
    stack: list[tuple[int, Digest]] = []
    for chunk_hash in chunk_hashes:
        size, digest = 1, _leaf(chunk_hash)
        while stack and stack[-1][0] == size:
            left_size, left = stack.pop()
            size, digest = left_size + size, _node(left + digest)
        stack.append((size, digest))
    _, root = stack.pop()
    while stack:
        root = _node(stack.pop()[1] + root)
    return root


def metadata_hash(metadata: Mapping[str, str]) -> Digest:
    """H[metadata]: title, format and the front-matter keys that the configuration keeps."""
    return hash_fields("metadata", dict(metadata))


def document_root(chunk_hashes: Sequence[Digest], metadata: Mapping[str, str]) -> Digest:
    """H[document] of (leaf count, leaves' root, metadata hash) (format.md 4.3)."""
    return hash_fields("document", len(chunk_hashes), leaves_root(chunk_hashes), metadata_hash(metadata))

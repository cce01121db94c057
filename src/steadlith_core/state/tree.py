"""The document tree: a Merkle tree over a document's chunks in source order.

1. The shape is that of RFC 6962 section 2.1: split at the largest power of two below n; nothing is duplicated
   or padded for odd counts.
2. One leaf per occurrence, repeats included; the count is bound into the root, so no leaf verifies at two places.
3. A leaf says how far back its parent stands and whether it is embedded; that of an ordinary chunk says neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from steadlith_core.digest import Digest, hash_fields, hasher

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Topology: TypeAlias = "Sequence[tuple[int, bool]]"
"""Of each chunk of a document the index of its parent (-1 without one) and whether it is embedded; empty if all chunks
are ordinary: embedded and without a parent."""

_leaf = hasher("leaf")
node = hasher("node")
"""H[node] of the 64 bytes left, right (format.md 4.2)."""

EMPTY_TREE_ROOT = hasher("empty")(b"")


def leaf(chunk_hash: Digest, distance: int = 0, *, embed: bool = True) -> Digest:
    """One occurrence's leaf. `distance` is its own index less its parent's, 0 without a parent."""
    # format.md 4.1: relative, so that an edit elsewhere in the document changes no leaf.
    if embed and not distance:
        return _leaf(chunk_hash)
    return hash_fields("branch", chunk_hash, distance, embed)


def leaves(chunk_hashes: Sequence[Digest], topology: Topology = ()) -> Iterator[Digest]:
    """The leaves of a document's chunks in order."""
    if not topology:
        yield from map(_leaf, chunk_hashes)
        return
    for index, (chunk_hash, (parent, embed)) in enumerate(zip(chunk_hashes, topology, strict=True)):
        yield leaf(chunk_hash, distance(index, parent), embed=embed)


def distance(index: int, parent: int) -> int:
    """How far back the parent of chunk `index` stands, 0 without one."""
    return 0 if parent < 0 else index - parent


def leaves_root(chunk_hashes: Sequence[Digest]) -> Digest:
    """Root over the chunk hashes of ordinary chunks in order; O(n)."""
    return tree_root(leaves(chunk_hashes))


def tree_root(leaves: Iterable[Digest]) -> Digest:
    """Root over leaves in order; O(n)."""
    # Complete left subtrees as a binary counter; folding them from the right gives RFC 6962's shape without recursion.
    stack: list[tuple[int, Digest]] = []
    for each in leaves:
        size, digest = 1, each
        while stack and stack[-1][0] == size:
            left_size, left = stack.pop()
            size, digest = left_size + size, node(left + digest)
        stack.append((size, digest))
    if not stack:
        return EMPTY_TREE_ROOT  # format.md 4.1: the empty tree is H[empty] of no bytes.
    _, root = stack.pop()
    while stack:
        root = node(stack.pop()[1] + root)
    return root


def metadata_hash(metadata: Mapping[str, str]) -> Digest:
    """H[metadata]: title, format and the front-matter keys that the configuration keeps."""
    return hash_fields("metadata", dict(metadata))


def document_root(chunk_hashes: Sequence[Digest], metadata: Mapping[str, str], topology: Topology = ()) -> Digest:
    """The root of a document's chunks in order, with its metadata and their topology."""
    return root_of(len(chunk_hashes), tree_root(leaves(chunk_hashes, topology)), metadata_hash(metadata))


def root_of(count: int, tree: Digest, metadata: Digest) -> Digest:
    """H[document] of leaf count, leaves' root and metadata hash (format.md 4.3)."""
    return hash_fields("document", count, tree, metadata)

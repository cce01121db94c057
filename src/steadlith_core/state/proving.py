"""Making proofs: the corpus trie with its digests kept, so that many proofs of one corpus hash its rows once; and from
the nodes and rows that a store keeps, so that one proof reads one path.

1. `Trie` is a value: the rows it was made of in key order, and the digest of every prefix that is a node.
2. Its root is `trie_root` of the same rows, and its proofs are the only ones that verify under that root.
3. A proof costs the nodes of one path; a chunk's proof also the leaves of its document.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steadlith_core.errors import ProofError, StoreCorrupt
from steadlith_core.records import IDENTITY_SCHEMA
from steadlith_core.state.auditpath import audit_path
from steadlith_core.state.moving import DIGITS
from steadlith_core.state.proofbytes import ChunkPart, Corpus, Inner, Kind, Proof, pack
from steadlith_core.state.roots import corpus_root
from steadlith_core.state.tree import distance, document_root, leaves, metadata_hash
from steadlith_core.state.trie import LEAF_CAPACITY, children, in_order, leaf_digest, nibble, node_digest
from steadlith_core.text.canonical import NORMALIZER_ID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.state.moving import Nodes
    from steadlith_core.state.tree import Topology
    from steadlith_core.state.trie import Row


@dataclass(frozen=True, slots=True)
class _Node:
    """Rows [start, stop) under one prefix; without children it is a leaf."""

    start: int
    stop: int
    digest: Digest
    children: tuple[tuple[int, _Node], ...] = ()


class Trie:
    """The corpus trie over (document key, document root) rows given in any order. `ValueError` for a key given twice.

    Making it is O(n log n), once; nothing changes it afterwards.
    """

    __slots__ = ("_normalizer_id", "_rows", "_top")

    def __init__(self, rows: Iterable[Row], *, normalizer_id: str = NORMALIZER_ID) -> None:
        self._rows = in_order(rows)
        self._normalizer_id = normalizer_id
        self._top = _node(self._rows, 0, len(self._rows), 0)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: Digest) -> bool:
        return self.document_root(key) is not None

    @property
    def root(self) -> Digest:
        """The trie's root, as `trie_root` of the rows gives it."""
        return self._top.digest

    @property
    def corpus_root(self) -> Digest:
        """The root that the proofs verify under."""
        return corpus_root(len(self), self.root, normalizer_id=self._normalizer_id)

    def document_root(self, key: Digest) -> Digest | None:
        """The root of the document `key`, none when it is not in the corpus."""
        at = bisect_left(self._rows, key, key=_key)
        return self._rows[at][1] if at < len(self) and self._rows[at][0] == key else None

    def prove(self, key: Digest) -> bytes:
        """What is true of `key`: a proof of its document's presence, or one of absence."""
        return pack(self._proof(key))

    def prove_chunk(
        self,
        key: Digest,
        chunk_hashes: Sequence[Digest],
        metadata: Mapping[str, str],
        index: int,
        topology: Topology = (),
    ) -> bytes:
        """A proof that chunk `index` of document `key` is in the corpus.

        `ValueError` when there is no such chunk, and when what is given is not the document that is here.
        """
        chunk = _chunk_part(chunk_hashes, metadata, index, topology, key, self.document_root(key))
        return pack(replace(self._proof(key), kind=Kind.CHUNK, chunk=chunk))

    def _proof(self, key: Digest) -> Proof:
        corpus = Corpus(IDENTITY_SCHEMA, self._normalizer_id, len(self))
        path: list[Inner] = []
        node = self._top
        while node.children:
            own = nibble(key, len(path))
            path.append(_off_the_way([(number, child.digest) for number, child in node.children], own))
            below = dict(node.children).get(own)
            if below is None:
                return Proof(Kind.ABSENCE, corpus, key, None, tuple(path), None)
            node = below
        return _ends(corpus, key, path, self._rows[node.start : node.stop])


class StoredTrie:
    """The corpus trie as a store keeps it; each proof reads the nodes of one path and the rows of one leaf.

    What is read is believed: whoever makes a proof verifies it under the head's root before giving it away.
    """

    __slots__ = ("_normalizer_id", "_trie")

    def __init__(self, trie: Nodes, *, normalizer_id: str = NORMALIZER_ID) -> None:
        self._trie = trie
        self._normalizer_id = normalizer_id

    def prove(self, key: Digest) -> bytes:
        """As `Trie.prove`. `StoreCorrupt` where what is kept cannot be a trie."""
        return pack(self._proof(key)[0])

    def prove_chunk(
        self,
        key: Digest,
        chunk_hashes: Sequence[Digest],
        metadata: Mapping[str, str],
        index: int,
        topology: Topology = (),
    ) -> bytes:
        """As `Trie.prove_chunk`."""
        proof, held = self._proof(key)
        chunk = _chunk_part(chunk_hashes, metadata, index, topology, key, held)
        return pack(replace(proof, kind=Kind.CHUNK, chunk=chunk))

    def _proof(self, key: Digest) -> tuple[Proof, Digest | None]:
        """The proof about `key`, and its document's root."""
        digits, prefix = key.hex(), ""
        node = self._trie.nodes([""]).get("")
        corpus = Corpus(IDENTITY_SCHEMA, self._normalizer_id, node.count if node else 0)
        path: list[Inner] = []
        try:
            while node is not None and node.count > LEAF_CAPACITY:
                own = digits[len(path)]
                below = self._trie.nodes([prefix + digit for digit in DIGITS])
                here = [(int(name[-1], 16), below[name].digest) for name in sorted(below)]
                path.append(_off_the_way(here, int(own, 16)))
                prefix += own
                node = below.get(prefix)
            if node is None and path:
                return Proof(Kind.ABSENCE, corpus, key, None, tuple(path), None), None
            rows = [(row.key, row.root) for row in self._trie.rows(prefix)] if node else []
            return _ends(corpus, key, path, rows), dict(rows).get(key)
        except ProofError as error:
            message = f"the nodes of the corpus trie do not belong together ({error}); run `steadlith verify`"
            raise StoreCorrupt(message) from error


def _ends(corpus: Corpus, key: Digest, path: Sequence[Inner], rows: Sequence[Row]) -> Proof:
    """The proof of a way that ends in a leaf of these rows."""
    others = tuple(row for row in rows if row[0] != key)
    kind = Kind.ABSENCE if len(others) == len(rows) else Kind.DOCUMENT
    return Proof(kind, corpus, key, None, tuple(path), others)


def _chunk_part(
    chunk_hashes: Sequence[Digest],
    metadata: Mapping[str, str],
    index: int,
    topology: Topology,
    key: Digest,
    held: Digest | None,
) -> ChunkPart:
    """Where a chunk stands in the document `key`, which the corpus has with the root `held`."""
    path = audit_path(tuple(leaves(chunk_hashes, topology)), index)
    made = document_root(chunk_hashes, metadata, topology)
    if made != held:
        message = f"chunks and metadata have the document root {made}, the corpus has {held} for {key}"
        raise ValueError(message)
    parent, embed = topology[index] if topology else (-1, True)
    return ChunkPart(index, len(chunk_hashes), distance(index, parent), embed, metadata_hash(metadata), path)


def _node(rows: Sequence[Row], start: int, stop: int, depth: int) -> _Node:
    if stop - start <= LEAF_CAPACITY:
        return _Node(start, stop, leaf_digest(rows[start:stop]))
    below = tuple((own, _node(rows, at, end, depth + 1)) for own, at, end in children(rows, start, stop, depth))
    return _Node(start, stop, node_digest((own, child.digest) for own, child in below), below)


def _off_the_way(below: Sequence[tuple[int, Digest]], own: int) -> Inner:
    """The inner node of these children, for a way that goes on to `own`."""
    return Inner(
        bitmap=sum(1 << number for number, _ in below),
        siblings=tuple(digest for number, digest in below if number != own),
    )


def _key(row: Row) -> Digest:
    return row[0]

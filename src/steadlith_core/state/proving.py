"""Making proofs: the corpus trie with its digests kept, so that many proofs of one corpus hash its rows once.

1. `Trie` is a value: the rows it was made of in key order, and the digest of every prefix that is a node.
2. Its root is `trie_root` of the same rows, and its proofs are the only ones that verify under that root.
3. A proof costs the nodes of one path; a chunk's proof also the leaves of its document.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steadlith_core.records import IDENTITY_SCHEMA
from steadlith_core.state.auditpath import audit_path
from steadlith_core.state.proofbytes import ChunkPart, Corpus, Inner, Kind, Proof, pack
from steadlith_core.state.roots import corpus_root
from steadlith_core.state.tree import distance, document_root, leaves, metadata_hash
from steadlith_core.state.trie import LEAF_CAPACITY, children, in_order, leaf_digest, nibble, node_digest
from steadlith_core.text.canonical import NORMALIZER_ID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steadlith_core.digest import Digest
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
        path = audit_path(tuple(leaves(chunk_hashes, topology)), index)
        made, held = document_root(chunk_hashes, metadata, topology), self.document_root(key)
        if made != held:
            message = f"chunks and metadata have the document root {made}, the corpus has {held} for {key}"
            raise ValueError(message)
        parent, embed = topology[index] if topology else (-1, True)
        back = distance(index, parent)
        chunk = ChunkPart(index, len(chunk_hashes), back, embed, metadata_hash(metadata), path)
        return pack(replace(self._proof(key), kind=Kind.CHUNK, chunk=chunk))

    def _proof(self, key: Digest) -> Proof:
        corpus = Corpus(IDENTITY_SCHEMA, self._normalizer_id, len(self))
        path: list[Inner] = []
        node = self._top
        while node.children:
            own = nibble(key, len(path))
            path.append(_inner(node, own))
            below = dict(node.children).get(own)
            if below is None:
                return Proof(Kind.ABSENCE, corpus, key, None, tuple(path), None)
            node = below
        held = self._rows[node.start : node.stop]
        others = tuple(row for row in held if row[0] != key)
        kind = Kind.ABSENCE if len(others) == len(held) else Kind.DOCUMENT
        return Proof(kind, corpus, key, None, tuple(path), others)


def _node(rows: Sequence[Row], start: int, stop: int, depth: int) -> _Node:
    if stop - start <= LEAF_CAPACITY:
        return _Node(start, stop, leaf_digest(rows[start:stop]))
    below = tuple((own, _node(rows, at, end, depth + 1)) for own, at, end in children(rows, start, stop, depth))
    return _Node(start, stop, node_digest((own, child.digest) for own, child in below), below)


def _inner(node: _Node, own: int) -> Inner:
    return Inner(
        bitmap=sum(1 << number for number, _ in node.children),
        siblings=tuple(child.digest for number, child in node.children if number != own),
    )


def _key(row: Row) -> Digest:
    return row[0]

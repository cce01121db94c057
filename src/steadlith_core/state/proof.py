"""What a proof proves: that a corpus root holds a document or a chunk, or that it holds no document of a key.

1. Verification needs the corpus root, the claim and the proof's bytes; no store, no source, no rows.
2. It recomputes the root from the claim. Whatever a proof says of itself counts only if the root comes out.
3. The path that a key takes below a root is unique, so presence and absence of one key never both verify, whoever made
   the root. What it cannot see is whether the root's maker kept the canonical form off the path (format.md 9.9).
4. Bytes that are no proof are `ProofError`, a proof of something else is `ProofRejected`; no other error exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_core.errors import ProofRejected
from steadlith_core.state import proofbytes
from steadlith_core.state.auditpath import climb
from steadlith_core.state.proofbytes import Kind
from steadlith_core.state.roots import corpus_root
from steadlith_core.state.tree import leaf, root_of
from steadlith_core.state.trie import leaf_digest, nibble, node_digest

if TYPE_CHECKING:
    from steadlith_core.digest import Digest
    from steadlith_core.state.proofbytes import ChunkPart, Corpus, Inner, Proof

_NAMES = {
    Kind.DOCUMENT: "a document's presence",
    Kind.ABSENCE: "a document's absence",
    Kind.CHUNK: "a chunk's presence",
}


@dataclass(frozen=True, slots=True)
class DocumentProven:
    """The corpus holds a document of this key and root."""

    key: Digest
    document_root: Digest
    corpus: Corpus


@dataclass(frozen=True, slots=True)
class AbsenceProven:
    """The corpus holds no document of this key."""

    key: Digest
    corpus: Corpus


@dataclass(frozen=True, slots=True)
class ChunkProven:
    """The corpus holds a document of this key and root, and its chunk at `index` of `count` is this one.

    `parent` is the index of the chunk that it is a part of, -1 without one; `embed` says whether it is embedded.
    """

    key: Digest
    chunk_hash: Digest
    index: int
    count: int
    parent: int
    embed: bool
    metadata_hash: Digest
    document_root: Digest
    corpus: Corpus


def verify_document(root: Digest, key: Digest, document_root: Digest, proof: bytes) -> DocumentProven:
    """That `root` holds the document `key` with `document_root`."""
    read = _read(proof, Kind.DOCUMENT, key)
    _compare(root, read, document_root)
    return DocumentProven(key, document_root, read.corpus)


def verify_absence(root: Digest, key: Digest, proof: bytes) -> AbsenceProven:
    """That `root` holds no document `key`."""
    read = _read(proof, Kind.ABSENCE, key)
    _compare(root, read, None)
    return AbsenceProven(key, read.corpus)


def verify_chunk(root: Digest, key: Digest, chunk_hash: Digest, proof: bytes) -> ChunkProven:
    """That `root` holds a document `key` with the chunk `chunk_hash`; where it stands is part of the answer."""
    read = _read(proof, Kind.CHUNK, key)
    chunk = read.chunk
    assert chunk is not None  # a record of this kind is constructed with it
    document_root = _document_root(chunk_hash, chunk)
    _compare(root, read, document_root)
    return ChunkProven(
        key=key,
        chunk_hash=chunk_hash,
        index=chunk.index,
        count=chunk.count,
        parent=chunk.index - chunk.distance if chunk.distance else -1,
        embed=chunk.embed,
        metadata_hash=chunk.metadata_hash,
        document_root=document_root,
        corpus=read.corpus,
    )


def _read(proof: bytes, kind: Kind, key: Digest) -> Proof:
    read = proofbytes.unpack(proof)
    if read.kind != kind:
        message = f"a proof of {_NAMES[read.kind]}, not of {_NAMES[kind]}"
        raise ProofRejected(message)
    if read.key != key:
        message = f"a proof for the document key {read.key}, not {key}"
        raise ProofRejected(message)
    return read


def _document_root(chunk_hash: Digest, chunk: ChunkPart) -> Digest:
    own = leaf(chunk_hash, chunk.distance, embed=chunk.embed)
    return root_of(chunk.count, climb(own, chunk.index, chunk.count, chunk.path), chunk.metadata_hash)


def _compare(root: Digest, proof: Proof, document_root: Digest | None) -> None:
    found = corpus_root(
        proof.corpus.documents, _trie_root(proof, document_root), normalizer_id=proof.corpus.normalizer_id
    )
    if found != root:
        message = (
            f"the claim and its proof lead to the corpus root {found}, not {root}: another corpus, or another claim"
        )
        raise ProofRejected(message)


def _trie_root(proof: Proof, document_root: Digest | None) -> Digest:
    """The root of the trie in which the key has `document_root`, or has none (format.md 9.8)."""
    digest: Digest | None = None
    if proof.rows is not None:
        own = () if document_root is None else ((proof.key, document_root),)
        digest = leaf_digest(sorted((*proof.rows, *own)))
    for depth in reversed(range(len(proof.path))):
        digest = _inner_digest(proof.path[depth], nibble(proof.key, depth), digest)
    assert digest is not None  # a record has an inner node or a leaf
    return digest


def _inner_digest(inner: Inner, own: int, below: Digest | None) -> Digest:
    # A node without a child for the key has siblings alone; then `own` is not among its nibbles.
    siblings = iter(inner.siblings)
    return node_digest((number, below if number == own and below else next(siblings)) for number in inner.nibbles())

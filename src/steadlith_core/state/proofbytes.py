"""A proof as a record and as bytes (format.md 9).

1. A proof has exactly one byte string: no field is optional within its kind, and no order is free.
2. A record is constructed valid or not at all; so a maker cannot pack what a reader would refuse.
3. Whatever the bytes are, reading them ends in a record or in `ProofError`, after work that `MAX_SIZE` bounds: every
   number that steers a loop is checked first, and nothing recurs.
4. A record says how the bytes hang together. That they lead to a root is `proof.py`'s to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn

from steadlith_core.digest import SIZE, Digest
from steadlith_core.errors import ProofError
from steadlith_core.records import IDENTITY_SCHEMA
from steadlith_core.state.auditpath import path_length
from steadlith_core.state.trie import FAN_OUT, LEAF_CAPACITY, nibble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_core.state.trie import Row

MAGIC = b"\x8bSLP"
VERSION = 1
MAX_ID = 64
MAX_INNER = 2 * SIZE - 1
"""Inner nodes below one another: at a prefix of 63 nibbles stand at most 16 keys, which is a leaf (format.md 9.5)."""
MAX_AUDIT_PATH = 32
MAX_SIZE = (
    (len(MAGIC) + 2 + 2 * (1 + MAX_ID) + 8 + SIZE)
    + (13 + SIZE + MAX_AUDIT_PATH * SIZE)
    + MAX_INNER * (2 + (FAN_OUT - 1) * SIZE)
    + (3 + LEAF_CAPACITY * 2 * SIZE)
)


class Kind(IntEnum):
    """What is claimed; one byte (format.md 9.2)."""

    DOCUMENT = 1
    ABSENCE = 2
    CHUNK = 3


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a corpus root binds besides the trie (format.md 6.1)."""

    identity_schema: str
    normalizer_id: str
    documents: int

    def __post_init__(self) -> None:
        # Another schema may give the same bytes another meaning, so a root made under it is not ours to explain.
        _need(
            self.identity_schema == IDENTITY_SCHEMA,
            f"a proof under {self.identity_schema!r}; this version verifies {IDENTITY_SCHEMA!r}",
        )
        size = len(self.normalizer_id.encode("utf-8"))
        _need(0 < size <= MAX_ID, f"a normaliser's id has 1 to {MAX_ID} bytes, got {size}")
        _need(0 <= self.documents < 2**64, f"{self.documents} documents do not fit into 8 bytes")


@dataclass(frozen=True, slots=True)
class ChunkPart:
    """Where a chunk stands in its document, and the audit path from it (format.md 9.4).

    `distance` is how far back its parent stands, 0 without one; `embed` says whether it is embedded (format.md 4.1).
    """

    index: int
    count: int
    distance: int
    embed: bool
    metadata_hash: Digest
    path: tuple[Digest, ...]

    def __post_init__(self) -> None:
        _need(
            0 <= self.index < self.count < 2**MAX_AUDIT_PATH,
            f"no chunk {self.index} in a document of {self.count} chunks",
        )
        _need(0 <= self.distance <= self.index, f"chunk {self.index} has no parent {self.distance} places before it")
        length = path_length(self.index, self.count)
        _need(
            len(self.path) == length,
            f"the audit path of chunk {self.index} of {self.count} has {length} digests, got {len(self.path)}",
        )


@dataclass(frozen=True, slots=True)
class Inner:
    """One inner node on the way: bit n of `bitmap` says that nibble n has a child; `siblings` are those off the way."""

    bitmap: int
    siblings: tuple[Digest, ...]

    def has(self, nibble: int) -> bool:
        """Whether there is a child for `nibble`."""
        return bool(self.bitmap >> nibble & 1)

    def nibbles(self) -> Iterator[int]:
        """The nibbles that have a child, in order."""
        return filter(self.has, range(FAN_OUT))


@dataclass(frozen=True, slots=True)
class Proof:
    """The way from the corpus trie's root to where `key` is or would be.

    `rows` are the leaf's documents without the key's own; none when the last inner node has no child for the key.
    """

    kind: Kind
    corpus: Corpus
    key: Digest
    chunk: ChunkPart | None
    path: tuple[Inner, ...]
    rows: tuple[Row, ...] | None

    def __post_init__(self) -> None:
        _need(
            (self.chunk is not None) == (self.kind == Kind.CHUNK), "a proof of a chunk, and no other, has an audit path"
        )
        _check_path(self)
        if self.rows is not None:
            _check_leaf(self, self.rows)
        # format.md 9.7: the root is a leaf if and only if the corpus has at most 32 documents.
        if self.path:
            documents = self.corpus.documents
            _need(documents > LEAF_CAPACITY, f"an inner node above {documents} documents, which one leaf holds")


def pack(proof: Proof) -> bytes:
    """The bytes of `proof`."""
    parts = [MAGIC, bytes((VERSION, proof.kind))]
    for name in (proof.corpus.identity_schema, proof.corpus.normalizer_id):
        coded = name.encode("utf-8")
        parts += bytes((len(coded),)), coded
    parts += proof.corpus.documents.to_bytes(8, "big"), proof.key
    if (chunk := proof.chunk) is not None:
        parts += (number.to_bytes(4, "big") for number in (chunk.index, chunk.count, chunk.distance))
        parts += bytes((chunk.embed,)), chunk.metadata_hash, *chunk.path
    for inner in proof.path:
        parts += inner.bitmap.to_bytes(2, "big"), *inner.siblings
    if proof.rows is not None:
        parts += bytes(2), bytes((len(proof.rows),)), *(digest for row in proof.rows for digest in row)
    return b"".join(parts)


def unpack(data: bytes) -> Proof:
    """The proof whose bytes are `data`; `ProofError` for anything that `pack` cannot have made."""
    _need(len(data) <= MAX_SIZE, f"a proof has at most {MAX_SIZE} bytes, got {len(data)}")
    reader = _Reader(data)
    _need(reader.take(len(MAGIC), "the magic") == MAGIC, "not a proof: it does not begin as one")
    version = reader.number(1, "the version")
    _need(version == VERSION, f"a proof of version {version}; this version reads {VERSION}")
    kind = reader.kind()
    corpus = Corpus(
        reader.text("the identity schema"), reader.text("the normaliser's id"), reader.number(8, "the count")
    )
    key = reader.digest("the key")
    chunk = reader.chunk() if kind == Kind.CHUNK else None
    path, rows = reader.way(key)
    reader.end()
    return Proof(kind, corpus, key, chunk, path, rows)


class _Reader:
    """A place in the bytes, which moves on as they are taken."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int, what: str) -> bytes:
        piece = self._data[self._at : self._at + size]
        if len(piece) != size:
            _refuse(f"cut short at byte {self._at}: {what} has {size} bytes, {len(piece)} are there")
        self._at += size
        return piece

    def number(self, size: int, what: str) -> int:
        return int.from_bytes(self.take(size, what), "big")

    def digest(self, what: str) -> Digest:
        return Digest(self.take(SIZE, what))

    def digests(self, count: int, what: str) -> tuple[Digest, ...]:
        return tuple(self.digest(what) for _ in range(count))

    def text(self, what: str) -> str:
        size = self.number(1, f"the length of {what}")
        _need(0 < size <= MAX_ID, f"{what} has 1 to {MAX_ID} bytes, got {size}")
        coded = self.take(size, what)
        try:
            return coded.decode("utf-8")
        except UnicodeDecodeError as error:
            message = f"{what} is not UTF-8: {coded!r}"
            raise ProofError(message) from error

    def kind(self) -> Kind:
        number = self.number(1, "the kind")
        _need(number in set(Kind), f"a proof of an unknown kind: {number}")
        return Kind(number)

    def chunk(self) -> ChunkPart:
        index, count = self.number(4, "the chunk's index"), self.number(4, "the count of chunks")
        _need(index < count, f"no chunk {index} in a document of {count} chunks")
        distance, embed = self.number(4, "the parent's distance"), self.number(1, "whether it is embedded")
        _need(embed <= 1, f"whether a chunk is embedded is 0 or 1, got {embed}")
        metadata_hash = self.digest("the metadata hash")
        path = self.digests(path_length(index, count), "a digest of the audit path")
        return ChunkPart(index, count, distance, bool(embed), metadata_hash, path)

    def way(self, key: Digest) -> tuple[tuple[Inner, ...], tuple[Row, ...] | None]:
        path: list[Inner] = []
        while bitmap := self.number(2, "a bitmap of children"):
            depth = len(path)
            _need(depth < MAX_INNER, f"more than {MAX_INNER} inner nodes below one another")
            below = bitmap >> nibble(key, depth) & 1
            path.append(Inner(bitmap, self.digests(bitmap.bit_count() - below, f"a sibling at depth {depth}")))
            if not below:  # format.md 9.5: without a child for the key there is nothing further down
                return tuple(path), None
        count = self.number(1, "the count of rows")
        _need(count <= LEAF_CAPACITY, f"a leaf has at most {LEAF_CAPACITY} documents, got {count} rows")
        return tuple(path), tuple((self.digest("a row's key"), self.digest("a row's root")) for _ in range(count))

    def end(self) -> None:
        left = len(self._data) - self._at
        _need(not left, f"bytes after the end of the proof: {left}")


def _check_path(proof: Proof) -> None:
    _need(len(proof.path) <= MAX_INNER, f"more than {MAX_INNER} inner nodes below one another")
    for depth, inner in enumerate(proof.path):
        own = nibble(proof.key, depth)
        _need(
            0 < inner.bitmap < 2**FAN_OUT,
            f"an inner node without children, or of more than {FAN_OUT}, at depth {depth}",
        )
        off_the_way = inner.bitmap.bit_count() - inner.has(own)
        _need(
            len(inner.siblings) == off_the_way,
            f"{len(inner.siblings)} siblings at depth {depth}, the bitmap has {off_the_way}",
        )
        ends = proof.rows is None and depth == len(proof.path) - 1
        _need(inner.has(own) != ends, f"{'a' if ends else 'no'} child for nibble {own:x} of the key at depth {depth}")
    if proof.rows is None:
        _need(
            proof.kind == Kind.ABSENCE and bool(proof.path), "the way ends above the leaf that would hold the document"
        )


def _check_leaf(proof: Proof, rows: tuple[Row, ...]) -> None:
    depth = len(proof.path)
    held = len(rows) + (proof.kind != Kind.ABSENCE)
    _need(held <= LEAF_CAPACITY, f"a leaf has at most {LEAF_CAPACITY} documents, got {held}")
    _need(held > 0 or not depth, f"an empty leaf at depth {depth}")
    for (left, _), (right, _) in pairwise(rows):
        if left >= right:
            _refuse(f"rows out of order or twice at {right}")
    for row_key, _ in rows:
        if row_key == proof.key:
            _refuse(f"{row_key} is the proof's own key, and a row")
        if _prefix(row_key, depth) != _prefix(proof.key, depth):
            _refuse(f"{row_key} does not begin with the {depth} nibbles of the leaf")
    if not depth:
        _need(proof.corpus.documents == held, f"{proof.corpus.documents} documents, and the one leaf has {held}")


def _prefix(key: bytes, depth: int) -> int:
    return int.from_bytes(key, "big") >> 4 * (2 * SIZE - depth)


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        _refuse(otherwise)


def _refuse(why: str) -> NoReturn:
    raise ProofError(why)

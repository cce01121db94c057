"""Cache files: vectors by key as bytes that travel, out of one cache and into another (format.md 18).

1. Deterministic: the same entries give the same bytes, in whatever order they were put.
2. It streams both ways: what is kept is one entry, or the few that are judged together.
3. A file is untrusted. Whatever the bytes are, reading them ends in sound entries or in `CacheFileError`, with memory
   that grows with nothing that they claim.
4. Checksums find accidents. That a vector is what the model makes of the text behind its key, no bytes can show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from steadlith_core import vectors
from steadlith_core.digest import SIZE, Digest, hasher
from steadlith_core.errors import CacheFileError
from steadlith_core.vectors import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steadlith_core.vectors import Vector

MAGIC = b"\x8bSLV"
VERSION = 1
MAX_DIMENSIONS = 1 << 16
JUDGED = 256
"""Entries that are judged together: a few hundred kilobytes at usual dimensions, 64 MiB at the most."""

_DIMENSIONS, _COUNT = 4, 8
_END = bytes(_DIMENSIONS)

entry_checksum = hasher("cache-entry")
"""H[cache-entry] of the bytes of key and vector (format.md 18.3); a cache keeps it beside the vector."""

_chained = hasher("cache-file")
"""H[cache-file] of the chain so far and what is next (format.md 18.4)."""


def pack(entries: Iterable[tuple[Digest, Vector]]) -> Iterator[bytes]:
    """The bytes of a cache file, in pieces: its head, each entry, its end. `entries` are in the order of their keys.

    Raises `CacheFileError` at what a reader would refuse.
    """
    head = MAGIC + bytes((VERSION,))
    yield head
    chain, count, last = _chained(head), 0, b""
    for key, vector in entries:
        _need(last < key, f"entries out of order, or one is there twice: {key}")
        dimensions, rest = divmod(len(vector), WIDTH)
        _need(not rest and 0 < dimensions <= MAX_DIMENSIONS, f"{key} has a vector of {len(vector)} bytes")
        _need(not vectors.problems(vector, dimensions), f"{key} has a vector without a direction")
        size, checksum = dimensions.to_bytes(_DIMENSIONS, "big"), entry_checksum(key + vector)
        yield b"".join((size, key, vector, checksum))
        chain, count, last = _chained(chain + size + checksum), count + 1, key
    end = _END + count.to_bytes(_COUNT, "big")
    yield end + _chained(chain + end)


def digest_of_end(piece: bytes) -> Digest:
    """The file's digest, from the last piece of it."""
    return Digest(piece[-SIZE:])


class Unpacking:
    """One pass over a cache file. `count` and `digest` are its own, there after the last batch."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        """Read its head. `CacheFileError` if it does not begin as a cache file of this version."""
        self._stream = _Stream(pieces)
        self.count = 0
        self.digest: Digest | None = None
        head = self._stream.take(len(MAGIC) + 1, "the magic")
        _need(head[:-1] == MAGIC, "it does not begin as one")
        _need(head[-1] == VERSION, f"of version {head[-1]}; this version reads {VERSION}")
        self._chain = _chained(head)

    def batches(self) -> Iterator[list[tuple[Digest, Vector]]]:
        """The entries in the order of their keys, some at a time, each checked; in the end the whole is."""
        batch: list[tuple[Digest, Vector]] = []
        last = b""
        while (size := self._stream.take(_DIMENSIONS, "how many dimensions an entry has")) != _END:
            key, vector = self._entry(size)
            _need(last < key, f"entries out of order, or one is there twice: {key}")
            last = key
            batch.append((key, vector))
            if len(batch) == JUDGED:
                yield _sound(batch)
                batch = []
        if batch:
            yield _sound(batch)
        self._end()

    def _entry(self, size: bytes) -> tuple[Digest, Vector]:
        dimensions = int.from_bytes(size, "big")
        _need(dimensions <= MAX_DIMENSIONS, f"an entry claims {dimensions} dimensions, at most {MAX_DIMENSIONS} go")
        entry = self._stream.take(SIZE + WIDTH * dimensions + SIZE, "an entry")
        key, checksum = Digest(entry[:SIZE]), entry[-SIZE:]
        _need(entry_checksum(entry[:-SIZE]) == checksum, f"{key} was changed: its checksum is another")
        self._chain = _chained(self._chain + size + checksum)
        self.count += 1
        return key, entry[SIZE:-SIZE]

    def _end(self) -> None:
        count = self._stream.take(_COUNT, "the count of entries")
        said = int.from_bytes(count, "big")
        _need(said == self.count, f"it has {self.count} entries and says that there are {said}")
        digest = _chained(self._chain + _END + count)
        _need(self._stream.take(SIZE, "the digest") == digest, "it was changed: its digest is another")
        self._stream.end()
        self.digest = digest


def _sound(batch: list[tuple[Digest, Vector]]) -> list[tuple[Digest, Vector]]:
    for (key, _), good in zip(batch, vectors.sound([vector for _, vector in batch]), strict=True):
        _need(good, f"{key} has a vector without a direction: zero, or not finite")
    return batch


class _Stream:
    """A place in bytes that come in pieces; what was read is forgotten."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._data = b""
        self._at = 0
        self._before = 0

    def take(self, size: int, what: str) -> bytes:
        while len(self._data) - self._at < size:
            piece = next(self._pieces, None)
            if piece is None:
                there = len(self._data) - self._at
                _refuse(f"cut short at byte {self._before + self._at}: {what} has {size} bytes, {there} are there")
            self._before += self._at
            self._data, self._at = self._data[self._at :] + piece, 0
        self._at += size
        return self._data[self._at - size : self._at]

    def end(self) -> None:
        _need(self._at == len(self._data) and not any(self._pieces), "there are bytes after its end")


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        _refuse(otherwise)


def _refuse(why: str) -> NoReturn:
    """It is no cache file. Whoever has its bytes says where they came from, and what to do."""
    raise CacheFileError(why)

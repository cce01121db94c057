"""Packed columns: one blob where a row per chunk would cost an index entry each.

1. Little-endian, fixed width, in source order; so position i of every blob of a version is the same chunk.
2. What cannot have been packed here is a `ValueError`.
3. A seal is 8 bytes of keyed BLAKE3 over a row's own columns: it finds flipped bytes, it proves nothing.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from steadlith_core import canon
from steadlith_core.chunking import topology
from steadlith_core.digest import SIZE as DIGEST_SIZE
from steadlith_core.digest import Digest, hasher
from steadlith_core.errors import AdapterError
from steadlith_core.records import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ID_SIZE = 8
PARENT_SIZE = 4
SPAN = struct.Struct("<4I")
SEAL_SIZE = 8

_row_seal = hasher("sqlite-row")
_vector_seal = hasher("sqlite-vector")


def pack_ids(ids: Sequence[int]) -> bytes:
    """Occurrence ids, 8 bytes each."""
    return struct.pack(f"<{len(ids)}q", *ids)


def unpack_ids(data: bytes) -> tuple[int, ...]:
    """What `pack_ids` was given."""
    return struct.unpack(f"<{_count(data, ID_SIZE)}q", data)


def pack_parents(parents: Sequence[int]) -> bytes:
    """Positions of parents, 4 bytes each; nothing at all where no chunk has one."""
    return struct.pack(f"<{len(parents)}i", *parents) if any(parent >= 0 for parent in parents) else b""


def unpack_parents(data: bytes, count: int) -> tuple[int, ...]:
    """What `pack_parents` was given, of `count` chunks."""
    if not data:
        return (-1,) * count
    parents: tuple[int, ...] = struct.unpack(f"<{_count(data, PARENT_SIZE)}i", data)
    if len(parents) != count:
        message = f"{len(parents)} parents of {count} chunks"
        raise ValueError(message)
    if found := topology.problems(parents):
        raise ValueError(found[0])
    return parents


def pack_digests(digests: Iterable[Digest]) -> bytes:
    """Digests, 32 bytes each."""
    return b"".join(digests)


def unpack_digests(data: bytes) -> tuple[Digest, ...]:
    """What `pack_digests` was given."""
    starts = range(0, DIGEST_SIZE * _count(data, DIGEST_SIZE), DIGEST_SIZE)
    return tuple(Digest(data[start : start + DIGEST_SIZE]) for start in starts)


def pack_spans(spans: Iterable[Span]) -> bytes:
    """Spans, four u32 each; `AdapterError` for one beyond 4 GiB."""
    try:
        return b"".join(SPAN.pack(span.start, span.end, span.first_line, span.last_line) for span in spans)
    except struct.error as error:
        message = f"a span of this document does not fit in 32 bits ({error}); lower max_file_bytes"
        raise AdapterError(message) from error


def unpack_spans(data: bytes) -> tuple[Span, ...]:
    """What `pack_spans` was given."""
    _count(data, SPAN.size)
    return tuple(Span(*numbers) for numbers in SPAN.iter_unpack(data))


def seal(*fields: canon.Value) -> bytes:
    """Checksum of a row's columns."""
    return _row_seal(canon.encode(fields))[:SEAL_SIZE]


def vector_checksum(key: bytes, vector: bytes) -> bytes:
    """Checksum of a vector as it is kept, and of the key it is kept for."""
    return _vector_seal(key + vector)[:SEAL_SIZE]


def _count(data: bytes, width: int) -> int:
    count, rest = divmod(len(data), width)
    if rest:
        message = f"{len(data)} bytes are no whole number of {width}-byte values"
        raise ValueError(message)
    return count

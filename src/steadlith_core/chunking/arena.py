"""The arena: many documents in one stretch of bytes, so that numpy is asked once for all of them.

1. A document stands in it from the start of its body to its last solid byte, so white space at the end of a file
   decides nothing.
2. Behind each document come `PAD` zero bytes and a line feed: what is read behind a document's end is zeros, and
   every document starts a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_core.text.canonical import trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steadlith_core.text.canonical import CanonicalText

PAD = 24
_BEHIND = bytes(PAD) + b"\n"

SIZE = 1 << 18
"""Bytes of a full arena: with all that is made of it, it stays in a core's own cache."""


@dataclass(frozen=True, slots=True)
class Arena:
    """Documents in one stretch of bytes: document `i` is `data[starts[i]:ends[i]]`, trimmed, perhaps empty.

    `origins[i]` is the canonical position of its first byte.
    """

    data: bytes
    starts: list[int]
    ends: list[int]
    origins: list[int]


def pack(texts: Iterable[CanonicalText]) -> Arena:
    """One arena of all `texts`, in order."""
    parts: list[bytes] = []
    starts, ends, origins = [], [], []
    size = 0
    for text in texts:
        start, end = trim(text.data, text.body, len(text.data))
        starts.append(size)
        size += end - start
        ends.append(size)
        origins.append(start)
        parts += (text.data[start:end], _BEHIND)
        size += len(_BEHIND)
    return Arena(b"".join(parts), starts, ends, origins)


def groups(sizes: Iterable[int]) -> Iterator[slice]:
    """Which documents share an arena: neighbours, as many as fit; a larger document has one of its own."""
    first = behind = total = 0
    for size in sizes:
        if total + size > SIZE and behind > first:
            yield slice(first, behind)
            first, total = behind, 0
        behind, total = behind + 1, total + size
    if behind > first:
        yield slice(first, behind)

"""The arena: many documents in one stretch of bytes, so that numpy is asked once for all of them.

1. A document stands in it from the start of its body to its last solid byte, so white space at the end of a file
   decides nothing.
2. Behind each document come `PAD` zero bytes and a line feed: what is read behind a document's end is zeros, and
   every document starts a line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.text.canonical import trim
from steadlith_core.text.tokens import weigh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from steadlith_core.policies import Measure
    from steadlith_core.text.canonical import CanonicalText

PAD = 24
"""What looks ahead may look so far: a key at `keys.WINDOW` bytes, a sentence's end at `scan.CLOSERS` wide closers and
the code point behind them."""

_BEHIND = bytes(PAD) + b"\n"

SIZE = 1 << 21
"""Bytes of a full arena. What is done per byte is done in smaller blocks, which stay in a core's own cache; this is
how much of the rest, an entry per line or per chunk, is done together."""


@dataclass(frozen=True, slots=True)
class Arena:
    """Documents in one stretch of bytes: document `i` is `data[starts[i]:ends[i]]`, trimmed, perhaps empty.

    `origins[i]` is the canonical position of its first byte. `measured` are the weights of all bytes where an exact
    tokeniser is used.
    """

    data: bytes
    starts: list[int]
    ends: list[int]
    origins: list[int]
    measured: npt.NDArray[np.int64] | None = None

    def weigh(self, start: int, end: int) -> npt.NDArray[np.integer]:
        """Weights of bytes [start, end), in units of `tokens.UNIT` to the token."""
        return weigh(self.data[start:end]) if self.measured is None else self.measured[start:end]


def pack(texts: Sequence[CanonicalText], measure: Measure | None = None) -> Arena:
    """One arena of all `texts`, in order; an exact `measure` is asked about each whole text."""
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
    packed = Arena(b"".join(parts), starts, ends, origins)
    return packed if measure is None else replace(packed, measured=_measured(packed, texts, measure))


def _measured(arena: Arena, texts: Sequence[CanonicalText], measure: Measure) -> npt.NDArray[np.int64]:
    weights = np.zeros(len(arena.data), dtype=np.int64)
    for text, start, end, origin in zip(texts, arena.starts, arena.ends, arena.origins, strict=True):
        weights[start:end] = np.diff(measure.cumulative(text.data))[origin : origin + end - start]
    return weights


def groups(sizes: Iterable[int]) -> Iterator[slice]:
    """Which documents share an arena: neighbours, as many as fit; a larger document has one of its own."""
    first = behind = total = 0
    for size in sizes:
        taken = size + len(_BEHIND)
        if total + taken > SIZE and behind > first:
            yield slice(first, behind)
            first, total = behind, 0
        behind, total = behind + 1, total + taken
    if behind > first:
        yield slice(first, behind)

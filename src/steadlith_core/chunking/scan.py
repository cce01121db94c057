"""The per-byte stage: an arena in, its lines and the starts of its sentences out, as arrays.

1. It knows bytes and lines, no grammar and no format. All that is done per byte is done here, by numpy, on blocks
   that fit a core's cache; what it returns has one entry per line or per sentence.
2. A blank line is in no array. Canonical text has no white space at the end of a line, so a blank line is empty, and
   one that is not blank has a solid byte.
3. A sentence ends at `.` `!` `?`, closing quotes, brackets and emphasis, and white space; or at a wide stop and wide
   closers, without any. At most `CLOSERS` closing characters count.
4. A block starts a line, so the weights of its bytes do not depend on what stands before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.chunking.arena import PAD
from steadlith_core.chunking.walks import IS_SPACE, permitted, skip, solid, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from steadlith_core.chunking.arena import Arena

    Integers = npt.NDArray[np.int64]
    Truths = npt.NDArray[np.bool_]
    Bytes = npt.NDArray[np.uint8]

BLOCK = 1 << 18
"""Bytes looked at together, up to the next line feed."""

CLOSERS = 7
"""Closing characters that may stand between a stop and the end of its sentence."""

SMALL = 1 << 23
"""Bytes whose weights, 255 at most, add up to less than 2^31. In 32 bits they are summed in a tenth of the time."""

LINE_FEED = 0x0A
_QUOTES = "\u2019\u201d"
_WIDE_STOPS = "\u3002\uff01\uff1f"
_WIDE_CLOSERS = "\u300b\u300d\u300f\u3011\uff09" + _QUOTES
_CLOSING = b"\"')]}*_"
_IS_CLOSING = table(_CLOSING)
_IS_NOTHING = table(b"")
_MAY_FOLLOW_STOP = table(_CLOSING + b" \t\v\f\n" + _QUOTES.encode()[:1])


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of an arena that are not blank: `[start, end)`, and `first`, where their indentation is over.

    `fresh` says that a blank line, or the start of the document, stands before; `after_sentence` that the line
    directly before ends a sentence. `bounds[i]:bounds[i + 1]` are the lines of document `i`. Weights count from the
    arena's start: `weight_start` is that before a line's first byte, `weight_end` that after its last.
    """

    start: Integers
    end: Integers
    first: Integers
    fresh: Truths
    after_sentence: Truths
    weight_start: Integers
    weight_end: Integers
    bounds: Integers


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences that start within a line: `start`, the `end` of the one before, the `stop` that ends it, its `line`."""

    start: Integers
    end: Integers
    stop: Integers
    line: Integers
    weight_start: Integers
    weight_end: Integers


def scan(arena: Arena) -> tuple[Lines, Sentences]:
    """Lines and sentences of all documents; O(bytes)."""
    data = arena.data
    array = np.frombuffer(data, dtype=np.uint8)
    document_ends = np.array(arena.ends, dtype=np.int64)
    found = []
    weight = lines = 0
    blocks = list(_blocks(data))
    # One array for all blocks: the system takes longer to clear the pages of a new one than numpy to fill it.
    longest = max(end - start for start, end in blocks)
    width: type[np.signedinteger] = np.int32 if longest < SMALL and arena.measured is None else np.int64
    scratch: npt.NDArray[np.signedinteger] = np.zeros(longest + 1, dtype=width)
    for start, end in blocks:
        block = _Block(arena, array, start, end, weight, scratch)
        fields = block.lines(document_ends)
        found.append((*fields, *block.sentences(*fields[:2], lines)))
        weight, lines = weight + int(block.weights[-1]), lines + len(fields[0])
    line_start, line_end, weight_start, weight_end, closed, *sentences = (
        np.concatenate(parts) for parts in zip(*found, strict=True)
    )
    bounds = np.searchsorted(line_start, np.array([*arena.starts, len(data)], dtype=np.int64))
    fresh = np.ones(len(line_start), dtype=np.bool_)
    np.not_equal(line_start[1:], line_end[:-1] + 1, out=fresh[1:])
    first = _indented(array, line_start)
    after_sentence = np.zeros(len(line_start), dtype=np.bool_)
    after_sentence[1:] = _contains(closed, line_end[:-1])
    after_sentence &= ~fresh
    return (
        Lines(line_start, line_end, first, fresh, after_sentence, weight_start, weight_end, bounds),
        Sentences(*sentences),
    )


def _blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Ranges of whole lines; no range but the first starts with a blank one."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + BLOCK) + 1 or len(data)
        while end < len(data) and data[end] == LINE_FEED:
            end += 1
        yield start, end
        start = end


class _Block:
    """One range of whole lines, and what it adds to the arrays."""

    def __init__(
        self, arena: Arena, array: Bytes, start: int, end: int, weight: int, scratch: npt.NDArray[np.signedinteger]
    ) -> None:
        stretch = arena.data[start:end]
        self.array = array
        self.base = start
        self.bytes = array[start:end]
        self.stretch = stretch
        self.is_ascii = stretch.isascii()
        self.weight = weight
        self.weights = scratch[: end - start + 1]
        np.cumsum(arena.weigh(start, end), dtype=scratch.dtype, out=self.weights[1:])

    def lines(self, document_ends: Integers) -> tuple[Integers, Integers, Integers, Integers]:
        """Start, end and both weights of the lines that are not blank."""
        end = np.flatnonzero(self.bytes == LINE_FEED)
        end += self.base
        start = np.empty_like(end)
        start[0], start[1:] = self.base, end[:-1] + 1
        # The zeros behind a document are on its last line, and are no part of it.
        here = slice(*np.searchsorted(document_ends, (self.base - PAD, self.base + len(self.bytes) - PAD)))
        end[np.searchsorted(end, document_ends[here] + PAD)] = document_ends[here]
        solid = np.flatnonzero(end > start)
        start, end = start[solid], end[solid]
        return start, end, self.weight_before(start), self.weight_before(end)

    def weight_before(self, positions: Integers) -> Integers:
        """Weight of all bytes of the arena before each position."""
        weights: Integers = self.weights.take(positions - self.base).astype(np.int64)
        weights += self.weight
        return weights

    def sentences(self, line_start: Integers, line_end: Integers, lines: int) -> tuple[Integers, ...]:
        """Line feeds after the end of a sentence, then the fields of `Sentences`; `lines` stand before the block."""
        closed, start, end, stop = self._ends()
        line = line_start.searchsorted(stop, "right") - 1
        # What stands behind the end of a document is in no line.
        kept = np.flatnonzero(start < line_end.take(line)) if len(line_end) else line
        if not self.is_ascii:
            kept = kept[permitted(self.array, start[kept])]
        start, end, stop, line = start.take(kept), end.take(kept), stop.take(kept), line.take(kept)
        return closed, start, end, stop, line + lines, self.weight_before(start), self.weight_before(end)

    def _ends(self) -> tuple[Integers, Integers, Integers, Integers]:
        """Line feeds after the end of a sentence; and start, end and stop of what may be sentences within a line."""
        array = self.array
        stop = np.flatnonzero((self.bytes == 0x2E) | (self.bytes == 0x21) | (self.bytes == 0x3F)) + self.base
        stop = stop[_MAY_FOLLOW_STOP.take(array.take(stop + 1))]
        end = skip(array, stop + 1, CLOSERS, _IS_CLOSING, "" if self.is_ascii else _QUOTES)
        closed = end[array.take(end) == LINE_FEED]
        spaced = np.flatnonzero(IS_SPACE.take(array.take(end)))
        stop, end = stop.take(spaced), end.take(spaced)
        start = solid(array, end)
        wide = self._wide_stops()
        if not len(wide):
            return closed, start, end, stop
        wide_end = skip(array, wide + 3, CLOSERS, _IS_NOTHING, _WIDE_CLOSERS)
        wide_start = solid(array, wide_end)
        behind = skip(array, wide + 3, CLOSERS, _IS_CLOSING, _WIDE_CLOSERS)
        closed = np.sort(np.concatenate((closed, behind[array.take(behind) == LINE_FEED])))
        within = np.flatnonzero(array.take(wide_start) != LINE_FEED)
        stop = np.concatenate((stop, wide.take(within)))
        order = np.argsort(stop, kind="stable")
        start = np.concatenate((start, wide_start.take(within)))
        end = np.concatenate((end, wide_end.take(within)))
        return closed, start.take(order), end.take(order), stop.take(order)

    def _wide_stops(self) -> Integers:
        # A search for one byte costs next to nothing, and most texts have neither lead byte.
        if self.is_ascii or not (b"\xe3" in self.stretch or b"\xef" in self.stretch):
            return np.zeros(0, dtype=np.int64)
        second, third = self.bytes[1:-1], self.bytes[2:]
        maybe = (second == 0x80) & (third == 0x82)
        maybe |= (second == 0xBC) & ((third == 0x81) | (third == 0x9F))
        stops = np.flatnonzero(maybe)
        lead = self.bytes.take(stops)
        found: Integers = stops[lead == np.where(second.take(stops) == 0x80, 0xE3, 0xEF)]
        return found + self.base


def _indented(array: Bytes, line_start: Integers) -> Integers:
    """Where the indentation of each line is over."""
    first = line_start.copy()
    indented = np.flatnonzero(IS_SPACE.take(array.take(line_start)))
    first[indented] = solid(array, line_start.take(indented))
    return first


def _contains(members: Integers, values: Integers) -> Truths:
    """Which of `values` are among the ascending `members`."""
    if not len(members):
        return np.zeros(len(values), dtype=np.bool_)
    found: Truths = members[np.minimum(np.searchsorted(members, values), len(members) - 1)] == values
    return found

"""The cut tree: while a span is too large, cut it at the candidate with the greatest key, and go on in both halves.

1. A key is (level, 64-bit hash of the text behind the candidate); of equal keys the leftmost wins. So the cuts form the
   Cartesian tree of the keys: they depend on the set of candidates and never on a scan from the start.
2. Order of force: byte cap, maximum, minimum, level. A cut leaves the minimum on both sides; only where no permitted
   place does, while the span is over the maximum or the cap, the cut that leaves most on its smaller side is taken.
3. Where no structural candidate leaves the minimum: starts of words, then any permitted code point, by hash alone.
4. What has no permitted place at all is a run: whole if it fits the byte cap, else cut at the cap; it is reported.
5. A piece has neither white space at its end nor blank lines at its start; sizes are those of trimmed pieces.
6. Integers only, no recursion, and time close to linear: a range is asked for its greatest key, never searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadlith_core.chunking.keys import hashes
from steadlith_core.chunking.parts import Level
from steadlith_core.chunking.structure import FIRST_COMBINING
from steadlith_core.text.canonical import is_boundary
from steadlith_core.text.tokens import CONTINUATION, UNIT, cumulative

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Truths = npt.NDArray[np.bool_]
    Candidates = tuple[Sequence[int], Sequence[Level]]

WHITE_SPACE = " \t\v\f\n\r"


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """As `canonical.trim`, over code points."""
    kept = text[start:end].rstrip(WHITE_SPACE)
    indented = len(kept) - len(kept.lstrip(WHITE_SPACE))
    return start + kept.rfind("\n", 0, indented) + 1, start + len(kept)


WIDTHS = bytes(1 if first < 0xC0 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4 for first in range(256))
"""Bytes of a code point, by the first of them."""

SOLID = bytes(chr(first) not in WHITE_SPACE for first in range(256))
"""Whether a code point is not white space, by its first byte."""

BLOCK = 1024
"""Keys per block of `Points.peak`: a query looks at two parts of blocks and at the maxima of the blocks between."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes of a piece: estimated tokens, and bytes of canonical UTF-8."""

    min_tokens: int
    max_tokens: int
    max_bytes: int


class Piece(NamedTuple):
    """A trimmed range of canonical text and the strength of the boundary it starts at."""

    start: int
    end: int
    level: Level


@dataclass(frozen=True, slots=True)
class Cut:
    """All pieces in order, and the runs of rule 4 as ranges of canonical text."""

    pieces: tuple[Piece, ...]
    runs: tuple[tuple[int, int], ...]


class Ruler:
    """A text measured once: the size of any range is a difference.

    `ends` says for every position where the text before it ends without its trailing white space.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.data = text.encode("utf-8")
        self.tokens = cumulative(text)
        self.solid = np.frombuffer(self.data.translate(SOLID, CONTINUATION), dtype=np.bool_)
        self.bytes = np.arange(len(text) + 1, dtype=np.int64)
        self.ends = np.zeros(len(text) + 1, dtype=np.int64)
        np.maximum.accumulate(self.bytes[1:] * self.solid, out=self.ends[1:])
        if len(self.data) > len(text):
            widths = np.frombuffer(self.data.translate(WIDTHS, CONTINUATION), dtype=np.uint8)
            np.cumsum(widths, dtype=np.int64, out=self.bytes[1:])

    def units(self, start: int, end: int) -> int:
        """Estimated size of a range, in units of `tokens.UNIT` to the token."""
        return int(self.tokens[end] - self.tokens[start])

    def size(self, start: int, end: int) -> int:
        """Bytes of a range in canonical UTF-8."""
        return int(self.bytes[end] - self.bytes[start])

    def words(self, start: int, end: int) -> Integers:
        """Permitted starts of words in [start, end): a solid code point after white space."""
        start = max(start, 1)
        return self._permitted(start, self.solid[start:end] & ~self.solid[start - 1 : max(start, end) - 1])

    def points(self, start: int, end: int) -> Integers:
        """All permitted places in [start, end): any solid code point that may be cut before."""
        return self._permitted(start, self.solid[start:end])

    def _permitted(self, start: int, wanted: Truths) -> Integers:
        positions = np.flatnonzero(wanted) + start
        if len(self.data) == len(self.text):
            return positions
        codes = np.frombuffer(self.text[start : start + len(wanted)].encode("utf-32-le"), dtype="<u4")[wanted]
        rare = np.unique(codes[codes >= ord(FIRST_COMBINING)])
        forbidden = [code for code in rare.tolist() if not is_boundary(chr(code))]
        return positions[~np.isin(codes, forbidden)] if forbidden else positions


class Points:
    """Places where a cut may fall, in order, with their keys and the sizes before and behind them."""

    def __init__(self, ruler: Ruler, positions: Integers, levels: Level | Sequence[Level]) -> None:
        self.positions = positions
        self.weakest = levels if isinstance(levels, Level) else Level.INSIDE
        self.levels = np.broadcast_to(np.asarray(levels, dtype=np.int8), positions.shape)
        self.before = ruler.tokens[ruler.ends[positions]]
        self.behind = ruler.tokens[positions]
        # The level in the four highest bits, then the hash: one comparison of integers orders both.
        rank = (self.levels - np.int8(Level.POINT)).astype(np.uint64)
        self.keys = rank << np.uint64(60) | hashes(ruler.data, ruler.bytes[positions]) >> np.uint64(4)
        whole = len(positions) // BLOCK * BLOCK
        self.maxima = self.keys[:whole].reshape(-1, BLOCK).max(axis=1)

    def inside(self, start: int, end: int) -> tuple[int, int]:
        """Indices of the places strictly between two positions."""
        return (
            int(np.searchsorted(self.positions, start, "right")),
            int(np.searchsorted(self.positions, end, "left")),
        )

    def leaving(self, start: int, end: int, low: int, high: int) -> tuple[int, int]:
        """Indices of those inside with at least `low` units counted before them and at most `high` behind."""
        first, last = self.inside(start, end)
        return (
            max(first, int(np.searchsorted(self.before, low, "left"))),
            min(last, int(np.searchsorted(self.behind, high, "right"))),
        )

    def peak(self, first: int, last: int) -> int:
        """Index of the greatest key in [first, last), the leftmost of equals. The range is not empty."""
        left, right = -(-first // BLOCK), last // BLOCK
        if left >= right:
            return first + int(np.argmax(self.keys[first:last]))
        block = left + int(np.argmax(self.maxima[left:right]))
        ranges = ((first, left * BLOCK), (block * BLOCK, (block + 1) * BLOCK), (right * BLOCK, last))
        found = [start + int(np.argmax(self.keys[start:end])) for start, end in ranges if start < end]
        return max(found, key=self.keys.__getitem__)

    def middle(self, first: int, last: int, low: int, high: int) -> int:
        """Index in [first, last) of the place that leaves most on its smaller side of the counts [low, high]."""
        smaller = np.minimum(self.before[first:last] - low, high - self.behind[first:last])
        return first + int(np.argmax(smaller))


class _Span(NamedTuple):
    start: int
    end: int
    level: Level
    points: Points


def cut(ruler: Ruler, start: int, end: int, candidates: Candidates, limits: Limits) -> Cut:
    """Cut the trimmed range [start, end) of the ruler's text; the first candidate stands at its start."""
    cutter = _Cutter(ruler, candidates, limits)
    pieces = tuple(cutter.pieces(start, end))
    return Cut(pieces, tuple(cutter.runs))


class _Cutter:
    def __init__(self, ruler: Ruler, candidates: Candidates, limits: Limits) -> None:
        self.ruler = ruler
        self.limits = limits
        self.minimum = limits.min_tokens * UNIT
        self.maximum = limits.max_tokens * UNIT
        positions, levels = candidates
        self.structural = Points(ruler, np.asarray(positions, dtype=np.int64), levels)
        self.runs: list[tuple[int, int]] = []

    def pieces(self, start: int, end: int) -> Iterator[Piece]:
        level = Level(int(self.structural.levels[0]))
        stack = [_Span(start, end, level, self.structural)]
        while stack:
            span = stack.pop()
            if self._fits(span):
                yield Piece(span.start, span.end, span.level)
                continue
            choice = self._legal(span) or self._forced(span)
            if choice is None:
                yield from self._run(span)
                continue
            points, index = choice
            position = int(points.positions[index])
            before = int(self.ruler.ends[position])
            # A place that leaves no minimum in a span leaves none in a part of it: the parts go on with these places.
            stack.append(_Span(position, span.end, Level(int(points.levels[index])), points))
            if before > span.start:  # else there is only the indentation of a line before the cut
                stack.append(_Span(span.start, before, span.level, points))

    def _fits(self, span: _Span) -> bool:
        units, size = self.ruler.units(span.start, span.end), self.ruler.size(span.start, span.end)
        return units <= self.maximum and size <= self.limits.max_bytes

    def _legal(self, span: _Span) -> tuple[Points, int] | None:
        """The greatest key that leaves the minimum on both sides, of the strongest sort of places that has one."""
        ruler = self.ruler
        low = int(ruler.tokens[span.start]) + self.minimum
        high = int(ruler.tokens[span.end]) - self.minimum
        first, last = span.points.leaving(span.start, span.end, low, high)
        if first < last:
            return span.points, span.points.peak(first, last)
        if low > high:
            return None
        # Counts rise with positions, so these bound every place that can leave the minimum.
        start = max(span.start + 1, int(np.searchsorted(ruler.tokens, low, "left")))
        end = min(span.end, int(np.searchsorted(ruler.tokens, high, "right")))
        for find, level in ((ruler.words, Level.WORD), (ruler.points, Level.POINT)):
            if span.points.weakest > level:
                points = Points(ruler, find(start, end), level)
                first, last = points.leaving(span.start, span.end, low, high)
                if first < last:
                    return points, points.peak(first, last)
        return None

    def _forced(self, span: _Span) -> tuple[Points, int] | None:
        """The place that leaves most on its smaller side, of the strongest sort of places that the span has at all."""
        ruler = self.ruler
        low, high = int(ruler.tokens[span.start]), int(ruler.tokens[span.end])
        inner = span.start + 1, span.end
        for points in (
            self.structural,
            Points(ruler, ruler.words(*inner), Level.WORD),
            Points(ruler, ruler.points(*inner), Level.POINT),
        ):
            first, last = points.inside(span.start, span.end)
            if first < last:
                return points, points.middle(first, last, low, high)
        return None

    def _run(self, span: _Span) -> Iterator[Piece]:
        self.runs.append((span.start, span.end))
        size = self.ruler.bytes
        at, level = span.start, span.level
        while at < span.end:
            stop = int(np.searchsorted(size, size[at] + self.limits.max_bytes, "right")) - 1
            start, end = trim(self.ruler.text, at, min(stop, span.end))
            if start < end:
                yield Piece(start, end, level)
            at, level = stop, Level.POINT

"""What a span is cut at where no place of its structure leaves the minimum on both sides.

1. Starts of words, then any permitted code point, by hash alone.
2. While the span is over the maximum or the byte cap and none of them leaves the minimum either, the cut that leaves
   most on its smaller side is taken, of the strongest sort of places that the span has at all.
3. What has no permitted place at all is a run: whole if it fits the byte cap, else cut at the cap; it is reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadlith_core.chunking.keys import Peaks, keys
from steadlith_core.chunking.parts import Level
from steadlith_core.chunking.walks import permitted
from steadlith_core.text.canonical import WHITE_SPACE, trim

if TYPE_CHECKING:
    import numpy.typing as npt

    from steadlith_core.chunking.arena import Arena
    from steadlith_core.chunking.structure import Places
    from steadlith_core.chunking.tree import Limits

    Integers = npt.NDArray[np.int64]

LOOK_BACK = 64
"""Bytes before a span that can decide what its own first ones weigh."""

_IS_SOLID = np.ones(256, dtype=np.bool_)
_IS_SOLID[list(WHITE_SPACE)] = False


class Ruler:
    """A span measured byte by byte. Positions and weights count from its start.

    `ends` says for every position where the text before it ends without its trailing white space.
    """

    def __init__(self, arena: Arena, start: int, end: int) -> None:
        self.data = arena.data
        self.start = start
        self.array = np.frombuffer(arena.data, dtype=np.uint8)
        self.bytes = self.array[start:end]
        before = min(start, LOOK_BACK)
        self.weights = np.zeros(end - start + 1, dtype=np.int64)
        np.cumsum(arena.weigh(start - before, end)[before:], dtype=np.int64, out=self.weights[1:])
        self.solid = _IS_SOLID[self.bytes]
        self.ends = np.zeros(end - start + 1, dtype=np.int64)
        np.maximum.accumulate(np.arange(1, end - start + 1) * self.solid, out=self.ends[1:])

    def words(self, start: int, end: int) -> Integers:
        """Permitted starts of words in [start, end): a solid byte after white space."""
        start = max(start, 1)
        return self._permitted(start, self.solid[start:end] & ~self.solid[start - 1 : max(start, end) - 1])

    def points(self, start: int, end: int) -> Integers:
        """All permitted places in [start, end): any solid code point that may be cut before."""
        return self._permitted(start, self.solid[start:end] & (self.bytes[start:end] & 0xC0 != 0x80))

    def _permitted(self, start: int, wanted: npt.NDArray[np.bool_]) -> Integers:
        positions = np.flatnonzero(wanted) + start
        return positions[permitted(self.array, positions + self.start)]


class Points:
    """Places of one sort in a span, ascending: their levels and keys, and the weights `before` and `behind` a cut."""

    def __init__(self, ruler: Ruler, positions: Integers, levels: Level | npt.NDArray[np.int8]) -> None:
        self.positions = positions
        self.weakest = levels if isinstance(levels, Level) else Level.INSIDE
        self.levels = np.broadcast_to(np.asarray(levels, dtype=np.int8), positions.shape)
        self.before = ruler.weights[ruler.ends[positions]]
        self.behind = ruler.weights[positions]
        self.keys = keys(ruler.data, positions + ruler.start, self.levels)
        self.peaks = Peaks(self.keys)

    def inside(self, start: int, end: int) -> tuple[int, int]:
        """Indices of the places strictly between two positions."""
        first = np.searchsorted(self.positions, start, "right")
        return int(first), int(np.searchsorted(self.positions, end, "left"))

    def leaving(self, start: int, end: int, low: int, high: int) -> tuple[int, int]:
        """Indices of those inside with at least `low` counted before them and at most `high` behind."""
        first, last = self.inside(start, end)
        return (
            max(first, int(np.searchsorted(self.before, low, "left"))),
            min(last, int(np.searchsorted(self.behind, high, "right"))),
        )

    def middle(self, first: int, last: int, low: int, high: int) -> int:
        """Index in [first, last) of the place that leaves most on its smaller side of the weights [low, high]."""
        smaller = np.minimum(self.before[first:last] - low, high - self.behind[first:last])
        return first + int(np.argmax(smaller))


class Run(NamedTuple):
    """Bytes [start, end) without a permitted place, too large, and their weight."""

    start: int
    end: int
    weight: int


class Part(NamedTuple):
    """A finished piece, or a part of a span on the way to one; bytes count from the span's start."""

    start: int
    end: int
    level: int
    height: int
    above: int
    points: Points


class Rest:
    """Cuts spans one by one, and keeps the pieces."""

    def __init__(self, arena: Arena, places: Places, limits: Limits) -> None:
        self.arena = arena
        self.places = places
        self.limits = limits
        self.pieces: list[tuple[int, int, int, int, int]] = []
        """Bytes [start, end), weight, level, height."""
        self.runs: list[Run] = []

    def cut(self, start: int, end: int, first: int, last: int, level: int, height: int, above: int) -> None:
        """Cut bytes [start, end), in which the structure has the places [first, last)."""
        ruler = Ruler(self.arena, start, end)
        structural = Points(ruler, self.places.start[first:last] - start, self.places.level[first:last])
        stack = [Part(0, end - start, level, height, above, structural)]
        while stack:
            part = stack.pop()
            if self._fits(ruler, part):
                self._keep(ruler, part)
                continue
            choice = self._legal(ruler, part) or self._forced(ruler, part, structural)
            if choice is None:
                self._run(ruler, part)
                continue
            points, index = choice
            position = int(points.positions[index])
            before = int(ruler.ends[position])
            deep = part.above + 1
            # A place that leaves no minimum in a span leaves none in a part of it: the parts go on with these places.
            stack.append(Part(position, part.end, int(points.levels[index]), deep, deep, points))
            if before > part.start:  # else there is only the indentation of a line before the cut
                stack.append(Part(part.start, before, part.level, part.height, deep, points))

    def _fits(self, ruler: Ruler, part: Part) -> bool:
        weight = ruler.weights[part.end] - ruler.weights[part.start]
        return bool(weight <= self.limits.maximum and part.end - part.start <= self.limits.max_bytes)

    def _keep(self, ruler: Ruler, part: Part) -> None:
        weight = int(ruler.weights[part.end] - ruler.weights[part.start])
        self.pieces.append((ruler.start + part.start, ruler.start + part.end, weight, part.level, part.height))

    def _legal(self, ruler: Ruler, part: Part) -> tuple[Points, int] | None:
        """The greatest key that leaves the minimum on both sides, of the strongest sort of places that has one."""
        low = int(ruler.weights[part.start]) + self.limits.minimum
        high = int(ruler.weights[part.end]) - self.limits.minimum
        first, last = part.points.leaving(part.start, part.end, low, high)
        if first < last:
            return part.points, part.points.peaks.peak(first, last)
        if low > high:
            return None
        # Weights rise with positions, so these bound every place that can leave the minimum.
        start = max(part.start + 1, int(np.searchsorted(ruler.weights, low, "left")))
        end = min(part.end, int(np.searchsorted(ruler.weights, high, "right")))
        for find, level in ((ruler.words, Level.WORD), (ruler.points, Level.POINT)):
            if part.points.weakest > level:
                points = Points(ruler, find(start, end), level)
                first, last = points.leaving(part.start, part.end, low, high)
                if first < last:
                    return points, points.peaks.peak(first, last)
        return None

    def _forced(self, ruler: Ruler, part: Part, structural: Points) -> tuple[Points, int] | None:
        """The place that leaves most on its smaller side, of the strongest sort of places that the part has at all."""
        low, high = int(ruler.weights[part.start]), int(ruler.weights[part.end])
        inner = part.start + 1, part.end
        for points in (
            structural,
            Points(ruler, ruler.words(*inner), Level.WORD),
            Points(ruler, ruler.points(*inner), Level.POINT),
        ):
            first, last = points.inside(part.start, part.end)
            if first < last:
                return points, points.middle(first, last, low, high)
        return None

    def _run(self, ruler: Ruler, part: Part) -> None:
        weight = int(ruler.weights[part.end] - ruler.weights[part.start])
        self.runs.append(Run(ruler.start + part.start, ruler.start + part.end, weight))
        at, level, height = part.start, part.level, part.height
        while at < part.end:
            stop = self._code_point(ruler, min(at + self.limits.max_bytes, part.end))
            start, end = trim(ruler.data, ruler.start + at, ruler.start + stop)
            if start < end:
                piece = Part(start - ruler.start, end - ruler.start, level, height, part.above, part.points)
                self._keep(ruler, piece)
            at, level, height = stop, Level.POINT, part.above + 1

    def _code_point(self, ruler: Ruler, position: int) -> int:
        """The last start of a code point at or before `position`."""
        while position < len(ruler.bytes) and ruler.bytes[position] & 0xC0 == 0x80:
            position -= 1
        return position

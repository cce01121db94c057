"""The cut tree: while a span is too large, cut it at the place with the greatest key, and go on in both halves.

1. A key is (level, 64-bit hash of the text behind the place); of equal keys the leftmost wins. So the cuts form the
   Cartesian tree of the keys: they depend on the set of places and never on a scan from the start.
2. Order of force: byte cap, maximum, minimum, level. A cut leaves the minimum on both sides. Where no place of the
   structure does, `rest.py` goes on inside the span, at words, at code points, or anywhere.
3. A piece has neither white space at its end nor blank lines at its start; sizes are those of trimmed pieces.
4. Integers only, no recursion, and time close to linear. Spans of few places are cut together, one height of the tree
   after the other; a span of many places is cut by itself, and asked for its greatest key, never searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from steadlith_core.chunking.keys import Peaks
from steadlith_core.chunking.rest import Rest, Run

if TYPE_CHECKING:
    import numpy.typing as npt

    from steadlith_core.chunking.arena import Arena
    from steadlith_core.chunking.structure import Places

    Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes of a piece: weights (`tokens.UNIT` to the token), and bytes of canonical UTF-8."""

    minimum: int
    maximum: int
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Pieces:
    """All pieces of an arena in order, trimmed: bytes [start, end), int64.

    `level` (int8) is the strength of the cut a piece starts at, `height` (int32) how deep in the cut tree that cut is:
    1 for the first that was made in a document, 0 for its start. `bounds[i]:bounds[i + 1]` are those of document `i`.
    `runs` are the spans that had no permitted place though they are too large.
    """

    start: Integers
    end: Integers
    weight: Integers
    level: npt.NDArray[np.int8]
    height: npt.NDArray[np.int32]
    bounds: Integers
    runs: tuple[Run, ...]


class Spans(NamedTuple):
    """Spans of an arena, each an int64 array: bytes [start, end) and the weights there; the places [first, last)
    strictly inside; the level and the height of the cut at its start; how many cuts were made above it.
    """

    start: Integers
    end: Integers
    weight_start: Integers
    weight_end: Integers
    first: Integers
    last: Integers
    level: Integers
    height: Integers
    above: Integers

    def where(self, chosen: npt.NDArray[np.bool_]) -> Spans:
        """Some of them."""
        return Spans(*(field[chosen] for field in self))


def cut(arena: Arena, places: Places, limits: Limits) -> Pieces:
    """Cut all documents of an arena."""
    peaks = Peaks(places.key)
    rest = Rest(arena, places, limits)
    fitting = []
    spans = _documents(arena, places)
    while len(spans.start):
        fits = spans.weight_end - spans.weight_start <= limits.maximum
        fits &= spans.end - spans.start <= limits.max_bytes
        fitting.append(spans.where(fits))
        spans = spans.where(~fits)
        # Weights rise with positions, so these bound every place that leaves the minimum on both sides.
        low = np.searchsorted(places.weight_end, spans.weight_start + limits.minimum, "left")
        high = np.searchsorted(places.weight_start, spans.weight_end - limits.minimum, "right")
        low, high = np.maximum(low, spans.first), np.minimum(high, spans.last)
        legal = low < high
        for start, end, _, _, first, last, *how in zip(*(field.tolist() for field in spans.where(~legal)), strict=True):
            rest.cut(start, end, first, last, *how)
        spans = _halves(spans.where(legal), peaks.peaks(low[legal], high[legal]), places)
    return _pieces(arena, fitting, rest)


def _documents(arena: Arena, places: Places) -> Spans:
    start, end = np.array(arena.starts, dtype=np.int64), np.array(arena.ends, dtype=np.int64)
    full = np.flatnonzero(start < end)
    first, last = places.bounds[full], places.bounds[full + 1]
    none = np.zeros(len(full), dtype=np.int64)
    level = places.level[first].astype(np.int64)
    return Spans(
        start[full], end[full], places.weight_start[first], places.totals[full], first + 1, last, level, none, none
    )


def _halves(spans: Spans, at: Integers, places: Places) -> Spans:
    """Both halves of each span, cut at place `at`."""
    halves = np.empty((len(Spans._fields), len(at), 2), dtype=np.int64)
    for field, values in zip(halves, spans, strict=True):
        field[:] = values[:, np.newaxis]
    start, end, weight_start, weight_end, first, last, level, height, above = halves
    above += 1
    end[:, 0], weight_end[:, 0], last[:, 0] = places.end[at], places.weight_end[at], at
    start[:, 1], weight_start[:, 1], first[:, 1] = places.start[at], places.weight_start[at], at + 1
    level[:, 1], height[:, 1] = places.level[at], above[:, 1]
    made = Spans(*halves.reshape(len(Spans._fields), -1))
    return made.where(made.start < made.end)  # else there is only the indentation of a line before the cut


def _pieces(arena: Arena, fitting: list[Spans], rest: Rest) -> Pieces:
    rows = [
        np.stack((span.start, span.end, span.weight_end - span.weight_start, span.level, span.height))
        for span in fitting
    ]
    rows.append(np.array(rest.pieces, dtype=np.int64).reshape(-1, 5).T)
    start, end, weight, level, height = np.concatenate(rows, axis=1)
    order = np.argsort(start)
    start = start[order]
    return Pieces(
        start,
        end[order],
        weight[order],
        level[order].astype(np.int8),
        height[order].astype(np.int32),
        np.searchsorted(start, np.array([*arena.starts, len(arena.data)], dtype=np.int64)),
        tuple(sorted(rest.runs)),
    )

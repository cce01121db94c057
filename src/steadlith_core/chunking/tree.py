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
    Table = npt.NDArray[np.int64]


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
    """The rows of a table of spans, one in each column: bytes [start, end) and the weights there; the places
    [first, last) strictly inside; the level and the height of the cut at its start; how many cuts were made above it.
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


def cut(arena: Arena, places: Places, limits: Limits) -> Pieces:
    """Cut all documents of an arena."""
    peaks = Peaks(places.key)
    rest = Rest(arena, places, limits)
    fitting = []
    table = _documents(arena, places)
    while table.size:
        spans = Spans(*table)
        fits = spans.weight_end - spans.weight_start <= limits.maximum
        fits &= spans.end - spans.start <= limits.max_bytes
        fitting.append(table.compress(fits, axis=1))
        table = table.compress(~fits, axis=1)
        spans = Spans(*table)
        # Weights rise with positions, so these bound every place that leaves the minimum on both sides.
        low = np.searchsorted(places.weight_end, spans.weight_start + limits.minimum, "left")
        high = np.searchsorted(places.weight_start, spans.weight_end - limits.minimum, "right")
        low, high = np.maximum(low, spans.first), np.minimum(high, spans.last)
        legal = low < high
        for start, end, _, _, first, last, *how in table.compress(~legal, axis=1).T.tolist():
            rest.cut(start, end, first, last, *how)
        table = _halves(table.compress(legal, axis=1), peaks.peaks(low[legal], high[legal]), places)
    return _pieces(arena, fitting, rest)


def _documents(arena: Arena, places: Places) -> Table:
    start, end = np.array(arena.starts, dtype=np.int64), np.array(arena.ends, dtype=np.int64)
    full = np.flatnonzero(start < end)
    first, last = places.bounds[full], places.bounds[full + 1]
    none = np.zeros(len(full), dtype=np.int64)
    level = places.level[first].astype(np.int64)
    weights = places.weight_start[first], places.totals[full]
    return np.stack(Spans(start[full], end[full], *weights, first + 1, last, level, none, none))


def _halves(table: Table, at: Integers, places: Places) -> Table:
    """Both halves of each span, cut at place `at`."""
    halves = np.repeat(table, 2, axis=1).reshape(len(table), -1, 2)
    start, end, weight_start, weight_end, first, last, level, height, above = halves
    above += 1
    end[:, 0], weight_end[:, 0], last[:, 0] = places.end[at], places.weight_end[at], at
    start[:, 1], weight_start[:, 1], first[:, 1] = places.start[at], places.weight_start[at], at + 1
    level[:, 1], height[:, 1] = places.level[at], above[:, 1]
    # A half is empty where only the indentation of a line stands before the cut.
    made: Table = halves.reshape(len(table), -1).compress((start < end).ravel(), axis=1)
    return made


def _pieces(arena: Arena, fitting: list[Table], rest: Rest) -> Pieces:
    spans = Spans(*np.concatenate([np.zeros((len(Spans._fields), 0), dtype=np.int64), *fitting], axis=1))
    pieces = np.stack((spans.start, spans.end, spans.weight_end - spans.weight_start, spans.level, spans.height))
    others = np.array(rest.pieces, dtype=np.int64).reshape(-1, len(pieces)).T
    start, end, weight, level, height = np.concatenate((pieces, others), axis=1)
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

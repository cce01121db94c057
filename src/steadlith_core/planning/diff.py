"""Sequence diff: which occurrences of a document stayed, which changed place, which came and went.

1. Kept pairs ascend on both sides (a common subsequence); what is equal but off it is moved; the rest is new or gone.
2. The result depends on the two sequences alone, never on hash seeds or on set order.
3. The worst case is capped: a gap with too many equal pairs is matched in order of occurrence.

Trim, then longest increasing run over values unique on both sides (patience diff, Cohen 2003), then an exact LCS
in the gaps by Hunt and Szymanski (1977), then a multiset.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

MAX_PAIRS = 200_000
"""Most equal pairs that one gap's exact LCS may look at."""


@dataclass(frozen=True, slots=True)
class Diff:
    """Positions by fate: `kept` and `moved` are (old, new) pairs ordered by new; `gone` old, `new` new positions."""

    kept: tuple[tuple[int, int], ...]
    moved: tuple[tuple[int, int], ...]
    gone: tuple[int, ...]
    new: tuple[int, ...]


def diff(old: Sequence[Hashable], new: Sequence[Hashable]) -> Diff:
    """Compare two sequences of identities; O(n log n) but for repeats inside changed regions."""
    start, old_end, new_end = _trim(old, new)
    kept = [(i, i) for i in range(start)]
    kept += _between(old, new, (start, old_end), (start, new_end))
    kept += zip(range(old_end, len(old)), range(new_end, len(new)), strict=True)

    old_left, new_left = _left_over(kept, len(old), len(new))
    waiting: defaultdict[Hashable, list[int]] = defaultdict(list)
    for position in reversed(old_left):
        waiting[old[position]].append(position)
    moved = [(waiting[new[p]].pop(), p) for p in new_left if waiting.get(new[p])]
    return Diff(
        kept=tuple(kept),
        moved=tuple(moved),
        gone=tuple(_subtract(old_left, {pair[0] for pair in moved})),
        new=tuple(_subtract(new_left, {pair[1] for pair in moved})),
    )


def _trim(old: Sequence[Hashable], new: Sequence[Hashable]) -> tuple[int, int, int]:
    start, old_end, new_end = 0, len(old), len(new)
    while start < old_end and start < new_end and old[start] == new[start]:
        start += 1
    while start < old_end and start < new_end and old[old_end - 1] == new[new_end - 1]:
        old_end -= 1
        new_end -= 1
    return start, old_end, new_end


def _between(
    old: Sequence[Hashable], new: Sequence[Hashable], old_range: tuple[int, int], new_range: tuple[int, int]
) -> list[tuple[int, int]]:
    """Kept pairs inside two ranges: unique values anchor, the gaps between anchors are compared exactly."""
    old_at, new_at = _unique_positions(old, old_range), _unique_positions(new, new_range)
    pairs = [(old_at[value], position) for value, position in new_at.items() if value in old_at]
    anchors = [pairs[k] for k in _longest_increasing([pair[0] for pair in pairs])]
    kept: list[tuple[int, int]] = []
    i, j = old_range[0], new_range[0]
    for pair in anchors:
        old_position, new_position = pair
        if i < old_position and j < new_position:  # in most places one anchor follows another
            kept += _common_subsequence(old, new, (i, old_position), (j, new_position))
        kept.append(pair)
        i, j = old_position + 1, new_position + 1
    return kept + _common_subsequence(old, new, (i, old_range[1]), (j, new_range[1]))


def _unique_positions(values: Sequence[Hashable], span: tuple[int, int]) -> dict[Hashable, int]:
    within = values[span[0] : span[1]]
    positions = dict(zip(within, range(*span), strict=True))
    if len(positions) < len(within):
        for value, count in Counter(within).items():
            if count > 1:
                del positions[value]
    return positions


def _longest_increasing(values: Sequence[int]) -> list[int]:
    """Indices of a longest strictly increasing subsequence (Schensted 1961); O(n log n)."""
    tails: list[int] = []  # smallest last value of a run of each length
    ends: list[int] = []  # index of that last value
    before: list[int] = []
    for index, value in enumerate(values):
        # Most values are greater than all before them.
        length = len(tails) if not tails or value > tails[-1] else bisect_left(tails, value)
        if length == len(tails):
            tails.append(value)
            ends.append(index)
        else:
            tails[length] = value
            ends[length] = index
        before.append(ends[length - 1] if length else -1)
    run: list[int] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        run.append(index)
        index = before[index]
    return run[::-1]


def _common_subsequence(
    old: Sequence[Hashable], new: Sequence[Hashable], old_range: tuple[int, int], new_range: tuple[int, int]
) -> list[tuple[int, int]]:
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for position in range(*old_range):
        places[old[position]].append(position)
    matches = sum(len(places.get(new[p], ())) for p in range(*new_range))
    if not matches:
        return []
    if matches > MAX_PAIRS:
        # The k-th occurrence here with the k-th there: linear, and right for what is merely shifted.
        taken: Counter[Hashable] = Counter()
        pairs = []
        for p in range(*new_range):
            found = places.get(new[p], [])
            if taken[new[p]] < len(found):
                pairs.append((found[taken[new[p]]], p))
                taken[new[p]] += 1
    else:
        # Descending old positions for each new one: an increasing run can then use at most one of them.
        pairs = [(o, p) for p in range(*new_range) for o in reversed(places.get(new[p], ()))]
    return [pairs[k] for k in _longest_increasing([pair[0] for pair in pairs])]


def _left_over(kept: Sequence[tuple[int, int]], old_size: int, new_size: int) -> tuple[list[int], list[int]]:
    """Positions on both sides that are in no kept pair."""
    old_left: list[int] = []
    new_left: list[int] = []
    i = j = 0
    for old_position, new_position in kept:
        if i < old_position:
            old_left += range(i, old_position)
        if j < new_position:
            new_left += range(j, new_position)
        i, j = old_position + 1, new_position + 1
    return [*old_left, *range(i, old_size)], [*new_left, *range(j, new_size)]


def _subtract(positions: Sequence[int], taken: set[int]) -> list[int]:
    return [position for position in positions if position not in taken]

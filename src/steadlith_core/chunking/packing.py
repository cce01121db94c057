"""Packing: bounds that are fine enough, then as many pieces as fit into each chunk.

1. A *bound* is a word index where a chunk may begin or end; bounds rise, the first and last are the ends of the range.
2. `refine` puts weaker breaks only where a piece between two bounds is too large; a word is never too large.
3. `pack` is greedy: a chunk takes pieces while they fit `target` words and `cap` bytes.
4. With an overlap the next chunk begins that many words before the end of the last one, and takes at least one new
   piece, so it may reach target + overlap words. Where every word is a bound, these are windows of `target` words with
   the step target - overlap, the last of which ends at the last word.
5. An overlap has no larger share of the cap than of the target: long words are not repeated over and over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steadlith_core.chunking.words import Integers, Words


def refine(words: Words, bounds: Integers, breaks: Iterable[Integers], target: int, cap: int) -> Integers:
    """Bounds between which at most `target` words and `cap` bytes stand, if the last of `breaks` is every word.

    `breaks` come strongest first and are taken one after the other as long as a piece is too large. O(words) each.
    """
    for places in breaks:
        large = _large(words, bounds, target, cap)
        if not large.any():
            break
        inside = places[(places > bounds[0]) & (places < bounds[-1])]
        piece = np.searchsorted(bounds, inside, "right") - 1
        new = large[piece] & (bounds[piece] != inside)
        bounds = np.insert(bounds, piece[new] + 1, inside[new])
    return bounds


def _large(words: Words, bounds: Integers, target: int, cap: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    first, last = bounds[:-1], bounds[1:]
    return (last - first > target) | (words.ends[last - 1] - words.starts[first] > cap)


def pack(words: Words, bounds: Integers, target: int, overlap: int, cap: int) -> Iterator[tuple[int, int]]:
    """Chunks as word ranges [first, last), in order; `target` >= 1, 0 <= `overlap` < `target`. O(log words) each."""
    share = overlap * cap // target
    start, done, stop = int(bounds[0]), int(bounds[0]), int(bounds[-1])
    while done < stop:
        limit = min(start + target, words.within(start, cap))
        end = int(bounds[np.searchsorted(bounds, limit, "right") - 1])
        if end <= done:  # only the overlap fits: one new piece, and of the overlap what the byte cap leaves
            end = int(bounds[np.searchsorted(bounds, done, "right")])
            start = min(done, max(start, words.index(int(words.ends[end - 1]) - cap)))
        yield start, end
        seed = words.index(int(words.ends[end - 1]) - share)
        start, done = max(start + 1, end - overlap, min(seed, end)), end


def windows(words: Words, first: int, last: int, target: int, overlap: int, cap: int) -> Iterator[tuple[int, int]]:
    """`pack` where every word of [first, last) is a bound; without a target, the range as it is."""
    if not target:
        yield first, last
    else:
        yield from pack(words, np.arange(first, last + 1), target, overlap, cap)

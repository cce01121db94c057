"""The 64-bit hash that orders candidate cuts of one level: a function of the text behind the cut and of nothing else.

1. It covers the 24 bytes of canonical UTF-8 after the position, zeros after the last solid byte of the document: what
   stands before a cut, and what stands far behind it, can change without moving the cut.
2. Three little-endian 64-bit words are folded in by xor, multiply and shift, then finished as in MurmurHash3. That is
   fast in numpy and well spread; it resists no attacker, who could only choose cuts in a text that is his anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.chunking.parts import Level

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

WINDOW = 24
"""Bytes behind a place that decide its key."""

BLOCK = 1024
"""Keys per block of `Peaks`: a question looks at two parts of blocks and at the maxima of the blocks between."""

MANY = 4096
"""Size from which on a range is asked about by itself: one question costs less than a look at all of its keys."""

_WORD = np.dtype("<u8")

SEED = 0x9E3779B97F4A7C15
FOLD = 0xD6E8FEB86659FD93
FINISH = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)


def hashes(data: bytes, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """The hash of the window at each byte offset of `data`, which goes on for `WINDOW` bytes behind the last."""
    # One word per byte offset, overlapping and unaligned; only those asked for are ever read.
    words: npt.NDArray[np.uint64] = np.ndarray((len(data) - 7,), _WORD, data, strides=(1,))
    state = np.full(len(offsets), SEED, dtype=np.uint64)
    for part in range(0, WINDOW, 8):
        state ^= words[offsets + part]
        state *= np.uint64(FOLD)
        state ^= state >> np.uint64(32)
    for factor in FINISH:
        state ^= state >> np.uint64(33)
        state *= np.uint64(factor)
    state ^= state >> np.uint64(33)
    return state


def keys(data: bytes, positions: npt.NDArray[np.int64], levels: npt.NDArray[np.int8] | Level) -> npt.NDArray[np.uint64]:
    """Level and hash of each place as one number: the level in the four highest bits, then 60 bits of the hash."""
    rank = (np.asarray(levels, dtype=np.int8) - np.int8(Level.POINT)).astype(np.uint64)
    return rank << np.uint64(60) | hashes(data, positions) >> np.uint64(4)


class Peaks:
    """Answers which key of a range is the greatest, the leftmost of equals."""

    def __init__(self, keys: npt.NDArray[np.uint64]) -> None:
        self.keys = keys
        whole = len(keys) // BLOCK * BLOCK
        self.maxima = keys[:whole].reshape(-1, BLOCK).max(axis=1)

    def peaks(self, low: Integers, high: Integers) -> Integers:
        """Index of the peak of each range [low, high), none of them empty."""
        found = np.empty(len(low), dtype=np.int64)
        many = high - low > MANY
        found[many] = [self.peak(*pair) for pair in zip(low[many].tolist(), high[many].tolist(), strict=True)]
        found[~many] = self._together(low[~many], high[~many])
        return found

    def peak(self, low: int, high: int) -> int:
        """Index of the peak of [low, high); O(sqrt) in the number of keys."""
        left, right = -(-low // BLOCK), high // BLOCK
        if left >= right:
            return low + int(np.argmax(self.keys[low:high]))
        block = left + int(np.argmax(self.maxima[left:right]))
        ranges = ((low, left * BLOCK), (block * BLOCK, (block + 1) * BLOCK), (right * BLOCK, high))
        found = [start + int(np.argmax(self.keys[start:end])) for start, end in ranges if start < end]
        return max(found, key=self.keys.__getitem__)

    def _together(self, low: Integers, high: Integers) -> Integers:
        if not len(low):
            return low
        sizes = high - low
        offsets = np.cumsum(sizes) - sizes
        index = np.arange(int(sizes.sum())) + np.repeat(low - offsets, sizes)
        keys = self.keys[index]
        greatest = np.flatnonzero(keys == np.repeat(np.maximum.reduceat(keys, offsets), sizes))
        peaks: Integers = index[greatest[np.searchsorted(greatest, offsets)]]
        return peaks

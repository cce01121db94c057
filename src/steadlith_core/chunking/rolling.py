"""Fingerprints of windows of words: a Rabin-Karp polynomial modulo 2^64 over one 64-bit symbol for each word.

1. A word's symbol depends on its bytes alone: they are read eight at a time, little-endian, and each part is folded in
   by xor, multiply and shift. (A cryptographic hash of every word, as in steadlith 1.0, takes most of the time there.)
2. The fingerprint of the `window` words that end at word i is the sum of symbol(i - k) x BASE^k, k from 0; near the
   document's start the window is as long as there are words.
3. All at once: with prefix sums P(i) of symbol(j) x BASE^-j, it is (P(i) - P(i - window)) x BASE^i. BASE is odd, so its
   inverse modulo 2^64 exists, and unsigned integers of numpy are that ring.
4. The low bits of such a polynomial depend on the low bits of the symbols only; so it is mixed (MurmurHash3's finish).

The scheme is Karp's and Rabin's (Efficient randomized pattern-matching algorithms, 1987). O(words x longest word / 8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.chunking.keys import FINISH, FOLD, SEED

if TYPE_CHECKING:
    import numpy.typing as npt

    from steadlith_core.chunking.words import Integers

    Symbols = npt.NDArray[np.uint64]

BASE = 0x100000001B3
INVERSE = pow(BASE, -1, 1 << 64)

_PART = np.dtype("<u8")
_SHIFT = np.uint64(32)


def symbols(data: bytes, heads: Integers, ends: Integers) -> Symbols:
    """One uint64 for each word `data[heads[i]:ends[i]]`; equal words have equal symbols."""
    # One number per byte offset, overlapping and unaligned; only those asked for are ever read.
    parts: Symbols = np.ndarray((len(data) + 1,), _PART, data + bytes(8), strides=(1,))
    state = np.full(len(heads), SEED, dtype=np.uint64)
    at, left = heads, ends - heads
    still = np.arange(len(heads))
    while len(still):
        unused = np.maximum(8 - left, 0).astype(np.uint64) << np.uint64(3)
        folded = (state[still] ^ (parts[at] << unused)) * np.uint64(FOLD) + left.astype(np.uint64)
        state[still] = folded ^ (folded >> _SHIFT)
        more = np.flatnonzero(left > 8)
        still, at, left = still[more], at[more] + 8, left[more] - 8
    return state


def fingerprints(words: Symbols, window: int) -> Symbols:
    """The mixed fingerprint of the window that ends at each word."""
    count = len(words)
    sums = np.cumsum(words * _powers(INVERSE, count), dtype=np.uint64)
    state = sums.copy()
    state[window:] -= sums[:-window]
    state *= _powers(BASE, count)
    for factor in FINISH:
        state ^= state >> np.uint64(33)
        state *= np.uint64(factor)
    return state ^ (state >> np.uint64(33))


def _powers(base: int, count: int) -> Symbols:
    powers = np.full(count, base, dtype=np.uint64)
    powers[:1] = 1
    return np.multiply.accumulate(powers)

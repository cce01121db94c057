"""The 64-bit hash that orders candidate cuts of one level: a function of the text behind the cut and of nothing else.

1. It covers the 24 bytes of canonical UTF-8 after the position, zeros after the end of the text: what stands before a
   cut, and what stands far behind it, can change without moving the cut.
2. Three little-endian 64-bit words are folded in by xor, multiply and shift, then finished as in MurmurHash3. That is
   fast in numpy and well spread; it resists no attacker, who could only choose cuts in a text that is his anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

WINDOW = 24
_WORD = np.dtype("<u8")

SEED = 0x9E3779B97F4A7C15
FOLD = 0xD6E8FEB86659FD93
FINISH = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)


def hashes(data: bytes, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """The hash of the window at each byte offset of `data`."""
    padded = data + bytes(WINDOW)
    # One word per byte offset, overlapping and unaligned; only those asked for are ever read.
    words: npt.NDArray[np.uint64] = np.ndarray((len(data) + WINDOW - 7,), _WORD, padded, strides=(1,))
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

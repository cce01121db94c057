"""Tokens as cumulative units: a token counts as a whole, at its first byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.text.tokens import UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray


def units_before(starts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Units before every byte of a text of `size` bytes, and before its end, for tokens that start at `starts`."""
    total = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(starts, minlength=size) * UNIT, out=total[1:])
    return total


def byte_offsets(data: bytes) -> NDArray[np.int64]:
    """Where every code point of a text in UTF-8 begins."""
    return np.flatnonzero(np.frombuffer(data, dtype=np.int8) >= -0x40)  # as signed bytes, 0x80 to 0xBF are the lowest

"""Walks: small steps over the bytes of an arena, for many positions at once.

A step costs a call of numpy, whatever the number of positions; where only few have to go on, they are taken alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.text.canonical import is_boundary

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Truths = npt.NDArray[np.bool_]
    Bytes = npt.NDArray[np.uint8]

STEPS = 64
"""Steps that a search takes for many places at once, before those that are left are searched one by one."""

FIRST_WIDE = 0xE0
"""From this first byte on a code point has three bytes or more."""

_ALWAYS_BOUNDARIES = bytes(range(0xCC)) + bytes(range(0xE4, 0xEA))
"""First bytes of code points that may all be cut before: below U+0300, and ideographs from U+4000 to U+9FFF."""

_EIGHT_SPACES = np.uint64(0x2020202020202020)
_SOLID = re.compile(rb"[^ \t\v\f]")


def table(members: bytes) -> Truths:
    """Which bytes are among `members`: 256 truths."""
    found = np.zeros(256, dtype=np.bool_)
    found[list(members)] = True
    return found


IS_SPACE = table(b" \t\v\f")
_IS_RARE = ~table(_ALWAYS_BOUNDARIES)


def permitted(array: Bytes, positions: Integers) -> Truths:
    """Where a cut may fall before the code point that starts at each position."""
    allowed = np.ones(len(positions), dtype=np.bool_)
    rare = np.flatnonzero(_IS_RARE.take(array.take(positions)))
    if len(rare):
        codes, which = np.unique(_code_points(array, positions[rare]), return_inverse=True)
        allowed[rare] = np.array([is_boundary(chr(code)) for code in codes.tolist()])[which]
    return allowed


def _code_points(array: Bytes, positions: Integers) -> npt.NDArray[np.int32]:
    """Code points of more than one byte that start at the positions."""
    lead, *rest = (array[positions + index].astype(np.int32) for index in range(4))
    second, third, fourth = (byte & 0x3F for byte in rest)
    two = (lead & 0x1F) << 6 | second
    three = (lead & 0x0F) << 12 | second << 6 | third
    four = (lead & 0x07) << 18 | second << 12 | third << 6 | fourth
    codes: npt.NDArray[np.int32] = np.where(lead < 0xE0, two, np.where(lead < 0xF0, three, four))
    return codes


def skip(array: Bytes, positions: Integers, most: int, members: Truths, wide: str) -> Integers:
    """Behind at most `most` characters that are `members` of a table of bytes, or in `wide`, of three bytes each."""
    at = positions.copy()
    live = np.arange(len(at))
    for _ in range(most):
        here = at.take(live)
        step = members.take(array.take(here)).astype(np.int64)
        if wide:
            step += 3 * _is_one_of(array, here, wide)
        moved = np.flatnonzero(step)
        if not len(moved):
            break
        live = live.take(moved)
        at[live] += step.take(moved)
    return at


def _is_one_of(array: Bytes, positions: Integers, wide: str) -> Truths:
    found = np.zeros(len(positions), dtype=np.bool_)
    maybe = np.flatnonzero(array.take(positions) >= FIRST_WIDE)
    if len(maybe):
        lead, second, third = (array.take(positions[maybe] + index).astype(np.int32) for index in range(3))
        codes = lead << 16 | second << 8 | third
        for char in wide:
            found[maybe] |= codes == int.from_bytes(char.encode())
    return found


def solid(array: Bytes, positions: Integers) -> Integers:
    """The first byte at or after each position that is no white space within a line."""
    at = positions.copy()
    words = np.ndarray((len(array) - 7,), np.dtype("<u8"), array, strides=(1,))
    live = np.arange(len(at))
    for _ in range(STEPS):
        here = at.take(live)
        inside = np.flatnonzero(IS_SPACE.take(array.take(here)))
        if not len(inside):
            return at
        live, here = live.take(inside), here.take(inside)
        at[live] = here + np.where(words[here] == _EIGHT_SPACES, 8, 1)
    for index in live.tolist():
        match = _SOLID.search(array.data, int(at[index]))
        at[index] = match.start() if match else len(array)
    return at

"""Quantization: a vector as fewer bits, by which candidates are found; what is found is scored by the full vector.

1. A code follows from its vector alone. No scale is learned, so a code never depends on what else is kept, and whoever
   holds the full vector can make it again.
2. int8: the components of the unit vector times 127, rounded half away from zero; the zero vector has zeros.
3. binary: a bit for each component, 1 if it is zero or more. Component k is bit k % 8, from the least significant, of
   byte k // 8; so the dimensions are a multiple of 8.
4. Codes rank and never score: `OVERSAMPLE` says how many candidates are taken for each hit that is asked for.

numpy stays inside this file's functions (it loads when first needed).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steadlith_core import vectors
from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from steadlith_core.records import Space
    from steadlith_core.vectors import Vector

FLOAT32, INT8, BINARY = "float32", "int8", "binary"
LEVELS = 127
"""The greatest int8 code: that of a component of 1."""
BITS = 8
"""Components in a byte of a binary code."""


def to_int8(rows: NDArray[np.float32]) -> NDArray[np.int8]:
    """int8 codes (n, d) of n finite vectors (n, d) of any length; at most half a level off, 0.5 / 127."""
    import numpy as np

    wide = np.ascontiguousarray(rows, dtype=np.float64)
    # Summed pairwise in numpy's own order, which no processor changes: the code is the same wherever it is made.
    lengths = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    levels = np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0.0) * LEVELS
    size = np.abs(levels)
    whole = np.floor(size)
    # Compared, not added: 0.5 added to the number below 0.5 would round up to 1.
    whole += size - whole >= 0.5
    codes: NDArray[np.int8] = np.copysign(whole, levels).astype(np.int8)
    return codes


def from_int8(codes: NDArray[np.int8]) -> NDArray[np.float32]:
    """What int8 codes (n, d) stand for: float32 (n, d), of about unit length."""
    import numpy as np

    return (codes.astype(np.float64) / LEVELS).astype(np.float32)


def to_binary(rows: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Binary codes (n, d / 8) of n finite vectors (n, d). `UsageError` unless d is a multiple of 8."""
    import numpy as np

    _refuse(BINARY, rows.shape[1])
    return np.packbits(rows >= 0.0, axis=1, bitorder="little")


def from_binary(codes: NDArray[np.uint8]) -> NDArray[np.float32]:
    """What binary codes (n, d / 8) stand for: 1 and -1, float32 (n, d). `UsageError` for codes of no bytes."""
    import numpy as np

    _refuse(BINARY, BITS * codes.shape[1])
    return np.unpackbits(codes, axis=1, bitorder="little").astype(np.float32) * 2.0 - 1.0


@dataclass(frozen=True, slots=True)
class Codec:
    """How vectors become codes, rows of a two-dimensional array, and what codes stand for."""

    encode: Callable[[NDArray[np.float32]], NDArray[Any]]
    decode: Callable[[NDArray[Any]], NDArray[np.float32]]


CODECS: Mapping[str, Codec] = {INT8: Codec(to_int8, from_int8), BINARY: Codec(to_binary, from_binary)}
"""How each quantization but float32 encodes."""
QUANTIZATIONS = (FLOAT32, *CODECS)
"""All there are; a space has one."""
OVERSAMPLE: Mapping[str, int] = {INT8: 4, BINARY: 40}
"""Candidates for each hit. Measured (docs/benchmarks.md): below 40 a bit for a component loses one hit in ten."""


def problem(quantization: str, dimensions: int) -> str | None:
    """Why vectors of so many dimensions cannot be kept so, as a sentence; none when they can."""
    if quantization not in QUANTIZATIONS:
        return f"no quantization is named {quantization!r}; there are {', '.join(QUANTIZATIONS)}"
    if quantization == BINARY and (dimensions < 1 or dimensions % BITS):
        return f"binary needs dimensions that are a multiple of {BITS}, got {dimensions}"
    return None


def codes(quantization: str, given: Sequence[Vector], dimensions: int) -> list[bytes]:
    """The codes of vectors (float32 bytes, not zero) in their order, each as bytes."""
    return [row.tobytes() for row in CODECS[quantization].encode(vectors.matrix(given, dimensions))]


def siblings(space: Space) -> tuple[Space, ...]:
    """All spaces that keep the vectors of this one in some form, itself first."""
    others = (name for name in QUANTIZATIONS if name != space.quantization)
    return (space, *(replace(space, quantization=name) for name in others))


def _refuse(quantization: str, dimensions: int) -> None:
    found = problem(quantization, dimensions)
    if found:
        raise UsageError(found)

"""Vectors as bytes: little-endian float32, the one form that caches and stores exchange.

1. A vector is `bytes` of 4 x dimensions; numpy stays inside this file's functions (it loads when first needed).
2. Packing and unpacking keep every bit: signed zeros, infinities, quiet NaNs and subnormal numbers too.
3. A judged vector is finite and not zero; a stored one has unit length.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = bytes
WIDTH = 4
ROUNDED = 2**-23
"""How far from 1 rounding to float32 may move a length: each number is off by 2^-24 of itself at most."""


def pack(values: Iterable[float]) -> Vector:
    """Pack numbers (a list, a numpy row) as little-endian float32."""
    import numpy as np

    row = np.asarray(values if hasattr(values, "__len__") else list(values), dtype="<f4")
    if row.ndim != 1:
        message = f"a vector has one axis, got an array of shape {row.shape}"
        raise ValueError(message)
    return row.tobytes()


def unpack(vector: Vector) -> NDArray[np.float32]:
    """The numbers of a vector, float32 (dimensions,); `ValueError` for bytes that are no whole number of them."""
    import numpy as np

    if len(vector) % WIDTH:
        message = f"{len(vector)} bytes are no whole number of {WIDTH}-byte floats"
        raise ValueError(message)
    return np.frombuffer(vector, dtype="<f4")


def matrix(vectors: Sequence[Vector], dimensions: int) -> NDArray[np.float32]:
    """Stack `vectors` as a float32 array of shape (len(vectors), dimensions), without a Python loop over numbers."""
    import numpy as np

    return np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), dimensions)


def unit(vector: Vector) -> Vector:
    """The same direction at length 1, computed in float64; `ValueError` for a zero or non-finite vector.

    One that has length 1 as far as its numbers can tell stays as it is: what was made so is not rounded again.
    """
    import numpy as np

    row = unpack(vector).astype(np.float64)
    length = float(np.sqrt(np.dot(row, row)))
    if not np.isfinite(length) or length == 0.0:
        message = "a zero or non-finite vector has no direction"
        raise ValueError(message)
    return vector if abs(length - 1.0) <= ROUNDED else (row / length).astype("<f4").tobytes()


def cosines(vectors: Sequence[Vector], query: Vector) -> list[float]:
    """Cosine of each unit vector with the unit `query`, one float64 dot product a vector."""
    import numpy as np

    if not vectors:
        return []
    right = unpack(query).astype(np.float64)
    left = matrix(vectors, len(right)).astype(np.float64)
    return [float(value) for value in np.einsum("ij,j->i", left, right)]


def are_unit(vectors: Sequence[Vector], dimensions: int, tolerance: float) -> bool:
    """Whether each has these dimensions, finite numbers and length 1 within `tolerance`; one pass over all of them."""
    import numpy as np

    if any(len(vector) != WIDTH * dimensions for vector in vectors):
        return False
    rows = matrix(vectors, dimensions).astype(np.float64)
    squares = np.einsum("ij,ij->i", rows, rows)
    return bool((np.abs(squares - 1.0) <= 2 * tolerance).all())  # a NaN is in no range


def sound(vectors: Sequence[Vector]) -> list[bool]:
    """Which have a direction: finite, and not zero. Of whatever widths; those of one are best side by side."""
    import numpy as np

    answer: list[bool] = []
    for size, some in groupby(vectors, len):
        alike = list(some)
        if not size or size % WIDTH:
            answer += [False] * len(alike)
            continue
        rows = matrix(alike, size // WIDTH)
        good: NDArray[np.bool_] = np.logical_and(np.isfinite(rows).all(axis=1), rows.any(axis=1))
        answer += good.tolist()
    return answer


def problems(vector: Vector, dimensions: int) -> tuple[str, ...]:
    """What is wrong with one vector, as sentences for its maker; empty when nothing is."""
    import numpy as np

    if len(vector) != WIDTH * dimensions:
        return (f"has {len(vector) / WIDTH:g} dimensions, not {dimensions}",)
    row = unpack(vector)
    if not np.isfinite(row).all():
        return ("holds a value that is not finite (NaN or infinity)",)
    if not row.any():
        return ("is all zeros, so it has no direction",)
    return ()

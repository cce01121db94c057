"""How a space's vectors are kept, by its quantization.

1. Every space has a table of its full vectors, bit for bit: what is scored, given out or checked is a full vector.
2. A float32 space is searched in that table. Beside it, an int8 space has half precision numbers (PostgreSQL has no
   vector of bytes: they take twice the room of int8, and rank more finely), a binary space the core's bits.
3. A code follows from its vector alone, so it can be made again; it is only ever compared with codes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_core.retrieval.quantization import BINARY, FLOAT32, INT8, OVERSAMPLE, codes
from steadlith_core.vectors import matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steadlith_core.vectors import Vector

    Encode = Callable[[Sequence[Vector], int], Sequence[bytes]]

_HEADER = struct.Struct(">hh")
_BITS = struct.Struct(">i")
_WIRE = struct.Struct(">hiqi")
SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
"""What a binary COPY begins with; it ends with `END`."""
END = b"\xff\xff"


@dataclass(frozen=True, slots=True)
class Form:
    """What is searched: the column's type, the operator that orders it and its index's operators (named without their
    schema), the most dimensions that an HNSW index takes, how many candidates are taken for each hit, the bytes of a
    component, and how the wire's form of a value is made of vectors.
    """

    type: str
    operator: str
    operators: str
    indexable: int
    oversample: int
    bytes: float
    encode: Encode
    coded: bool = True


def full(given: Sequence[Vector], dimensions: int) -> Sequence[bytes]:
    """Vectors as pgvector sends and receives them."""
    # Swapped as whole numbers: every bit stays, whatever number it stands for.
    swapped = matrix(given, dimensions).view("<u4").astype(">u4")
    header = _HEADER.pack(dimensions, 0)
    return [header + row.tobytes() for row in swapped]


def read(value: bytes) -> Vector:
    """The vector that the wire's form of a full one stands for."""
    import numpy as np

    return np.frombuffer(value, dtype=">u4", offset=_HEADER.size).astype("<u4").tobytes()


def _half(given: Sequence[Vector], dimensions: int) -> Sequence[bytes]:
    rows = matrix(given, dimensions).astype(">f2")
    header = _HEADER.pack(dimensions, 0)
    return [header + row.tobytes() for row in rows]


def _bits(given: Sequence[Vector], dimensions: int) -> Sequence[bytes]:
    header = _BITS.pack(dimensions)
    return [header + code for code in codes(BINARY, given, dimensions)]


def copied(rows: Sequence[tuple[int, bytes]]) -> bytes:
    """Rows of (number, value in the wire's form) as the bytes of a binary COPY."""
    lines = [_WIRE.pack(2, 8, number, len(value)) + value for number, value in rows]
    return SIGNATURE + b"".join(lines) + END


FORMS: Mapping[str, Form] = {
    # The inner product of unit vectors: the order of cosines, without a division.
    FLOAT32: Form("vector", "<#>", "vector_ip_ops", 2000, 1, 4, full, coded=False),
    INT8: Form("halfvec", "<#>", "halfvec_ip_ops", 4000, OVERSAMPLE[INT8], 2, _half),
    # No graph: comparing bits is quick, and so many are as far as each other that a graph would miss the best of them.
    BINARY: Form("bit", "<~>", "bit_hamming_ops", 0, OVERSAMPLE[BINARY], 1 / 8, _bits),
}

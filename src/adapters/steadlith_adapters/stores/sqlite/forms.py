"""How a space's vectors are kept, by its quantization.

1. float32: a row of the vec0 table is the full vector.
2. int8 and binary: a row of the vec0 table is a code, and the full vector stands in a plain table beside it, by the
   same entry. A code is only ever compared with codes; what is scored, given out or checked is the full vector.
3. Codes are made by the core: sqlite-vec's own quantizers follow other formulas (a bit for > 0, 35 levels of int8).
4. A code is bound through the function that names its type. An UPDATE would lose that type, so a code is never updated:
   its row goes, and another one comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from steadlith_core.retrieval.quantization import BINARY, FLOAT32, INT8, OVERSAMPLE, codes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steadlith_core.vectors import Vector

    Encode = Callable[[Sequence[Vector], int], Sequence[bytes]]


@dataclass(frozen=True, slots=True)
class Form:
    """What a row of the vec0 table is: the column's type (of so many dimensions), how a value of it is bound, and how
    it is made of vectors. `oversample` is how many candidates are taken for each hit, `bits` what is kept of
    a component, `chunk` how many rows vec0 keeps and sorts together: it picks the nearest of them one by one, so those
    of whom many are asked for are kept in small ones.
    """

    column: str
    value: str
    encode: Encode
    oversample: int
    bits: int
    chunk: int = 256
    coded: bool = True


def _as_it_is(given: Sequence[Vector], _dimensions: int) -> Sequence[bytes]:
    return given


FORMS: Mapping[str, Form] = {
    # L2 of unit vectors and of their levels: the order of cosines, and no division.
    FLOAT32: Form("float[{}] distance_metric=L2", "?", _as_it_is, 1, 32, coded=False),
    INT8: Form("int8[{}] distance_metric=L2", "vec_int8(?)", partial(codes, INT8), OVERSAMPLE[INT8], 32 + 8),
    BINARY: Form("bit[{}]", "vec_bit(?)", partial(codes, BINARY), OVERSAMPLE[BINARY], 32 + 1, chunk=64),
}

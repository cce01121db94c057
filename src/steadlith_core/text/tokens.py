"""The token estimate `tokens/1`: how large a text is, in model tokens, without any model.

1. Integers only, in 1/32 token: the same text has the same size on every platform and Python.
2. A size is a difference of cumulative counts over the document, so the sizes of adjacent ranges add up.
3. The first byte of a code point says its class; the other bytes of a code point weigh nothing. A code point weighs
   what its class says, and more where the byte before is of another class: there a run of the class starts.
4. A letter that stands behind more than 24 letters and digits without a break weighs `LONG_LETTER`, whatever its case.
5. Nothing is measured in white-space words: a base64 blob and a Chinese article have sizes like any text.

The weights are fitted to a byte-pair tokeniser; `benchmarks/tokens/` holds the fit, its corpora and how far it is
off. An estimate is an estimate: the byte cap of a chunker guards against what it misjudges.
"""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase, digits
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ESTIMATOR_ID = "tokens/1"

UNIT = 32
"""Fixed point: this many units are one token."""


class Weight(NamedTuple):
    """A class of bytes: its first bytes, units of every code point, and further units where a run of them starts."""

    first: bytes
    each: int
    start: int = 0


def _from(low: int, high: int) -> bytes:
    return bytes(range(low, high + 1))


WEIGHTS: dict[str, Weight] = {
    "lower": Weight(ascii_lowercase.encode(), 3, 11),
    "upper": Weight(ascii_uppercase.encode(), 5, 10),
    "digit": Weight(digits.encode(), 12, 39),
    "underscore": Weight(b"_", 6, 1),
    "space": Weight(b" \t\v\f\r", 0, 7),
    "feed": Weight(b"\n", 0, 44),
    "continued": Weight(_from(0x80, 0xBF), 0),
    "latin mark": Weight(_from(0xC0, 0xC2), 48),
    "latin": Weight(_from(0xC3, 0xC9), 59),
    "greek": Weight(_from(0xCA, 0xCF), 32),
    "cyrillic": Weight(_from(0xD0, 0xD3), 14),
    "semitic": Weight(_from(0xD4, 0xDF), 32),
    "indic": Weight(_from(0xE0, 0xE1), 41),
    "symbol": Weight(b"\xe2", 41),
    "kana": Weight(b"\xe3\xee\xef", 31),
    "han": Weight(_from(0xE4, 0xE9), 33),
    "hangul": Weight(_from(0xEA, 0xED), 34),
    "astral": Weight(_from(0xF0, 0xFF), 101),
    "mark": Weight(b"", 2, 23),
}
"""Classes in the order of their numbers; `mark` is every byte that no other class names.

A class of code points of more than one byte has no start: a byte of "continued" stands before each but the first.
Latin letters with a diacritic split words, hence their weight; the classes are named after most of what they hold.
"""

LONG_RUN = 24
LONG_LETTER = 20
"""After so many letters and digits without a break it is no word but base64, a digest or a joined identifier, of
which tokenisers make a token from one to three letters; a word's letter would count them tenfold too low."""


def _tables() -> tuple[bytes, bytes, bytes]:
    kinds, each, start = (bytearray(256) for _ in range(3))
    kinds[:] = bytes([len(WEIGHTS) - 1]) * 256
    for kind, weight in enumerate(WEIGHTS.values()):
        for byte in weight.first:
            kinds[byte] = kind
    for byte, kind in enumerate(kinds):
        _, each[byte], start[byte] = tuple(WEIGHTS.values())[kind]
    return bytes(kinds), bytes(each), bytes(start)


KIND, EACH_BYTE, START_BYTE = _tables()
"""By the value of a byte: its class, its units, and its further units where the byte before is of another class."""

LETTERS = 2
WORDS = 3
"""Classes below these numbers are letters; letters and digits."""


def estimate(text: str) -> int:
    """Size of `text` in whole tokens, rounded up; 0 only for the empty text."""
    return whole(int(weigh(_bytes(text)).sum()))


def whole(units: int) -> int:
    """Units as tokens, rounded up."""
    return -(-units // UNIT)


def cumulative(text: str) -> npt.NDArray[np.int64]:
    """Units before every position of `text`, its end included: `len(text) + 1` numbers, never decreasing."""
    import numpy as np

    data = _bytes(text)
    units = weigh(data)
    if len(data) > len(text):
        units = units[np.frombuffer(data, dtype=np.int8) >= -0x40]  # as signed bytes, 0x80 to 0xBF are the lowest
    return _sums(units)


def cumulative_bytes(data: bytes) -> npt.NDArray[np.int64]:
    """Units before every byte of a text in UTF-8, its end included; a code point counts with its first byte."""
    return _sums(weigh(data))


def weigh(data: bytes) -> npt.NDArray[np.uint8]:
    """Units of every byte of a text in UTF-8: the executable specification of the rules above."""
    import numpy as np

    kinds = np.frombuffer(data.translate(KIND), dtype=np.uint8)
    units = np.frombuffer(bytearray(data.translate(START_BYTE)), dtype=np.uint8)
    units[1:] *= kinds[1:] != kinds[:-1]
    units += np.frombuffer(data.translate(EACH_BYTE), dtype=np.uint8)

    # Rule 4. `run[i]`: the `length` bytes from i on are letters and digits. Two that overlap or touch make a longer.
    run, length = kinds < WORDS, 1
    while length <= LONG_RUN and len(run):
        step = min(length, LONG_RUN + 1 - length)
        run, length = run[step:] & run[:-step], length + step
    behind = np.flatnonzero(run) + LONG_RUN
    units[behind[kinds[behind] < LETTERS]] = LONG_LETTER
    return units


class Estimate:
    """The estimate as a `Measure`: the one that needs no file."""

    id = ESTIMATOR_ID

    def cumulative(self, data: bytes) -> npt.NDArray[np.int64]:
        """As `cumulative_bytes`."""
        return cumulative_bytes(data)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _sums(units: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    import numpy as np

    total = np.zeros(len(units) + 1, dtype=np.int64)
    np.cumsum(units, dtype=np.int64, out=total[1:])
    return total

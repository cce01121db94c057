r"""Embedder `hash`: signed feature hashing, for tests and for trying things out without a model.

It finds the same words, not the same meaning: two texts are near if they share words and pairs of words. It is
deterministic on every platform, needs nothing and costs nothing, and has no place in a real index.

1. Features are lower-cased words (weight 1) and pairs of neighbours (1.5); a CJK character is a word.
2. Sums are whole numbers; one division by one square root makes the vector, so no platform rounds differently.
3. No vector is zero: a text without words, or whose features cancel out, is one feature as a whole.
4. Words are runs of fixed code point ranges, never `\w`: that would follow Python's version of Unicode.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

from steadlith_adapters.settings import Table
from steadlith_core import vectors
from steadlith_core.ports import EmbedderIdentity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.ports import Settings
    from steadlith_core.vectors import Vector

MODEL_ID = "hash/0"
DEFAULT_DIMENSIONS, LEAST_DIMENSIONS, MOST_DIMENSIONS = 256, 8, 4096

# Weights 1 and 1.5, doubled so that sums stay whole.
WORD_WEIGHT, PAIR_WEIGHT = 2, 3

# A pair's number is mixed from its words' numbers: hashing every pair anew costs four times as much.
PAIR_MULTIPLIER, PAIR_PRIME = 0x9E3779B97F4A7C15, 2**61 - 1

# A single character of a script without spaces, or a run of other letters and digits.
TOKEN = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
    "|[0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2c00-\u2dff\uac00-\ud7ff\ufb00-\ufdff]+"
)


class HashEmbedder:
    """Documents and queries are treated alike. Stateless, so thread-safe."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One unit vector per text."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        """The unit vector of one text."""
        sums = self._sums(text)
        if not any(sums):
            number = _number(text)
            sums[(number >> 1) % self._dimensions] = 1
        length = math.sqrt(sum(value * value for value in sums))
        return vectors.pack([value / length for value in sums])

    def _sums(self, text: str) -> list[int]:
        sums = [0] * self._dimensions
        numbers = [_word_number(token.lower()) for token in TOKEN.findall(text)]
        for number in numbers:
            sums[(number >> 1) % self._dimensions] += WORD_WEIGHT if number & 1 else -WORD_WEIGHT
        for left, right in pairwise(numbers):
            number = (left * PAIR_MULTIPLIER + right) % PAIR_PRIME
            sums[(number >> 1) % self._dimensions] += PAIR_WEIGHT if number & 1 else -PAIR_WEIGHT
        return sums


class HashFactory:
    """Makes hash embedders."""

    def describe(self, settings: Settings) -> EmbedderIdentity:
        """Identity from the one setting, `dimensions`."""
        dimensions = _dimensions(settings)
        return EmbedderIdentity(MODEL_ID, dimensions, {"dimensions": dimensions}, local=True)

    def build(self, settings: Settings) -> HashEmbedder:
        """Nothing to load."""
        return HashEmbedder(_dimensions(settings))


def _dimensions(settings: Settings) -> int:
    table = Table("embedder 'hash'", settings)
    table.only("dimensions")
    return table.integer("dimensions", DEFAULT_DIMENSIONS, least=LEAST_DIMENSIONS, most=MOST_DIMENSIONS)


def _number(text: str) -> int:
    """64 bits of BLAKE2b: the lowest is the sign, the others choose the dimension."""
    # surrogatepass: a query may come from an argument that was not UTF-8.
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


_word_number = lru_cache(maxsize=65536)(_number)

FACTORY = HashFactory()

"""BM25 written down: the score of each document for a set of terms (Robertson and Zaragoza 2009, equation 3.15).

1. A word is a lower-cased run of letters and digits; no stemming.
2. A term of several words matches where they stand in a row, as a quoted phrase would.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from steadlith_core.text.query import index_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

K1 = 1.2
B = 0.75
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """The words that are indexed."""
    return _WORD.findall(index_text(text).lower())


def scores(documents: Mapping[int, Sequence[str]], terms: Sequence[str]) -> dict[int, float]:
    """Score of every document that holds any of the terms; `documents` are their words."""
    average = sum(map(len, documents.values())) / max(1, len(documents))
    found: dict[int, float] = {}
    for term in terms:
        phrase = _WORD.findall(term.lower())
        counts = {number: _occurrences(phrase, held) for number, held in documents.items()}
        holders = {number: count for number, count in counts.items() if count}
        rarity = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
        for number, count in holders.items():
            length = len(documents[number]) / average
            gain = rarity * count * (K1 + 1) / (count + K1 * (1 - B + B * length))
            found[number] = found.get(number, 0.0) + gain
    return found


def _occurrences(phrase: Sequence[str], held: Sequence[str]) -> int:
    if not phrase:
        return 0
    starts = range(len(held) - len(phrase) + 1)
    return sum(list(held[start : start + len(phrase)]) == list(phrase) for start in starts)

"""The lexical arm: BM25 over words, without stemming (Robertson and Zaragoza 2009, equation 3.15).

1. A word is a run of letters and digits, folded; `index_text` makes words of scripts that do not part them.
2. A term is found where its words stand in a row. Terms are joined by OR.
3. How rare a term is, and how long a text usually is, are counted over live entries only.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from steadlith_core.text.query import index_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SATURATION, LENGTH = 1.2, 0.75
WORD = re.compile(r"[^\W_]+")


def words(text: str) -> str:
    """The words of a text, each between two spaces of its own."""
    return "".join(f" {word} " for word in WORD.findall(index_text(text).lower()))


def scores(texts: Mapping[int, str], terms: Sequence[str]) -> dict[int, float]:
    """The score of each entry that has any of the terms; `texts` are the `words` of the live ones."""
    lengths = {number: max(1, text.count(" ") // 2) for number, text in texts.items()}
    average = sum(lengths.values()) / max(1, len(lengths))
    found: dict[int, float] = {}
    for term in terms:
        wanted = "".join(f" {word} " for word in WORD.findall(term.lower()))
        counts = {number: text.count(wanted) for number, text in texts.items() if wanted and wanted in text}
        rarity = math.log(1 + (len(texts) - len(counts) + 0.5) / (len(counts) + 0.5))
        for number, count in counts.items():
            damped = count + SATURATION * (1 - LENGTH + LENGTH * lengths[number] / average)
            found[number] = found.get(number, 0.0) + rarity * count * (SATURATION + 1) / damped
    return found

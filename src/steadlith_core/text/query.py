"""The lexical side: what a query asks for, and a text as a full-text index is given it.

1. Query and text are folded and cut by the same rules: what was cut as a bigram here is a bigram there.
2. Compatibility forms are folded (NFKC): full-width letters, ligatures and half-width Katakana are found as typed.
   NUL and variation selectors are dropped; both are invisible, and a NUL ends a query of FTS5.
3. Han, Hiragana and Katakana are written without spaces and are cut into overlapping pairs of characters.
4. Any string is a query: one without letters and digits has no terms, and no operator of any index is known here.

Nothing here decides an identity, so letters are what the running Python's Unicode says they are: unlike text/1,
which knows no classes of letters.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LEXICAL_SEGMENTER = "cjk2/0"
MAX_TERMS = 64

_INVISIBLE = re.compile("[\0\ufe00-\ufe0f\U000e0100-\U000e01ef]")

# Letters and marks only: the middle dot of Katakana (U+30FB) and other punctuation ends a word as everywhere.
_CJK = re.compile(
    "["
    "\u3005-\u3007\u303b"  # iteration mark, closing mark, zero
    "\u3041-\u3096\u3099\u309a\u309d-\u309f"  # Hiragana, voicing marks
    "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U0001aff0-\U0001afff\U0001b000-\U0001b16f"  # Kana, extended
    "\U00020000-\U0002fffd\U00030000-\U0003fffd"  # Han, extensions
    "]+"
)


def terms(query: str) -> tuple[str, ...]:
    """At most 64 different terms, in the order of the query, lower-cased."""
    # `lower` and not `casefold`: full-text tokenisers fold simply, so "Straße" keeps its ß on both sides.
    words = (word.strip("_").lower() for word in _words(index_text(query)))
    return tuple(islice(dict.fromkeys(words), MAX_TERMS))


def index_text(text: str) -> str:
    """The text folded (NFKC), with its CJK runs as spaced bigrams, for an index that splits words at spaces.

    Case is kept: lower it with `str.lower`, as `terms` does, and not with `casefold`, which makes other words.
    """
    if text.isascii():
        return text.replace("\0", "")
    return _CJK.sub(_bigrams, _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)))


def _bigrams(run: re.Match[str]) -> str:
    chars = run[0]
    pairs = (chars[at : at + 2] for at in range(max(len(chars) - 1, 1)))
    return f" {' '.join(pairs)} "


def _words(text: str) -> Iterator[str]:
    r"""Runs of letters, digits, marks and underscores that hold a letter or digit: the rest is nothing to look for.

    Marks, which `\w` leaves out, hold the words of Indic scripts together.
    """
    for inside, run in groupby(text, _belongs_to_word):
        word = "".join(run)
        if inside and any(map(str.isalnum, word)):
            yield word


def _belongs_to_word(char: str) -> bool:
    # A bigram stays whole though the running Python may not know its characters yet.
    return char == "_" or char.isalnum() or unicodedata.category(char)[0] == "M" or bool(_CJK.match(char))

"""Where paragraphs, lines and sentences begin among words, and how strong the boundary before a word is.

1. Every answer is a rising array of word indices. The first word begins a paragraph; a paragraph begins a line and a
   sentence.
2. A sentence ends at `.`, `!` or `?` with its closing marks, white space behind it, or at a wide stop without any.
3. A `.` ends none after an abbreviation, nor where the next word, opening marks aside, begins with neither a digit nor
   an upper-case letter. A letter is upper-case if lower-casing changes it; for what Unicode 14 assigns, that is fixed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.chunking.parts import Level
from steadlith_core.chunking.words import FEED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steadlith_core.chunking.words import Integers, Words

ABBREVIATIONS = frozenset(
    b"mr mrs ms dr prof vs etc e.g i.e fig no al inc ltd co jr sr st".split(),
)

OPENERS = b"\"'([{*_"
ASCII_CLOSERS = b"\"')]}*_"
WIDE_STOPS = "\u3002\uff01\uff1f"
WIDE_CLOSERS = "\u2019\u201d\u300b\u300d\u300f\u3011\uff09"
INNER_SPACES = "\xa0\u3000"
"""White space that a word keeps at its end, as far as it occurs behind sentences."""


def _either(characters: str) -> bytes:
    return b"|".join(re.escape(character.encode()) for character in characters)


END = re.compile(
    rb"(?:(?P<dot>\.)|[!?]|%s)(?:[%s]|%s)*(?:%s)*\Z"
    % (_either(WIDE_STOPS), re.escape(ASCII_CLOSERS), _either(WIDE_CLOSERS), _either(INNER_SPACES))
)
OPENING = re.compile(rb"(?:[%s]|\xe2\x80[\x98\x9c])*" % re.escape(OPENERS))

LAST_BYTES = frozenset(
    (*b".!?", *ASCII_CLOSERS, *(char.encode()[-1] for char in WIDE_STOPS + WIDE_CLOSERS + INNER_SPACES))
)
MAY_END = np.array([byte in LAST_BYTES for byte in range(256)])
"""By a word's last byte, whether a sentence may end with it: one word of about eight, so a look at each is cheap."""


def all_words(words: Words) -> Integers:
    """Every word."""
    return np.arange(len(words))


def lines(words: Words) -> Integers:
    """Words that are the first of their line. O(words)."""
    return np.flatnonzero(_after(words, 1))


def paragraphs(words: Words) -> Integers:
    """Words after a blank line. O(words)."""
    return np.flatnonzero(_after(words, 1) & _after(words, 2))


def sentences(words: Words) -> Integers:
    """Words that begin a sentence. O(words), with a regular expression for each that a sentence may end before."""
    raw = np.frombuffer(words.data, dtype=np.uint8)
    begins = _after(words, 1) & _after(words, 2)
    before = np.flatnonzero(MAY_END[raw[words.ends[:-1] - 1]])
    ended = [index + 1 for index in before.tolist() if ends_sentence(words, index)]
    begins[ended] = True
    return np.flatnonzero(begins)


def ends_sentence(words: Words, index: int) -> bool:
    """Whether a sentence ends with word `index`, which is not the last."""
    data, head = words.data, int(words.heads[index])
    end = END.search(data, head, int(words.ends[index]))
    if end is None:
        return False
    if end["dot"] is None:
        return True
    word = data[head : end.start()].lstrip(OPENERS).lower()
    return word not in ABBREVIATIONS and _is_capital(data, int(words.heads[index + 1]))


def level(words: Words, index: int) -> Level:
    """How strong the boundary before word `index` is; that of the first word is a paragraph's."""
    if index == 0:
        return Level.PARAGRAPH
    data, start = words.data, int(words.starts[index])
    if data.endswith(b"\n\n", 0, start):
        return Level.PARAGRAPH
    ended = ends_sentence(words, index - 1)
    if data.endswith(b"\n", 0, start):
        return Level.ITEM if ended else Level.LINE
    if ended:
        return Level.SENTENCE
    return Level.POINT if int(words.ends[index - 1]) == start else Level.WORD


FINDERS: Mapping[Level, Callable[[Words], Integers]] = {
    Level.PARAGRAPH: paragraphs,
    Level.LINE: lines,
    Level.SENTENCE: sentences,
    Level.WORD: all_words,
}
"""The breaks of each strength; those of a weaker one include what is stronger, but for sentences and lines."""


def _after(words: Words, distance: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """For each word, whether a line feed stands `distance` bytes before it; the first counts as if."""
    raw = np.frombuffer(words.data, dtype=np.uint8)
    feeds = np.ones(len(words), dtype=np.bool_)
    feeds[1:] = raw[words.starts[1:] - distance] == FEED
    return feeds


def _is_capital(data: bytes, position: int) -> bool:
    opening = OPENING.match(data, position)
    at = opening.end() if opening else position
    char = data[at : at + 4].decode(errors="ignore")[:1]
    return (char.isascii() and char.isdigit()) or char.lower() != char

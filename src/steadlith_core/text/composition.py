"""NFC of Unicode 14.0 on every Python, whatever Unicode it brings: text is composed run by run.

1. A boundary stands before a code point that 14.0 assigns, of combining class 0 and NFC_Quick_Check=Yes.
2. A run reaches from boundary to boundary. One that holds a code point unassigned in 14.0 is left as it is;
   every other is normalised by itself: on what 14.0 assigns, all later versions agree (Unicode's stability policy).
3. `is_normalized` may accept a whole text and never decides a run: what a later Unicode finds normalised has
   only normalised parts, while what it does not may be a run that 14.0 leaves alone.
4. A hostile run costs no more than n log n.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, lru_cache
from itertools import groupby
from typing import TYPE_CHECKING
from unicodedata import combining, is_normalized, normalize

from steadlith_core.text import unicode14

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG = 32
"""Runs of more code points have their marks put in order here, not by the standard library."""

# Every code point below U+0300 is a boundary: only one above can follow another in a run.
_STRETCH = re.compile(".?[^\0-\u02ff]+", re.DOTALL)


def is_composed(text: str) -> bool:
    """Whether nothing in `text` would change; false means that `changes` has to look."""
    return text.isascii() or is_normalized("NFC", text)


def composed(text: str) -> str:
    """The text in NFC 14.0."""
    if is_composed(text):
        return text
    parts = []
    at = 0
    for start, end, replacement in changes(text):
        parts += [text[at:start], replacement]
        at = end
    return "".join([*parts, text[at:]])


def is_boundary(char: str) -> bool:
    """Whether a cut may fall before this code point: either side, alone, is then normalised as in the whole.

    Stricter than a run's boundary by the two code points that lie inside one source code point (`INNER`).
    """
    return char.isascii() or (_starts_run(char) and not _within(char, unicode14.INNER))


def changes(text: str) -> Iterator[tuple[int, int, str]]:
    """What NFC 14.0 replaces: (start, end, replacement) in order, never empty on either side.

    Where a cut may fall within what a run became, one replacement ends there, or the next begins.
    """
    for start, end in _runs(text):
        run = text[start:end]
        for first, last, composed in _replacements(run) if len(run) > LONG else _known_replacements(run):
            yield start + first, start + last, composed


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """The runs that could change: those of more than a boundary, and the first, which may begin with none."""
    for stretch in _STRETCH.finditer(text):
        start = stretch.start()
        for at in range(start + 1, stretch.end()):
            if _starts_run(text[at]):
                if at - start > 1 or start == 0:
                    yield start, at
                start = at
        yield start, stretch.end()


def _replacements(run: str) -> tuple[tuple[int, int, str], ...]:
    if any(map(_is_unassigned, run)):
        return ()
    parts = [(first, last, _nfc(run[first:last])) for first, last in _parts(run)]
    return tuple((first, last, composed) for first, last, composed in parts if composed != run[first:last])


# A decomposed text has few different runs: letter by letter, the same accents.
_known_replacements = lru_cache(maxsize=1 << 12)(_replacements)


def _parts(run: str) -> Iterator[tuple[int, int]]:
    """A run falls apart before a code point whose decomposition begins with a boundary.

    `a` U+212B is one run, as U+212B is not NFC; it becomes `a` U+00C5, where a cut may fall between the two.
    """
    start = 0
    for at in range(1, len(run)):
        if _decomposes_to_boundary(run[at]):
            yield start, at
            start = at
    yield start, len(run)


def _nfc(part: str) -> str:
    # CPython orders marks by insertion: 80,000 of them in the wrong order take it 6 seconds. What is in order it
    # leaves alone, and canonical order is a stable sort by combining class between starters.
    if len(part) > LONG:
        decomposed = (piece for char in part for piece in normalize("NFD", char))
        groups = groupby(decomposed, key=lambda piece: combining(piece) == 0)
        part = "".join("".join(group if starters else sorted(group, key=combining)) for starters, group in groups)
    return normalize("NFC", part)


@lru_cache(maxsize=1 << 14)
def _starts_run(char: str) -> bool:
    return not _within(char, unicode14.UNASSIGNED, unicode14.ATTACHED)


@lru_cache(maxsize=1 << 14)
def _is_unassigned(char: str) -> bool:
    return _within(char, unicode14.UNASSIGNED)


@lru_cache(maxsize=1 << 12)
def _decomposes_to_boundary(char: str) -> bool:
    return _starts_run(normalize("NFD", char)[0])


def _within(char: str, *tables: str) -> bool:
    # Edges alternate between "from here on inside" and "from here on outside".
    return bisect_right(_edges(*tables), ord(char)) % 2 == 1


@cache
def _edges(*tables: str) -> tuple[int, ...]:
    """Where the ranges of disjoint tables begin and where they are over."""
    words = (word.split("-") for table in tables for word in table.split())
    ranges = sorted((int(word[0], 16), int(word[-1], 16) + 1) for word in words)
    return tuple(edge for pair in ranges for edge in pair)

"""The grammars of plain text and of code, which has the same shape but no prose.

1. Text: a line after a blank line starts a paragraph; a bullet or a number starts an item; others are soft breaks.
2. Code: an unindented line after a blank line starts a paragraph (a definition, mostly); every other line is an item.
3. Neither has headings or atomic blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.chunking.items import IS_DIGIT, NUMBER, items
from steadlith_core.chunking.parts import NO_PROSE, Level, Outline

if TYPE_CHECKING:
    from steadlith_core.chunking.arena import Arena
    from steadlith_core.chunking.scan import Lines


def prose(arena: Arena, lines: Lines) -> Outline:
    """The outline of plain text."""
    first = np.frombuffer(arena.data, dtype=np.uint8)[lines.first]
    return Outline(*items(arena, lines, NUMBER, IS_DIGIT[first], round_bullets=True))


def code(arena: Arena, lines: Lines) -> Outline:  # noqa: ARG001 -- every grammar is given the text
    """The outline of programs."""
    opens = lines.fresh & (lines.first == lines.start)
    levels = np.where(opens, Level.PARAGRAPH, Level.ITEM).astype(np.int8)
    return Outline(levels, np.full(len(levels), NO_PROSE, dtype=np.int64))

"""Ordinary lines: how strong a boundary each starts at, before a grammar looks for headings and blocks.

1. A line after a blank line starts a paragraph. An item starts where a bullet or a number stands, and white space or
   the line's end behind it. A line after the end of a sentence is as good as an item. Any other is a soft line break.
2. The prose of an item starts behind its number, so that the full stop of `1.` ends no sentence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.chunking.parts import Level
from steadlith_core.chunking.walks import table

if TYPE_CHECKING:
    import numpy.typing as npt

    from steadlith_core.chunking.arena import Arena
    from steadlith_core.chunking.scan import Lines

    Truths = npt.NDArray[np.bool_]

NUMBER = re.compile(rb"[0-9]{1,9}[.)](?=[ \t]|\Z)")


IS_BULLET = table(b"-*+")
IS_DIGIT = table(b"0123456789")
_MAY_END_MARKER = table(b" \t")


def items(
    arena: Arena, lines: Lines, numbers: re.Pattern[bytes], may_be_number: Truths, *, round_bullets: bool
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """Levels (int8) and starts of prose (int64) of all lines.

    `numbers` is matched where the indentation of the lines `may_be_number` is over. A round bullet (U+2022) is one of
    typeset text, which Markdown does not know.
    """
    array = np.frombuffer(arena.data, dtype=np.uint8)
    is_item = IS_BULLET[array[lines.first]] & _ends_marker(array, lines, 1)
    if round_bullets:
        lead, second, third = (array[lines.first + index] for index in range(3))
        is_item |= (lead == 0xE2) & (second == 0x80) & (third == 0xA2) & _ends_marker(array, lines, 3)
    prose = lines.start.copy()
    numbered = np.flatnonzero(may_be_number)
    rows = zip(numbered.tolist(), lines.first[numbered].tolist(), lines.end[numbered].tolist(), strict=True)
    for line, first, end in rows:
        if match := numbers.match(arena.data, first, end):
            is_item[line] = True
            prose[line] = match.end()
    # The strongest that holds: 1, or 3 for an item or after a sentence, or 4 after a blank line.
    levels = np.full(len(prose), Level.LINE, dtype=np.int8)
    levels[is_item | lines.after_sentence] = Level.ITEM
    levels[lines.fresh] = Level.PARAGRAPH
    return levels, prose


def _ends_marker(array: npt.NDArray[np.uint8], lines: Lines, size: int) -> Truths:
    behind = lines.first + size
    ends: Truths = _MAY_END_MARKER[array[behind]] | (behind == lines.end)
    return ends

"""The grammars of plain text and of code, which has the same shape but no prose.

1. Text: a line after a blank line starts a paragraph; a bullet or a number starts an item; others are soft breaks.
2. Code: an unindented line after a blank line starts a paragraph (a definition, mostly); every other line is an item.
3. Neither has headings or atomic blocks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steadlith_core.chunking.parts import Level, Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_core.chunking.parts import Part

LINE = re.compile(
    r"^(?=[^\n])(?P<indent>[ \t\v\f]*)"
    r"(?P<item>(?:[-*+\u2022]|[0-9]{1,9}[.)])(?:[ \t]+|(?=\n|\Z)))?"
    r"[^\n]*",
    re.MULTILINE,
)


def prose(text: str, body: int) -> Iterator[Part]:
    """The lines of plain text."""
    last = -1
    for match in LINE.finditer(text, body):
        start, end = match.span()
        item = match.end("item")
        soft = Level.LINE if item < 0 else Level.ITEM
        yield Line(start, end, Level.PARAGRAPH if start > last + 1 or last < 0 else soft, max(start, item))
        last = end


def code(text: str, body: int) -> Iterator[Part]:
    """The lines of a program."""
    last = -1
    for match in LINE.finditer(text, body):
        start, end = match.span()
        opens = (start > last + 1 or last < 0) and match.end("indent") == start
        yield Line(start, end, Level.PARAGRAPH if opens else Level.ITEM, end)
        last = end

"""What a grammar says about a document: lines, headings and atomic blocks, in order, none inside another.

1. A part is decided by itself and the lines next to it: no rank by first appearance, no parity over the file.
   The one exception is a construct that has to be closed: it counts if its end exists, else it is plain lines.
2. A part starts at the start of a line, indentation included, and ends at the end of one, without the line feed.
3. White space is exactly space, tab, VT, FF, LF and CR; no rule asks Unicode what a letter or a space is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple, TypeAlias

TITLE_LIMIT = 1000
"""A longer line is no heading: its title would be repeated as the context of every chunk below it."""


class Level(IntEnum):
    """How strong a boundary is. `POINT` and `WORD` are cuts that no structure offered."""

    POINT = -2
    WORD = -1
    INSIDE = 0
    LINE = 1
    SENTENCE = 2
    ITEM = 3
    PARAGRAPH = 4
    HEADING_6 = 5
    HEADING_5 = 6
    HEADING_4 = 7
    HEADING_3 = 8
    HEADING_2 = 9
    HEADING_1 = 10


class BlockKind(StrEnum):
    """What keeps the lines of an atomic block together."""

    FENCE = "fence"
    TABLE = "table"
    HTML = "html"
    LITERAL = "literal"


class Line(NamedTuple):
    """A line of text, and how strong a boundary its start is. Sentences are looked for in [prose, end).

    There is one for every line of every document, and a tuple is made in a quarter of a data class's time.
    """

    start: int
    end: int
    level: Level
    prose: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with all of its lines; `rank` is 1 to 6, `title` is bare of marks and underlines."""

    start: int
    end: int
    rank: int
    title: str


@dataclass(frozen=True, slots=True)
class Block:
    """An atomic block: whole where possible, else cut only at the line or row starts named in `cuts`."""

    start: int
    end: int
    kind: BlockKind
    cuts: tuple[int, ...]


Part: TypeAlias = Line | Heading | Block
Grammar: TypeAlias = Callable[[str, int], Iterator[Part]]
"""Canonical text and the position where its body starts, to its parts; lazy, so that a title costs little."""


def line_end(text: str, position: int) -> int:
    """Where the line that holds `position` ends."""
    end = text.find("\n", position)
    return len(text) if end < 0 else end

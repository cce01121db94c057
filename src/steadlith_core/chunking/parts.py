"""What a grammar says about the lines of an arena: how strong a boundary each of them starts at, and the headings.

1. A part (an ordinary line, a heading, an atomic block) is decided by itself and the lines next to it: no rank by first
   appearance, no parity over the file. The one exception is a construct that has to be closed: it counts if its end
   exists, else it is ordinary lines.
2. White space is exactly space, tab, VT, FF, LF and CR; no rule asks Unicode what a letter or a space is.
3. A chain of headings with nothing between them is one boundary: its first heading, with their strongest level.
4. A heading stays with what follows: the part behind it, and later headings of the chain, are soft line breaks.
5. A heading that nothing follows stays with what precedes it, for the same reason.
"""

from __future__ import annotations

from bisect import bisect_left
from enum import Enum, IntEnum, StrEnum, auto
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from steadlith_core.chunking.scan import Lines

TITLE_LIMIT = 1000
"""A longer line (in bytes) is no heading: its title would be repeated as the context of every chunk below it."""

NOWHERE = -128
"""In place of a level: no cut falls before this line."""

NO_PROSE = 2**63 - 1
"""In place of the start of a line's prose: it has no sentences."""


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


class Heading(NamedTuple):
    """A heading: lines [line, behind), rank 1 to 6, its title bare of marks, and whether it follows another directly."""

    line: int
    behind: int
    rank: int
    title: str
    chained: bool


class Block(NamedTuple):
    """An atomic block: lines [line, behind), whole where possible, else cut only at lines of level INSIDE."""

    line: int
    behind: int
    kind: BlockKind


class _Before(Enum):
    """What stands directly before a line, blank lines aside."""

    LINE = auto()
    HEADING = auto()
    BLOCK = auto()


class Outline:
    """Collects headings and blocks, which come in order; every other line is an ordinary one.

    `levels` (int8) and `prose` (int64) have an entry for each line and start as the grammar's default for an ordinary
    line. Sentences of a line count from byte `prose` on, so that the full stop of `1.` ends none.
    """

    def __init__(self, lines: Lines, levels: npt.NDArray[np.int8], prose: npt.NDArray[np.int64]) -> None:
        self.levels = levels
        self.prose = prose
        self.headings: list[Heading] = []
        self.blocks: list[Block] = []
        self.resume = 0
        """The first line behind the last part."""
        self._before = _Before.LINE
        self._bounds: list[int] = lines.bounds.tolist()
        self._starts: list[int] = []
        self._strengths: list[int] = []
        self._inside: list[npt.NDArray[np.int64]] = []
        self._soft: list[int] = []
        self._fresh: list[int] = []
        self._chain = 0

    def opens(self, line: int) -> bool:
        """Whether `line` comes directly behind a heading or a block of its document."""
        return line == self.resume and self._before is not _Before.LINE

    def heading(self, line: int, behind: int, rank: int, title: str) -> None:
        """Lines [line, behind) are a heading."""
        chained = self._settle(line) is _Before.HEADING
        level = Level.HEADING_1 + 1 - rank
        if chained:
            self._strengths[self._chain] = max(self._strengths[self._chain], level)
            level = Level.LINE
        else:
            self._chain = len(self._starts)
        self.headings.append(Heading(line, behind, rank, title, chained))
        self._starts.append(line)
        self._strengths.append(level)
        self.resume, self._before = behind, _Before.HEADING

    def block(self, line: int, behind: int, kind: BlockKind, inside: npt.NDArray[np.int64]) -> None:
        """Lines [line, behind) are a block that may be cut at the lines `inside`."""
        before = self._settle(line)
        self.blocks.append(Block(line, behind, kind))
        self._starts.append(line)
        self._strengths.append(Level.LINE if before is _Before.HEADING else Level.PARAGRAPH)
        self._inside.append(inside)
        self.resume, self._before = behind, _Before.BLOCK

    def finish(self) -> None:
        """There are no more headings or blocks: write into `levels` and `prose` what was collected."""
        self._settle(len(self.levels))
        if not self._starts:
            return
        edges = np.zeros(len(self.levels) + 1, dtype=np.int8)
        for parts in (self.headings, self.blocks):
            edges[[part.line for part in parts]] += 1
            edges[[part.behind for part in parts]] -= 1
        covered = np.cumsum(edges[:-1], dtype=np.int8).astype(np.bool_)
        self.levels[covered] = NOWHERE
        self.prose[covered] = NO_PROSE
        if self._inside:
            self.levels[np.concatenate(self._inside)] = Level.INSIDE
        self.levels[self._starts] = self._strengths
        self.levels[self._soft] = Level.LINE
        self.levels[self._fresh] = Level.PARAGRAPH

    def _settle(self, line: int) -> _Before:
        """Lines from `resume` to `line` are ordinary. What stands directly before `line`?"""
        before, self._before = self._before, _Before.LINE
        if before is _Before.LINE:
            return before
        if self._is_first(self.resume):  # the document ended with that heading or block
            if before is _Before.HEADING and not self._is_first(self._starts[self._chain]):
                self._strengths[self._chain] = Level.LINE
            return _Before.LINE
        if line == self.resume:
            return before
        (self._soft if before is _Before.HEADING else self._fresh).append(self.resume)
        return _Before.LINE

    def _is_first(self, line: int) -> bool:
        """Whether `line` is the first of a document, or behind the last of all."""
        index = bisect_left(self._bounds, line)
        return self._bounds[index] == line

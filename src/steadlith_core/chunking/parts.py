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
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

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
    """A heading: lines [line, behind), rank 1 to 6, title bare of marks, whether it directly follows another one."""

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


def paths(headings: Iterable[Heading]) -> Iterator[tuple[str, ...]]:
    """The titles in force below each heading, its own last; empty ones are left out."""
    above: list[tuple[int, str]] = []
    for heading in headings:
        while above and above[-1][0] >= heading.rank:
            above.pop()
        above.append((heading.rank, heading.title))
        yield tuple([title for _, title in above if title])


LEVELS = (0, *(int(level) for level in sorted(Level, reverse=True)[:6]))
"""Strength of a heading, by its rank."""

_SOFT, _FRESH = int(Level.LINE), int(Level.PARAGRAPH)


class Outline:
    """Collects headings and blocks, which come in order; every other line is an ordinary one.

    `levels` (int8) and `prose` (int64) have an entry for each line and start as the grammar's default for an ordinary
    line. Sentences of a line count from byte `prose` on, so that the full stop of `1.` ends none.
    """

    def __init__(self, levels: npt.NDArray[np.int8], prose: npt.NDArray[np.int64]) -> None:
        self.levels = levels
        self.prose = prose
        # Tuples of the fields of `Heading` and `Block`: most are never looked at again, and a record takes six times as
        # long to make.
        self._headings: list[tuple[int, int, int, str, bool]] = []
        self._blocks: list[tuple[int, int, BlockKind]] = []
        self.resume = 0
        """The first line behind the last part."""
        self._level_behind = 0
        """Level of the next ordinary line, if it comes directly behind a heading or a block."""
        self._first = self._last = 0
        self._chain = 0
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._strengths: list[int] = []
        self._inside: list[int] = []
        self._behind: list[int] = []
        self._levels_behind: list[int] = []

    def document(self, first: int, last: int) -> None:
        """From here on it is about the document of lines [first, last), the one before is over."""
        self._settle(self._last)
        if self._level_behind == _SOFT and self._starts[self._chain] != self._first:  # nothing follows its last heading
            self._strengths[self._chain] = _SOFT
        self._level_behind = 0
        self._first, self._last = first, last

    def opens(self, line: int) -> bool:
        """Whether `line` comes directly behind a heading or a block of its document."""
        return line == self.resume and self._level_behind != 0

    def heading(self, line: int, behind: int, rank: int, title: str) -> None:
        """Lines [line, behind) are a heading."""
        level, strengths = LEVELS[rank], self._strengths
        chained = self._level_behind != 0 and self._settle(line) == _SOFT
        if chained:
            strengths[self._chain] = max(strengths[self._chain], level)
            level = _SOFT
        else:
            self._chain = len(strengths)
        self._headings.append((line, behind, rank, title, chained))
        self._starts.append(line)
        self._ends.append(behind)
        strengths.append(level)
        self.resume, self._level_behind = behind, _SOFT

    def block(self, line: int, behind: int, kind: BlockKind, inside: Iterable[int]) -> None:
        """Lines [line, behind) are a block that may be cut at the lines `inside`."""
        self._strengths.append(self._settle(line) or _FRESH)
        self._starts.append(line)
        self._ends.append(behind)
        self._blocks.append((line, behind, kind))
        self._inside += inside
        self.resume, self._level_behind = behind, _FRESH

    def finish(self) -> None:
        """There are no more documents: write into `levels` and `prose` what was collected."""
        self.document(0, 0)
        if not self._starts:
            return
        edges = np.zeros(len(self.levels) + 1, dtype=np.int8)
        edges[self._starts] += 1
        edges[self._ends] -= 1
        covered = np.cumsum(edges[:-1], dtype=np.int8).astype(np.bool_)
        self.levels[covered] = NOWHERE
        self.prose[covered] = NO_PROSE
        self.levels[self._inside] = Level.INSIDE
        self.levels[self._starts] = self._strengths
        self.levels[self._behind] = self._levels_behind

    @property
    def headings(self) -> list[Heading]:
        """All headings, in order."""
        return [Heading._make(heading) for heading in self._headings]

    @property
    def blocks(self) -> list[Block]:
        """All blocks, in order."""
        return [Block._make(block) for block in self._blocks]

    def headings_of(self, first: int, last: int) -> list[Heading]:
        """The headings in lines [first, last); O(log headings) besides the answer."""
        found = self._headings[bisect_left(self._headings, (first,)) : bisect_left(self._headings, (last,))]
        return [Heading._make(heading) for heading in found]

    def title(self, first: int, last: int) -> str:
        """The first title in lines [first, last), else empty."""
        for index in range(bisect_left(self._headings, (first,)), len(self._headings)):
            line, _, _, title, _ = self._headings[index]
            if title or line >= last:
                return title if line < last else ""
        return ""

    def _settle(self, line: int) -> int:
        """Lines from `resume` to `line` are ordinary. The level of one at `line`, if it is directly behind a part."""
        if self._level_behind and line > self.resume:
            self._behind.append(self.resume)
            self._levels_behind.append(self._level_behind)
            self._level_behind = 0
        return self._level_behind

"""From a grammar's parts to candidate cuts: positions with levels, and the headings above them.

1. Every part starts at a candidate; sentences of its prose and the `cuts` of a block are candidates inside it.
2. A chain of headings with nothing between them is one boundary: its first heading, with their strongest level.
3. A heading stays with what follows: the part behind it, and later headings of the chain, are soft line breaks.
4. A heading that nothing follows stays with what precedes it, for the same reason.
5. A soft line break after the end of a sentence is as good as a list item.
6. A cut may fall only before a permitted code point (`canonical.is_boundary`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steadlith_core.chunking.markdown import markdown
from steadlith_core.chunking.parts import Block, Heading, Level
from steadlith_core.chunking.plain import code, prose
from steadlith_core.chunking.rst import rst
from steadlith_core.records import Format
from steadlith_core.text.canonical import is_boundary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.chunking.parts import Grammar, Line, Part
    from steadlith_core.text.canonical import CanonicalText

GRAMMARS: Mapping[Format, Grammar] = {
    Format.MARKDOWN: markdown,
    Format.RST: rst,
    Format.TEXT: prose,
    Format.CODE: code,
}

CLOSERS = "\"'\u201d\u2019)]}*_"
WIDE_STOPS = "\u3002\uff01\uff1f"
WIDE_CLOSERS = "\u300d\u300f\uff09\u3011\u300b\u201d\u2019"

# An ASCII stop ends a sentence where white space follows; a wide one needs none. One class of first characters for
# both, because a search for one class is what the regular expression engine does fast.
SENTENCE = re.compile(
    rf"[.!?{WIDE_STOPS}](?:(?<=[{WIDE_STOPS}])[{WIDE_CLOSERS}]*[ \t\v\f]*|[{re.escape(CLOSERS)}]*[ \t\v\f]+)"
    r"(?=[^ \t\v\f\n])"
)
SENTENCE_END = re.compile(rf"[.!?{WIDE_STOPS}][{re.escape(CLOSERS)}{WIDE_CLOSERS}]*\Z")
END_WINDOW = 8
"""Code points before a line feed in which the end of a sentence is looked for: a stop and its closers."""

FIRST_COMBINING = "\u0300"
"""Below this code point every one may be cut before; asking a table for each would cost more than all the rest."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, the titles in force below it (its own last), and whether it follows another one directly."""

    heading: Heading
    path: tuple[str, ...]
    chained: bool


@dataclass(frozen=True, slots=True)
class Structure:
    """What may be cut, and how gladly: `levels[i]` belongs to `positions[i]`; positions rise."""

    positions: tuple[int, ...]
    levels: tuple[Level, ...]
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]


def read(text: CanonicalText, format: Format) -> Structure:  # noqa: A002
    """The structure of a document's body."""
    reading = _Reading(text.text)
    for part in GRAMMARS[format](reading.text, len(text.data[: text.body].decode())):
        reading.take(part)
    return reading.finish()


def first_heading(text: CanonicalText, format: Format) -> str:  # noqa: A002
    """Title of the first heading that has one, else empty. Reads no further than that heading."""
    for part in GRAMMARS[format](text.text, len(text.data[: text.body].decode())):
        if isinstance(part, Heading) and part.title:
            return part.title
    return ""


@dataclass(slots=True)
class _Reading:
    text: str
    positions: list[int] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    open: list[Heading] = field(default_factory=list)
    chain: int | None = None
    """Index of the candidate at which the chain of headings begins that ends just here."""

    def take(self, part: Part) -> None:
        if isinstance(part, Heading):
            self._heading(part)
            return
        if isinstance(part, Block):
            self._candidate(part.start, self._after_heading(Level.PARAGRAPH))
            for position in part.cuts:
                self._candidate(position, Level.INSIDE)
            self.blocks.append(part)
        else:
            self._line(part)
        self.chain = None

    def finish(self) -> Structure:
        # Rule 4; what starts the document has nothing to stay with.
        if self.chain:
            self.levels[self.chain] = Level.LINE
        positions, levels = tuple(self.positions), tuple(self.levels)
        if not self.text.isascii():
            # The start of the document is no cut.
            kept = [index for index, position in enumerate(positions) if index == 0 or self._permitted(position)]
            positions = tuple([positions[index] for index in kept])
            levels = tuple([levels[index] for index in kept])
        return Structure(positions, levels, tuple(self.sections), tuple(self.blocks))

    def _candidate(self, position: int, level: Level) -> None:
        self.positions.append(position)
        self.levels.append(level)

    def _after_heading(self, level: Level) -> Level:
        return level if self.chain is None else Level.LINE

    def _heading(self, heading: Heading) -> None:
        level = Level(Level.HEADING_1 + 1 - heading.rank)
        chained = self.chain is not None
        if self.chain is None:
            self.chain = len(self.positions)
            self._candidate(heading.start, level)
        else:
            self.levels[self.chain] = max(self.levels[self.chain], level)
            self._candidate(heading.start, Level.LINE)
        while self.open and self.open[-1].rank >= heading.rank:
            self.open.pop()
        self.open.append(heading)
        path = tuple([above.title for above in self.open if above.title])
        self.sections.append(Section(heading, path, chained))

    def _line(self, line: Line) -> None:
        level = self._after_heading(line.level)
        if level is Level.LINE and self.chain is None:
            before = self.text[max(0, line.start - 1 - END_WINDOW) : line.start - 1]
            level = Level.ITEM if SENTENCE_END.search(before) else Level.LINE
        self._candidate(line.start, level)
        for match in SENTENCE.finditer(self.text, line.prose, line.end):
            self._candidate(match.end(), Level.SENTENCE)

    def _permitted(self, position: int) -> bool:
        char = self.text[position]
        return char < FIRST_COMBINING or is_boundary(char)

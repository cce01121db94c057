"""The grammar of reStructuredText, as far as cutting needs it: sections, literal blocks, directives, tables, items.

1. A section title is an unindented line after a blank line, underlined by one punctuation character (at least four
   of it, or as long as the title), perhaps overlined by the same. **Its rank is fixed by that character** and by
   whether there is an overline; reStructuredText's own rule, rank by first appearance in the file, would let one edit
   move every rank.
2. What stands indented below a paragraph ending in `::` is a block; so is the body of a directive that holds no prose.
   Other directives are text that starts with a paragraph.
3. Grid tables are cut at borders between rows, simple tables at lines that start in their first column.
4. Few lines can start a section or a block. Numpy finds them by their first and last bytes, or those of a line next to
   them; only they are read by the expressions that decide.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.chunking.items import IS_DIGIT, items
from steadlith_core.chunking.parts import TITLE_LIMIT, BlockKind, Level, Outline
from steadlith_core.chunking.walks import table

if TYPE_CHECKING:
    import numpy.typing as npt

    from steadlith_core.chunking.arena import Arena
    from steadlith_core.chunking.scan import Lines

    Integers = npt.NDArray[np.int64]
    Truths = npt.NDArray[np.bool_]

LINE = re.compile(
    rb"""
    (?P<indent> [ \t\v\f]* )
    (?: (?P<grid>      \+ (?: [-=]+\+ )+ (?=\n|\Z) )
      | (?P<simple>    =+ (?: [ ]+=+ )+ (?=\n|\Z) )
      | (?P<rule>      (?P<char>[!-/:-@\[-`{-~]) (?P=char)+ (?=\n|\Z) )
      | (?P<directive> \.\.[ \t]+ (?:\|[^|\n]+\|[ \t]+)? (?P<name>[A-Za-z][A-Za-z0-9_:.+-]*?) ::(?=[ \t\n]|\Z) )
      | (?P<comment>   \.\.(?=[ \t\n]|\Z) )
      | (?P<number>    \(?(?:[0-9]{1,9}|[A-Za-z]|\#)[.)] (?=[ \t\n]|\Z) )
      | (?P<item>      (?: [-*+] | \xe2\x80\xa2 | :[^:\n]+: ) (?: [ \t]+ | (?=\n|\Z) ) )
    )?
    """,
    re.VERBOSE,
)
MARKER = re.compile(rb"(?:\(?(?:[0-9]{1,9}|[A-Za-z]|\#)[.)]|:[^:\n]+:)(?=[ \t]|\Z)")
RULE = re.compile(rb"\n(([!-/:-@\[-`{-~])\2*)(?=\n|\Z)")

UNDER = {b"#": 1, b"*": 1, b"=": 2, b"-": 3, b"~": 4, b"^": 5}
OVER = {b"#": 1, b"*": 1, b"=": 1, b"-": 2, b"~": 3, b"^": 4}
LOWEST = 6
"""Rank by character. Only the order matters: most files use `=`, `-`, `~`, `^` so, the first often overlined."""

TABLE_LIMIT = 65_536
"""A simple table is looked for within so many bytes; it may hold blank lines, so nothing else ends the search."""

TAB = 8
SPACES = re.compile(rb"[ \t]*")

VERBATIM_DIRECTIVES = re.compile(
    b"code|code-block|sourcecode|parsed-literal|literalinclude|highlight|math|raw|table|list-table|csv-table|toctree|"
    b"autosummary|productionlist|graphviz|plot|ipython|doctest|testcode|testoutput|prompt|image|figure",
    re.IGNORECASE,
)

_IS_PUNCTUATION = table(bytes(byte for byte in range(0x21, 0x7F) if not chr(byte).isalnum()))
_IS_LETTER = table(bytes(byte for byte in range(0x41, 0x7B) if chr(byte).isalpha()))
_MAY_BE_MARKER = IS_DIGIT | table(b"(:")
_IS_STOP = table(b".)")


def rst(arena: Arena, lines: Lines) -> Outline:
    """The outline of reStructuredText documents."""
    array = np.frombuffer(arena.data, dtype=np.uint8)
    first, second = (array[lines.first + index] for index in range(2))
    last = array[lines.end - 1]
    may_be_marker = _MAY_BE_MARKER[first] | ((_IS_LETTER | table(b"#"))[first] & _IS_STOP[second])
    outline = Outline(*items(arena, lines, MARKER, may_be_marker, round_bullets=True))
    flush = lines.first == lines.start
    is_rule = flush & _IS_PUNCTUATION[first] & (last == first) & ((second == first) | (lines.end - lines.start == 1))
    announces = (last == ord(":")) & (array[lines.end - 2] == ord(":"))
    wanted = (first == ord("+")) | ((first == ord("=")) & (last == first)) | ((first == ord(".")) & (second == first))
    wanted |= is_rule
    below = np.zeros(len(wanted), dtype=np.bool_)
    below[:-1] = is_rule[1:] & (lines.start[1:] == lines.end[:-1] + 1)
    wanted |= below
    wanted[1:] |= announces[:-1]
    titles = below & flush & _IS_LETTER[first] & ~_IS_STOP[second]
    reading = _Reading(arena, lines, outline, _columns(arena.data, lines), announces)
    reading.read(np.flatnonzero(wanted), titles)
    outline.finish()
    return outline


def _columns(data: bytes, lines: Lines) -> list[int]:
    """Width of the spaces and tabs that each line starts with; a tab reaches to the next multiple of `TAB`."""
    columns: list[int] = (lines.first - lines.start).tolist()
    if any(other in data for other in (b"\t", b"\v", b"\f")):
        indented = np.flatnonzero(lines.first > lines.start)
        for line, start in zip(indented.tolist(), lines.start[indented].tolist(), strict=True):
            columns[line] = _width(data, start)
    return columns


def _width(data: bytes, start: int) -> int:
    indent = SPACES.match(data, start)
    return len(indent[0].expandtabs(TAB)) if indent else 0


class _Reading:
    """One pass over the lines that may start something, document by document."""

    def __init__(self, arena: Arena, lines: Lines, outline: Outline, columns: list[int], announces: Truths) -> None:
        self.data = arena.data
        self.ends = arena.ends
        self.lines = lines
        self.outline = outline
        self.columns = columns
        self.announces = announces
        self.limit = 0
        """Where the document ends."""
        self.last = 0
        """The line behind its last."""

    def read(self, wanted: Integers, titles: Truths) -> None:
        """Look at the lines `wanted`; `titles` says which of all lines can be nothing but the title over a rule."""
        lines, outline = self.lines, self.outline
        documents = np.searchsorted(lines.bounds, wanted, "right") - 1
        rows = (wanted, documents, lines.start[wanted], lines.end[wanted], lines.fresh[wanted], titles[wanted])
        document = first = -1
        for line, here, start, end, fresh, is_title in zip(*(row.tolist() for row in rows), strict=True):
            if line < outline.resume:
                continue
            if here != document:
                document = here
                first, self.last = lines.bounds[here : here + 2].tolist()
                outline.document(first, self.last)
                self.limit = self.ends[here]
            opens = fresh or outline.opens(line)
            if is_title:
                if opens:
                    self._underlined(line, start, end)
                continue
            column = self._literal(line - 1) if fresh and line > first else None
            if column is not None and self.columns[line] > column:
                self._block(line, column)
                continue
            match = LINE.match(self.data, start, self.limit)
            if match is not None:
                self._part(match, line, end, opens=opens)

    def _literal(self, line: int) -> int | None:
        """The column that a literal block must be deeper than, if `line` is an ordinary line that announces one."""
        if line < self.outline.resume or not self.announces[line]:
            return None
        start = int(self.lines.start[line])
        match = LINE.match(self.data, start, self.limit)
        if match is None or match.lastgroup in {"directive", "comment"}:
            return None
        if match.lastgroup not in {"item", "number"}:
            return self.columns[line]
        # The text of an item starts behind its marker; a literal block of the item is indented deeper than that text.
        text = SPACES.match(self.data, match.end(), self.limit)
        return len(self.data[start : text.end() if text else match.end()].decode().expandtabs(TAB))

    def _part(self, match: re.Match[bytes], line: int, end: int, *, opens: bool) -> None:
        what, start = match.lastgroup, match.start()
        flush = match.end("indent") == start
        if what == "grid":
            self._grid(line, end, match["indent"])
        elif what == "simple":
            self._simple(line, start, end, match["indent"])
        elif what == "directive" and VERBATIM_DIRECTIVES.fullmatch(match["name"]):
            self._block(line, self.columns[line])
        elif what in {"directive", "comment"}:
            self.outline.levels[line] = Level.PARAGRAPH
            self.outline.prose[line] = match.end() if what == "directive" else start
        elif opens and flush and what == "rule":
            self._overlined(line, start, end)
        elif opens and flush and what in {"indent", "number"}:
            self._underlined(line, start, end)

    # -------------------------------------------------------------------------------------------- sections

    def _underlined(self, line: int, start: int, end: int) -> None:
        under = RULE.match(self.data, end, self.limit)
        if under is None or end - start > TITLE_LIMIT:
            return
        rule, mark = under.groups()
        title = self.data[start:end].decode()
        if _underlines(rule, len(title)):
            self.outline.heading(line, line + 2, UNDER.get(mark, LOWEST), title)

    def _overlined(self, line: int, start: int, end: int) -> None:
        title_end = self.data.find(b"\n", end + 1, self.limit)
        if not 0 <= title_end - (end + 1) <= TITLE_LIMIT:
            return
        title = self.data[end + 1 : title_end].decode().strip(" \t\v\f")
        under = RULE.match(self.data, title_end, self.limit)
        if title and under is not None and under[1] == self.data[start:end] and _underlines(under[1], len(title)):
            self.outline.heading(line, line + 3, OVER.get(under[2], LOWEST), title)

    # ---------------------------------------------------------------------------------------------- blocks

    def _block(self, line: int, column: int) -> None:
        """`line` and all that follows deeper than `column`, blank lines included."""
        behind = line + 1
        while behind < self.last and self.columns[behind] > column:
            behind += 1
        # The first two lines stay together: they are a directive and what it is about, or the start of a listing.
        self.outline.block(line, behind, BlockKind.LITERAL, range(line + 2, behind))

    def _grid(self, line: int, end: int, indent: bytes) -> None:
        borders = []
        behind = line + 1
        while self.data.startswith((indent + b"+", indent + b"|"), end + 1, self.limit):
            # A border of `=` ends the header, which stays with its first row.
            if self.data.startswith(indent + b"+-", end + 1):
                borders.append(behind)
            behind += 1
            end = self._line_end(end + 1)
        if behind > line + 1:
            inside = [border for border in borders if border != behind - 1]
            self.outline.block(line, behind, BlockKind.TABLE, inside)

    def _simple(self, line: int, start: int, end: int, indent: bytes) -> None:
        # Two or three equal borders: above, perhaps below a header, and below, where a blank line or the end follows.
        border = b"\n" + self.data[start:end]
        head, close = end, self._border(border, end)
        if close is not None and not self._is_last_line(close):
            head, close = close, self._border(border, close)
        if close is None or not self._is_last_line(close):
            return
        starts = self.lines.start
        first, last = (int(np.searchsorted(starts, position)) for position in (head, close - len(border) + 1))
        indents = self.lines.first[first:last] - starts[first:last]
        rows = first + np.flatnonzero(indents == len(indent))
        self.outline.block(line, last + 1, BlockKind.TABLE, rows[1:].tolist())

    def _border(self, border: bytes, position: int) -> int | None:
        """Where the next line that equals `border` ends."""
        found = self.data.find(border, position, min(position + TABLE_LIMIT, self.limit))
        end = found + len(border)
        return end if found >= 0 and (end == self.limit or self.data[end : end + 1] == b"\n") else None

    def _is_last_line(self, end: int) -> bool:
        """Whether a blank line or the end of the document follows the line that ends at `end`."""
        return end == self.limit or self.data[end : end + 2] == b"\n\n"

    def _line_end(self, position: int) -> int:
        end = self.data.find(b"\n", position, self.limit)
        return self.limit if end < 0 else end


def _underlines(rule: bytes, title: int) -> bool:
    # `::` on a line of its own announces a literal block.
    return rule != b"::" and (len(rule) >= 4 or len(rule) >= title)

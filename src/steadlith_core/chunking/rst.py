"""The grammar of reStructuredText, as far as cutting needs it: sections, literal blocks, directives, tables, items.

1. A section title is an unindented line after a blank line, underlined by one punctuation character (at least four
   of it, or as long as the title), perhaps overlined by the same. **Its rank is fixed by that character** and by
   whether there is an overline; reStructuredText's own rule, rank by first appearance in the file, would let one edit
   move every rank.
2. What stands indented below a paragraph ending in `::` is a block; so is the body of a directive that holds no prose.
   Other directives are text that starts with a paragraph.
3. Grid tables are cut at borders between rows, simple tables at lines that start in their first column.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steadlith_core.chunking.parts import TITLE_LIMIT, Block, BlockKind, Heading, Level, Line, line_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_core.chunking.parts import Part

LINE = re.compile(
    r"""
    \n*
    (?P<indent> [ \t\v\f]* )
    (?: (?P<grid>      \+ (?: [-=]+\+ )+ (?=\n|\Z) )
      | (?P<simple>    =+ (?: [ ]+=+ )+ (?=\n|\Z) )
      | (?P<rule>      (?P<char>[!-/:-@\[-`{-~]) (?P=char)+ (?=\n|\Z) )
      | (?P<directive> \.\.[ \t]+ (?:\|[^|\n]+\|[ \t]+)? (?P<name>[A-Za-z][A-Za-z0-9_:.+-]*?) ::(?=[ \t\n]|\Z) )
      | (?P<comment>   \.\.(?=[ \t\n]|\Z) )
      | (?P<item>      (?: [-*+\u2022] | (?P<number> \(?(?:[0-9]{1,9}|[A-Za-z]|\#)[.)] ) | :[^:\n]+: )
                       (?: [ \t]+ | (?=\n|\Z) ) )
    )?
    [^\n]*
    """,
    re.VERBOSE,
)
RULE = re.compile(r"\n(([!-/:-@\[-`{-~])\2*)(?=\n|\Z)")
TABLE_LIMIT = 65_536
"""A simple table is looked for within so many code points; it may hold blank lines, so nothing else ends the search."""

INDENTED = re.compile(r"\n*([ \t]*)[^\n]")

UNDER = {"#": 1, "*": 1, "=": 2, "-": 3, "~": 4, "^": 5}
OVER = {"#": 1, "*": 1, "=": 1, "-": 2, "~": 3, "^": 4}
LOWEST = 6
"""Rank by character. Only the order matters: most files use `=`, `-`, `~`, `^` so, the first often overlined."""

VERBATIM_DIRECTIVES = re.compile(
    "code|code-block|sourcecode|parsed-literal|literalinclude|highlight|math|raw|table|list-table|csv-table|toctree|"
    "autosummary|productionlist|graphviz|plot|ipython|doctest|testcode|testoutput|prompt|image|figure",
    re.ASCII | re.IGNORECASE,
)


def rst(text: str, body: int) -> Iterator[Part]:
    """The parts of a reStructuredText document."""
    at = body
    fresh = True  # nothing but a blank line, a heading or the end of a block stands before the line
    literal: int | None = None  # the column that a literal block must be deeper than, after a line ending in `::`
    while (match := LINE.match(text, at)) is not None and match.start("indent") < len(text):
        start = match.start("indent")
        blank = start > at + 1
        fresh = fresh or blank
        part: Part | None = None
        if literal is not None and blank and _column(match["indent"]) > literal:
            part = _block(text, start, match.end(), literal)
        part = part or _part(text, match, fresh)
        yield part
        fresh = not isinstance(part, Line)
        literal = _opens_literal(text, match, part)
        at = part.end


def _part(text: str, match: re.Match[str], fresh: bool) -> Part:
    what = match.lastgroup
    start, end = match.start("indent"), match.end()
    flush = match.end("indent") == start
    part: Part | None = None
    if what == "grid":
        part = _grid(text, start, end, match["indent"])
    elif what == "simple":
        part = _simple(text, start, end, match["indent"])
    elif what == "directive" and VERBATIM_DIRECTIVES.fullmatch(match["name"]):
        part = _block(text, start, end, _column(match["indent"]))
    elif fresh and flush and what == "rule":
        part = _overlined(text, start, end)
    elif fresh and flush and (what == "indent" or match["number"] is not None):
        part = _underlined(text, start, end)
    if part is not None:
        return part
    soft = Level.ITEM if what == "item" else Level.LINE
    level = Level.PARAGRAPH if fresh or what in {"directive", "comment"} else soft
    return Line(start, end, level, match.end(what) if what in {"item", "directive"} else start)


def _column(indent: str) -> int:
    return len(indent.expandtabs(8))


# ------------------------------------------------------------------------------------------------ sections


def _underlined(text: str, start: int, end: int) -> Heading | None:
    under = RULE.match(text, end)
    if under is None or not _underlines(under[1], end - start):
        return None
    return Heading(start, under.end(), UNDER.get(under[2], LOWEST), text[start:end])


def _overlined(text: str, start: int, end: int) -> Heading | None:
    title_end = line_end(text, end + 1)
    title = text[end + 1 : title_end].strip(" \t\v\f") if title_end - end <= TITLE_LIMIT else ""
    under = RULE.match(text, title_end)
    if not title or under is None or under[1] != text[start:end] or not _underlines(under[1], len(title)):
        return None
    return Heading(start, under.end(), OVER.get(under[2], LOWEST), title)


def _underlines(rule: str, title: int) -> bool:
    # `::` on a line of its own announces a literal block.
    return title <= TITLE_LIMIT and rule != "::" and (len(rule) >= 4 or len(rule) >= title)


# -------------------------------------------------------------------------------------------------- blocks


def _opens_literal(text: str, match: re.Match[str], part: Part) -> int | None:
    if (
        not isinstance(part, Line)
        or match.lastgroup in {"directive", "comment"}
        or not text.endswith("::", part.start, part.end)
    ):
        return None
    # The text of an item starts behind its marker; a literal block of the item is indented deeper than that text.
    return _column(text[part.start : part.prose] if match.lastgroup == "item" else match["indent"])


def _block(text: str, start: int, end: int, column: int) -> Block:
    """The line [start, end) and all that follows deeper than `column`, blank lines included."""
    cuts = []
    while (match := INDENTED.match(text, end)) is not None and _column(match[1]) > column:
        cuts.append(match.start(1))
        end = line_end(text, match.end())
    # The first two lines stay together: they are a directive and what it is about, or the start of a listing.
    return Block(start, end, BlockKind.LITERAL, tuple(cuts[1:]))


def _grid(text: str, start: int, end: int, indent: str) -> Block | None:
    borders = []
    last = start
    while text.startswith((f"{indent}+", f"{indent}|"), end + 1):
        last = end + 1
        end = line_end(text, last)
        # A border of `=` ends the header, which stays with its first row.
        if text.startswith(f"{indent}+-", last):
            borders.append(last)
    if last == start:
        return None
    return Block(start, end, BlockKind.TABLE, tuple(border for border in borders if border != last))


def _simple(text: str, start: int, end: int, indent: str) -> Block | None:
    # Two or three equal borders: above, perhaps below a header, and below, where a blank line or the end follows.
    border = "\n" + text[start:end]
    head, close = end, _border(text, border, end)
    if close is not None and not _last_line(text, close):
        head, close = close, _border(text, border, close)
    if close is None or not _last_line(text, close):
        return None
    rows = []
    at = head
    while at < close - len(border):
        row = at + 1
        at = line_end(text, row)
        if text.startswith(indent, row) and text[row + len(indent)] not in " \t\v\f\n\r":
            rows.append(row)
    return Block(start, close, BlockKind.TABLE, tuple(rows[1:]))


def _border(text: str, border: str, position: int) -> int | None:
    """Where the next line that equals `border` ends."""
    found = text.find(border, position, position + TABLE_LIMIT)
    end = found + len(border)
    return end if found >= 0 and text[end : end + 1] in {"", "\n"} else None


def _last_line(text: str, end: int) -> bool:
    """Whether a blank line or the end of the text follows the line that ends at `end`."""
    return text[end : end + 2] in {"", "\n", "\n\n"}

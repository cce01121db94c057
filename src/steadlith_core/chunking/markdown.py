r"""The grammar of Markdown, as far as cutting needs it: headings, fences, tables, HTML blocks, items and paragraphs.

1. Headings are ATX lines and single lines underlined with `=` or `-`; a line indented by four or more is neither.
2. A fence (backticks or tildes) is a block from its opening line to its closing one; an unclosed fence is plain lines,
   and so is an unclosed comment or `<pre>`.
3. A pipe table is a row, a delimiter row, and the lines with a `|` that follow. Header, delimiter and first row stay
   together; so do a fence's opening line and its first line, and its last line and its closing one.
4. Any other HTML block runs from a line that starts with a block-level tag to the next blank line.
5. A block quote is text. Containers are not followed: a fence or an item may be indented by any amount.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steadlith_core.chunking.parts import TITLE_LIMIT, Block, BlockKind, Heading, Level, Line, line_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_core.chunking.parts import Part

LINE = re.compile(
    r"""
    \n*
    (?P<indent> [ \t\v\f]* )
    (?: (?P<atx>   \#{1,6} (?=[ \t\n]|\Z) )
      | (?P<fence> `{3,} (?=[^`\n]*(?:\n|\Z)) | ~{3,} )
      | (?P<html>  <!-- | </?(?P<tag>[A-Za-z][A-Za-z0-9]*) (?=[ \t\n/>]|\Z) )
      | (?P<item>  (?: [-*+] | [0-9]{1,9}[.)] ) (?: [ \t]+ | (?=\n|\Z) ) )
      | (?P<quote> > )
    )?
    [^\n]*
    """,
    re.VERBOSE,
)
CLOSING_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})$", re.MULTILINE)
UNDERLINE = re.compile(r"\n {0,3}(=+|-+)(?=\n|\Z)")
DELIMITER = re.compile(r"\n[ \t]*[|:-][ \t|:-]*(?=\n|\Z)")
INNER_LINE = re.compile(r"^(?=[^\n])", re.MULTILINE)

CLOSING_MARKS = re.compile(r"(?:^|[ \t]+)#+$")
ATTRIBUTES = re.compile(r"[ \t]*\{:?[ \t]*[#.][^{}]*\}$")

VERBATIM_TAGS = re.compile("pre|script|style|textarea", re.ASCII | re.IGNORECASE)
BLOCK_TAGS = re.compile(
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "menuitem|nav|noframes|ol|optgroup|option|p|param|picture|search|section|summary|svg|table|tbody|td|tfoot|th|thead|"
    "title|tr|track|ul|video",
    re.ASCII | re.IGNORECASE,
)


def markdown(text: str, body: int) -> Iterator[Part]:
    """The parts of a Markdown document."""
    closers = _Closers(text, body)
    at = body
    fresh = True  # nothing but a blank line, a heading or the end of a block stands before the line
    while (match := LINE.match(text, at)) is not None and match.start("indent") < len(text):
        start, end = match.span("indent")[0], match.end()
        fresh = fresh or start > at + 1
        part = _part(text, match, closers, start, end, fresh)
        yield part
        fresh = not isinstance(part, Line)
        at = part.end


def _part(text: str, match: re.Match[str], closers: _Closers, start: int, end: int, fresh: bool) -> Part:
    what = match.lastgroup
    shallow = match.end("indent") - start <= 3 and "\t" not in match["indent"]
    part: Part | None = None
    if what == "atx" and shallow and end - start <= TITLE_LIMIT:
        part = Heading(start, end, match.end("atx") - match.start("atx"), _title(text[match.end("atx") : end]))
    elif what == "fence":
        part = _fence(text, start, end, match["fence"], closers)
    elif what == "html" and shallow:
        part = _html(text, start, end, match["tag"], closers)
    elif what == "indent":
        part = (_underlined(text, start, end) if fresh and shallow else None) or _table(text, start, end)
    if part is not None:
        return part
    soft = Level.ITEM if what == "item" else Level.LINE
    return Line(start, end, Level.PARAGRAPH if fresh else soft, match.end("item") if what == "item" else start)


def _title(raw: str) -> str:
    title = ATTRIBUTES.sub("", raw.strip(" \t\v\f"))
    return CLOSING_MARKS.sub("", title).strip(" \t\v\f")


def _underlined(text: str, start: int, end: int) -> Heading | None:
    underline = UNDERLINE.match(text, end)
    if underline is None or end - start > TITLE_LIMIT:
        return None
    return Heading(start, underline.end(), 1 if underline[1][0] == "=" else 2, _title(text[start:end]))


def _table(text: str, start: int, end: int) -> Block | None:
    delimiter = DELIMITER.match(text, end)
    if delimiter is None or text.find("|", start, end) < 0 or not {"|", "-"} <= set(delimiter[0]):
        return None
    rows = []
    end = delimiter.end()
    while end < len(text):
        row_end = line_end(text, end + 1)
        if text.find("|", end + 1, row_end) < 0:
            break
        rows.append(end + 1)
        end = row_end
    return Block(start, end, BlockKind.TABLE, tuple(rows[1:]))


def _fence(text: str, start: int, end: int, mark: str, closers: _Closers) -> Block | None:
    close = closers.fence(end, mark)
    if close is None:
        return None
    lines = _line_starts(text, end, close)
    return Block(start, line_end(text, close), BlockKind.FENCE, lines[1:])


def _html(text: str, start: int, end: int, tag: str | None, closers: _Closers) -> Block | None:
    if tag is None:
        stop = closers.after("-->", start + len("<!--"))
    elif VERBATIM_TAGS.fullmatch(tag):
        stop = closers.after(f"</{tag}>", start)
    elif BLOCK_TAGS.fullmatch(tag):
        blank = text.find("\n\n", end)
        stop = len(text) if blank < 0 else blank
    else:
        stop = None
    if stop is None:
        return None
    stop = line_end(text, stop)
    return Block(start, stop, BlockKind.HTML, _line_starts(text, end, stop)[:-1])


def _line_starts(text: str, start: int, end: int) -> tuple[int, ...]:
    """Starts of the non-blank lines that begin in (start, end); `start` is the end of a line."""
    return tuple([match.start() for match in INNER_LINE.finditer(text, start + 1, end)])


@dataclass(slots=True)
class _Closers:
    """Answers where a construct is closed, in time linear in the text however many are left open."""

    text: str
    body: int
    fences: dict[str, list[tuple[int, int]]] | None = None
    longest: dict[str, list[int]] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)

    def fence(self, position: int, mark: str) -> int | None:
        """Start of the first line after `position` that closes a fence opened by `mark`."""
        if self.fences is None:
            self.fences = self._collect()
        lines, longest = self.fences[mark[0]], self.longest[mark[0]]
        index = bisect_left(lines, (position, 0))
        if index == len(lines) or longest[index] < len(mark):
            return None
        # A line passed over here is inside the fence and is never asked about again.
        while lines[index][1] < len(mark):
            index += 1
        return lines[index][0]

    def after(self, closer: str, position: int) -> int | None:
        """Start of the first `closer` at or after `position`; one that was not found once is not looked for again."""
        if closer in self.missing:
            return None
        found = self.text.find(closer, position)
        if found < 0:
            self.missing.add(closer)
            return None
        return found

    def _collect(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {"`": [], "~": []}
        for match in CLOSING_FENCE.finditer(self.text, self.body):
            found[match[1][0]].append((match.start(), len(match[1])))
        for char, lines in found.items():
            longest = [length for _, length in lines]
            for index in range(len(longest) - 2, -1, -1):
                longest[index] = max(longest[index], longest[index + 1])
            self.longest[char] = longest
        return found

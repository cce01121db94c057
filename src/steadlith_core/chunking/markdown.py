r"""The grammar of Markdown, as far as cutting needs it: headings, fences, tables, HTML blocks, items and paragraphs.

1. Headings are ATX lines and single lines underlined with `=` or `-`; a line indented by four or more is neither.
2. A fence (backticks or tildes) is a block from its opening line to its closing one; an unclosed fence is plain lines,
   and so is an unclosed comment or `<pre>`.
3. A pipe table is a row, a delimiter row, and the lines with a `|` that follow. Header, delimiter and first row stay
   together; so do a fence's opening line and its first line, and its last line and its closing one.
4. Any other HTML block runs from a line that starts with a block-level tag to the next blank line.
5. A block quote is text. Containers are not followed: a fence or an item may be indented by any amount.
6. Few lines can start a heading or a block. Numpy finds them by their first and last bytes, or those of the line
   below; only they are read by the expressions that decide.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.chunking.items import IS_DIGIT, NUMBER, items, table
from steadlith_core.chunking.parts import TITLE_LIMIT, BlockKind, Outline

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from steadlith_core.chunking.arena import Arena
    from steadlith_core.chunking.scan import Lines

    Integers = npt.NDArray[np.int64]

LINE = re.compile(
    rb"""
    (?P<indent> [ \t\v\f]* )
    (?: (?P<atx>   \#{1,6} (?=[ \t\n]|\Z) )
      | (?P<fence> `{3,} (?=[^`\n]*(?:\n|\Z)) | ~{3,} )
      | (?P<html>  <!-- | </?(?P<tag>[A-Za-z][A-Za-z0-9]*) (?=[ \t\n/>]|\Z) )
      | (?P<other> (?: [-*+] | [0-9]{1,9}[.)] ) (?= [ \t\n]|\Z ) | > )
    )?
    """,
    re.VERBOSE,
)
CLOSING_FENCE = re.compile(rb"[ \t]*(`{3,}|~{3,})")
UNDERLINE = re.compile(rb"\n {0,3}(=+|-+)(?=\n|\Z)")
DELIMITER = re.compile(rb"\n[ \t]*[|:-][ \t|:-]*(?=\n|\Z)")

CLOSING_MARKS = re.compile(r"(?:^|[ \t]+)#+$")
ATTRIBUTES = re.compile(r"[ \t]*\{:?[ \t]*[#.][^{}]*\}$")

VERBATIM_TAGS = re.compile(b"pre|script|style|textarea", re.IGNORECASE)
BLOCK_TAGS = re.compile(
    b"address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    b"fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    b"menuitem|nav|noframes|ol|optgroup|option|p|param|picture|search|section|summary|svg|table|tbody|td|tfoot|th|thead|"
    b"title|tr|track|ul|video",
    re.IGNORECASE,
)

_IS_RULE = table(b"=-|:")


def markdown(arena: Arena, lines: Lines) -> Outline:
    """The outline of Markdown documents."""
    array = np.frombuffer(arena.data, dtype=np.uint8)
    first, second, third = (array[lines.first + index] for index in range(3))
    outline = Outline(*items(arena, lines, NUMBER, IS_DIGIT[first], round_bullets=False))
    is_fence = ((first == ord("`")) | (first == ord("~"))) & (second == first) & (third == first)
    wanted = is_fence | (first == ord("#")) | (first == ord("<"))
    # The line below is all of marks: this one is a heading or the head of a table.
    below = _IS_RULE[first] & _IS_RULE[array[lines.end - 1]]
    wanted[:-1] |= below[1:] & (lines.start[1:] == lines.end[:-1] + 1)
    reading = _Reading(arena, lines, outline, np.flatnonzero(is_fence))
    reading.read(np.flatnonzero(wanted))
    outline.finish()
    return outline


class _Reading:
    """One pass over the lines that may start something, document by document."""

    def __init__(self, arena: Arena, lines: Lines, outline: Outline, fences: Integers) -> None:
        self.data = arena.data
        self.ends = arena.ends
        self.lines = lines
        self.outline = outline
        self.fences = fences
        self.closers = _Closers(arena.data, 0, ())

    def read(self, wanted: Integers) -> None:
        lines, outline = self.lines, self.outline
        documents = np.searchsorted(lines.bounds, wanted, "right") - 1
        columns = (wanted, documents, lines.start[wanted], lines.end[wanted], lines.first[wanted], lines.fresh[wanted])
        document = -1
        for line, here, start, end, first, fresh in zip(*(column.tolist() for column in columns), strict=True):
            if line < outline.resume:
                continue
            if here != document:
                document = here
                outline.document(*lines.bounds[here : here + 2].tolist())
                self.closers = self._closers(here)
            match = LINE.match(self.data, start, self.closers.limit)
            if match is not None:
                shallow = first - start <= 3 and b"\t" not in match["indent"]
                self._part(match, line, end, shallow=shallow, opens=fresh or outline.opens(line))

    def _closers(self, document: int) -> _Closers:
        bounds, lines = self.lines.bounds, self.lines
        here = self.fences[slice(*np.searchsorted(self.fences, bounds[document : document + 2]))]
        limit = self.ends[document]
        found = []
        for line, start, end in zip(here.tolist(), lines.start[here].tolist(), lines.end[here].tolist(), strict=True):
            if match := CLOSING_FENCE.fullmatch(self.data, start, end):
                found.append((line, match[1]))
        return _Closers(self.data, limit, found)

    def _part(self, match: re.Match[bytes], line: int, end: int, *, shallow: bool, opens: bool) -> None:
        what = match.lastgroup
        start = match.start()
        if what == "atx" and shallow and end - start <= TITLE_LIMIT:
            rank = match.end() - match.start("atx")
            self.outline.heading(line, line + 1, rank, _title(self.data[match.end() : end]))
        elif what == "fence":
            self._fence(line, match["fence"])
        elif what == "html" and shallow:
            self._html(line, start, end, match["tag"])
        elif what == "indent" and not (opens and shallow and self._underlined(line, start, end)):
            self._table(line, start, end)

    def _underlined(self, line: int, start: int, end: int) -> bool:
        underline = UNDERLINE.match(self.data, end, self.closers.limit)
        if underline is None or end - start > TITLE_LIMIT:
            return False
        self.outline.heading(line, line + 2, 1 if underline[1][:1] == b"=" else 2, _title(self.data[start:end]))
        return True

    def _table(self, line: int, start: int, end: int) -> None:
        data, limit = self.data, self.closers.limit
        delimiter = DELIMITER.match(data, end, limit)
        if delimiter is None or data.find(b"|", start, end) < 0 or not {*b"|-"} <= {*delimiter[0]}:
            return
        end = delimiter.end()
        behind = line + 2
        while end < limit:
            row = data.find(b"\n", end + 1, limit)
            row = limit if row < 0 else row
            if data.find(b"|", end + 1, row) < 0:
                break
            behind += 1
            end = row
        self.outline.block(line, behind, BlockKind.TABLE, range(line + 3, behind))

    def _fence(self, line: int, mark: bytes) -> None:
        close = self.closers.fence(line, mark)
        if close is not None:
            self.outline.block(line, close + 1, BlockKind.FENCE, range(line + 2, close))

    def _html(self, line: int, start: int, end: int, tag: bytes | None) -> None:
        data, limit = self.data, self.closers.limit
        if tag is None:
            stop = self.closers.after(b"-->", start + len(b"<!--"))
        elif VERBATIM_TAGS.fullmatch(tag):
            stop = self.closers.after(b"</" + tag + b">", start)
        elif BLOCK_TAGS.fullmatch(tag):
            blank = data.find(b"\n\n", end, limit)
            stop = limit if blank < 0 else blank
        else:
            stop = None
        if stop is not None:
            behind = int(np.searchsorted(self.lines.start, stop, "right"))
            self.outline.block(line, behind, BlockKind.HTML, range(line + 1, behind - 1))


def _title(raw: bytes) -> str:
    title = ATTRIBUTES.sub("", raw.decode().strip(" \t\v\f"))
    return CLOSING_MARKS.sub("", title).strip(" \t\v\f")


class _Closers:
    """Answers where a construct of one document is closed, in linear time however many are left open."""

    def __init__(self, data: bytes, limit: int, fences: Sequence[tuple[int, bytes]]) -> None:
        self.data = data
        self.limit = limit
        """Where the document ends."""
        self.missing: set[bytes] = set()
        self.fences: dict[bytes, list[tuple[int, int]]] = {b"`": [], b"~": []}
        self.longest: dict[bytes, list[int]] = {}
        for line, mark in fences:
            self.fences[mark[:1]].append((line, len(mark)))
        for char, found in self.fences.items():
            longest = [size for _, size in found]
            for index in range(len(longest) - 2, -1, -1):
                longest[index] = max(longest[index], longest[index + 1])
            self.longest[char] = longest

    def fence(self, line: int, mark: bytes) -> int | None:
        """The first line behind `line` that closes a fence opened by `mark`."""
        found, longest = self.fences[mark[:1]], self.longest[mark[:1]]
        index = bisect_left(found, (line + 1, 0))
        if index == len(found) or longest[index] < len(mark):
            return None
        # A line passed over here is inside the fence and is never asked about again.
        while found[index][1] < len(mark):
            index += 1
        return found[index][0]

    def after(self, closer: bytes, position: int) -> int | None:
        """Start of the first `closer` at or after `position`; one that was not found once is not looked for again."""
        if closer in self.missing:
            return None
        found = self.data.find(closer, position, self.limit)
        if found < 0:
            self.missing.add(closer)
            return None
        return found

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
from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.chunking.items import IS_DIGIT, NUMBER, items
from steadlith_core.chunking.parts import TITLE_LIMIT, BlockKind, Outline
from steadlith_core.chunking.walks import table

if TYPE_CHECKING:
    import numpy.typing as npt

    from steadlith_core.chunking.arena import Arena
    from steadlith_core.chunking.scan import Lines

    Integers = npt.NDArray[np.int64]

ATX = re.compile(rb"#{1,6}(?=[ \t]|\Z)")
FENCE = re.compile(rb"`{3,}(?=[^`]*\Z)|~{3,}")
HTML = re.compile(rb"<!--|</?([A-Za-z][A-Za-z0-9]*)(?=[ \t/>]|\Z)")
MARKER = re.compile(rb"(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t]|\Z)|>")
CLOSING_FENCE = re.compile(rb"[ \t]*(`{3,}|~{3,})")
UNDERLINE = re.compile(rb"\n {0,3}(=+|-+)(?=\n|\Z)")
DELIMITER = re.compile(rb"\n[ \t]*[|:-][ \t|:-]*(?=\n|\Z)")

ATTRIBUTES = re.compile(r"\{:?[ \t]*[#.][^{}]*\}")

VERBATIM_TAGS = re.compile(b"pre|script|style|textarea", re.IGNORECASE)
BLOCK_TAGS = re.compile(
    b"address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    b"fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    b"menuitem|nav|noframes|ol|optgroup|option|p|param|picture|search|section|summary|svg|table|tbody|td|tfoot|th|thead|"
    b"title|tr|track|ul|video",
    re.IGNORECASE,
)

OPENERS = {ord("#"): ATX, ord("`"): FENCE, ord("~"): FENCE, ord("<"): HTML}
"""What a line may open, by the byte behind its indentation."""

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
        self.closing = _closing_fences(arena.data, lines, fences)
        self.limit = 0
        """Where the document ends."""
        self.last = 0
        """The line behind its last."""
        self.missing: set[bytes] = set()
        """Ends that were looked for in the document and are not there."""

    def read(self, wanted: Integers) -> None:
        lines, outline = self.lines, self.outline
        documents = np.searchsorted(lines.bounds, wanted, "right") - 1
        bounds: list[int] = lines.bounds.tolist()
        columns = (wanted, documents, lines.start[wanted], lines.end[wanted], lines.first[wanted], lines.fresh[wanted])
        document = -1
        for line, here, start, end, first, fresh in zip(*(column.tolist() for column in columns), strict=True):
            if line < outline.resume:
                continue
            if here != document:
                document = here
                self.limit, self.last = self.ends[here], bounds[here + 1]
                self.missing.clear()
                outline.document(bounds[here], self.last)
            shallow = first == start or (first - start <= 3 and b"\t" not in self.data[start:first])
            opener = OPENERS.get(self.data[first])
            if opener is not None:
                match = opener.match(self.data, first, end)
                if match is not None:
                    self._opened(opener, match, line, start, end, shallow=shallow)
                    continue
            elif MARKER.match(self.data, first, end):
                continue
            opens = shallow and (fresh or outline.opens(line))
            if not (opens and self._underlined(line, start, end)):
                self._table(line, start, end)

    def _opened(
        self, opener: re.Pattern[bytes], match: re.Match[bytes], line: int, start: int, end: int, *, shallow: bool
    ) -> None:
        if opener is FENCE:
            self._fence(line, match[0])
        elif not shallow:
            return
        elif opener is HTML:
            self._html(line, match.start(), end, match[1])
        elif end - start <= TITLE_LIMIT:
            self.outline.heading(line, line + 1, match.end() - match.start(), _title(self.data[match.end() : end]))

    def _underlined(self, line: int, start: int, end: int) -> bool:
        underline = UNDERLINE.match(self.data, end, self.limit)
        if underline is None or end - start > TITLE_LIMIT:
            return False
        self.outline.heading(line, line + 2, 1 if underline[1][:1] == b"=" else 2, _title(self.data[start:end]))
        return True

    def _table(self, line: int, start: int, end: int) -> None:
        data, limit = self.data, self.limit
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
        close = self.closing[mark[0]].behind(line, len(mark), self.last)
        if close is not None:
            self.outline.block(line, close + 1, BlockKind.FENCE, range(line + 2, close))

    def _html(self, line: int, opener: int, end: int, tag: bytes | None) -> None:
        data, limit = self.data, self.limit
        if tag is None or VERBATIM_TAGS.fullmatch(tag):
            closer, at = (b"-->", opener + len(b"<!--")) if tag is None else (b"</" + tag + b">", opener)
            stop = self._after(closer, at)
            behind = 0 if stop is None else int(np.searchsorted(self.lines.start, stop, "right"))
        elif BLOCK_TAGS.fullmatch(tag):
            blank = data.find(b"\n\n", end, limit)
            behind = line + 1 + data.count(b"\n", opener, limit if blank < 0 else blank)
        else:
            behind = 0
        if behind:
            self.outline.block(line, behind, BlockKind.HTML, range(line + 1, behind - 1))

    def _after(self, closer: bytes, position: int) -> int | None:
        """Start of the first `closer` at or after `position`; one that was not found once is not looked for again."""
        if closer in self.missing:
            return None
        found = self.data.find(closer, position, self.limit)
        if found < 0:
            self.missing.add(closer)
            return None
        return found


def _title(raw: bytes) -> str:
    title = raw.decode().strip(" \t\v\f")
    opening = title.rfind("{")
    if opening >= 0 and ATTRIBUTES.fullmatch(title, opening):
        title = title[:opening].rstrip(" \t")
    bare = title.rstrip("#")
    if not bare or bare[-1] in " \t":
        title = bare.rstrip(" \t")
    return title.strip(" \t\v\f")


class _Fences:
    """Lines that can close fences of one character, and how many of it they have."""

    def __init__(self) -> None:
        self.lines: list[int] = []
        self.sizes: list[int] = []
        self.longest: list[int] = []
        """The greatest size from here to the document's end: so no search is in vain, however many are left open."""

    def behind(self, line: int, size: int, last: int) -> int | None:
        """The first line behind `line` and before `last` that closes a fence opened by `size` of the character."""
        index = bisect_right(self.lines, line)
        if index == len(self.lines) or self.lines[index] >= last or self.longest[index] < size:
            return None
        # A line passed over here is inside the fence and is never asked about again.
        while self.sizes[index] < size:
            index += 1
        return self.lines[index]


def _closing_fences(data: bytes, lines: Lines, fences: Integers) -> dict[int, _Fences]:
    """All closing lines of an arena by their character. O(fences)."""
    found = {ord("`"): _Fences(), ord("~"): _Fences()}
    documents = np.searchsorted(lines.bounds, fences, "right")
    rows = (documents, fences, lines.start[fences], lines.end[fences])
    last, longest = -1, dict.fromkeys(found, 0)
    # Backwards, as the longest are counted from the end of each document.
    for document, line, start, end in zip(*(row[::-1].tolist() for row in rows), strict=True):
        if document != last:
            last, longest = document, dict.fromkeys(found, 0)
        if match := CLOSING_FENCE.fullmatch(data, start, end):
            char, size = data[match.start(1)], match.end(1) - match.start(1)
            longest[char] = max(longest[char], size)
            found[char].lines.append(line)
            found[char].sizes.append(size)
            found[char].longest.append(longest[char])
    for fence in found.values():
        for column in (fence.lines, fence.sizes, fence.longest):
            column.reverse()
    return found

"""Places in a source as people and editors count them: code points, lines and columns, from byte offsets.

A span carries bytes and lines, which cost nothing; these cost a look at the source and are worked out when asked for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\r|\n")


class Position(NamedTuple):
    """A place between two code points of a source.

    `byte` and `code_point` count from 0 at the start of the file, a byte order mark included; `line` and `column` count
    from 1 as editors do, a column being a code point, and the mark none.
    """

    byte: int
    code_point: int
    line: int
    column: int


def positions(content: bytes, offsets: Sequence[int]) -> list[Position]:
    """The position of each byte offset into the UTF-8 source `content`, in any order; one walk over the source.

    Lines end as in `text/1`: LF, CR, or CR LF as one. Raises `ValueError` for an offset outside the source or inside a
    code point.
    """
    found: dict[int, Position] = {}
    at = code_point = looked = 0
    line, column = 1, 1
    for offset in sorted(set(offsets)):
        if not 0 <= offset <= len(content) or (offset < len(content) and content[offset] & 0xC0 == 0x80):
            message = f"offset {offset} is not between two code points of {len(content)} bytes"
            raise ValueError(message)
        # A CR just before the offset may be half of a line end, which is then still ahead.
        stop = offset - 1 if content[offset - 1 : offset + 1] == b"\r\n" else offset
        step = _code_points(content, at, offset)
        column += step - (at < len(BOM) <= offset and content.startswith(BOM))
        ends = [match.end() for match in _LINE_END.finditer(content, looked, stop)]
        if ends:
            line, column = line + len(ends), 1 + _code_points(content, ends[-1], offset)
        code_point += step
        found[offset] = Position(offset, code_point, line, column)
        at, looked = offset, max(looked, stop)
    return [found[offset] for offset in offsets]


def _code_points(content: bytes, start: int, end: int) -> int:
    return len(content[start:end].decode("utf-8", "surrogatepass"))

"""Normaliser `text/0`: source bytes to canonical text, and every canonical position back to source bytes.

1. UTF-8 is decoded strictly; one leading BOM is dropped; CRLF and CR become LF; text is NFC of Unicode 14.0;
   white space at the end of a line is dropped. Nothing else changes: blank lines and indentation stay.
2. White space is exactly space, tab, VT, FF, LF and CR. VT and FF end no line, nor do U+0085 and U+2028.
3. For a trimmed range [a, b) of canonical text that begins and ends at boundaries,
   `fragment(source[span.start:span.end]) == text[a:b]` (invariant 7).
4. The map is monotone and total. A text that is canonical already has a map of one entry, any other one entry for
   each line and each run that NFC replaced.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from steadlith_core.errors import DocumentError
from steadlith_core.records import FindingKind, Span
from steadlith_core.text.composition import changes, is_boundary, is_composed

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NORMALIZER_ID", "WHITE_SPACE", "CanonicalText", "canonicalise", "fragment", "is_boundary", "trim"]

NORMALIZER_ID = "text/0"

INLINE_SPACE = " \t\v\f"
WHITE_SPACE = INLINE_SPACE + "\n\r"

_BOM = "\ufeff"
_LINE_END = re.compile("(\r\n|\r|\n)")


@dataclass(frozen=True, slots=True)
class CanonicalText:
    """The canonical text of a whole document; its body, what is cut into chunks, starts at position `body`.

    From canonical position `_positions[i]` on, source and canonical text are the same bytes, the first of them
    at source offset `_offsets[i]`, until that line or run ends.
    """

    text: str
    body: int = 0
    _positions: Sequence[int] = field(default=(0,), repr=False)
    _offsets: Sequence[int] = field(default=(0,), repr=False)

    def offsets(self, positions: Sequence[int]) -> list[int]:
        """Source byte offsets of ascending canonical positions, in one walk over the text.

        White space that was dropped counts to the line end after it. Where no cut may fall, inside what NFC
        replaced as a whole, an offset is approximate, but never inside a code point.
        """
        found: list[int] = []
        single = self.text.isascii()
        entry, at, offset = 0, 0, self._offsets[0]
        for position in positions:
            if not at <= position <= len(self.text):
                message = f"positions ascend within 0..{len(self.text)}, got {position} after {at}"
                raise ValueError(message)
            last = bisect_right(self._positions, position, entry) - 1
            if last > entry:
                entry, at, offset = last, self._positions[last], self._offsets[last]
            offset += position - at if single else _size(self.text[at:position])
            at = position
            found.append(offset)
        return found

    def spans(self, pieces: Sequence[tuple[int, int]]) -> list[Span]:
        """Where canonical ranges [start, end) stand in the source; all together cost one walk over the text."""
        ends = sorted({position for piece in pieces for position in piece})
        offset = dict(zip(ends, self.offsets(ends), strict=True))
        # The line of a piece's last character, which may be a line end, and not of the character after it.
        touched = sorted({position for start, end in pieces for position in (start, max(start, end - 1))})
        line = dict(zip(touched, self._lines(touched), strict=True))
        return [Span(offset[start], offset[end], line[start], line[max(start, end - 1)]) for start, end in pieces]

    def _lines(self, positions: Sequence[int]) -> list[int]:
        """1-based lines of ascending positions. Source and canonical text have their line ends one for one."""
        found: list[int] = []
        at, line = 0, 1
        for position in positions:
            line += self.text.count("\n", at, position)
            at = position
            found.append(line)
        return found


def canonicalise(content: bytes) -> CanonicalText:
    """The canonical text of a document; `DocumentError` (undecodable) says where it is not UTF-8."""
    text = _decode(content)
    if text.startswith(_BOM):
        return _canonical(text[1:], len(_BOM.encode()))
    return _canonical(text, 0)


def fragment(piece: bytes) -> str:
    """`text/0` of a piece of a document: a BOM stays, and blank lines at both ends are trimmed."""
    return _canonical(_decode(piece), 0).text.strip("\n")


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Narrow a range of canonical text to its fragment: `text[start:end]` is one afterwards, or empty.

    Blank lines go at both ends, and white space at the very end; indentation of the first line stays.
    """
    kept = text[start:end].rstrip(WHITE_SPACE)
    indented = len(kept) - len(kept.lstrip(WHITE_SPACE))
    first = kept.rfind("\n", 0, indented) + 1
    return start + first, start + len(kept)


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"byte offset {error.start} (0x{content[error.start]:02x})"
        raise DocumentError(FindingKind.UNDECODABLE, f"not UTF-8 at {where}; save the file as UTF-8") from None


def _canonical(text: str, offset: int) -> CanonicalText:
    """Canonical text of decoded text, whose first code point stands at source offset `offset`."""
    if _is_canonical(text):
        return CanonicalText(text, 0, (0,), (offset,))
    parts = _LINE_END.split(text)
    lines, line_ends = parts[::2], parts[1::2]
    # White space goes first: it composes with nothing, and NFC makes none. A mark that begins a line belongs to the
    # line end's run; what becomes of that does not depend on the line end.
    kept = [line.rstrip(INLINE_SPACE) for line in lines]
    composed: dict[int, _Composed] = {}
    if not is_composed(text):
        composed = {number: _compose(line) for number, line in enumerate(kept) if not is_composed(line)}
        for number, line in composed.items():
            kept[number] = line.text
    # Every line begins an entry of the map, and every replacement within it one where it is over.
    sizes = (_size(line) + len(line_end) for line, line_end in zip(lines, line_ends, strict=False))
    positions = array("q", accumulate((len(line) + 1 for line in kept[:-1]), initial=0))
    offsets = array("q", accumulate(sizes, initial=offset))
    if composed:
        positions, offsets = _with_replacements(positions, offsets, composed)
    return CanonicalText("\n".join(kept), 0, positions, offsets)


def _is_canonical(text: str) -> bool:
    # A search for one character is much faster than for two, and most texts have no tab, VT or FF at all.
    ragged = any(space in text and space + "\n" in text for space in INLINE_SPACE)
    return not ragged and "\r" not in text and text[-1:] not in tuple(INLINE_SPACE) and is_composed(text)


class _Composed(NamedTuple):
    """A line that NFC changed, and its own entries of the map, counted from its start."""

    text: str
    positions: array[int]
    offsets: array[int]


def _compose(line: str) -> _Composed:
    pieces: list[str] = []
    position, offset, positions, offsets = 0, 0, array("q"), array("q")
    done = 0
    for start, end, new in changes(line):
        same, replaced = line[done:start], line[start:end]
        pieces += (same, new)
        position += len(same)
        offset += _size(same)
        # Inside a replacement one code point stands for one of the source, as long as there are any.
        inner = offset
        for index in range(1, len(new)):
            inner += _size(replaced[index - 1 : index])
            positions.append(position + index)
            offsets.append(inner)
        position += len(new)
        offset += _size(replaced)
        positions.append(position)
        offsets.append(offset)
        done = end
    pieces.append(line[done:])
    return _Composed("".join(pieces), positions, offsets)


def _with_replacements(
    starts: array[int], sources: array[int], composed: dict[int, _Composed]
) -> tuple[array[int], array[int]]:
    """The entries of line starts with those of the composed lines among them."""
    positions, offsets = array("q"), array("q")
    for number, (start, source) in enumerate(zip(starts, sources, strict=True)):
        positions.append(start)
        offsets.append(source)
        if number in composed:
            positions.extend(start + position for position in composed[number].positions)
            offsets.extend(source + offset for offset in composed[number].offsets)
    return positions, offsets


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())

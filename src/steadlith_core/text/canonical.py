"""Normaliser `text/1`: source bytes to canonical text, and every canonical position back to source bytes.

1. UTF-8 is decoded strictly; one leading BOM is dropped; CRLF and CR become LF; text is NFC of Unicode 14.0;
   white space at the end of a line is dropped. Nothing else changes: blank lines and indentation stay.
2. White space is exactly space, tab, VT, FF, LF and CR. VT and FF end no line, nor do U+0085 and U+2028.
3. Canonical text is kept as UTF-8, and a position is a byte offset into it. Most documents are canonical as they
   are: then nothing is copied and the map has one entry; else one for each line and each run that NFC replaced.
4. For a trimmed range [a, b) of canonical text that begins and ends at boundaries,
   `fragment(source[span.start:span.end]) == data[a:b]` (invariant 7).
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
    from collections.abc import Iterator, Sequence

__all__ = ["NORMALIZER_ID", "WHITE_SPACE", "CanonicalText", "canonicalise", "fragment", "is_boundary", "trim"]

NORMALIZER_ID = "text/1"

INLINE_SPACE = b" \t\v\f"
WHITE_SPACE = INLINE_SPACE + b"\n\r"

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"(\r\n|\r|\n)")

LONG = 2048
"""Bytes from which on numpy's start-up per call pays."""

_STRETCH = 1 << 20
"""Bytes decoded at a time: what is decoded takes up to four times its bytes, and is needed for a moment only."""


@dataclass(frozen=True, slots=True)
class CanonicalText:
    """The canonical text of a whole document; its body, what is cut into chunks, starts at position `body`.

    From canonical position `_positions[i]` on, source and canonical text are the same bytes, the first of them
    at source offset `_offsets[i]`, until that line or run ends.
    """

    data: bytes
    body: int = 0
    _positions: Sequence[int] = field(default=(0,), repr=False)
    _offsets: Sequence[int] = field(default=(0,), repr=False)

    @property
    def text(self) -> str:
        """The whole text, decoded anew at every call."""
        return self.data.decode()

    def offset(self, position: int) -> int:
        """The source's byte offset of a canonical position; O(log lines) at most.

        White space that was dropped counts to the line end after it. Where no cut may fall, inside what NFC
        replaced as a whole, an offset is approximate, but never inside a code point.
        """
        if not 0 <= position <= len(self.data):
            message = f"positions lie within 0..{len(self.data)}, got {position}"
            raise ValueError(message)
        entry = bisect_right(self._positions, position) - 1
        return self._offsets[entry] + position - self._positions[entry]

    def spans(self, pieces: Sequence[tuple[int, int]]) -> list[Span]:
        """Where canonical ranges [start, end) stand in the source; all together cost one walk over the text."""
        # The line of a piece's last character, which may be a line end, and not of the character after it.
        touched = sorted({position for start, end in pieces for position in (start, max(start, end - 1))})
        line = dict(zip(touched, self._lines(touched), strict=True))
        return [
            Span(self.offset(start), self.offset(end), line[start], line[max(start, end - 1)]) for start, end in pieces
        ]

    def _lines(self, positions: Sequence[int]) -> list[int]:
        """1-based lines of ascending positions. Source and canonical text have their line ends one for one."""
        found: list[int] = []
        at, line = 0, 1
        for position in positions:
            line += self.data.count(b"\n", at, position)
            at = position
            found.append(line)
        return found


def canonicalise(content: bytes) -> CanonicalText:
    """The canonical text of a document; `DocumentError` (undecodable) says where it is not UTF-8."""
    return _canonical(content, len(_BOM) if content.startswith(_BOM) else 0)


def fragment(piece: bytes) -> str:
    """`text/1` of a piece of a document: a BOM stays, and blank lines at both ends are trimmed."""
    return _canonical(piece, 0).data.strip(b"\n").decode()


def trim(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Narrow a range of canonical text to its fragment: `data[start:end]` is one afterwards, or empty.

    Blank lines go at both ends, and white space at the very end; indentation of the first line stays.
    """
    kept = data[start:end].rstrip(WHITE_SPACE)
    indented = len(kept) - len(kept.lstrip(WHITE_SPACE))
    first = kept.rfind(b"\n", 0, indented) + 1
    return start + first, start + len(kept)


def _canonical(content: bytes, start: int) -> CanonicalText:
    """Canonical text of the bytes from source offset `start` on."""
    # A list on purpose: every stretch is decoded, also after one that has to be composed.
    composed = content.isascii() or all([is_composed(stretch) for stretch in _decoded(content)])  # noqa: C419
    if start:
        content = content[start:]
    if composed and not _is_ragged(content):
        return CanonicalText(content, 0, (0,), (start,))
    parts = _LINE_END.split(content)
    lines, line_ends = parts[::2], parts[1::2]
    # White space goes first: it composes with nothing, and NFC makes none. A mark that begins a line belongs to the
    # line end's run; what becomes of that does not depend on the line end.
    kept = [line.rstrip(INLINE_SPACE) for line in lines]
    replaced: dict[int, _Composed] = {}
    if not composed:
        for number, line in enumerate(kept):
            if not line.isascii() and not is_composed(text := line.decode()):
                replaced[number] = _compose(text)
                kept[number] = replaced[number].data
    # Every line begins an entry of the map, and every replacement within it one where it is over.
    sizes = (len(line) + len(line_end) for line, line_end in zip(lines, line_ends, strict=False))
    positions = array("q", accumulate((len(line) + 1 for line in kept[:-1]), initial=0))
    offsets = array("q", accumulate(sizes, initial=start))
    if replaced:
        positions, offsets = _with_replacements(positions, offsets, replaced)
    return CanonicalText(b"\n".join(kept), 0, positions, offsets)


def _decoded(content: bytes) -> Iterator[str]:
    """All of `content` as text, in stretches that end with a line feed, which composes with nothing."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start + _STRETCH) + 1 or len(content)
        try:
            yield content[start:end].decode("utf-8")
        except UnicodeDecodeError as error:
            at = start + error.start
            where = f"byte offset {at} (0x{content[at]:02x})"
            raise DocumentError(FindingKind.UNDECODABLE, f"not UTF-8 at {where}; save the file as UTF-8") from None
        start = end


def _is_ragged(content: bytes) -> bool:
    """Whether a line end is not LF, or white space stands before one."""
    # A search for one byte costs next to nothing, one for two a good deal.
    if b"\r" in content or content[-1:] in (b" ", b"\t", b"\v", b"\f"):
        return True
    if len(content) < LONG:
        return any(space in content and bytes((space, 10)) in content for space in INLINE_SPACE)
    import numpy as np

    raw = np.frombuffer(content, dtype=np.uint8)
    before = raw.take((raw[1:] == 10).nonzero()[0])
    # Before a line feed stands a line feed, a byte above the space, or, in few texts, what has to be looked at.
    return bool(((before < 33) & (before != 10)).any()) and any(bytes((space, 10)) in content for space in INLINE_SPACE)


class _Composed(NamedTuple):
    """A line that NFC changed, and its own entries of the map, counted from its start."""

    data: bytes
    positions: array[int]
    offsets: array[int]


def _compose(line: str) -> _Composed:
    pieces: list[str] = []
    position, offset, positions, offsets = 0, 0, array("q"), array("q")
    done = 0
    for start, end, new in changes(line):
        same, replaced = line[done:start], line[start:end]
        pieces += (same, new)
        position += _size(same)
        offset += _size(same)
        # Inside a replacement one code point stands for one of the source, as long as there are any.
        inner, at = offset, position
        for index in range(1, len(new)):
            inner += _size(replaced[index - 1 : index])
            at += _size(new[index - 1])
            positions.append(at)
            offsets.append(inner)
        position += _size(new)
        offset += _size(replaced)
        positions.append(position)
        offsets.append(offset)
        done = end
    pieces.append(line[done:])
    return _Composed("".join(pieces).encode(), positions, offsets)


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

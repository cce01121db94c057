"""Where chunks that another program cut stand in the source as it is today.

1. Texts are compared without white space: splitters strip it, fold it, and join lines.
2. Chunks may overlap. Each is looked for from where the one before began, and before that only if it is not there.
3. A chunk that is not found stands nowhere: bytes 0 to 0, line 0.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from steadlith_core.records import Span
from steadlith_core.text.canonical import canonicalise
from steadlith_core.text.composition import composed

if TYPE_CHECKING:
    from collections.abc import Sequence

NOWHERE = Span(0, 0, 0, 0)
_WORD = re.compile(r"\S+")


def find(content: bytes, texts: Sequence[str]) -> list[Span]:
    """The span of each text in the source's bytes. Raises `DocumentError` for bytes that are no text."""
    canonical = canonicalise(content)
    solid = _Solid(canonical.text)
    found: list[tuple[int, int] | None] = []
    start = 0
    for text in texts:
        wanted = "".join(composed(text).split())
        at = solid.text.find(wanted, start)
        if at < 0:
            at = solid.text.find(wanted)
        if at < 0 or not wanted:
            found.append(None)
            continue
        start = at
        found.append((solid.offset(at), solid.offset(at + len(wanted) - 1, after=True)))
    spans = iter(canonical.spans([place for place in found if place is not None]))
    return [NOWHERE if place is None else next(spans) for place in found]


class _Solid:
    """A text without white space, and the way back to byte offsets in the whole."""

    def __init__(self, whole: str) -> None:
        self._whole = whole
        self._starts: list[int] = []  # where each word starts in `text`
        self._words: list[tuple[int, int]] = []  # and in the whole: code points, bytes
        words: list[str] = []
        size = read = read_bytes = 0
        for match in _WORD.finditer(whole):
            read_bytes += len(whole[read : match.start()].encode())
            read = match.start()
            self._starts.append(size)
            self._words.append((read, read_bytes))
            words.append(match[0])
            size += len(match[0])
        self.text = "".join(words)

    def offset(self, position: int, *, after: bool = False) -> int:
        """The byte offset of a code point of `text` in the whole, or that of its end."""
        word = bisect_right(self._starts, position) - 1
        code_point, offset = self._words[word]
        inside = position - self._starts[word] + after
        return offset + len(self._whole[code_point : code_point + inside].encode())

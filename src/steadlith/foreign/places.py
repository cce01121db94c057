"""Where chunks that another program cut stand in the source as it is today.

1. Texts are compared without white space: splitters strip it, fold it, and join lines.
2. Chunks may overlap. Each is looked for behind the beginning of the one before, and elsewhere only if it is not there.
3. A chunk that is not found stands nowhere: bytes 0 to 0, line 0.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from steadlith_core.records import Span
from steadlith_core.text.canonical import canonicalise
from steadlith_core.text.composition import composed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        start = at + 1
        found.append((solid.offset(at), solid.offset(at + len(wanted) - 1, after=True)))
    spans = iter(canonical.spans([place for place in found if place is not None]))
    return [NOWHERE if place is None else next(spans) for place in found]


class _Solid:
    """A text without white space, and the way back to byte offsets in the whole."""

    def __init__(self, whole: str) -> None:
        words = whole.split()
        self.text = "".join(words)
        self._whole = whole
        self._starts = list(accumulate(map(len, words), initial=0))  # where each word starts in `text`
        self._code_points = [match.start() for match in _WORD.finditer(whole)]  # and in the whole
        self._bytes = self._code_points if whole.isascii() else list(self._offsets())

    def _offsets(self) -> Iterator[int]:
        stretches = pairwise([0, *self._code_points])
        return accumulate(len(self._whole[start:end].encode()) for start, end in stretches)

    def offset(self, position: int, *, after: bool = False) -> int:
        """The byte offset of a code point of `text` in the whole, or that of its end."""
        word = bisect_right(self._starts, position) - 1
        start = self._code_points[word]
        inside = position - self._starts[word] + after
        return self._bytes[word] + len(self._whole[start : start + inside].encode())

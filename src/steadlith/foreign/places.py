"""Where chunks that another program cut stand in the source as it is today.

1. Texts are compared without white space: splitters strip it, fold it, and join lines.
2. Chunks may overlap. Each is looked for behind the beginning of the one before, and elsewhere only if it is not there.
3. A chunk that is not found stands nowhere: bytes 0 to 0, line 0.
4. Words of the source that stand in no chunk are counted, but for front matter: the source grew, or chunks are missing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from steadlith_core.errors import DocumentError
from steadlith_core.records import Format, Span
from steadlith_core.text import document
from steadlith_core.text.canonical import canonicalise
from steadlith_core.text.composition import composed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steadlith_core.text.canonical import CanonicalText

NOWHERE = Span(0, 0, 0, 0)
_WORD = re.compile(r"\S+")


class Places(NamedTuple):
    """The span of each text, and how many words of the source are in none of them."""

    spans: list[Span]
    missed: int


def find(content: bytes, texts: Sequence[str], format: Format = Format.TEXT) -> Places:  # noqa: A002
    """Where each text stands in the source's bytes. Raises `DocumentError` for bytes that are no text."""
    canonical = _read(content, format)
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
        found.append((at, at + len(wanted)))
    there = [place for place in found if place is not None]
    spans = iter(canonical.spans([(solid.offset(at), solid.offset(end - 1, after=True)) for at, end in there]))
    missed = solid.missed(there, canonical.body)
    return Places([NOWHERE if place is None else next(spans) for place in found], missed)


def _read(content: bytes, format: Format) -> CanonicalText:  # noqa: A002
    try:
        return document.read(content, format, ())[0]
    except DocumentError:  # front matter that we cannot read is text to whoever cut it
        return canonicalise(content)


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

    def missed(self, places: Iterable[tuple[int, int]], body: int) -> int:
        """How many words from byte `body` of the whole on are not all in these places of `text`."""
        covered = [0]
        ends = [0]
        for start, end in sorted(places):
            if start > ends[-1]:
                covered.append(start)
                ends.append(end)
            else:
                ends[-1] = max(ends[-1], end)
        words = zip(pairwise(self._starts), self._bytes, strict=True)
        return sum(end > ends[bisect_right(covered, start) - 1] for (start, end), offset in words if offset >= body)

    def offset(self, position: int, *, after: bool = False) -> int:
        """The byte offset of a code point of `text` in the whole, or that of its end."""
        word = bisect_right(self._starts, position) - 1
        start = self._code_points[word]
        inside = position - self._starts[word] + after
        return self._bytes[word] + len(self._whole[start : start + inside].encode())

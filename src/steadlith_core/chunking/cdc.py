"""The policy `cdc/1`: content-defined chunking by a rolling hash over words, with two thresholds and two divisors.

1. From `min_words` on, the first word whose window's fingerprint the divisor divides ends the chunk.
2. Where none comes up to the maximum, the last one that the backup divisor divides does; where there is none either,
   the maximum. The last chunk is what is left, and may be smaller than the minimum.
3. `snap_words` moves a cut to the nearest paragraph within so many words, else the nearest sentence, both inside
   [minimum, maximum]; of two that are equally near, the earlier.
4. A chunk has at most `max_bytes` bytes too, which may end it before the minimum.
5. A word's symbol says whether it begins a paragraph; indentation and single line breaks make no difference.

Two thresholds, two divisors: Eshghi and Tang, A framework for analyzing and improving content-based chunking
algorithms, HP Laboratories, HPL-2005-30. A cut depends on the one before it, so an edit moves cuts until an old one is
met again by chance; the default policy, `structural`, has no such chain.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from steadlith_core.chunking.pieces import Piece, emit, findings
from steadlith_core.chunking.settings import MAX_SECTIONS, PolicyFactory, at_least, byte_cap, check_sections
from steadlith_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.chunking.words import Words
    from steadlith_core.policies import ChunkerFactory
    from steadlith_core.records import Chunk, Finding, Format
    from steadlith_core.text.canonical import CanonicalText

POLICY_ID = "cdc/1"

MIN_WORDS = 180
MAX_WORDS = 640
WINDOW_WORDS = 8
"""steadlith 1.0 has 48. Any edit in the window moves the cut, and measured on real edits a short one loses fewer."""

DIVISOR = 256
BACKUP_DIVISOR = 64

PARAGRAPH = 0xA24BAED4963EE407
"""Added to the symbol of a word that begins a paragraph."""


class Marks(NamedTuple):
    """Words before which a cut may fall: by divisor, by backup divisor; and the breaks to snap to, best first."""

    primary: Sequence[int]
    backup: Sequence[int]
    breaks: tuple[Sequence[int], ...]


@dataclass(frozen=True, slots=True)
class CdcChunker:
    """Chunks of `min_words` to `max_words` words, about `min_words` + `divisor` on average."""

    min_words: int = MIN_WORDS
    max_words: int = MAX_WORDS
    window_words: int = WINDOW_WORDS
    divisor: int = DIVISOR
    backup_divisor: int = BACKUP_DIVISOR
    snap_words: int = 0
    max_bytes: int | None = None
    max_sections: int = MAX_SECTIONS

    def __post_init__(self) -> None:
        at_least("min_words", self.min_words, 1, "a chunk has a word")
        at_least("max_words", self.max_words, self.min_words + 1, "more than min_words, or there is nothing to choose")
        at_least("window_words", self.window_words, 1, "a fingerprint is of a word")
        at_least("backup_divisor", self.backup_divisor, 1, "and 1 takes any word")
        at_least("snap_words", self.snap_words, 0, "and 0 is no snapping")
        if self.divisor <= self.backup_divisor:
            raise ConfigError(
                f"divisor = {self.divisor}: more than backup_divisor = {self.backup_divisor} is needed, "
                "or the backup would be the rarer of the two"
            )
        byte_cap(self.max_bytes, "max_words", self.max_words)
        check_sections(self.max_sections)

    @property
    def id(self) -> str:
        """Versioned name of the policy."""
        return POLICY_ID

    @property
    def params(self) -> Mapping[str, int | str | bool]:
        """Sizes, window and divisors; how far cuts are snapped only if they are."""
        return {
            "backup_divisor": self.backup_divisor,
            "divisor": self.divisor,
            "max_bytes": self._cap,
            "max_words": self.max_words,
            "min_words": self.min_words,
            "window_words": self.window_words,
            **({"snap_words": self.snap_words} if self.snap_words else {}),
        }

    @property
    def _cap(self) -> int:
        return byte_cap(self.max_bytes, "max_words", self.max_words)

    def cut(self, text: CanonicalText, format: Format) -> tuple[tuple[Chunk, ...], tuple[Finding, ...]]:  # noqa: A002, ARG002
        """The chunks of a document's body. O(bytes), vectorised; raises `DocumentError` (too_many_sections)."""
        from steadlith_core.chunking import words
        from steadlith_core.chunking.breaks import level

        found = words.read(text.data, text.body, self._cap)
        pieces = (Piece(*found.range(first, last), level(found, first)) for first, last in self._chunks(found))
        return emit(text, pieces, self.max_sections), findings(found, self._cap)

    def _chunks(self, words: Words) -> Iterator[tuple[int, int]]:
        """Word ranges [first, last), in order, without a gap."""
        count = len(words)
        marks = self._marks(words)
        start = 0
        while start < count:
            limit = min(start + self.max_words, words.within(start, self._cap))
            end = self._end(marks, start, limit, count)
            yield start, end
            start = end

    def _marks(self, words: Words) -> Marks:
        import numpy as np

        from steadlith_core.chunking.breaks import paragraphs, sentences
        from steadlith_core.chunking.rolling import fingerprints, symbols

        named = symbols(words.data, words.heads, words.ends)
        begun = paragraphs(words)
        named[begun] += np.uint64(PARAGRAPH)
        prints = fingerprints(named, self.window_words)
        primary, backup = (
            (np.flatnonzero(prints % np.uint64(divisor) == 0) + 1).tolist()
            for divisor in (self.divisor, self.backup_divisor)
        )
        return Marks(primary, backup, (begun.tolist(), sentences(words).tolist()) if self.snap_words else ())

    def _end(self, marks: Marks, start: int, limit: int, count: int) -> int:
        """Where the chunk that begins at word `start` ends; it can have no word from `limit` on."""
        least = start + self.min_words
        at = bisect_left(marks.primary, least)
        if at < len(marks.primary) and marks.primary[at] <= limit:
            end = marks.primary[at]
        elif limit == count:
            return count
        else:
            at = bisect_right(marks.backup, limit)
            end = marks.backup[at - 1] if at and marks.backup[at - 1] >= least else limit
        for breaks in marks.breaks:
            low, high = max(least, end - self.snap_words), min(limit, end + self.snap_words)
            near = breaks[bisect_left(breaks, low) : bisect_right(breaks, high)]
            if near:
                return min(near, key=lambda place: (abs(place - end), place))
        return end


FACTORY: ChunkerFactory = PolicyFactory(
    POLICY_ID,
    CdcChunker,
    (
        *("min_words", "max_words", "window_words", "divisor", "backup_divisor", "snap_words"),
        *("max_bytes", "max_sections"),
    ),
)

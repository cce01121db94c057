"""The policies `fixed`, `word`, `sentence` and `recursive`: pieces as large as needed, packed greedily.

1. They differ in where they may cut (`LADDERS`): at the strongest breaks first, at weaker ones only inside what is
   still too large. Every ladder ends with words, so no chunk is larger than `target_words` + `overlap_words`.
2. Without an overlap the chunks follow each other; with one they share words, and their spans overlap as they do.
3. These are baselines. Every cut depends on all before it, so an edit moves all cuts behind it: `structural` and `cdc`
   are the policies whose cuts stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from steadlith_core.chunking.parts import Level
from steadlith_core.chunking.pieces import Piece, emit, findings
from steadlith_core.chunking.settings import (
    MAX_SECTIONS,
    PolicyFactory,
    at_least,
    byte_cap,
    check_overlap,
    check_sections,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith_core.chunking.words import Words
    from steadlith_core.policies import ChunkerFactory
    from steadlith_core.records import Chunk, Finding, Format
    from steadlith_core.text.canonical import CanonicalText

LADDERS: Mapping[str, tuple[Level, ...]] = {
    "fixed/1": (Level.WORD,),
    "word/1": (Level.WORD,),
    "sentence/1": (Level.SENTENCE, Level.WORD),
    "recursive/1": (Level.PARAGRAPH, Level.LINE, Level.SENTENCE, Level.WORD),
}
"""What each policy tries to cut at, strongest first."""

MAX_WORDS = 320
TARGET_WORDS = 120
OVERLAP_WORDS = 24


@dataclass(frozen=True, slots=True)
class PackedChunker:
    """Chunks of about `target_words` words; each after the first begins `overlap_words` before the end of the last."""

    id: str
    target_words: int
    overlap_words: int = 0
    max_bytes: int | None = None
    max_sections: int = MAX_SECTIONS

    def __post_init__(self) -> None:
        key = self._size_key
        at_least(key, self.target_words, 1, "a chunk has a word")
        check_overlap("overlap_words", self.overlap_words, key, self.target_words)
        byte_cap(self.max_bytes, key, self.target_words)
        check_sections(self.max_sections)

    @property
    def params(self) -> Mapping[str, int | str | bool]:
        """The sizes; `fixed` has no overlap, and calls its size a maximum."""
        overlap = {} if self.id == "fixed/1" else {"overlap_words": self.overlap_words}
        return {"max_bytes": self._cap, **overlap, self._size_key: self.target_words}

    @property
    def _size_key(self) -> str:
        return "max_words" if self.id == "fixed/1" else "target_words"

    @property
    def _cap(self) -> int:
        return byte_cap(self.max_bytes, self._size_key, self.target_words)

    def cut(self, text: CanonicalText, format: Format) -> tuple[tuple[Chunk, ...], tuple[Finding, ...]]:  # noqa: A002, ARG002
        """The chunks of a document's body. O(bytes of all chunks); raises `DocumentError` (too_many_sections)."""
        from steadlith_core.chunking import words

        found = words.read(text.data, text.body, self._cap)
        return emit(text, self._pieces(found), self.max_sections), findings(found, self._cap)

    def _pieces(self, words: Words) -> Iterator[Piece]:
        import numpy as np

        from steadlith_core.chunking.breaks import FINDERS, level
        from steadlith_core.chunking.packing import pack, refine

        if not len(words):
            return
        breaks = (FINDERS[rung](words) for rung in LADDERS[self.id])
        bounds = refine(words, np.array([0, len(words)]), breaks, self.target_words, self._cap)
        for first, last in pack(words, bounds, self.target_words, self.overlap_words, self._cap):
            yield Piece(*words.range(first, last), level(words, first))


def fixed(max_words: int = MAX_WORDS, max_bytes: int | None = None, max_sections: int = MAX_SECTIONS) -> PackedChunker:
    """Chunks of exactly `max_words` words, the last one shorter."""
    return PackedChunker("fixed/1", max_words, 0, max_bytes, max_sections)


def _overlapping(
    policy: str,
    target_words: int = TARGET_WORDS,
    overlap_words: int = OVERLAP_WORDS,
    max_bytes: int | None = None,
    max_sections: int = MAX_SECTIONS,
) -> PackedChunker:
    """As the system that these policies come from reads its sizes: without a target both defaults, and an impossible
    overlap is a quarter of the target.
    """
    if target_words <= 0:
        target_words, overlap_words = TARGET_WORDS, OVERLAP_WORDS
    if not 0 <= overlap_words < target_words:
        overlap_words = target_words // 4
    return PackedChunker(policy, target_words, overlap_words, max_bytes, max_sections)


word = partial(_overlapping, "word/1")
"""Windows of `target_words` words, each a step of `target_words` - `overlap_words` further; the last ends the text."""

sentence = partial(_overlapping, "sentence/1")
"""Whole sentences, as many as fit; one that alone is too long is cut at words."""

recursive = partial(_overlapping, "recursive/1")
"""Whole paragraphs, as many as fit; what is too long falls into lines, sentences, words."""

_KEYS = ("target_words", "overlap_words", "max_bytes", "max_sections")

FIXED: ChunkerFactory = PolicyFactory("fixed/1", fixed, ("max_words", "max_bytes", "max_sections"))
WORD: ChunkerFactory = PolicyFactory("word/1", word, _KEYS)
SENTENCE: ChunkerFactory = PolicyFactory("sentence/1", sentence, _KEYS)
RECURSIVE: ChunkerFactory = PolicyFactory("recursive/1", recursive, _KEYS)

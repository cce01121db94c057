"""The policy `semantic`: sentences that share words stay together.

1. Two neighbouring sentences belong together if the Jaccard similarity of their sets of words is at least
   `similarity_percent`: what both have, in hundredths of what either has. It is lexical: no model is asked.
2. Words are compared without ASCII punctuation and the case of ASCII letters. Two sentences without any word belong
   together.
3. A group under `min_words` words goes on to the next place where one could end; one over `max_words` words or
   `max_bytes` bytes is packed as by `sentence`, without overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from string import punctuation
from typing import TYPE_CHECKING

from steadlith_core.chunking.pieces import Piece, emit, findings
from steadlith_core.chunking.settings import MAX_SECTIONS, PolicyFactory, at_least, byte_cap, check_sections
from steadlith_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.chunking.words import Integers, Words
    from steadlith_core.policies import ChunkerFactory
    from steadlith_core.records import Chunk, Finding, Format
    from steadlith_core.text.canonical import CanonicalText

POLICY_ID = "semantic/1"

SIMILARITY_PERCENT = 15
MIN_WORDS = 180
MAX_WORDS = 640

BARE = bytes.maketrans(punctuation.encode(), b" " * len(punctuation))


@dataclass(frozen=True, slots=True)
class SemanticChunker:
    """Groups of similar neighbouring sentences of `min_words` to `max_words` words; the last may be smaller."""

    similarity_percent: int = SIMILARITY_PERCENT
    min_words: int = MIN_WORDS
    max_words: int = MAX_WORDS
    max_bytes: int | None = None
    max_sections: int = MAX_SECTIONS

    def __post_init__(self) -> None:
        if not 0 <= self.similarity_percent <= 100:
            raise ConfigError(f"similarity_percent = {self.similarity_percent}: a whole number from 0 to 100 is needed")
        at_least("min_words", self.min_words, 1, "a chunk has a word")
        at_least("max_words", self.max_words, self.min_words, "which is min_words")
        byte_cap(self.max_bytes, "max_words", self.max_words)
        check_sections(self.max_sections)

    @property
    def id(self) -> str:
        """Versioned name of the policy."""
        return POLICY_ID

    @property
    def params(self) -> Mapping[str, int | str | bool]:
        """The threshold and the sizes."""
        return {
            "max_bytes": self._cap,
            "max_words": self.max_words,
            "min_words": self.min_words,
            "similarity_percent": self.similarity_percent,
        }

    @property
    def _cap(self) -> int:
        return byte_cap(self.max_bytes, "max_words", self.max_words)

    def cut(self, text: CanonicalText, format: Format) -> tuple[tuple[Chunk, ...], tuple[Finding, ...]]:  # noqa: A002, ARG002
        """The chunks of a document's body. O(bytes); raises `DocumentError` (too_many_sections)."""
        from steadlith_core.chunking import words

        found = words.read(text.data, text.body, self._cap)
        return emit(text, self._pieces(found, text.body), self.max_sections), findings(found, self._cap)

    def _pieces(self, words: Words, body: int) -> Iterator[Piece]:
        import numpy as np

        from steadlith_core.chunking.breaks import all_words, level, sentences
        from steadlith_core.chunking.packing import pack, refine

        if not len(words):
            return
        bounds = np.append(sentences(words), len(words))
        for group in self._groups(words, bounds, body):
            inner = bounds[np.searchsorted(bounds, group[0]) : np.searchsorted(bounds, group[1]) + 1]
            inner = refine(words, inner, (all_words(words),), self.max_words, self._cap)
            for first, last in pack(words, inner, self.max_words, 0, self._cap):
                yield Piece(*words.range(first, last), level(words, first))

    def _groups(self, words: Words, bounds: Integers, body: int) -> Iterator[tuple[int, int]]:
        terms = _terms(words.data, body, words.starts[bounds[:-1]].tolist())
        start = 0
        for bound, (before, behind) in zip(bounds[1:-1].tolist(), pairwise(terms), strict=True):
            if bound - start >= self.min_words and not self._alike(before, behind):
                yield start, bound
                start = bound
        yield start, len(words)

    def _alike(self, one: frozenset[int], other: frozenset[int]) -> bool:
        shared = len(one & other)
        return 100 * shared >= self.similarity_percent * (len(one) + len(other) - shared)


def _terms(data: bytes, body: int, starts: Sequence[int]) -> list[frozenset[int]]:
    """The set of words of every sentence, by where the sentences start; a word stands as its 64-bit symbol."""
    import numpy as np

    from steadlith_core.chunking import words
    from steadlith_core.chunking.rolling import symbols

    folded = words.read(data.lower().translate(BARE), body, len(data) + 3 * words.LONG)
    named = symbols(folded.data, folded.heads, folded.ends).tolist()
    firsts = np.searchsorted(folded.heads, starts).tolist()
    return [frozenset(named[first:last]) for first, last in pairwise((*firsts, len(named)))]


FACTORY: ChunkerFactory = PolicyFactory(
    POLICY_ID, SemanticChunker, ("similarity_percent", "min_words", "max_words", "max_bytes", "max_sections")
)

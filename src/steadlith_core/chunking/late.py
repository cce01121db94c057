"""The policy `late`: sections are kept as parents, and their parts are what is embedded.

1. A parent is a section's body (of the policy `markdown`), cut at `parent_max_words` without overlap if that is not 0.
2. Its children are windows of `child_max_words` that share `child_overlap_words`. They follow it and name its index.
3. A parent is never embedded. A section that would have one child only is an ordinary chunk.
4. `max_sections` counts parents and children.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_core.chunking.pieces import Piece, emit, findings
from steadlith_core.chunking.sections import ranges, split
from steadlith_core.chunking.settings import (
    MAX_SECTIONS,
    PolicyFactory,
    at_least,
    byte_cap,
    check_overlap,
    check_sections,
)
from steadlith_core.chunking.topology import checked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith_core.chunking.sections import Range
    from steadlith_core.chunking.words import Words
    from steadlith_core.policies import ChunkerFactory
    from steadlith_core.records import Chunk, Finding, Format
    from steadlith_core.text.canonical import CanonicalText

POLICY_ID = "late/1"


@dataclass(frozen=True, slots=True)
class LateChunker:
    """Parents that are stored, and children of at most `child_max_words` words and `max_bytes` bytes that are embedded.

    A parent is as large as its section, or has at most `parent_max_words` words.
    """

    child_max_words: int = 0
    child_overlap_words: int = 0
    parent_max_words: int = 0
    max_bytes: int | None = None
    max_sections: int = MAX_SECTIONS

    def __post_init__(self) -> None:
        at_least("child_max_words", self.child_max_words, 1, f"the {POLICY_ID} chunker has no default for it")
        check_overlap("child_overlap_words", self.child_overlap_words, "child_max_words", self.child_max_words)
        at_least("parent_max_words", self.parent_max_words, 0, "and 0 keeps every section whole")
        byte_cap(self.max_bytes, "child_max_words", self.child_max_words)
        check_sections(self.max_sections)

    @property
    def id(self) -> str:
        """Versioned name of the policy."""
        return POLICY_ID

    @property
    def params(self) -> Mapping[str, int | str | bool]:
        """The sizes of children, and of parents if they are cut."""
        parents = {"parent_max_words": self.parent_max_words} if self.parent_max_words else {}
        return {
            "child_max_words": self.child_max_words,
            "child_overlap_words": self.child_overlap_words,
            "max_bytes": self._cap,
            **parents,
        }

    @property
    def _cap(self) -> int:
        return byte_cap(self.max_bytes, "child_max_words", self.child_max_words)

    def cut(self, text: CanonicalText, format: Format) -> tuple[tuple[Chunk, ...], tuple[Finding, ...]]:  # noqa: A002
        """Parents, each followed by its children. O(bytes of all); raises `DocumentError` (too_many_sections)."""
        from steadlith_core.chunking import outline, words

        found = words.read(text.data, text.body, self._cap)
        sections = ranges(found, outline.read(text, format))
        # A parent's bytes are bounded by its words alone: it is no model's input.
        parents = (part for whole in sections for part in split(found, whole, self.parent_max_words, 0, len(text.data)))
        chunks = emit(text, self._family(found, parents), self.max_sections)
        return checked(self.id, chunks), findings(found, self._cap)

    def _family(self, words: Words, parents: Iterator[Range]) -> Iterator[Piece]:
        index = 0
        for parent in parents:
            children = split(words, parent, self.child_max_words, self.child_overlap_words, self._cap)
            first = next(children)
            alone = first.last == parent.last
            yield _piece(words, parent)._replace(embed=alone)
            above, index = index, index + 1
            if not alone:
                for child in (first, *children):
                    yield _piece(words, child)._replace(parent=above)
                    index += 1


def _piece(words: Words, part: Range) -> Piece:
    return Piece(*words.range(part.first, part.last), part.level, part.headings)


FACTORY: ChunkerFactory = PolicyFactory(
    POLICY_ID,
    LateChunker,
    ("child_max_words", "child_overlap_words", "parent_max_words", "max_bytes", "max_sections"),
)

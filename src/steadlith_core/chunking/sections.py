"""The policies `markdown` and `plain`: a chunk for each section's body, large ones split into windows of words.

1. A section is what stands between two headings; its chunk is the body alone, and its headings are the path above it.
   A section without a body has no chunk and stays in the paths below it. A document of headings only is one section.
2. A section over `max_words` becomes windows that share `overlap_words`; `max_words` = 0 leaves every section whole.
3. With `atomic`, a table, a fence or a literal block is a piece of its own, of any size, and the prose around it is
   split without it. The nearest line before a table is its caption: it begins the table's piece and stays in the prose.
4. `plain` reads no headings: the body is one section, headed by nothing but the document's title.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from steadlith_core.chunking.parts import BlockKind, Level
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
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.chunking.outline import Block, Outline, Section
    from steadlith_core.chunking.words import Words
    from steadlith_core.policies import ChunkerFactory
    from steadlith_core.records import Chunk, Finding, Format
    from steadlith_core.text.canonical import CanonicalText

MAX_WORDS = 320


class Range(NamedTuple):
    """Words [first, last) that become one piece, or are split into windows unless `whole`."""

    first: int
    last: int
    level: Level
    headings: tuple[str, ...]
    whole: bool = False


def ranges(words: Words, outline: Outline, *, atomic: bool = False) -> Iterator[Range]:
    """The sections of a document that have a body, in order; with `atomic`, their blocks and what is between."""
    found = False
    for section in outline.sections:
        first, last = _first(words, section), words.index(section.end)
        if first < last:
            found = True
            whole = Range(first, last, section.level, section.path)
            low, high = (bisect_left(outline.blocks, edge, key=_start) for edge in (section.body, section.end))
            yield from _around(words, whole, outline.blocks[low:high] if atomic else ())
    if not found and len(words):
        headed = next((section for section in outline.sections if section.rank), outline.sections[0])
        yield Range(0, len(words), headed.level, ())


def _first(words: Words, section: Section) -> int:
    """The first word of a section's body; that of its heading if no cut may stand between the two."""
    from steadlith_core.chunking.words import SPACES

    first = words.index(section.body)
    shared = words.data[section.body : int(words.ends[first - 1])] if first else b""
    return first if SPACES.issuperset(shared.decode()) else words.index(section.start)


def _start(block: Block) -> int:
    return block.start


def _around(words: Words, section: Range, blocks: Sequence[Block]) -> Iterator[Range]:
    """The blocks of a section and the prose before, between and behind them, in the order of their starts."""
    done = section.first
    for block in blocks:
        first, last = max(done, words.index(block.start)), min(section.last, words.index(block.end))
        if first >= last:
            continue
        start = first
        if block.kind is BlockKind.TABLE and first > done:
            line = words.data.rfind(b"\n", 0, int(words.heads[first - 1])) + 1
            start = max(done, words.index(line))
        yield from _prose(words, section, done, first)
        yield Range(start, last, _level(words, section, start), section.headings, whole=True)
        done = last
    yield from _prose(words, section, done, section.last)


def _prose(words: Words, section: Range, first: int, last: int) -> Iterator[Range]:
    if first < last:
        yield Range(first, last, _level(words, section, first), section.headings)


def _level(words: Words, section: Range, index: int) -> Level:
    from steadlith_core.chunking.breaks import level

    return section.level if index == section.first else level(words, index)


def split(words: Words, part: Range, max_words: int, overlap_words: int, cap: int) -> Iterator[Range]:
    """The windows of a range; the range itself if it is to stay whole, or without a maximum."""
    from steadlith_core.chunking.breaks import level
    from steadlith_core.chunking.packing import windows

    for first, last in windows(words, part.first, part.last, 0 if part.whole else max_words, overlap_words, cap):
        yield part._replace(first=first, last=last, level=part.level if first == part.first else level(words, first))


@dataclass(frozen=True, slots=True)
class SectionChunker:
    """Sections, and windows of at most `max_words` words of what is larger; the policies `markdown` and `plain`."""

    id: str
    max_words: int = MAX_WORDS
    overlap_words: int = 0
    max_bytes: int | None = None
    atomic: bool = False
    max_sections: int = MAX_SECTIONS

    def __post_init__(self) -> None:
        at_least("max_words", self.max_words, 0, "and 0 leaves every section whole")
        check_overlap("overlap_words", self.overlap_words, "max_words", self.max_words)
        byte_cap(self.max_bytes, "max_words", self.max_words)
        check_sections(self.max_sections)

    @property
    def params(self) -> Mapping[str, int | str | bool]:
        """The sizes of the windows if there are any, and whether blocks are atomic if they are."""
        sizes = {"max_bytes": self._cap, "max_words": self.max_words, "overlap_words": self.overlap_words}
        return {**({"atomic": True} if self.atomic else {}), **(sizes if self.max_words else {})}

    @property
    def _cap(self) -> int:
        return byte_cap(self.max_bytes, "max_words", self.max_words)

    def cut(self, text: CanonicalText, format: Format) -> tuple[tuple[Chunk, ...], tuple[Finding, ...]]:  # noqa: A002
        """The chunks of a document's body. O(bytes of all chunks); raises `DocumentError` (too_many_sections)."""
        from steadlith_core.chunking import outline, words

        cap = self._cap if self.max_words else len(text.data) + words.LONG
        found = words.read(text.data, text.body, cap)
        sections = outline.undivided(text) if self.id == "plain/1" else outline.read(text, format)
        pieces = (
            Piece(*found.range(part.first, part.last), part.level, part.headings)
            for whole in ranges(found, sections, atomic=self.atomic)
            for part in split(found, whole, self.max_words, self.overlap_words, cap)
        )
        return emit(text, pieces, self.max_sections), findings(found, cap)


def markdown(
    max_words: int = MAX_WORDS,
    overlap_words: int = 0,
    max_bytes: int | None = None,
    max_sections: int = MAX_SECTIONS,
    *,
    atomic: bool = False,
) -> SectionChunker:
    """Sections by heading, of every format that has headings."""
    return SectionChunker("markdown/1", max_words, overlap_words, max_bytes, atomic, max_sections)


def plain(
    max_words: int = MAX_WORDS,
    overlap_words: int = 0,
    max_bytes: int | None = None,
    max_sections: int = MAX_SECTIONS,
) -> SectionChunker:
    """The document as one section."""
    return SectionChunker("plain/1", max_words, overlap_words, max_bytes, max_sections=max_sections)


_KEYS = ("max_words", "overlap_words", "max_bytes", "max_sections")

MARKDOWN: ChunkerFactory = PolicyFactory("markdown/1", markdown, _KEYS, ("atomic",))
PLAIN: ChunkerFactory = PolicyFactory("plain/1", plain, _KEYS)

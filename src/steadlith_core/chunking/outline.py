"""The outline of a document: its sections by heading, and its atomic blocks, in byte positions of canonical text.

The one door between the policies that work by sections and the grammars: what a heading, a fence or a table is, a
grammar says (`structure.py`), and nothing here decides it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from steadlith_core.chunking.arena import pack
from steadlith_core.chunking.parts import BlockKind, Level, paths
from steadlith_core.chunking.scan import scan
from steadlith_core.chunking.structure import GRAMMARS
from steadlith_core.text.canonical import is_boundary

if TYPE_CHECKING:
    from steadlith_core.records import Format
    from steadlith_core.text.canonical import CanonicalText

ATOMIC = frozenset({BlockKind.FENCE, BlockKind.TABLE, BlockKind.LITERAL})


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands between it and the next: bytes [start, body) are the heading, [body, end) its body.

    `rank` is 1 to 6 and `path` the titles in force, its own last. What stands before the first heading is a section of
    rank 0 without a heading.
    """

    start: int
    body: int
    end: int
    rank: int
    title: str
    path: tuple[str, ...]

    @property
    def level(self) -> Level:
        """How strong the boundary is that the section begins at."""
        return Level(Level.HEADING_1 + 1 - self.rank) if self.rank else Level.PARAGRAPH


@dataclass(frozen=True, slots=True)
class Block:
    """An atomic block, bytes [start, end) of whole lines."""

    start: int
    end: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class Outline:
    """Sections in order, without a gap from the body's start to the text's end; blocks in order, none in another."""

    sections: tuple[Section, ...]
    blocks: tuple[Block, ...] = ()


def undivided(text: CanonicalText) -> Outline:
    """The body as one section without a heading."""
    return Outline((Section(text.body, text.body, len(text.data), 0, "", ()),))


def read(text: CanonicalText, format: Format) -> Outline:  # noqa: A002
    """The outline of a document's body. O(bytes).

    A heading that no cut may stand before (its line begins with a combining mark) is text; one that no cut may stand
    behind belongs to its body.
    """
    packed = pack([text])
    lines, _ = scan(packed)
    parts = GRAMMARS[format](packed, lines)
    shift = packed.origins[0] - packed.starts[0]

    def place(line: int, behind: int) -> tuple[int, int]:
        return int(lines.start[line]) + shift, int(lines.end[behind - 1]) + shift

    headings = [
        (*place(heading.line, heading.behind), heading.rank, path)
        for heading, path in zip(parts.headings, paths(parts.headings), strict=True)
    ]
    headings = [heading for heading in headings if _permitted(text.data, heading[0])]
    edges = [(text.body, text.body, 0, ()), *headings, (len(text.data), 0, 0, ())]
    sections = tuple(
        Section(start, _body(text.data, start, end), following[0], rank, path[-1] if path else "", path)
        for (start, end, rank, path), following in pairwise(edges)
    )
    blocks = tuple(
        Block(*place(block.line, block.behind), block.kind) for block in parts.blocks if block.kind in ATOMIC
    )
    return Outline(sections, blocks)


def _body(data: bytes, start: int, heading_end: int) -> int:
    body = min(heading_end + 1, len(data)) if heading_end > start else start
    return body if _permitted(data, body) else start


def _permitted(data: bytes, position: int) -> bool:
    char = data[position : position + 4].decode(errors="ignore")[:1]
    return not char or is_boundary(char)

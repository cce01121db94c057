"""Drawings of a document as a policy cuts it: a map on one line, a bar for each chunk, or the text with its cuts.

1. A mark tells how strong the boundary is where a chunk starts; colour only repeats it.
2. Control characters of the document never reach the terminal (`text.clean`).
3. What a policy does not say is not drawn: no marks for sizes that it does not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from steadlith.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith.cutting import CutDocument, Named
    from steadlith.report.text import Segments
    from steadlith_core.policies import Chunker

MAP_WIDTH = 100
BAR_WIDTH = 40
RULE_WIDTH = 100

LEVELS = {
    **{11 - rank: f"heading {rank}" for rank in range(1, 7)},
    4: "paragraph",
    3: "item",
    2: "sentence",
    1: "line",
    0: "inside block",
    -1: "word",
    -2: "code point",
}
"""Boundary levels by their names in docs/chunking.md."""


@dataclass(frozen=True, slots=True)
class Strength:
    """A class of boundaries: from level `least` up, drawn as `mark` and coloured as `style`."""

    least: int
    mark: str
    style: str
    name: str


STRENGTHS = (
    Strength(5, "┃", "bold magenta", "heading"),
    Strength(3, "│", "cyan", "paragraph or item"),
    Strength(1, "┊", "yellow", "sentence or line"),
    Strength(-2, "x", "red", "inside a block, word, code point"),
)

FILL, OUTSIDE = "─", " "
FULL, CROSSED, TICK = "━", "┿", "┊"


def level_name(level: int) -> str:
    """A boundary level in words."""
    return LEVELS.get(level, f"level {level}")


def cuts(document: CutDocument, chunker: Chunker) -> Iterator[Segments]:
    """The map of the document, then a row for each chunk."""
    yield from _head(document, chunker)
    if document.chunks:
        yield _map(document)
        yield ()
        yield from _rows(document.chunks, _Scale(document.chunks, chunker))
        yield ()
        yield _legend()
    yield from _findings(document)


def _legend() -> Segments:
    return tuple((each.style, f"{'   ' * bool(index)}{each.mark} {each.name}") for index, each in enumerate(STRENGTHS))


def text(document: CutDocument, chunker: Chunker) -> Iterator[Segments]:
    """The text with its source lines, and a rule wherever a chunk starts."""
    yield from _head(document, chunker)
    for index, named in enumerate(document.chunks):
        chunk = named.chunk
        strength = _strength(chunk.level)
        role = "" if chunk.embed else " ── context, not embedded"
        words = (
            f"{FILL * 2} {index} {FILL * 2} {level_name(chunk.level)} {FILL * 2} {chunk.tokens:,} tokens {FILL * 2} "
            f"{named.chunk_hash.short}{role} "
        )
        yield ((strength.style, words + FILL * (RULE_WIDTH - len(words))),)
        for number, line in enumerate(chunk.text.split("\n") if chunk.embed else (), chunk.span.first_line):
            yield ("dim", f"{number:>6} │"), ("", f" {clean(line)}".rstrip())
    if document.chunks:
        yield (("dim", FILL * RULE_WIDTH),)
    yield from _findings(document)


def _head(document: CutDocument, chunker: Chunker) -> Iterator[Segments]:
    sizes = _sizes(chunker)
    policy = chunker.id + (f" ({sizes[0]} to {sizes[1]} tokens)" if sizes else "")
    tokens = sum(each.chunk.tokens for each in document.chunks if each.chunk.embed)
    counted = f"{len(document.chunks):,} chunk" + ("s" if len(document.chunks) != 1 else "")
    yield (
        ("bold", clean(document.name)),
        ("", f"  {document.format}, {document.size:,} bytes: {counted}, about {tokens:,} tokens, by {clean(policy)}"),
    )


def _sizes(chunker: Chunker) -> tuple[int, int] | None:
    """The least and most tokens of a chunk, if the policy says both."""
    least, most = chunker.params.get("min_tokens"), chunker.params.get("max_tokens")
    return (least, most) if isinstance(least, int) and isinstance(most, int) else None


def _strength(level: int) -> Strength:
    return next((each for each in STRENGTHS if level >= each.least), STRENGTHS[-1])


def _map(document: CutDocument) -> Segments:
    """The whole source from left to right: a mark where a chunk starts, the strongest where several share a cell."""
    cells = [("dim", OUTSIDE)] * MAP_WIDTH
    levels: dict[int, int] = {}
    for named in document.chunks:
        span = named.chunk.span
        first, last = (position * MAP_WIDTH // max(1, document.size) for position in (span.start, span.end - 1))
        for cell in range(first, last + 1):
            cells[cell] = "dim", FILL
        levels[first] = max(levels.get(first, named.chunk.level), named.chunk.level)
    for cell, level in levels.items():
        cells[cell] = _strength(level).style, _strength(level).mark
    runs = groupby(cells, key=lambda cell: cell[0])
    return tuple((style, "".join(glyph for _, glyph in run)) for style, run in runs)


class _Scale:
    """How long the bar of a chunk is, and where the least and the most stand."""

    def __init__(self, chunks: Sequence[Named], chunker: Chunker) -> None:
        sizes = _sizes(chunker) or ()
        self._full = max(1, *sizes, *(each.chunk.tokens for each in chunks))
        self._ticks = dict(zip(map(self._cells, sizes), ("min", "max"), strict=False))

    def bar(self, tokens: int) -> str:
        """The bar of so many tokens."""
        length = max(1, self._cells(tokens))
        covered = (CROSSED if cell in self._ticks else FULL for cell in range(1, length + 1))
        beyond = (TICK if cell in self._ticks else " " for cell in range(length + 1, BAR_WIDTH + 1))
        return "".join([*covered, *beyond])

    @property
    def caption(self) -> str:
        """The names of the marks, each ending above its own."""
        line = ""
        for cell, name in self._ticks.items():
            line = line.ljust(cell - len(name)) + name
        return line.ljust(BAR_WIDTH)

    def _cells(self, tokens: int) -> int:
        return -(-tokens * BAR_WIDTH // self._full)


def _rows(chunks: Sequence[Named], scale: _Scale) -> Iterator[Segments]:
    lines = [f"{each.chunk.span.first_line}-{each.chunk.span.last_line}" for each in chunks]
    wide = max(map(len, ("lines", *lines)))
    nested = any(each.chunk.parent >= 0 for each in chunks)
    head = f"     # {'lines':<{wide}}    bytes  tokens {scale.caption} {'level':<12}  {'text':<12}  {'chunk':<12}  "
    yield (("bold", head + ("parent  " if nested else "") + "headings"),)
    for index, (named, where) in enumerate(zip(chunks, lines, strict=True)):
        chunk = named.chunk
        strength = _strength(chunk.level)
        above = f"  {'' if chunk.parent < 0 else chunk.parent:>6}" if nested else ""
        context = (() if chunk.embed else ("(context)",)) + ((" > ".join(chunk.headings),) if chunk.headings else ())
        yield (
            (strength.style, strength.mark),
            ("", f"{index:>5} {where:<{wide}} {len(chunk.text.encode()):>8,} {chunk.tokens:>7,} "),
            (strength.style, scale.bar(chunk.tokens)),
            ("", f" {level_name(chunk.level):<12}  {named.text_hash.short}  {named.chunk_hash.short}{above}"),
            ("dim", clean("".join(f"  {words}" for words in context))),
        )


def _findings(document: CutDocument) -> Iterator[Segments]:
    for finding in document.findings:
        yield (("yellow", f"! {clean(finding.place)}: {finding.kind}: {clean(finding.message)}"),)

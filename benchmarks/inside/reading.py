"""What others read in a document: markdown-it-py in Markdown, docutils in reStructuredText; no rule of ours.

Positions are code points of the text that is given.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

import docutils.frontend
import docutils.nodes
import docutils.parsers.rst
import docutils.utils
from docutils.parsers.rst import roles
from markdown_it import MarkdownIt

MARKDOWN = MarkdownIt("commonmark").enable("table")
ATOMIC = {"fence": "fence", "table_open": "table", "html_block": "HTML block"}

GRID = re.compile(r"^[ \t]*\+(?:[-=]+\+)+$", re.MULTILINE)
BORDER = re.compile(r"^[ \t]*=+(?: +=+)+$", re.MULTILINE)


class Heading(NamedTuple):
    """The line of a heading, from 0, and its level."""

    line: int
    level: int


class Block(NamedTuple):
    """A range that should stay whole."""

    kind: str
    start: int
    end: int


class Reading(NamedTuple):
    """Headings, atomic blocks, and the ranges of paragraphs, in order."""

    headings: list[Heading]
    blocks: list[Block]
    paragraphs: list[tuple[int, int]]


def markdown(text: str) -> Reading:
    """CommonMark with tables."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found = Reading([], [], [])
    for token in MARKDOWN.parse(text):
        if token.map is None:
            continue
        first, last = token.map
        while last > first and not lines[last - 1].strip():
            last -= 1
        start, end = starts[first], starts[last] - 1
        if token.type == "heading_open":
            found.headings.append(Heading(first, int(token.tag[1])))
        elif token.type in ATOMIC:
            found.blocks.append(Block(ATOMIC[token.type], start, end))
        elif token.type == "inline":
            # Past the marker of the item or quote that the paragraph stands in.
            opening = lines[first].find(token.content.partition("\n")[0])
            found.paragraphs.append((start + max(0, opening), end))
    return found


def rst(text: str) -> list[Block]:
    """Literal blocks by docutils, found again in the source by their lines; tables outside of them by their borders."""
    blocks = list(_literal(text))
    starts = [block.start for block in blocks]
    for table in list(_tables(text)):
        before = bisect_right(starts, table.end) - 1
        if before < 0 or blocks[before].end <= table.start:
            blocks.append(table)
    return sorted(blocks, key=lambda block: block.start)


def _literal(text: str) -> Iterator[Block]:
    lines = text.split("\n")
    bare = [line.strip() for line in lines]
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    at = 0
    for node in _parse(text).findall(docutils.nodes.literal_block):
        wanted = [line.strip() for line in node.rawsource.strip("\n").split("\n")]
        place = next((n for n in range(at, len(bare)) if bare[n : n + len(wanted)] == wanted), None)
        if place is not None and any(wanted):
            at = place + len(wanted)
            yield Block("literal block", starts[place], starts[at] - 1)


def _tables(text: str) -> Iterator[Block]:
    at = 0
    while (match := GRID.search(text, at)) is not None:
        end = match.end()
        while text[end + 1 :].lstrip(" \t")[:1] in {"+", "|"} and text[end : end + 1] == "\n":
            end = text.find("\n", end + 1)
            end = len(text) if end < 0 else end
        if end > match.end():
            yield Block("grid table", match.start(), end)
        at = end + 1
    at = 0
    while (match := BORDER.search(text, at)) is not None:
        borders = [match]
        while (border := BORDER.search(text, borders[-1].end())) is not None and len(borders) < 3:
            borders.append(border)
            if text[border.end() : border.end() + 2] in {"", "\n", "\n\n"}:
                break
        at = borders[-1].end()
        if len(borders) > 1:
            yield Block("simple table", match.start(), at)


def _parse(text: str) -> docutils.nodes.document:
    settings = docutils.frontend.get_default_settings(docutils.parsers.rst.Parser)
    settings.report_level, settings.halt_level = 5, 6
    settings.file_insertion_enabled = False
    document = docutils.utils.new_document("document", settings)
    docutils.parsers.rst.Parser().parse(text, document)
    return document


def _any_role(_name, raw, text, _line, _inliner, _options=None, _content=None):  # noqa: ANN001, ANN202
    return [docutils.nodes.inline(raw, text)], []


for _role in ("pep", "rfc", "ref", "term", "class", "func", "mod", "meth", "data", "attr", "exc", "abbr", "envvar"):
    roles.register_local_role(_role, _any_role)

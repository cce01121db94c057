"""From lines, sentences and what a grammar says to the places where a cut may fall, in order.

1. A part starts at a place; sentences of prose and the lines named inside a block are places too.
2. A cut falls only before a permitted code point (`canonical.is_boundary`).
3. The first place of a document is its start, which is no cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steadlith_core.chunking.keys import keys
from steadlith_core.chunking.markdown import markdown
from steadlith_core.chunking.parts import NOWHERE, Level
from steadlith_core.chunking.plain import code, prose
from steadlith_core.chunking.rst import rst
from steadlith_core.chunking.scan import scan
from steadlith_core.chunking.walks import permitted
from steadlith_core.records import Format

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from steadlith_core.chunking.arena import Arena
    from steadlith_core.chunking.parts import Outline
    from steadlith_core.chunking.scan import Lines, Sentences

    Integers = npt.NDArray[np.int64]

GRAMMARS: Mapping[Format, Callable[[Arena, Lines], Outline]] = {
    Format.MARKDOWN: markdown,
    Format.RST: rst,
    Format.TEXT: prose,
    Format.CODE: code,
}


@dataclass(frozen=True, slots=True)
class Places:
    """Places where a cut may fall, ascending. The text before place `i` ends at `end[i]`, without white space.

    `weight_start` and `weight_end` are the weights before `start` and `end`; `bounds[i]:bounds[i + 1]` are the places
    of document `i`, whose weights end at `totals[i]`. `key` orders the places.
    """

    start: Integers
    end: Integers
    weight_start: Integers
    weight_end: Integers
    level: npt.NDArray[np.int8]
    key: npt.NDArray[np.uint64]
    bounds: Integers
    totals: Integers


@dataclass(frozen=True, slots=True)
class Structure:
    """All that is known of an arena's documents before a size is asked for."""

    lines: Lines
    outline: Outline
    places: Places


def read(arena: Arena, format: Format) -> Structure:  # noqa: A002
    """The structure of an arena's documents, which all have one format; O(bytes)."""
    lines, sentences = scan(arena)
    outline = GRAMMARS[format](arena, lines)
    return Structure(lines, outline, _places(arena, lines, sentences, outline))


def _places(arena: Arena, lines: Lines, sentences: Sentences, outline: Outline) -> Places:
    array = np.frombuffer(arena.data, dtype=np.uint8)
    full = np.flatnonzero(np.diff(lines.bounds))
    firsts = lines.bounds[full]
    totals = np.zeros(len(lines.bounds) - 1, dtype=np.int64)
    totals[full] = lines.weight_end[lines.bounds[full + 1] - 1]
    may = (outline.levels != NOWHERE) & permitted(array, lines.start)
    may[firsts] = True
    line = np.flatnonzero(may)
    before = line - 1
    within = np.flatnonzero(sentences.stop >= outline.prose[sentences.line])
    start = np.concatenate((lines.start[line], sentences.start[within]))
    order = np.argsort(start, kind="stable")  # two ascending runs: a merge
    start = start[order]
    level = np.full(len(start), Level.SENTENCE, dtype=np.int8)
    level[: len(line)] = outline.levels[line]
    level = level[order]
    return Places(
        start,
        np.concatenate((lines.end[before], sentences.end[within]))[order],
        np.concatenate((lines.weight_start[line], sentences.weight_start[within]))[order],
        np.concatenate((lines.weight_end[before], sentences.weight_end[within]))[order],
        level,
        keys(arena.data, start, level),
        np.searchsorted(start, np.array([*arena.starts, len(array)], dtype=np.int64)),
        totals,
    )

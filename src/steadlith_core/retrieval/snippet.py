"""Snippets: the lines of a hit that say most about a query.

1. Pure text in, lines out: the same on every store (an index without contents has no snippet of its own).
2. Among equal windows the first wins; without any word of the query that is the beginning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def snippet(text: str, terms: Sequence[str], most: int) -> tuple[str, ...]:
    """At most `most` neighbouring non-blank lines, those whose distinct `terms` have the most letters together.

    `terms` are lower-case, as `text.query.terms` makes them; O(lines x terms).
    """
    lines = [line for line in text.split("\n") if line]
    held = [frozenset(term for term in terms if term in line) for line in (line.lower() for line in lines)]
    starts = range(max(len(lines) - most, 0) + 1)

    def weight(start: int) -> int:
        return sum(map(len, frozenset[str]().union(*held[start : start + most])))

    best = max(starts, key=lambda start: (weight(start), -start))
    return tuple(lines[best : best + most])

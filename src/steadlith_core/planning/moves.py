"""Configured moves: pairs of places that say "this document is that one", before any text is compared.

1. A place is `source:path`; one that ends in `/` or `:` stands for everything below it, and then both do.
2. The longest place that holds a document decides. No target may be a place that another entry moves away.
3. An entry applies where the old document vanished and the new one appeared; elsewhere it says nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from steadlith_core.records import DocumentId

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

Moves = tuple[tuple[str, str], ...]
"""(from, to), as configured."""


def problem(moves: Sequence[tuple[str, str]]) -> str | None:
    """What is wrong with these entries, if something is."""
    found = (*map(_misshapen, moves), *_contradictions(moves))
    return next((wrong for wrong in found if wrong is not None), None)


def _misshapen(move: tuple[str, str]) -> str | None:
    old, new = move
    for place in move:
        source, colon, path = place.partition(":")
        if not source or not colon or path.startswith("/"):
            return f"{place!r} is no place: write source:path, source:folder/ or source:"
    if _is_folder(old) != _is_folder(new):
        return f"from {old!r} to {new!r}: both are documents, or both are folders (ending in / or :)"
    return f"from {old!r} to {new!r}: nothing moves" if old == new else None


def _contradictions(moves: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Rule 2, and that one document has one new place."""
    for old, count in Counter(old for old, _ in moves).items():
        if count > 1:
            yield f"from {old!r} stands there more than once: one document has one new place"
    for old, new in moves:
        for other, further in moves:
            if other != old and (new == other or (_is_folder(other) and new.startswith(other))):
                yield f"{old!r} goes to {new!r}, and {other!r} to {further!r}: say in one entry where it ends up"


def pairs(
    moves: Sequence[tuple[str, str]],
    vanished: Collection[DocumentId],
    appeared: Collection[DocumentId],
) -> list[tuple[DocumentId, DocumentId]]:
    """The (old, new) documents that entries speak of, in order of the old ones."""
    if not moves:
        return []
    longest_first = sorted(moves, key=lambda move: (-len(move[0]), move))
    found = []
    for old_id in sorted(vanished):
        new_id = _target(longest_first, str(old_id))
        if new_id is not None and new_id in appeared:
            found.append((old_id, new_id))
    return found


def _target(longest_first: Sequence[tuple[str, str]], place: str) -> DocumentId | None:
    for old, new in longest_first:
        if place == old or (_is_folder(old) and place.startswith(old)):
            source, _, path = (new + place[len(old) :]).partition(":")
            return DocumentId(source, path)
    return None


def _is_folder(place: str) -> bool:
    return place.endswith(("/", ":"))

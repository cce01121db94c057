"""Pieces: what a policy decided, and the chunks that come of it.

1. Positions are carried from the words to the chunk; no text is ever searched for again.
2. A policy yields pieces lazily, and the first one over `max_sections` ends the work: nothing after it is cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steadlith_core.errors import DocumentError
from steadlith_core.records import Chunk, Finding, FindingKind
from steadlith_core.text.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steadlith_core.chunking.parts import Level
    from steadlith_core.chunking.words import Words
    from steadlith_core.records import Span
    from steadlith_core.text.canonical import CanonicalText


class Piece(NamedTuple):
    """A trimmed range of canonical text, in bytes, with what a chunk says beside its text (`records.Chunk`)."""

    start: int
    end: int
    level: Level
    headings: tuple[str, ...] = ()
    parent: int = -1
    embed: bool = True


def emit(text: CanonicalText, pieces: Iterable[Piece], max_sections: int) -> tuple[Chunk, ...]:
    """One chunk a piece, in their order. `max_sections` = 0 is no limit.

    Raises `DocumentError` (too_many_sections) at the first piece over the limit. O(bytes of all pieces).
    """
    kept: list[Piece] = []
    for piece in pieces:
        if len(kept) == max_sections > 0:
            line = text.data.count(b"\n", 0, piece.start) + 1
            message = (
                f"line {line} begins section {max_sections + 1}, max_sections = {max_sections}; "
                "raise it (0 is no limit), choose larger sizes, or exclude the document"
            )
            raise DocumentError(FindingKind.TOO_MANY_SECTIONS, message)
        kept.append(piece)
    spans = text.spans([(piece.start, piece.end) for piece in kept])
    return tuple(_chunk(text.data, piece, span) for piece, span in zip(kept, spans, strict=True))


def _chunk(data: bytes, piece: Piece, span: Span) -> Chunk:
    text = data[piece.start : piece.end].decode()
    return Chunk(text, span, piece.headings, int(piece.level), estimate(text), piece.parent, piece.embed)


def findings(words: Words, cap: int) -> tuple[Finding, ...]:
    """One finding for every run that had to be cut where no cut is allowed. One walk over the text at most."""
    made = []
    at, line = 0, 1
    for start, end in words.forced:
        line += words.data.count(b"\n", at, start)
        at = start
        message = f"line {line}: {end - start} bytes without a place where a cut is allowed, cut at max_bytes = {cap}"
        made.append(Finding(place="", kind=FindingKind.UNSPLITTABLE, message=message))
    return tuple(made)

"""The text of a document as a generation has it, put together from its chunks.

1. Chunks hold all of a canonical text but front matter and the blank lines between them; their spans say how many lines
   lie between, so the text comes back as it was cut, line by line.
2. A part of a chunk that is kept whole (a parent) is passed over: its text is there already. So is what a chunk has in
   common with the end of the one before, where they overlap.
3. Texts that another program cut are put together likewise, and are as that program left them; one that stands nowhere
   in the source (line 0) stands by itself, where it stood in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith.border import adapter
from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import RecordedChunk


def text(reader: Reader, id: DocumentId) -> str:  # noqa: A002
    """The canonical text of the document's body. `UsageError` if the generation does not have it."""
    with adapter(f"reading {id}"):
        found = reader.find([id])
        rows = reader.chunks(id)
        texts = reader.texts(sorted({row.text_hash for row in rows}))
    if id not in found:
        message = f"{id} is not in generation {reader.generation}"
        raise UsageError(message)
    pieces: list[str] = []
    line = end = 0
    for row in _in_order(rows):
        words, span = texts[row.text_hash], row.span
        if not span.first_line:
            pieces += ["\n\n", words] if pieces else [words]
            continue
        if span.end <= end:
            continue  # rule 2
        if end and span.start < end:
            words = words[_common(pieces[-1], words) :]
        elif pieces:
            between = span.first_line - line
            pieces.append(("\n" * between if between else " " * (span.start - end)) if end else "\n\n")
        pieces.append(words)
        line, end = span.last_line, span.end
    return "".join(pieces)


def _in_order(rows: Sequence[RecordedChunk]) -> Sequence[RecordedChunk]:
    if any(not row.span.first_line for row in rows):
        return rows
    return sorted(rows, key=lambda row: (row.span.start, -row.span.end))


def _common(before: str, after: str) -> int:
    """How much of the beginning of `after` is the end of `before`."""
    longest = min(len(before), len(after))
    return next((size for size in range(longest, 0, -1) if before.endswith(after[:size])), 0)

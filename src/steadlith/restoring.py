"""The text of a document as a generation has it, put together from its chunks.

1. Chunks hold all of a canonical text but front matter and the blank lines between them; their spans say how many lines
   lie between, so the text comes back as it was cut, line by line.
2. A part of a chunk that is kept whole (a parent) is passed over: its text is there already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith.border import adapter
from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId


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
    for row in sorted(rows, key=lambda row: (row.span.start, -row.span.end)):
        if row.span.end <= end:
            continue  # rule 2
        if pieces:
            between = row.span.first_line - line
            pieces.append("\n" * between if between else " " * (row.span.start - end))
        pieces.append(texts[row.text_hash])
        line, end = row.span.last_line, row.span.end
    return "".join(pieces)

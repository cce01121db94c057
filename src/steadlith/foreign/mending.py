"""Mending: damaged foreign documents as they were, from what is left of them: no source was ever cut into their chunks.

1. Texts must be the committed ones, and lead to the committed root. Where they do not, the source has to do.
2. Spans are in no root: damaged ones are looked for again in the source, if that has the recorded bytes.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith.border import adapter
from steadlith.foreign import places
from steadlith.keeping import as_recorded
from steadlith_core.errors import DocumentError, SourceError
from steadlith_core.records import DriftKind
from steadlith_core.state import foreign
from steadlith_core.state.identity import content_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steadlith.assembly import Assembly
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.ports import Cache, Recorded
    from steadlith_core.rows import Problem, RecordedDocument


def kept(
    assembly: Assembly,
    reader: Recorded,
    cache: Cache | None,
    damaged: Iterable[RecordedDocument],
    problems: Iterable[Problem],
) -> Iterator[WantedDocument]:
    """Those of the damaged documents that are foreign, as far as they can be written anew."""
    misplaced = {problem.document for problem in problems if problem.kind is DriftKind.SPANS}
    for document in damaged:
        if foreign.policy(document.metadata) is None:
            continue
        with suppress(SourceError):
            found = as_recorded(assembly, reader, document, cache)
            if len(found.chunks) == document.chunk_count and found.root == document.root:
                yield _placed(assembly, document, found) if document.id in misplaced else found


def _placed(assembly: Assembly, document: RecordedDocument, found: WantedDocument) -> WantedDocument:
    spans = [places.NOWHERE] * len(found.chunks)
    source = assembly.sources.get(document.id.source)
    if source is not None:
        with suppress(DocumentError), adapter(f"reading {document.id}"):
            content = source.read(document.id.path)
            if content_digest(content) == document.source_digest:
                spans = places.find(content.body, [chunk.text.text for chunk in found.chunks])
    chunks = (replace(chunk, span=span) for chunk, span in zip(found.chunks, spans, strict=True))
    return replace(found, chunks=tuple(chunks))

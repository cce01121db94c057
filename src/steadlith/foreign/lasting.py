"""Foreign documents last: damaged or moved, they come from what is recorded of them, while their bytes are the same.

1. Texts must be the committed ones, and lead to the committed root. Where they do not, the source has to do.
2. Spans are in no root: damaged ones are looked for again in the source, if that has the recorded bytes.
3. A new document with the bytes of one that is gone is that document: its chunks and vectors go with it.
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
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from steadlith.assembly import Assembly
    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.ports import Cache, Recorded
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import Problem, RecordedDocument


def mended(
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
                spans = places.find(content.body, [chunk.text.text for chunk in found.chunks]).spans
    chunks = (replace(chunk, span=span) for chunk, span in zip(found.chunks, spans, strict=True))
    return replace(found, chunks=tuple(chunks))


def moved(
    assembly: Assembly,
    reader: Recorded,
    cache: Cache | None,
    wanted: Mapping[DocumentId, WantedDocument],
    gone: Collection[DocumentId],
) -> Iterator[WantedDocument]:
    """Those of the wanted documents that a foreign one has become."""
    if not wanted or not gone:
        return
    with adapter("reading the index"):
        documents = reader.find(sorted(gone)).values()
        known = reader.find(sorted(wanted))
    left = {_bytes(each): each for each in documents if foreign.policy(each.metadata) is not None}
    for id_ in sorted(wanted.keys() - known.keys()):
        document = left.get(_bytes(wanted[id_]))
        if document is not None:
            with suppress(SourceError):
                yield replace(as_recorded(assembly, reader, document, cache), id=id_)


def _bytes(document: RecordedDocument | WantedDocument) -> tuple[Digest, str | None]:
    """What it was cut from: its source's bytes, and the grammar that these are read by."""
    return document.source_digest, document.metadata.get("format")

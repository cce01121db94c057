"""What certainly goes on as it is recorded, before anything is matched: a plan asks nothing about it.

1. A text that stands once in what is recorded of a document, and once in what is wanted of it, continues itself
   (matching rule 1), whatever becomes of the texts around it.
2. If its entry and its chunk hash are the same too, it needs no vector that is not there: no step pays for it, and the
   name of its entry says all that the entry holds.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import WantedChunk, WantedDocument
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import RecordedChunk


class Unsettled(NamedTuple):
    """What a plan has to ask about: vector keys of wanted chunks, and entries of recorded ones; each in order."""

    keys: Sequence[Digest]
    entries: Sequence[Digest]


def unsettled(
    chunks: Mapping[DocumentId, Sequence[RecordedChunk]],
    wanted: Mapping[DocumentId, WantedDocument],
    sure: Collection[DocumentId],
) -> Unsettled:
    """All of the recorded `chunks` and the `wanted` documents that is not settled. `sure` are the documents that rule 2
    holds for: written neither anew nor into another space.
    """
    keys: set[Digest] = set()
    entries: set[Digest] = set()
    for id_ in chunks.keys() | wanted.keys():
        rows, document = chunks.get(id_, ()), wanted.get(id_)
        pieces = document.chunks if document else ()
        same = _same(rows, pieces) if id_ in sure else frozenset()
        keys.update(piece.vector_key for piece in pieces if piece.vector_key and piece.text.text_hash not in same)
        entries.update(row.entry_hash for row in rows if row.text_hash not in same)
    return Unsettled(sorted(keys), sorted(entries))


def _same(rows: Sequence[RecordedChunk], pieces: Sequence[WantedChunk]) -> frozenset[Digest]:
    """The texts that go on under the same names."""
    recorded = {row.text_hash: row for row in rows}
    repeated = _repeated(row.text_hash for row in rows) | _repeated(piece.text.text_hash for piece in pieces)
    return frozenset(
        text
        for piece in pieces
        if (text := piece.text.text_hash) in recorded
        and recorded[text].entry_hash == piece.entry.entry_hash
        and recorded[text].chunk_hash == piece.chunk_hash
        and text not in repeated
    )


def _repeated(texts: Iterable[Digest]) -> frozenset[Digest]:
    return frozenset(text for text, count in Counter(texts).items() if count > 1)

"""Keeping: a document as it is recorded, without its source: under today's recipe where that cannot be read now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith.border import adapter
from steadlith_core.digest import hash_fields
from steadlith_core.errors import SourceError, StoreCorrupt
from steadlith_core.planning.wanted import rewant
from steadlith_core.state.identity import text_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from steadlith.assembly import Assembly
    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.ports import Recorded
    from steadlith_core.records import DocumentId, Recipe
    from steadlith_core.rows import EntryRow, RecordedChunk, RecordedDocument

    Kept: TypeAlias = "tuple[RecordedChunk, EntryRow, str]"
    """A chunk as it is recorded, with its entry and its text."""


def as_recorded(assembly: Assembly, reader: Recorded, document: RecordedDocument) -> WantedDocument:
    """The document cut as it was: its chunks under the names that this recipe gives them.

    Raises `SourceError` when what is recorded is not what was committed.
    """
    was, now = reader.head.recipe, assembly.cutter.recipe
    digest = document.source_digest
    if was is not None and _decides_cuts(was) != _decides_cuts(now):
        # No bytes are cut like this today: whatever can be read here later is cut anew, the same bytes too.
        digest = hash_fields("unread", digest)
    try:
        chunks = read(reader, document.id)
    except (StoreCorrupt, KeyError) as error:
        raise SourceError(
            f"{document.id}: it cannot be read now and what the index has of it is damaged, so it cannot be kept under "
            "the changed configuration: make it readable, or go back to the former configuration"
        ) from error
    return rewant(assembly.cutter, document.id, document.metadata, digest, chunks)


def read(reader: Recorded, id: DocumentId) -> list[Kept]:  # noqa: A002
    """The chunks of a document. `StoreCorrupt` or `KeyError` for damaged ones."""
    with adapter("reading the index"):
        rows = reader.chunks(id)
        entries = reader.entries([row.entry_hash for row in rows])
        texts = reader.texts([row.text_hash for row in rows])
    return together(rows, entries, texts)


def together(
    rows: Sequence[RecordedChunk], entries: Mapping[Digest, EntryRow], texts: Mapping[Digest, str]
) -> list[Kept]:
    """Chunks with what they are of. `StoreCorrupt` for a text that is another one, `KeyError` for one that is gone."""
    return [(row, entries[row.entry_hash], _checked(row, texts[row.text_hash])) for row in rows]


def _checked(row: RecordedChunk, text: str) -> str:
    """The text, if it is the one that was committed."""
    if text_hash(text) != row.text_hash:
        message = f"text {row.text_hash.short} does not match its hash"
        raise StoreCorrupt(message)
    return text


def _decides_cuts(recipe: Recipe) -> tuple[str, str, Digest, Digest]:
    return (recipe.normalizer_id, recipe.chunker_id, recipe.chunker_params_hash, recipe.content_hash)

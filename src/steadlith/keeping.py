"""Keeping: a document that cannot be read now, as it is recorded, under today's recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith.border import adapter
from steadlith_core.digest import hash_fields
from steadlith_core.planning.wanted import rewant

if TYPE_CHECKING:
    from steadlith.assembly import Assembly
    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.ports import Recorded
    from steadlith_core.records import Recipe
    from steadlith_core.rows import RecordedDocument


def as_recorded(assembly: Assembly, reader: Recorded, document: RecordedDocument) -> WantedDocument:
    """The document cut as it was: its chunks under the names that this recipe gives them."""
    was, now = reader.head.recipe, assembly.cutter.recipe
    digest = document.source_digest
    if was is not None and _decides_cuts(was) != _decides_cuts(now):
        # No bytes are cut like this today: whatever can be read here later is cut anew, the same bytes too.
        digest = hash_fields("unread", digest)
    with adapter("reading the index"):
        rows = reader.chunks(document.id)
        entries = reader.entries([row.entry_hash for row in rows])
        texts = reader.texts([row.text_hash for row in rows])
    chunks = [(row, entries[row.entry_hash], texts[row.text_hash]) for row in rows]
    return rewant(assembly.cutter, document.id, document.metadata, digest, chunks)


def _decides_cuts(recipe: Recipe) -> tuple[str, str, Digest, Digest]:
    return (recipe.normalizer_id, recipe.chunker_id, recipe.chunker_params_hash, recipe.content_hash)

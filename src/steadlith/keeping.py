"""Keeping: a document as it is recorded, without its source: under today's recipe where that cannot be read now.

A foreign document (`state/foreign.py`) keeps the vectors that came with it, as long as the model is the same and they
can be had; what is lost of them is embedded from its text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith import paid
from steadlith.border import adapter
from steadlith_core.digest import hash_fields
from steadlith_core.errors import SourceError, StoreCorrupt
from steadlith_core.planning.wanted import rewant
from steadlith_core.state import foreign
from steadlith_core.state.identity import text_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from steadlith.assembly import Assembly
    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.ports import Cache, Recorded
    from steadlith_core.records import DocumentId, Recipe
    from steadlith_core.rows import EntryRow, RecordedChunk, RecordedDocument

    Kept: TypeAlias = "tuple[RecordedChunk, EntryRow, str]"
    """A chunk as it is recorded, with its entry and its text."""


def as_recorded(
    assembly: Assembly, reader: Recorded, document: RecordedDocument, cache: Cache | None = None
) -> WantedDocument:
    """The document cut as it was: its chunks under the names that this recipe gives them. Vectors that came with a
    foreign one are looked for in `cache`, too.

    Raises `SourceError` when what is recorded is not what was committed.
    """
    was, now = reader.head.recipe, assembly.cutter.recipe
    digest = document.source_digest
    is_foreign = foreign.policy(document.metadata) is not None
    if was is not None and _decides_cuts(was) != _decides_cuts(now) and not is_foreign:
        # No bytes are cut like this today: whatever can be read here later is cut anew, the same bytes too.
        digest = hash_fields("unread", digest)
    try:
        chunks = read(reader, document.id)
    except (StoreCorrupt, KeyError) as error:
        raise SourceError(
            f"{document.id}: it cannot be read now and what the index has of it is damaged, so it cannot be kept under "
            "the changed configuration: make it readable, or go back to the former configuration"
        ) from error
    given = _given(assembly, reader, chunks, cache) if is_foreign else None
    return rewant(assembly.cutter, document.id, document.metadata, digest, chunks, given=given)


def cuts_alike(was: Recipe | None, now: Recipe) -> bool:
    """Whether both cut the same bytes in the same places, whatever metadata they keep."""
    return was is not None and _decides_cuts(was)[:-1] == _decides_cuts(now)[:-1]


def _given(assembly: Assembly, reader: Recorded, chunks: Sequence[Kept], cache: Cache | None) -> frozenset[Digest]:
    """The keys of those vectors which came with a foreign document that it can go on with."""
    was, space = reader.head.recipe, assembly.cutter.space
    if was is None or was.spaces[0].vectors_of != space.vectors_of:
        return frozenset()
    keys = sorted({key for _, entry, _ in chunks if (key := foreign.given_key(entry)) is not None})
    with adapter("looking for vectors that were brought along"):
        cached = cache.contains(keys, space.dimensions) if cache else frozenset()
        return cached | paid.held(reader, space, [key for key in keys if key not in cached])


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

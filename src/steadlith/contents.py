"""Contents: what the head of an index holds besides its documents' roots, read whole, counted, and compared.

1. A text or an entry is held against its name, and a vector is believed that its store finds sound; anything else is
   damage, and named.
2. The key of a vector follows from its entry, its text and the recipe, so no cutter and no model is asked for it.
3. Everything is read some at a time.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from steadlith.border import adapter
from steadlith_core.errors import StoreCorrupt
from steadlith_core.rows import VectorRow
from steadlith_core.state import foreign, identity
from steadlith_core.state.template import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId, Recipe, Space
    from steadlith_core.rows import EntryRow, RecordedChunk

TOGETHER = 500
"""Texts and vectors that are in memory at once."""
_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Contents:
    """How much a head holds: distinct texts and entries, and the vectors of all its spaces, in full."""

    documents: int
    chunks: int
    texts: int
    entries: int
    vectors: int
    vector_bytes: int


def count(reader: Reader) -> Contents:
    """Count what is there, by its names alone: no text and no vector is read. Keeps sixteen bytes a chunk."""
    texts, entries, embedded = array("Q"), array("Q"), array("Q")
    documents = 0
    with adapter("reading the index"):
        for document in reader.documents():
            documents += 1
            for row in reader.chunks(document.id):
                texts.append(_number(row.text_hash))
                entries.append(_number(row.entry_hash))
                if row.embed:
                    embedded.append(entries[-1])
    spaces = reader.head.recipe.spaces if reader.head.recipe else ()
    each = _distinct(embedded)
    return Contents(
        documents,
        len(entries),
        _distinct(texts),
        _distinct(entries),
        each * len(spaces),
        each * sum(_FLOAT_BYTES * space.dimensions for space in spaces),
    )


def read(source: Reader, rows: Sequence[RecordedChunk]) -> tuple[dict[Digest, str], dict[Digest, EntryRow]]:
    """The texts and the entries of some chunks, in their order. Raises `StoreCorrupt` for another one."""
    with adapter("reading the index"):
        found = source.texts(list({row.text_hash for row in rows}))
        known = source.entries(list({row.entry_hash for row in rows}))
    texts: dict[Digest, str] = {}
    entries: dict[Digest, EntryRow] = {}
    for row in rows:
        text, entry = found.get(row.text_hash), known.get(row.entry_hash)
        if text is None or identity.text_hash(text) != row.text_hash:
            raise damaged(f"text {row.text_hash.short} is missing, or another one")
        if entry is None or entry.text_hash != row.text_hash or _named(entry) != row.entry_hash:
            raise damaged(f"entry {row.entry_hash.short} is missing, or another one")
        texts[row.text_hash], entries[row.entry_hash] = text, entry
    return texts, entries


def vectors(
    source: Reader, space: Space, entries: Mapping[Digest, EntryRow], texts: Mapping[Digest, str]
) -> Iterator[VectorRow]:
    """The vectors of these entries in a space of the head's. Raises `StoreCorrupt` for one that is not sound."""
    assert source.head.recipe is not None  # there are entries
    keys = _vector_keys(source.head.recipe, space, entries, texts)
    with adapter("reading the index"):
        found = source.vectors(space, list(set(keys.values())))
    for entry, key in keys.items():
        if key not in found:
            raise damaged(f"entry {entry.short} has no sound vector in the space of {space.model_id!r}")
        yield VectorRow(entry, key, found[key])


def differences(one: Reader, other: Reader) -> Iterator[str]:
    """What two heads of one recipe do not show alike, besides the stores' own numbers. Raises `StoreCorrupt`."""
    with adapter("comparing two indexes"):
        for ours, theirs in zip_longest(one.documents(), other.documents()):
            document = ours or theirs
            assert document is not None  # one of both goes on
            if ours != theirs:
                yield f"{document.id} is in one of them alone, or another document there"
                return  # from here on they need not go side by side
            rows = one.chunks(document.id)
            if [_content(row) for row in rows] != [_content(row) for row in other.chunks(document.id)]:
                yield f"{document.id} has other chunks"
            else:
                yield from _other_contents(one, other, document.id, rows)


def damaged(fault: str) -> StoreCorrupt:
    """The error for what is not as it was committed."""
    return StoreCorrupt(f"the index is not as it was committed: {fault}; `steadlith doctor --repair` mends it", fault)


def _other_contents(
    one: Reader,
    other: Reader,
    id: DocumentId,  # noqa: A002
    rows: Sequence[RecordedChunk],
) -> Iterator[str]:
    spaces = one.head.recipe.spaces if one.head.recipe else ()
    for start in range(0, len(rows), TOGETHER):
        some = rows[start : start + TOGETHER]
        texts, entries = read(one, some)
        if (texts, entries) != read(other, some):
            yield f"{id} has another text or heading"
            continue
        for space in spaces:
            if list(vectors(one, space, entries, texts)) != list(vectors(other, space, entries, texts)):
                yield f"{id} has another vector in the space of {space.model_id!r}"


def _vector_keys(
    recipe: Recipe, space: Space, entries: Mapping[Digest, EntryRow], texts: Mapping[Digest, str]
) -> dict[Digest, Digest]:
    """The key of the vector of each entry that is embedded."""
    template = next(each for each in TEMPLATES.values() if each.id == recipe.template_id)
    keys = {}
    for name, entry in entries.items():
        brought = foreign.given_key(entry)
        if brought is not None:
            keys[name] = brought
        elif entry.embed:
            given = template.render(texts[entry.text_hash], template.fields(entry.headings))
            keys[name] = identity.vector_key(given, space.model_id, space.params_hash)
    return keys


def _content(row: RecordedChunk) -> tuple[object, ...]:
    """All of a chunk but the store's own number."""
    return (row.chunk_hash, row.text_hash, row.entry_hash, row.span, row.parent, row.embed)


def _named(entry: EntryRow) -> Digest:
    return identity.entry_hash(entry.text_hash, entry.title, entry.headings, entry.context_hash)


def _number(name: Digest) -> int:
    """So much of a digest that two of an index are never taken for one."""
    return int.from_bytes(name[:8])


def _distinct(numbers: array[int]) -> int:
    import numpy as np  # planning and searching need no numpy for this

    return int(np.unique(np.frombuffer(numbers, dtype=np.uint64)).size) if numbers else 0

"""Foreign documents: chunks and vectors that another program made, kept as they are until their document changes.

1. A document is foreign if its metadata say so (`policy = "foreign/..."`), and nothing that a source says can make it
   so: the mark is bound into its root, like all metadata.
2. Its texts are verbatim: their chunk hashes depend on no normaliser, no chunker and none of its parameters.
3. What a vector from elsewhere was made of is not known. Its context is therefore the vector itself, so that it has an
   entry and a key that no text of ours has: it is never taken for what a model of ours answered, nor the other way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_core.digest import hash_fields
from steadlith_core.state import identity
from steadlith_core.state.template import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.digest import Digest
    from steadlith_core.records import Recipe, Space
    from steadlith_core.rows import EntryRow
    from steadlith_core.vectors import Vector

KEY = "policy"
PREFIX = "foreign/"
VERBATIM = "verbatim/1"
"""What stands in the place of a normaliser: nothing was done to these texts."""


def policy(metadata: Mapping[str, str]) -> str | None:
    """Which program's chunks a document has, none for one that we cut."""
    said = metadata.get(KEY, "")
    return said if said.startswith(PREFIX) else None


def cut_by(recipe: Recipe, metadata: Mapping[str, str]) -> Recipe:
    """The recipe with what a document's chunks are named under: its own, or for a foreign one what stands for that."""
    made_by = policy(metadata)
    if made_by is None:
        return recipe
    # format.md 3.11: the constants of a foreign chunk's hash.
    none = identity.params_hash({})
    return replace(recipe, normalizer_id=VERBATIM, chunker_id=made_by, chunker_params_hash=none)


def context_hash(space: Space, vector: Vector) -> Digest:
    """H[foreign]: what is known of the making of a vector that was brought along, which is the vector."""
    # format.md 3.12
    return hash_fields("foreign", space.model_id, space.params_hash, vector)


def vector_key(text: Digest, context: Digest) -> Digest:
    """H[foreign-vector]: the key of a vector that was brought along with a text; follows from their entry alone."""
    # format.md 3.13
    return hash_fields("foreign-vector", text, context)


def given_key(entry: EntryRow) -> Digest | None:
    """The key of the vector that was brought along with an entry of a foreign document; none if ours made its vector,
    or it has none.
    """
    context = entry.context_hash
    ours = (identity.context_hash(each.id, each.fields(entry.headings)) for each in TEMPLATES.values())
    return None if context is None or context in ours else vector_key(entry.text_hash, context)

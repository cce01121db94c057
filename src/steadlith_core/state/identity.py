"""The names of texts, chunks, inputs, vectors and entries (format.md 3).

1. No identity depends on path, time, offsets, or on what a model answered (invariant 6).
2. Each function obeys one line of format.md 3, quoted beside it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from steadlith_core import canon
from steadlith_core.digest import Digest, hash_fields, hasher
from steadlith_core.records import IDENTITY_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steadlith_core.records import Content, Recipe


def params_hash(params: Mapping[str, str | int | bool | None]) -> Digest:
    """H[params]: a table of parameters with every default made explicit."""
    return hash_fields("params", dict(params))


def text_hash(text: str) -> Digest:
    """H[text]: survives a change of chunker."""
    # format.md 3.1: text_hash = H[text](canonical text), no constants.
    return hasher("text")(text.encode("utf-8"))


def chunk_hasher(recipe: Recipe) -> Callable[[str], Digest]:
    """H[chunk] under a recipe: the leaf identity of a document's tree."""
    # format.md 3.2: constants are identity_schema, normalizer_id, chunker_id, chunker_params_hash.
    hash_one = hasher("chunk", IDENTITY_SCHEMA, recipe.normalizer_id, recipe.chunker_id, recipe.chunker_params_hash)
    return lambda text: hash_one(text.encode("utf-8"))


@lru_cache(maxsize=1 << 12)
def context_hash(template_id: str, fields: tuple[str, ...]) -> Digest:
    """H[context]: all that goes into the embedded text besides the chunk's own text."""
    # format.md 3.3
    return hash_fields("context", template_id, fields)


def vector_key(model_input: str, model_id: str, document_params_hash: Digest) -> Digest:
    """H[vector]: what the model was really given, by which model, how; the only key of the embedding cache."""
    # format.md 3.4 and 3.5
    input_hash = hasher("input")(model_input.encode("utf-8"))
    fields = canon.encode(input_hash) + _encoded(model_id) + canon.encode(document_params_hash)
    return hasher("vector")(canon.list_of(fields))


def embedding_id(chunk: Digest, context: Digest, model_id: str, document_params_hash: Digest) -> Digest:
    """H[embedding]: an identity shown in plans and receipts."""
    # format.md 3.6
    return hash_fields("embedding", chunk, context, model_id, document_params_hash)


def entry_hash(text: Digest, title: str, headings: tuple[str, ...], context: Digest | None) -> Digest:
    """H[entry]: what a store keeps one lexical row and one vector per space of; without a context it keeps neither."""
    return entry_hash_of(text, title, _encoded(headings), context)


def entry_hash_of(text: bytes, title: str, headings: bytes, context: bytes | None) -> Digest:
    """H[entry] of headings whose canonical bytes are at hand, as a store keeps them."""
    # format.md 3.7: the context of what no model ever sees is none.
    fields = canon.encode(text) + _encoded(title) + headings + canon.encode(context)
    return hasher("entry")(canon.list_of(fields))


@lru_cache(maxsize=1 << 12)
def _encoded(value: str | tuple[str, ...]) -> bytes:
    """Canonical bytes of what many neighbouring chunks share."""
    return canon.encode(value)


def source_digest(content: bytes) -> Digest:
    """H[source]: the exact bytes of a source document."""
    # format.md 3.8
    return hasher("source")(content)


def content_digest(content: Content) -> Digest:
    """H[source] of a document's bytes; with attributes, H[source-record] of that digest and of them (format.md 3.8)."""
    body = source_digest(content.body)
    return hash_fields("source-record", body, content.attributes) if content.attributes else body

"""Wanted documents: from a source's exact bytes to chunks with identities, without looking at any store.

1. Chunks are made from the same bytes that are digested.
2. A document that cannot be used raises `DocumentError`; the caller makes a finding of it and keeps what is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steadlith_core.chunking.structural import first_heading
from steadlith_core.errors import DocumentError
from steadlith_core.records import Finding, FindingKind
from steadlith_core.rows import EntryRow, TextRow
from steadlith_core.state import identity
from steadlith_core.state.tree import document_root
from steadlith_core.text import frontmatter
from steadlith_core.text.canonical import canonicalise
from steadlith_core.text.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Chunker
    from steadlith_core.records import DocumentId, Format, Recipe, Space, Span
    from steadlith_core.state.template import Template

SNIFFED = 8192
"""Bytes at a file's start in which a NUL says that this is not text."""


@dataclass(frozen=True, slots=True)
class Cutter:
    """All that turns bytes into a wanted document: the policy, the recipe it belongs to, the front-matter keys to keep
    by source, and what the model can read.
    """

    recipe: Recipe
    chunker: Chunker
    template: Template
    front_matter: Mapping[str, tuple[str, ...]]
    max_input_tokens: int | None
    max_input_bytes: int | None

    @property
    def space(self) -> Space:
        """The space that new vectors go to."""
        return self.recipe.spaces[0]


@dataclass(frozen=True, slots=True)
class WantedChunk:
    """One occurrence as it is to be. `model_input` is the exact text that a model would be given, `tokens` its size."""

    chunk_hash: Digest
    text: TextRow
    entry: EntryRow
    vector_key: Digest
    model_input: str
    span: Span
    tokens: int


@dataclass(frozen=True, slots=True)
class WantedDocument:
    """A document as its source has it under the configuration."""

    id: DocumentId
    root: Digest
    metadata: Mapping[str, str]
    source_digest: Digest
    chunks: tuple[WantedChunk, ...]


def want(
    how: Cutter,
    id: DocumentId,  # noqa: A002
    format: Format,  # noqa: A002
    content: bytes,
) -> tuple[WantedDocument, tuple[Finding, ...]]:
    """Cut one document. Raises `DocumentError` if its bytes are no text, its front matter is broken, or a chunk of it
    is more than the model takes at all.
    """
    if b"\x00" in content[:SNIFFED]:
        at = content.index(b"\x00")
        message = f"looks binary (a NUL byte at offset {at}); leave it out with an `exclude` pattern"
        raise DocumentError(FindingKind.BINARY, message)
    text = canonicalise(content)
    front = frontmatter.read(text, format, how.front_matter.get(id.source, ()))
    text = replace(text, body=front.end)
    chunks, findings = how.chunker.cut(text, format)
    title = front.title or first_heading(text, format)
    metadata = {**front.fields, "title": title, "format": str(format)}
    name = identity.chunk_hasher(how.recipe)
    wanted = tuple(
        _name_chunk(how, name, title, chunk.headings, chunk.text, chunk.span, chunk.tokens) for chunk in chunks
    )
    _refuse_too_long(how, wanted)
    document = WantedDocument(
        id,
        document_root([chunk.chunk_hash for chunk in wanted], metadata),
        metadata,
        identity.source_digest(content),
        wanted,
    )
    placed = [replace(finding, place=str(id)) for finding in findings]
    placed += _too_long(how, id, wanted)
    return document, tuple(placed)


def rewant(
    how: Cutter,
    id: DocumentId,  # noqa: A002
    metadata: Mapping[str, str],
    source_digest: Digest,
    chunks: Sequence[tuple[EntryRow, str, Span]],
) -> WantedDocument:
    """The same cut as recorded, under this recipe: for documents whose source cannot be read just now."""
    name = identity.chunk_hasher(how.recipe)
    wanted = [
        _name_chunk(how, name, entry.title, entry.headings, text, span, estimate(text)) for entry, text, span in chunks
    ]
    root = document_root([chunk.chunk_hash for chunk in wanted], metadata)
    return WantedDocument(id, root, metadata, source_digest, tuple(wanted))


def _name_chunk(
    how: Cutter,
    name: Callable[[str], Digest],
    title: str,
    headings: tuple[str, ...],
    text: str,
    span: Span,
    tokens: int,
) -> WantedChunk:
    fields = how.template.fields(headings)
    model_input = how.template.render(text, fields)
    text_hash = identity.text_hash(text)
    context = identity.context_hash(how.template.id, fields)
    entry = EntryRow(identity.entry_hash(text_hash, title, headings, context), text_hash, title, headings, context)
    key = identity.vector_key(model_input, how.space.model_id, how.space.params_hash)
    size = tokens if model_input == text else estimate(model_input)
    return WantedChunk(name(text), TextRow(text_hash, text), entry, key, model_input, span, size)


def _refuse_too_long(how: Cutter, chunks: Sequence[WantedChunk]) -> None:
    limit = how.max_input_bytes
    if limit is None:
        return
    for chunk in chunks:
        size = len(chunk.model_input.encode())
        if size > limit:
            message = (
                f"line {chunk.span.first_line} begins a chunk of {size} bytes; the model takes at most "
                f"{limit} (lower [chunking] max_tokens or max_bytes)"
            )
            raise DocumentError(FindingKind.INPUT_TOO_LONG, message)


def _too_long(how: Cutter, id: DocumentId, chunks: Sequence[WantedChunk]) -> list[Finding]:  # noqa: A002
    limit = how.max_input_tokens
    if limit is None:
        return []
    return [
        Finding(
            f"{id}:{chunk.span.first_line}",
            FindingKind.INPUT_TOO_LONG,
            f"about {chunk.tokens} tokens; the model reads at most {limit} (lower [chunking] max_tokens)",
        )
        for chunk in chunks
        if chunk.tokens > limit
    ]

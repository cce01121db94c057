"""Wanted documents: from a source's exact bytes to chunks with identities, without looking at any store.

1. Chunks are made from the same bytes that are digested.
2. A document that cannot be used raises `DocumentError`; the caller makes a finding of it and keeps what is recorded.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from steadlith_core.errors import DocumentError
from steadlith_core.planning.pathrules import path_metadata
from steadlith_core.records import Chunk, Finding, FindingKind
from steadlith_core.rows import EntryRow, TextRow
from steadlith_core.state import foreign, identity
from steadlith_core.state.template import TEMPLATES
from steadlith_core.state.tree import document_root
from steadlith_core.text.tokens import ESTIMATOR_ID, estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from steadlith_core.chunking.together import Cut
    from steadlith_core.digest import Digest
    from steadlith_core.planning.pathrules import PathRule
    from steadlith_core.policies import Chunker
    from steadlith_core.records import Content, DocumentId, Format, Recipe, Space, Span
    from steadlith_core.rows import RecordedChunk
    from steadlith_core.state.template import Template
    from steadlith_core.text.canonical import CanonicalText
    from steadlith_core.text.frontmatter import FrontMatter


@dataclass(frozen=True, slots=True)
class Cutter:
    """All that turns bytes into a wanted document: the policy, the recipe it belongs to, the front-matter keys to keep
    and the path rules by source, and what the model can read.
    """

    recipe: Recipe
    chunker: Chunker
    template: Template
    front_matter: Mapping[str, tuple[str, ...]]
    max_input_tokens: int | None
    max_input_bytes: int | None
    path_rules: Mapping[str, tuple[PathRule, ...]] = field(default_factory=dict)

    @property
    def counted_by(self) -> str:
        """Who counts the tokens of wanted chunks: the policy's measure where the model is given the chunk itself."""
        given_as_cut = self.template.id == TEMPLATES["plain"].id
        return str(self.chunker.params.get("estimator", ESTIMATOR_ID)) if given_as_cut else ESTIMATOR_ID

    @property
    def space(self) -> Space:
        """The space that new vectors go to."""
        return self.recipe.spaces[0]


@dataclass(frozen=True, slots=True)
class WantedChunk:
    """One occurrence as it is to be. `model_input` is the exact text that a model would be given, `tokens` its size.

    One that is not embedded has no vector key, and its model input is empty; so is that of one whose vector was brought
    along (`state/foreign.py`), which no model is asked for. `occurrence` is the number that it must
    have; none where it is free.
    """

    chunk_hash: Digest
    text: TextRow
    entry: EntryRow
    vector_key: Digest | None
    model_input: str
    span: Span
    tokens: int
    parent: int = -1
    occurrence: int | None = None


@dataclass(frozen=True, slots=True)
class WantedDocument:
    """A document as its source has it under the configuration."""

    id: DocumentId
    root: Digest
    metadata: Mapping[str, str]
    source_digest: Digest
    chunks: tuple[WantedChunk, ...]


class SourceText(NamedTuple):
    """One document as its source gives it, and the grammar to read it by."""

    id: DocumentId
    format: Format
    content: Content


class ForeignChunk(NamedTuple):
    """A text of another program, what its vector is known by (`foreign.context_hash`), and where it stands."""

    text: str
    context_hash: Digest
    span: Span


Wanted: TypeAlias = "tuple[WantedDocument, tuple[Finding, ...]]"


def want(how: Cutter, source: SourceText) -> Wanted:
    """Cut one document. Raises `DocumentError` if its bytes are no text, its front matter is broken, or a chunk of it
    is more than the model takes at all.
    """
    (wanted,) = want_all(how, [source])
    if isinstance(wanted, DocumentError):
        raise wanted
    return wanted


def want_all(how: Cutter, sources: Sequence[SourceText]) -> list[Wanted | DocumentError]:
    """Cut many documents, each as `want` does; one that cannot be used is its error, and stops no other."""
    # What reads and cuts takes longer to load than a plan without changes takes to make.
    from steadlith_core.chunking.together import cut_all
    from steadlith_core.text import document

    found: dict[int, Wanted | DocumentError] = {}
    read: dict[int, tuple[CanonicalText, FrontMatter]] = {}
    for index, source in enumerate(sources):
        try:
            kept = how.front_matter.get(source.id.source, ())
            read[index] = document.read(source.content.body, source.format, kept)
        except DocumentError as error:
            found[index] = error
    cuts = cut_all(how.chunker, [(text, sources[index].format) for index, (text, _) in read.items()])
    for (index, (_, front)), cut in zip(read.items(), cuts, strict=True):
        try:
            found[index] = cut if isinstance(cut, DocumentError) else _document(how, sources[index], front, cut)
        except DocumentError as error:
            found[index] = error
    return [found[index] for index in range(len(sources))]


def _document(how: Cutter, source: SourceText, front: FrontMatter, cut: Cut) -> Wanted:
    own = source.content.attributes
    title = own.get("title") or front.title or cut.title
    by_path = path_metadata(how.path_rules.get(source.id.source, ()), source.id.path)
    metadata = {**by_path, **front.fields, **own, "title": title, "format": str(source.format)}
    _refuse_as_foreign(metadata)
    name = identity.chunk_hasher(how.recipe)
    wanted = tuple(_name_chunk(how, name, title, chunk) for chunk in cut.chunks)
    _refuse_too_long(how, wanted)
    made = WantedDocument(
        source.id,
        _root(wanted, metadata),
        metadata,
        identity.content_digest(source.content),
        wanted,
    )
    placed = [replace(finding, place=str(source.id)) for finding in cut.findings]
    placed += _too_long(how, source.id, wanted)
    return made, tuple(placed)


def _refuse_as_foreign(metadata: Mapping[str, str]) -> None:
    if foreign.policy(metadata) is not None:
        said = metadata[foreign.KEY]
        message = f"its metadata say {foreign.KEY} = {said!r:.80}, which only an import may say; name it otherwise"
        raise DocumentError(FindingKind.FRONT_MATTER, message)


def rewant(
    how: Cutter,
    id: DocumentId,  # noqa: A002
    metadata: Mapping[str, str],
    source_digest: Digest,
    chunks: Sequence[tuple[RecordedChunk, EntryRow, str]],
    *,
    same_occurrences: bool = False,
    given: Container[Digest] | None = None,
) -> WantedDocument:
    """The same cut as recorded, under this recipe: for documents whose source is not read.

    With `same_occurrences` its chunks must be the occurrences that they were. `given` are the keys of the vectors that
    chunks of a foreign document go on with, by default all that came with them; the others are embedded from text.
    """
    name = identity.chunk_hasher(foreign.cut_by(how.recipe, metadata))
    wanted = [_name_chunk(how, name, entry.title, _as_cut(row, entry, text)) for row, entry, text in chunks]
    if foreign.policy(metadata) is not None:
        wanted = [_as_given(chunk, entry, given) for chunk, (_, entry, _) in zip(wanted, chunks, strict=True)]
    if same_occurrences:
        wanted = [replace(chunk, occurrence=row.occurrence) for chunk, (row, *_) in zip(wanted, chunks, strict=True)]
    return WantedDocument(id, _root(wanted, metadata), metadata, source_digest, tuple(wanted))


def _as_given(chunk: WantedChunk, entry: EntryRow, given: Container[Digest] | None) -> WantedChunk:
    """A foreign chunk with the vector that it came with, if it goes on with that."""
    key = foreign.given_key(entry)
    if key is None or (given is not None and key not in given):
        return chunk
    return replace(chunk, entry=entry, vector_key=key, model_input="")


def as_given(
    how: Cutter,
    id: DocumentId,  # noqa: A002
    metadata: Mapping[str, str],
    source_digest: Digest,
    chunks: Sequence[ForeignChunk],
) -> WantedDocument:
    """A foreign document: its chunks as another program cut them, with the vectors that came with them."""
    name = identity.chunk_hasher(foreign.cut_by(how.recipe, metadata))
    title = metadata["title"]
    wanted = tuple(_given_chunk(name, title, chunk) for chunk in chunks)
    return WantedDocument(id, _root(wanted, metadata), metadata, source_digest, wanted)


def _given_chunk(name: Callable[[str], Digest], title: str, chunk: ForeignChunk) -> WantedChunk:
    text, context = TextRow(identity.text_hash(chunk.text), chunk.text), chunk.context_hash
    entry = EntryRow(identity.entry_hash(text.text_hash, title, (), context), text.text_hash, title, (), context)
    key = foreign.vector_key(text.text_hash, context)
    return WantedChunk(name(chunk.text), text, entry, key, "", chunk.span, estimate(chunk.text))


def _as_cut(row: RecordedChunk, entry: EntryRow, text: str) -> Chunk:
    return Chunk(text, row.span, entry.headings, level=0, tokens=estimate(text), parent=row.parent, embed=row.embed)


def _name_chunk(how: Cutter, name: Callable[[str], Digest], title: str, chunk: Chunk) -> WantedChunk:
    text, headings = chunk.text, chunk.headings
    text_hash = identity.text_hash(text)
    row = TextRow(text_hash, text)
    if not chunk.embed:
        entry = EntryRow(identity.entry_hash(text_hash, title, headings, None), text_hash, title, headings, None)
        return WantedChunk(name(text), row, entry, None, "", chunk.span, 0, chunk.parent)
    fields = how.template.fields(headings)
    model_input = how.template.render(text, fields)
    context = identity.context_hash(how.template.id, fields)
    entry = EntryRow(identity.entry_hash(text_hash, title, headings, context), text_hash, title, headings, context)
    key = identity.vector_key(model_input, how.space.model_id, how.space.params_hash)
    size = chunk.tokens if model_input == text else estimate(model_input)
    return WantedChunk(name(text), row, entry, key, model_input, chunk.span, size, chunk.parent)


def _root(chunks: Sequence[WantedChunk], metadata: Mapping[str, str]) -> Digest:
    topology = [(chunk.parent, chunk.entry.embed) for chunk in chunks]
    return document_root([chunk.chunk_hash for chunk in chunks], metadata, topology)


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

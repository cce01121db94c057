"""Cutting without an index: a policy by its name, and the bytes of one document to chunks with their hashes.

1. A document is read and cut exactly as planning does it; front matter is never chunk text.
2. No configuration, no model and no store is needed: a chunk's hash depends on text and policy alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steadlith import wiring
from steadlith.border import adapter
from steadlith_core.chunking.together import cut_all
from steadlith_core.digest import hash_fields
from steadlith_core.errors import DocumentError
from steadlith_core.records import Recipe
from steadlith_core.state import identity
from steadlith_core.state.template import TEMPLATES
from steadlith_core.text import document
from steadlith_core.text.canonical import NORMALIZER_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadlith_core.chunking.together import Cut
    from steadlith_core.digest import Digest
    from steadlith_core.policies import Chunker
    from steadlith_core.ports import FormatRule, Settings
    from steadlith_core.records import Chunk, Finding, Format
    from steadlith_core.text.canonical import CanonicalText

DEFAULT_POLICY = "structural"
USUAL_SOURCE = "filesystem"


@dataclass(frozen=True, slots=True)
class Named:
    """A chunk and what it is called."""

    chunk: Chunk
    text_hash: Digest
    chunk_hash: Digest


@dataclass(frozen=True, slots=True)
class CutDocument:
    """One document as a policy cuts it. `size` is that of its source, `body` where its text begins there, in bytes."""

    name: str
    format: Format
    size: int
    body: int
    chunks: tuple[Named, ...]
    findings: tuple[Finding, ...]


def policy(name: str, settings: Settings, root: str = ".") -> Chunker:
    """The chunker of policy `name` under `settings`, whose files are relative to `root`. Raises `ConfigError`."""
    with adapter(f"building chunking policy {name!r}"):
        return wiring.chunker(name, settings, root=root, key="policy")


def usual_formats() -> FormatRule:
    """The rule of a folder of documents without settings."""
    with adapter(f"asking source {USUAL_SOURCE!r} for its formats"):
        return wiring.source_factory(USUAL_SOURCE, "source").formats({})


def read(content: bytes, format: Format) -> CanonicalText:  # noqa: A002
    """The canonical text of a document, front matter told from body. Raises `DocumentError`."""
    return document.read(content, format)[0]


def cut(
    chunker: Chunker,
    texts: Sequence[tuple[CanonicalText, Format]],
) -> list[Cut | DocumentError]:
    """What becomes of each text, or why the policy refuses it."""
    with adapter(f"cutting by {chunker.id}"):
        return cut_all(chunker, texts)


def cut_document(chunker: Chunker, name: str, format: Format, content: bytes) -> CutDocument:  # noqa: A002
    """One document with its chunks named. Raises `DocumentError` if its bytes cannot be used."""
    text = read(content, format)
    (made,) = cut(chunker, [(text, format)])
    if isinstance(made, DocumentError):
        raise made
    chunk_hash = _chunk_hasher(chunker)
    return CutDocument(
        name,
        format,
        len(content),
        text.offset(text.body),
        tuple(Named(chunk, identity.text_hash(chunk.text), chunk_hash(chunk.text)) for chunk in made.chunks),
        tuple(replace(finding, place=name) for finding in made.findings),
    )


def _chunk_hasher(chunker: Chunker) -> Callable[[str], Digest]:
    """As under any recipe with this policy: the rest of a recipe is no part of a chunk's hash (format.md 3.2)."""
    recipe = Recipe(
        normalizer_id=NORMALIZER_ID,
        chunker_id=chunker.id,
        chunker_params_hash=identity.params_hash(chunker.params),
        content_hash=hash_fields("content", {}),
        template_id=TEMPLATES["plain"].id,
        lexical_id="",
        spaces=(),
    )
    return identity.chunk_hasher(recipe)

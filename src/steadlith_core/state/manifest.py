"""A manifest's records, and the rules that its writer and its reader share (format.md 16).

1. A manifest says what an index holds, and nothing of where, when or how it came to be: no lineage, no generation,
   no spans, no times.
2. A record is constructed valid or not at all; so a writer cannot make what a reader would refuse.
3. A document's root follows from its chunks and metadata, and that is checked on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from steadlith_core import canon
from steadlith_core.digest import Digest, hasher
from steadlith_core.errors import ManifestError
from steadlith_core.records import IDENTITY_SCHEMA
from steadlith_core.state import recipe as recipes
from steadlith_core.state.roots import state_root
from steadlith_core.state.tree import document_root

if TYPE_CHECKING:
    from collections.abc import Hashable

    from steadlith_core.records import DocumentId, Recipe

MAGIC = b"\x8bSLM"
VERSION = 1
WINDOW = 4096
"""How many texts and how many context hashes can be referred to, the latest ones (format.md 16.4)."""
MAX_KEPT = 256
"""Bytes of the longest text that is kept for references (format.md 16.4)."""
MAX_NAME = 4096
"""Bytes of a source's name, and of a path; paths share what they begin with, so a longer one would cost little."""
MAX_TEXT = 1 << 20
MAX_HEADER = 1 << 16
MAX_COUNT = 1 << 32
"""Chunks of a document, and metadata entries, are fewer."""

Thing = TypeVar("Thing", bound="Hashable")

checksum = hasher("manifest")
"""H[manifest] of the checksum so far and the next piece (format.md 16.6)."""


@dataclass(frozen=True, slots=True)
class Header:
    """What the whole is: all inputs of both roots, both roots, the sources root, and counts (format.md 16.2)."""

    recipe: Recipe | None
    corpus_root: Digest
    state_root: Digest
    sources_root: Digest
    documents: int
    chunks: int

    def __post_init__(self) -> None:
        need(0 <= self.documents < 2**63, f"{self.documents} documents cannot be counted")
        need(0 <= self.chunks < 2**63, f"{self.chunks} chunks cannot be counted")
        follows = state_root(self.corpus_root, self.recipe)
        need(
            self.state_root == follows,
            f"the state root is {self.state_root}, the corpus root and the recipe lead to {follows}",
        )
        need(
            self.recipe is not None or not self.documents,
            f"{self.documents} documents without a recipe, by which nothing can have been cut",
        )


@dataclass(frozen=True, slots=True)
class ManifestChunk:
    """One occurrence: its identities, and the position of the one it is a part of (-1 without any).

    Without a context it is not embedded.
    """

    chunk_hash: Digest
    text_hash: Digest
    entry_hash: Digest
    context_hash: Digest | None
    parent: int = -1


@dataclass(frozen=True, slots=True)
class ManifestDocument:
    """One document with its chunks in source order. `ManifestError` unless its root follows from them."""

    id: DocumentId
    root: Digest
    source_digest: Digest
    metadata: Mapping[str, str]
    chunks: tuple[ManifestChunk, ...]

    def __post_init__(self) -> None:
        for position, chunk in enumerate(self.chunks):
            if not -1 <= chunk.parent < position:
                refuse(f"{self.id}: chunk {position} has no parent {chunk.parent}: a parent stands before its parts")
        topology = [(chunk.parent, chunk.context_hash is not None) for chunk in self.chunks]
        found = document_root([chunk.chunk_hash for chunk in self.chunks], self.metadata, topology)
        need(found == self.root, f"{self.id}: its chunks and metadata lead to the root {found}, not {self.root}")


class Order:
    """Documents one after the other: each above the last in (source, path), and in the end as many as were promised."""

    __slots__ = ("_chunks", "_documents", "_header", "_last")

    def __init__(self, header: Header) -> None:
        self._header = header
        self._last: DocumentId | None = None
        self._documents = self._chunks = 0

    def take(self, document: ManifestDocument) -> None:
        """The next document."""
        if self._last is not None and self._last >= document.id:
            refuse(f"documents out of order, or one is there twice: {document.id} after {self._last}")
        self._last = document.id
        self._documents += 1
        self._chunks += len(document.chunks)

    def end(self) -> None:
        """There are no more."""
        promised = (self._header.documents, self._header.chunks)
        need(
            (self._documents, self._chunks) == promised,
            f"{self._documents} documents and {self._chunks} chunks, the header counts {promised[0]} and {promised[1]}",
        )


class Window(Generic[Thing]):
    """The latest things that were written out, each at a place that a reference names until another takes it."""

    __slots__ = ("_held", "_next", "_places")

    def __init__(self) -> None:
        self._held: list[Thing] = []
        self._places: dict[Thing, int] = {}
        self._next = 0

    def place(self, thing: Thing) -> int | None:
        """Where `thing` is kept, none if it is not."""
        return self._places.get(thing)

    def at(self, place: int) -> Thing | None:
        """What is kept at `place`, none if nothing is."""
        return self._held[place] if place < len(self._held) else None

    def keep(self, thing: Thing) -> None:
        """Keep `thing`, which is not kept, at the next place; the places go round."""
        if len(self._held) < WINDOW:
            self._held.append(thing)
        else:
            del self._places[self._held[self._next]]
            self._held[self._next] = thing
        self._places[thing] = self._next
        self._next = (self._next + 1) % WINDOW


def encode_header(header: Header) -> bytes:
    """Canonical bytes of the header's fields."""
    return canon.encode(
        {
            "identity_schema": IDENTITY_SCHEMA,
            "recipe": None if header.recipe is None else recipes.encode(header.recipe),
            "corpus_root": header.corpus_root,
            "state_root": header.state_root,
            "sources_root": header.sources_root,
            "documents": header.documents,
            "chunks": header.chunks,
        }
    )


def decode_header(data: bytes) -> Header:
    """The header whose bytes are `data`. `ManifestError` for anything that `encode_header` cannot have made."""
    try:
        fields = canon.decode(data)
        if not isinstance(fields, Mapping):
            refuse(f"a header is a map, got {fields!r:.80}")
        schema = fields.get("identity_schema")
        # Another schema may give the same bytes another meaning, so a manifest made under it is not ours to explain.
        need(schema == IDENTITY_SCHEMA, f"made under {schema!r:.80}; this version reads {IDENTITY_SCHEMA!r}")
        recipe = fields["recipe"]
        header = Header(
            recipe=None if recipe is None else recipes.decode(_bytes(recipe)),
            corpus_root=Digest(_bytes(fields["corpus_root"])),
            state_root=Digest(_bytes(fields["state_root"])),
            sources_root=Digest(_bytes(fields["sources_root"])),
            documents=_number(fields["documents"]),
            chunks=_number(fields["chunks"]),
        )
    except KeyError as error:
        raise ManifestError(f"the header has no {error.args[0]}") from error
    except ValueError as error:
        raise ManifestError(f"the header cannot be read: {error!s:.200}") from error
    need(encode_header(header) == data, "the header has fields that it cannot have")
    return header


def need(holds: bool, otherwise: str) -> None:
    """Refuse the manifest unless this holds."""
    if not holds:
        refuse(otherwise)


def refuse(why: str) -> NoReturn:
    """It is no manifest. Whoever has its bytes says where they came from, and what to do."""
    raise ManifestError(why)


def _bytes(value: canon.Value) -> bytes:
    if not isinstance(value, bytes):
        message = f"expected bytes, got {value!r:.80}"
        raise ValueError(message)  # noqa: TRY004 -- the bytes are wrong, not a caller's type
    return value


def _number(value: canon.Value) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        message = f"expected a number, got {value!r:.80}"
        raise ValueError(message)  # noqa: TRY004 -- the bytes are wrong, not a caller's type
    return value

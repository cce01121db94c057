"""The nouns: frozen records that the rooms of the core and every adapter exchange.

1. A record is constructed valid or not at all.
2. Sequences are tuples; digests are `Digest`; byte positions are offsets into the source's bytes.
3. Nothing here knows where it came from: no path of a machine, no clock, no model output but vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from steadlith_core.digest import Digest

IDENTITY_SCHEMA = "identity/1"
"""Version of everything that is hashed (format.md). What it makes of the same values never changes."""


class Format(StrEnum):
    """The grammar a document is cut by."""

    MARKDOWN = "markdown"
    RST = "rst"
    TEXT = "text"
    CODE = "code"


@dataclass(frozen=True, slots=True, order=True)
class DocumentId:
    """Which document: a source's name and a POSIX-style NFC path below it. Sorts by (source, path)."""

    source: str
    path: str

    def __str__(self) -> str:
        return f"{self.source}:{self.path}"


@dataclass(frozen=True, slots=True)
class Span:
    """Where a piece stands in the source: bytes [start, end), and the 1-based lines it touches."""

    start: int
    end: int
    first_line: int
    last_line: int


class FindingKind(StrEnum):
    """Why an input was passed over or cut against the rules. Closed; documented in docs/findings.md."""

    BINARY = "binary"
    UNDECODABLE = "undecodable"
    TOO_LARGE = "too_large"
    UNREADABLE_FILE = "unreadable_file"
    UNREADABLE_FOLDER = "unreadable_folder"
    NAME_NOT_UTF8 = "name_not_utf8"
    NAME_CONFLICT = "name_conflict"
    LINK_OUTSIDE = "link_outside"
    NOT_A_FILE = "not_a_file"
    VANISHED = "vanished"
    MISSING = "missing"
    EMPTY_SOURCE = "empty_source"
    CHANGED_WHILE_READING = "changed_while_reading"
    FRONT_MATTER = "front_matter"
    UNSPLITTABLE = "unsplittable"
    TOO_MANY_SECTIONS = "too_many_sections"
    INPUT_TOO_LONG = "input_too_long"
    INPUT_REFUSED = "input_refused"
    HELD = "held"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One input that needs a person's eye; the rest of the corpus goes on."""

    place: str
    kind: FindingKind
    message: str


class Level(StrEnum):
    """How closely recorded and observed state are compared: the head and what it vouches for, or every row."""

    HEAD = "head"
    FULL = "full"


class DriftKind(StrEnum):
    """What is not as it was committed. Closed; docs/drift.md says which level finds which."""

    INDEX_MISSING = "index_missing"
    INDEX_DAMAGED = "index_damaged"
    INDEX_REPLACED = "index_replaced"
    INDEX_OLDER = "index_older"
    HEAD = "head"
    COUNTS = "counts"
    NODES = "nodes"
    HISTORY = "history"
    DOCUMENT = "document"
    SPANS = "spans"
    TEXT = "text"
    ENTRY = "entry"
    LEXICAL = "lexical"
    VECTOR = "vector"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells, without reading, that a document still has the bytes it had: equal identities, equal bytes.

    `changed_at` is when it last changed, in nanoseconds by the clock of whoever keeps it, 0 where the identity depends
    on the bytes alone. What changed no earlier than a look began may change again under the same identity.
    """

    identity: bytes
    changed_at: int


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One readable document of a listing. `size` is in bytes as the listing saw it; without a stamp it is read."""

    path: str
    format: Format
    size: int
    stamp: Stamp | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """The exact bytes of one document, and what its source says of it besides (`title`, `kind`, ...)."""

    body: bytes
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KnownFolder:
    """What an earlier look kept of one folder: the identity of each document's stamp by its name in the folder.

    `rules` is what `Listed.rules` was: whatever decided which names are documents there.
    """

    rules: bytes
    identities: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Listed:
    """A part of a listing: all documents directly in one folder (`""`, or a path that ends in `/`).

    `same` are names of the known folder whose stamps are as they were; everything else that is there is an entry.
    `unread` are paths, and folders ending in `/` (the topmost is `""`), of which nothing is known: a recorded document
    there is kept as it is, never deleted (invariant 5).
    """

    folder: str
    entries: tuple[SourceEntry, ...] = ()
    same: Collection[str] = ()
    rules: bytes = b""
    findings: tuple[Finding, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """All that a source holds, in path order, its parts put together."""

    entries: tuple[SourceEntry, ...]
    findings: tuple[Finding, ...] = ()
    unread: tuple[str, ...] = ()


def gather(parts: Iterable[Listed]) -> Listing:
    """A whole listing in memory: for sources that are small, or looked at without anything known of them."""
    parts = list(parts)
    return Listing(
        # Python orders text by code point, which is the order of its UTF-8 bytes.
        entries=tuple(sorted((entry for part in parts for entry in part.entries), key=lambda entry: entry.path)),
        findings=tuple(sorted(finding for part in parts for finding in part.findings)),
        unread=tuple(sorted({path for part in parts for path in part.unread})),
    )


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one document as a policy cut it.

    `text` is canonical and equals the fragment of the source's bytes at `span`; `headings` is the path of
    headings above it, outermost first; `level` is the strength of the boundary it starts at; `tokens` is an estimate.

    `parent` is the index, among its document's chunks, of an earlier one that this one is a part of, -1 without any.
    A chunk with `embed` false is kept and shown as the context of its parts, and no model ever sees it.
    `height` is how many cuts were made, from the whole document down, until the one it starts at: the cuts of a
    document are a tree, and the heights of its chunks are the tree's shape.
    """

    text: str
    span: Span
    headings: tuple[str, ...]
    level: int
    tokens: int
    parent: int = -1
    embed: bool = True
    height: int = 0


@dataclass(frozen=True, slots=True)
class Space:
    """One embedding space: which model made the vectors, how, and how they are kept (`retrieval.quantization`)."""

    model_id: str
    params_hash: Digest
    dimensions: int
    quantization: str = "float32"

    def __post_init__(self) -> None:
        if not 1 <= self.dimensions <= 8192:
            message = f"an embedding space has 1 to 8192 dimensions, got {self.dimensions}"
            raise ValueError(message)

    @property
    def vectors_of(self) -> tuple[str, Digest, int]:
        """Whose vectors these are: spaces that differ in quantization alone keep the same ones."""
        return (self.model_id, self.params_hash, self.dimensions)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What decides an index besides its sources: identities of text, cut, template, lexical arm and spaces.

    Two heads with equal recipes and equal corpora are the same index.
    """

    normalizer_id: str
    chunker_id: str
    chunker_params_hash: Digest
    content_hash: Digest
    template_id: str
    lexical_id: str
    spaces: tuple[Space, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """What a store last committed. Generation 0 is the uninitialised store: lineage and recipe are none."""

    lineage: str | None
    generation: int
    corpus_root: Digest
    state_root: Digest
    recipe: Recipe | None
    plan_digest: Digest | None
    documents: int
    chunks: int

    def __post_init__(self) -> None:
        if (self.generation == 0) != (self.lineage is None):
            message = f"generation {self.generation} with lineage {self.lineage!r}"
            raise ValueError(message)


@dataclass(frozen=True, slots=True)
class Generation:
    """One committed generation. `at` is UTC in RFC 3339, given by the engine; `summary` is what `planning.spent`
    notes: steps by kind, and what was embedded.

    `why` says in a few words what made it; `configuration` is the text of the file that it was made under, none where
    that was not noted.
    """

    number: int
    parent: int
    lineage: str
    corpus_root: Digest
    state_root: Digest
    recipe: Recipe
    plan_digest: Digest
    documents: int
    chunks: int
    at: str
    summary: Mapping[str, int] = field(default_factory=dict)
    why: str = "apply"
    configuration: str | None = None

    @property
    def head(self) -> Head:
        """The head that points at it."""
        return Head(
            lineage=self.lineage,
            generation=self.number,
            corpus_root=self.corpus_root,
            state_root=self.state_root,
            recipe=self.recipe,
            plan_digest=self.plan_digest,
            documents=self.documents,
            chunks=self.chunks,
        )

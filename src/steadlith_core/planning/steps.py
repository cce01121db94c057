"""Steps: what a plan would do to one occurrence or one document, and why. A closed union.

1. Every step has a reason from a closed list.
2. Positions are 0-based places in a document's order; `document` and `origin` say whose.
3. A step holds digests and numbers, never text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId


class Reason(StrEnum):
    """Why a step is needed. Closed; documented in docs/plan.md."""

    NEW_DOCUMENT = "new_document"
    NEW_TEXT = "new_text"
    DOCUMENT_VANISHED = "document_vanished"
    OUT_OF_SCOPE = "out_of_scope"
    TEXT_GONE = "text_gone"
    REORDERED = "reordered"
    RELOCATED = "relocated"
    METADATA = "metadata"
    HEADINGS = "headings"
    SOURCE_BYTES = "source_bytes"
    MODEL = "model"
    QUANTIZATION = "quantization"
    TEMPLATE = "template"
    CONTEXT = "context"
    PARENT = "parent"
    CHUNKER = "chunker"
    NORMALIZER = "normalizer"
    DRIFT = "drift"


@dataclass(frozen=True, slots=True)
class Add:
    """A new occurrence. `paid` is true for the one step of a plan that first needs its vector.

    One that is not embedded has no vector key and no tokens.
    """

    position: int
    chunk_hash: Digest
    vector_key: Digest | None
    tokens: int
    paid: bool
    reason: Reason


@dataclass(frozen=True, slots=True)
class Move:
    """Same content in another place; `origin` is the document that it comes from, or none within one document."""

    origin: DocumentId | None
    old_position: int
    position: int
    chunk_hash: Digest
    reason: Reason


@dataclass(frozen=True, slots=True)
class Update:
    """No embedding: metadata, or what surrounds a chunk. `position` is none for the document's own update."""

    position: int | None
    reason: Reason


@dataclass(frozen=True, slots=True)
class Reembed:
    """Same content; other model, parameters or context, or a vector that is nowhere any more."""

    origin: DocumentId | None
    old_position: int
    position: int
    chunk_hash: Digest
    vector_key: Digest
    tokens: int
    paid: bool
    reason: Reason


@dataclass(frozen=True, slots=True)
class Rekey:
    """Same text under a new identity; the vector is reused, unless it is nowhere to be had (`paid`). One that is not
    embedded has no vector key and no tokens.
    """

    origin: DocumentId | None
    old_position: int
    position: int
    old_chunk_hash: Digest
    chunk_hash: Digest
    vector_key: Digest | None
    tokens: int
    paid: bool
    reason: Reason


@dataclass(frozen=True, slots=True)
class Delete:
    """An occurrence that is no longer active; it stays as a tombstone until compaction."""

    old_position: int
    chunk_hash: Digest
    reason: Reason


Step: TypeAlias = "Add | Move | Update | Reembed | Rekey | Delete"

GLYPHS: Mapping[type[Step], str] = {
    Add: "+",
    Move: ">",
    Update: "~",
    Reembed: "-/+",
    Rekey: "=",
    Delete: "-",
}

KINDS: Mapping[str, type[Step]] = {
    "add": Add,
    "move": Move,
    "update": Update,
    "reembed": Reembed,
    "rekey": Rekey,
    "delete": Delete,
}
NAMES: Mapping[type[Step], str] = {kind: name for name, kind in KINDS.items()}

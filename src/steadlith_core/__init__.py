"""The pure core of Steadlith: records in, records out. No I/O, no clock, no randomness, no logging."""

from steadlith_core.digest import Digest
from steadlith_core.errors import SteadlithError
from steadlith_core.records import (
    Chunk,
    DocumentId,
    Finding,
    FindingKind,
    Format,
    Generation,
    Head,
    Listing,
    Recipe,
    SourceEntry,
    Space,
    Span,
)

__all__ = [
    "Chunk",
    "Digest",
    "DocumentId",
    "Finding",
    "FindingKind",
    "Format",
    "Generation",
    "Head",
    "Listing",
    "Recipe",
    "SourceEntry",
    "Space",
    "Span",
    "SteadlithError",
]

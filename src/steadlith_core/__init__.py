"""The pure core of Steadlith: records in, records out. No I/O, no clock, no randomness, no logging.

The names load when they are first used: every module of the engine passes through here, `steadlith --help` too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {"Digest": "steadlith_core.digest", "SteadlithError": "steadlith_core.errors"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOMES.get(name, "steadlith_core.records")), name)

"""Whose a damaged row is, as far as the row itself still tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadlith_core.digest import SIZE, Digest
from steadlith_core.records import DocumentId, DriftKind
from steadlith_core.rows import Problem

if TYPE_CHECKING:
    from collections.abc import Callable


def document(source: str | bytes | None, path: str | bytes | None) -> DocumentId | None:
    """The document of these names, as a store keeps them; none where its row is gone, or where nobody can read it."""
    if source is None or path is None:
        return None
    try:
        return DocumentId(_name(source), _name(path))
    except UnicodeDecodeError:
        return None


def _name(kept: str | bytes) -> str:
    return kept if isinstance(kept, str) else kept.decode("utf-8", "surrogatepass")


def digest(raw: bytes | None) -> Digest | None:
    """What may be a hash: other bytes name nothing."""
    return Digest(raw) if raw is not None and len(raw) == SIZE else None


def short(raw: bytes) -> str:
    """As much of what should be a hash as people want to see."""
    return raw.hex()[:12]


def shown(kind: DriftKind, *, at_head: Any) -> Callable[..., Problem]:
    """A problem of `kind` if the head shows what has it, otherwise one of history."""

    def problem(message: str, **whose: Any) -> Problem:
        return Problem(kind if at_head else DriftKind.HISTORY, message, **whose)

    return problem

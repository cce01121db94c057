"""Guards: ordinary edits pass, disasters stop.

1. "Removed" means vanished and not continued elsewhere; "without replacement" is deletions minus additions.
2. A tripped guard never changes the plan; it stops the apply, and its message says what would be lost.
3. Limits come from the configuration of whoever applies, never from a plan file.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_core.planning.plan import Fate, Tripped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith_core.planning.plan import DocumentChange
    from steadlith_core.records import DocumentId

LEAST_FOLDER = 10
"""A folder with fewer recorded documents is not worth a guard of its own."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one apply may lose. Percentages are of what is recorded; both parts of a pair must be exceeded."""

    removed_documents: int = 5
    removed_documents_percent: int = 10
    deleted_chunks: int = 50
    deleted_chunks_percent: int = 20
    paid_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Losses:
    """What the guards judge. `documents` and `chunks` are recorded, `folders` counts the documents directly in each."""

    documents: int
    chunks: int
    folders: Mapping[tuple[str, str], int]
    changes: tuple[DocumentChange, ...]
    counts: Mapping[str, int]
    continued: frozenset[DocumentId]
    wanted_sources: frozenset[str]
    model_changed: str | None
    tokens: int


def judge(losses: Losses, limits: Limits) -> tuple[Tripped, ...]:
    """Every guard that this plan trips, in a fixed order."""
    return tuple(_judge(losses, limits))


def _judge(losses: Losses, limits: Limits) -> Iterator[Tripped]:
    removed = {
        change.id for change in losses.changes if change.fate is Fate.REMOVED and change.id not in losses.continued
    }

    allowed = max(limits.removed_documents, losses.documents * limits.removed_documents_percent // 100)
    if len(removed) > allowed:
        message = f"{len(removed)} of {losses.documents} documents would be removed (at most {allowed} pass)"
        yield Tripped("removed_documents", message, "--allow-removals")

    before: Counter[str] = Counter()
    for (source, _), count in losses.folders.items():
        before[source] += count
    gone = Counter(change.id.source for change in losses.changes if change.fate is Fate.REMOVED)
    for source in sorted(before):
        nothing_left = source not in losses.wanted_sources and gone[source] == before[source]
        if nothing_left and any(id_.source == source for id_ in removed):
            message = f"source {source!r} would go from {before[source]} documents to none"
            yield Tripped("emptied_source", message, "--allow-empty")

    before_in, gone_in = _within(losses.folders), _within(Counter(_folder(id_) for id_ in removed))
    emptied = {folder for folder, count in before_in.items() if gone_in[folder] == count >= LEAST_FOLDER}
    for folder in sorted(emptied):
        if not any(other != folder and folder.startswith(other) for other in emptied):
            message = f"folder {folder!r} with its {before_in[folder]} documents would be gone"
            yield Tripped("removed_folder", message, "--allow-removals")

    lost = losses.counts["delete"] - losses.counts["add"]
    share = losses.chunks * limits.deleted_chunks_percent // 100
    if lost > limits.deleted_chunks and lost > share:
        message = f"{lost} of {losses.chunks} chunks would be deleted without replacement"
        yield Tripped("deleted_chunks", message, "--allow-removals")

    if losses.model_changed:
        yield Tripped("model_changed", losses.model_changed, "--allow-model-change")

    if limits.paid_tokens is not None and losses.tokens > limits.paid_tokens:
        message = f"about {losses.tokens} tokens would be embedded (the budget is {limits.paid_tokens})"
        yield Tripped("budget", message, "--allow-cost")


def _folder(id: DocumentId) -> tuple[str, str]:  # noqa: A002
    return id.source, id.path[: id.path.rfind("/") + 1]


def _within(folders: Mapping[tuple[str, str], int]) -> Counter[str]:
    """Documents below each folder, as `source:a/b/`; those at a source's root are in none."""
    counts: Counter[str] = Counter()
    for (source, folder), count in folders.items():
        parts = folder.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            counts[f"{source}:{'/'.join(parts[:depth])}/"] += count
    return counts

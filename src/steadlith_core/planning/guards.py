"""Guards: ordinary edits pass, disasters stop.

1. "Removed" means vanished and not continued elsewhere; "without replacement" is deletions minus additions.
2. What the settings leave out now is removed like what vanished, and the sentence says how much of it that is.
3. A tripped guard never changes the plan; it stops the apply, and its message says what would be lost.
4. Limits come from the configuration of whoever applies, never from a plan file.
5. A budget judges what is known: unknown money trips nothing (invariant 8).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

from steadlith_core.planning.overrides import COST, EMPTY, LARGE, MODEL, REBUILD, REMOVALS, REPLACED, UNREAD
from steadlith_core.planning.plan import Fate, Repair, Tripped
from steadlith_core.records import FindingKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from steadlith_core.planning.plan import Plan
    from steadlith_core.records import DocumentId, Finding

LEAST_FOLDER = 10
"""A folder with fewer recorded documents is not worth a guard of its own."""


class Unreadable(StrEnum):
    """What becomes of a plan when inputs could not be read; what is recorded of them is kept in either case."""

    REPORT = "report"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one apply may lose. Percentages are of what is recorded; both parts of a pair must be exceeded."""

    removed_documents: int = 5
    removed_documents_percent: int = 10
    deleted_chunks: int = 50
    deleted_chunks_percent: int = 20
    max_steps: int = 1_000_000
    paid_tokens: int | None = None
    paid_amount: Decimal | None = None
    unreadable: Unreadable = Unreadable.REPORT


@dataclass(frozen=True, slots=True)
class Losses:
    """What the guards judge besides the plan. `documents` and `chunks` are recorded, `folders` counts the documents
    directly in each; `left_out` are vanished documents that the settings leave out now, `replaced` are sources with
    another root folder than they had, `read` the documents that were.
    """

    documents: int
    chunks: int
    folders: Mapping[tuple[str, str], int]
    continued: frozenset[DocumentId]
    wanted_sources: frozenset[str]
    model_changed: str | None
    left_out: Collection[DocumentId] = frozenset()
    replaced: Collection[str] = frozenset()
    read: Collection[DocumentId] = frozenset()


def judge(plan: Plan, losses: Losses, limits: Limits) -> tuple[Tripped, ...]:
    """Every guard that this plan trips, in a fixed order."""
    removed = frozenset(
        change.id for change in plan.changes if change.fate is Fate.REMOVED and change.id not in losses.continued
    )
    return (
        *_removals(removed, losses, limits),
        *_folders(removed, losses),
        *_replaced_roots(removed, losses),
        *_deletions(plan, losses, limits),
        *_size(plan, limits),
        *([Tripped("model_changed", losses.model_changed, MODEL)] if losses.model_changed else []),
        *_budget(plan, limits),
        *_unread(plan, losses, limits),
        *_rebuild(plan),
    )


def _removals(removed: frozenset[DocumentId], losses: Losses, limits: Limits) -> Iterator[Tripped]:
    allowed = max(limits.removed_documents, losses.documents * limits.removed_documents_percent // 100)
    if len(removed) > allowed:
        lost = f"{len(removed):,} of {losses.documents:,} documents would be removed"
        message = f"{lost} (at most {allowed:,} go without a word)"
        yield Tripped("removed_documents", message + _by_settings(removed, losses), REMOVALS)

    before: Counter[str] = Counter()
    for (source, _), count in losses.folders.items():
        before[source] += count
    leaving = removed | losses.continued
    gone = Counter(id_.source for id_ in leaving)
    for source in sorted(before):
        own = {id_ for id_ in removed if id_.source == source}
        if own and source not in losses.wanted_sources and gone[source] == before[source]:
            message = f"source {source!r} would go from {_counted(before[source], 'document')} to none"
            yield Tripped("emptied_source", message + _by_settings(own, losses), EMPTY)


def _folders(removed: frozenset[DocumentId], losses: Losses) -> Iterator[Tripped]:
    before, gone = _within(losses.folders), _within(Counter(_folder(id_) for id_ in removed))
    emptied = {folder for folder, count in before.items() if gone[folder] == count >= LEAST_FOLDER}
    for folder in sorted(emptied):
        if not any(other != folder and folder.startswith(other) for other in emptied):
            message = f"folder {folder!r} with its {before[folder]:,} documents would be gone"
            own = {id_ for id_ in removed if str(id_).startswith(folder)}
            yield Tripped("removed_folder", message + _by_settings(own, losses), REMOVALS)


def _replaced_roots(removed: frozenset[DocumentId], losses: Losses) -> Iterator[Tripped]:
    for source in sorted(losses.replaced):
        own = {id_ for id_ in removed if id_.source == source}
        if own:
            message = (
                f"the root folder of source {source!r} is another one than at the last apply (not mounted, or put in "
                f"place anew?), and {len(own):,} of its documents would be removed"
            )
            yield Tripped("replaced_root", message + _by_settings(own, losses), REPLACED)


def _deletions(plan: Plan, losses: Losses, limits: Limits) -> Iterator[Tripped]:
    lost = plan.counts["delete"] - plan.counts["add"]
    share = losses.chunks * limits.deleted_chunks_percent // 100
    if lost > limits.deleted_chunks and lost > share:
        message = f"{lost:,} of {losses.chunks:,} chunks would be deleted without replacement"
        yield Tripped("deleted_chunks", message, REMOVALS)


def _size(plan: Plan, limits: Limits) -> Iterator[Tripped]:
    steps = sum(len(change.steps) for change in plan.changes)
    if steps > limits.max_steps:
        size = _counted(steps, "step")
        message = f"the plan has {size}, too many for anybody to review (the limit is {limits.max_steps:,})"
        yield Tripped("plan_too_large", message, LARGE)


def _budget(plan: Plan, limits: Limits) -> Iterator[Tripped]:
    cost = plan.cost
    if limits.paid_tokens is not None and cost.tokens > limits.paid_tokens:
        about = "" if cost.error_percent == 0 else "about "
        message = f"{about}{_counted(cost.tokens, 'token')} would be embedded (the budget is {limits.paid_tokens:,})"
        yield Tripped("budget", message, COST)
    if limits.paid_amount is not None and cost.amount is not None and Decimal(cost.amount) > limits.paid_amount:
        message = f"about {Decimal(cost.amount):,} {cost.currency} would be paid (the budget is {limits.paid_amount:,})"
        yield Tripped("budget", message, COST)


def _unread(plan: Plan, losses: Losses, limits: Limits) -> Iterator[Tripped]:
    if limits.unreadable is not Unreadable.REFUSE:
        return
    read = {str(id_) for id_ in losses.read}
    unread = [finding for finding in plan.findings if _left_unread(finding, read)]
    if unread:
        message = (
            f"{_counted(len(unread), 'input')} could not be used, and what is recorded of "
            f"{'it' if len(unread) == 1 else 'them'} would stay as it is "
            f"(first: {unread[0].place}: {unread[0].kind})"
        )
        yield Tripped("unreadable", message, UNREAD)


def _rebuild(plan: Plan) -> Iterator[Tripped]:
    lost = [drift for drift in plan.drift if drift.repair is Repair.REBUILD]
    if lost:
        message = (
            f"the damaged file would be moved aside and the index built anew from the sources and the cache; its "
            f"history stays in the file that was moved ({lost[0].place}: {lost[0].kind})"
        )
        unread = sum(_left_unread(finding, ()) for finding in plan.findings)
        if unread:
            message += f"; {_counted(unread, 'input')} cannot be used now and would not be in it"
        yield Tripped("rebuild", message, REBUILD)


def _by_settings(removed: Collection[DocumentId], losses: Losses) -> str:
    """Rule 2."""
    count = sum(id_ in losses.left_out for id_ in removed)
    return f", {count:,} of them because include, exclude or ignore rules leave them out now" if count else ""


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" + ("s" if count != 1 else "")


def _left_unread(finding: Finding, read: Collection[str]) -> bool:
    """Whether the finding speaks of an input that was passed over, whole or in part of its names."""
    if finding.kind is FindingKind.INPUT_TOO_LONG:
        # With a line it is one long chunk of a document that is embedded all the same.
        return finding.place.rpartition(":")[0] not in read
    return finding.kind not in {
        FindingKind.UNSPLITTABLE,
        FindingKind.MISSING,
        FindingKind.EMPTY_SOURCE,
        FindingKind.HELD,
    }


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

"""Drift: what the store observes against what it recorded, and which documents are written anew because of it.

1. What is wrong is named by the store; whose it is, is found here, document by document.
2. A document is written anew from its source: its texts and entries replace what is kept, its vectors come from the
   cache.
3. What only concerns an older generation cannot be repaired from sources, and stops nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steadlith.border import adapter
from steadlith_core.errors import StoreCorrupt, UsageError
from steadlith_core.planning.plan import Drift, Repair
from steadlith_core.records import DriftKind, Level

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from steadlith.fingerprints import Header
    from steadlith.observe import Look
    from steadlith.survey import Survey
    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.ports import Recorded
    from steadlith_core.records import DocumentId, Head
    from steadlith_core.rows import Problem, RecordedChunk, RecordedDocument

INDEX = "index"
"""The place of what belongs to no document."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look at the store showed: at which level, what is wrong, whose it is, and how much is recorded."""

    level: Level
    problems: tuple[Problem, ...]
    damaged: frozenset[DocumentId]
    documents: int
    chunks: int


def problems(reader: Recorded, level: Level, *, workers: int = 1) -> tuple[Problem, ...]:
    """What the store sees is wrong, looking with so many processes at most."""
    with adapter("looking for drift"):
        return tuple(reader.problems(full=level is Level.FULL, workers=workers)) if reader.head.generation else ()


def refuse_lost(found: Iterable[Problem]) -> None:
    """Raise `StoreCorrupt` for what only another index can mend."""
    for problem in found:
        if problem.kind is DriftKind.INDEX_DAMAGED:
            message = f"{problem.message}; apply a plan that builds the index anew"
            raise StoreCorrupt(message, problem.message)


def refuse_repairs_alone(found: tuple[Drift, ...], look: Look, *, same_recipe: bool) -> None:
    """Raise `UsageError` where repairs alone cannot leave a whole index: when it is drift as a whole, and when it was
    made under another configuration, which only a whole plan may record.
    """
    if not look.repair_only or (same_recipe and not found):
        return
    why = found[0].message if found else "the configuration is not the one that the index was made with"
    raise UsageError(f"{why}: repairs alone cannot help here, a whole plan can; plan without --refresh-only")


def is_mendable(found: Iterable[Problem]) -> bool:
    """Whether a write can set any of this right (rule 3)."""
    return any(problem.kind is not DriftKind.HISTORY for problem in found)


def holders(
    reader: Recorded, documents: Iterable[RecordedDocument], found: tuple[Problem, ...]
) -> tuple[tuple[Problem, ...], frozenset[DocumentId]]:
    """The problems with the first document that has each, and all documents that have any of them.

    A document whose chunks cannot be read has one.
    """
    if not is_mendable(found):
        return found, frozenset()
    wrong = {name for problem in found for name in (problem.entry, problem.text) if name is not None}
    first: dict[Digest, DocumentId] = {}
    held = {problem.document for problem in found if problem.document and problem.kind is not DriftKind.HISTORY}
    for document in documents:
        rows = chunks(reader, document.id)
        mine = wrong.intersection(name for row in rows for name in (row.entry_hash, row.text_hash))
        if mine or len(rows) != document.chunk_count:
            held.add(document.id)
        for name in mine:
            first.setdefault(name, document.id)
    return tuple(_placed(problem, first) for problem in found), frozenset(held)


def _placed(problem: Problem, first: Mapping[Digest, DocumentId]) -> Problem:
    holder = next((first[name] for name in (problem.entry, problem.text) if name is not None and name in first), None)
    return problem if problem.document else replace(problem, document=holder)


def chunks(reader: Recorded, id: DocumentId) -> tuple[RecordedChunk, ...]:  # noqa: A002
    """The document's chunks; none where they cannot be read, so that all of them are added anew."""
    try:
        with adapter("reading the index"):
            return reader.chunks(id)
    except StoreCorrupt:
        return ()


def told(seen: Seen, wanted: Mapping[DocumentId, WantedDocument], survey: Survey) -> tuple[Drift, ...]:
    """The drift that a plan shows, each with what becomes of it."""
    lost = seen.damaged - wanted.keys() - survey.gone
    found = [Drift(_place(problem), problem.kind, problem.message, _repair(problem, lost)) for problem in seen.problems]
    found += (Drift(str(id_), DriftKind.DOCUMENT, _why_lost(id_, survey), Repair.NONE) for id_ in lost)
    return tuple(found)


def _why_lost(id: DocumentId, survey: Survey) -> str:  # noqa: A002
    if id in survey.left:
        return "its source changed since it was applied: a whole plan writes it anew"
    return "its source cannot be read now, so it is not written anew"


def _place(problem: Problem) -> str:
    return str(problem.document) if problem.document else INDEX


def _repair(problem: Problem, lost: frozenset[DocumentId]) -> Repair:
    beyond = problem.kind is DriftKind.HISTORY or problem.document in lost
    return Repair.NONE if beyond else Repair.REWRITE


def replaced(head: Head, seen: Header | None) -> tuple[Drift, ...]:
    """What the last apply on this machine left, against the index that stands there now."""
    if seen is None or not seen.generation:
        return ()
    was = f"generation {seen.generation} of index {seen.lineage}"
    if head.generation == 0:
        what = DriftKind.INDEX_MISSING, f"the index is gone; the last apply here left {was}"
    elif head.lineage != seen.lineage:
        what = DriftKind.INDEX_REPLACED, f"this is index {head.lineage}; the last apply here left {was}"
    elif head.generation < seen.generation:
        what = DriftKind.INDEX_OLDER, f"the index is at generation {head.generation}; the last apply here left {was}"
    elif head.generation == seen.generation and head.state_root != seen.state_root:
        what = DriftKind.INDEX_REPLACED, f"generation {head.generation} has other roots than the last apply here left"
    else:
        return ()
    return (Drift(INDEX, *what, Repair.STEPS),)

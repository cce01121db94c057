"""The plan: a pure value that says exactly what would change, and what that costs.

1. Complete: every occurrence that is not kept has one step; apply does nothing that is not a step (invariant 2).
2. Deterministic: changes are ordered by document id, steps by position, deletions last (invariant 1).
3. It holds no document text and no headings.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from steadlith_core.planning.steps import NAMES, Step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.digest import Digest
    from steadlith_core.planning.cost import Cost
    from steadlith_core.records import DocumentId, DriftKind, Finding, Level, Recipe


class Fate(StrEnum):
    """What becomes of a document."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One document's steps. `source_digest` is none for a removed one; `kept` counts untouched occurrences.

    `origin` is the vanished document that an added one continues (a rename), if there is one.
    """

    id: DocumentId
    fate: Fate
    origin: DocumentId | None
    source_digest: Digest | None
    kept: int
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Base:
    """The head that a plan stands on. `sources_root` is one digest of all sources' bytes as they are recorded."""

    lineage: str | None
    generation: int
    corpus_root: Digest
    state_root: Digest
    sources_root: Digest


@dataclass(frozen=True, slots=True)
class Target:
    """What the head will be. `sources_root` covers the sources without a step too: what the plan saw and left alone."""

    corpus_root: Digest
    state_root: Digest
    sources_root: Digest
    documents: int
    chunks: int


@dataclass(frozen=True, slots=True)
class Brought:
    """A configuration that a plan puts in place: its text, and the digest of the text that it takes the place of."""

    text: str
    over: Digest


class Repair(StrEnum):
    """How applying a plan repairs drift. Closed; documented in docs/drift.md."""

    STEPS = "steps"
    REWRITE = "rewrite"
    REBUILD = "rebuild"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Drift:
    """Something recorded that is observed to be otherwise, and how applying this plan repairs it."""

    place: str
    kind: DriftKind
    message: str
    repair: Repair


@dataclass(frozen=True, slots=True)
class Tripped:
    """A guard that stops this plan: what would be lost, and the flag that says "I mean it"."""

    guard: str
    message: str
    override: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All that apply needs to check that it does what was reviewed.

    `recipe_changed` if the index was made under another recipe: recording the new one is a change of its own, also
    where no document changes with it. `level` says how closely the index was looked at for `drift`, `mended` which
    documents are written anew because of it, `repair_only` that nothing else was looked for. `scope`, if it is not
    empty, is where documents may be removed. `held` are documents that stay as they are recorded, whatever became of
    their sources, because somebody said so. With `rollback_to` no source was looked at: what is wanted is the state of
    that generation. `configuration` is the one that this plan puts in place, none if the file stays. A `preview` was
    made against an exported manifest and cannot be applied. `store` is what the store says it can do.
    """

    tool: str
    config_digest: Digest
    recipe: Recipe
    recipe_changed: bool
    base: Base
    target: Target
    changes: tuple[DocumentChange, ...]
    kept_documents: int
    kept_chunks: int
    cost: Cost
    level: Level
    drift: tuple[Drift, ...]
    mended: tuple[DocumentId, ...]
    repair_only: bool
    scope: tuple[str, ...]
    held: tuple[DocumentId, ...]
    rollback_to: int | None
    configuration: Brought | None
    preview: bool
    store: Mapping[str, str | int | tuple[str, ...]]
    tripped: tuple[Tripped, ...]
    findings: tuple[Finding, ...]

    @property
    def is_empty(self) -> bool:
        """True when applying would do nothing. What brings a configuration makes a generation, if only of that; a
        rollback always does.
        """
        repairs = any(drift.repair in {Repair.REWRITE, Repair.REBUILD} for drift in self.drift)
        leads_on = self.rollback_to is not None or self.configuration is not None
        return not self.changes and not self.recipe_changed and not repairs and not leads_on

    @property
    def counts(self) -> Mapping[str, int]:
        """Steps by kind, every kind named, plus `keep`."""
        counted = Counter(NAMES[type(step)] for change in self.changes for step in change.steps)
        kept = self.kept_chunks + sum(change.kept for change in self.changes)
        return {"keep": kept, **{name: counted[name] for name in NAMES.values()}}

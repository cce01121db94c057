"""Sentences about a plan that every form of a report says alike: totals, embeddings, cost, drift, where it looked.

1. Unknown is said as unknown (invariant 8).
2. What comes from elsewhere (names, ids, a forged currency) goes through `name`, which makes it harmless where it is
   shown: `clean` for a terminal, a code span in Markdown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith.report.lines import clean
from steadlith_core.planning.plan import Fate, Repair
from steadlith_core.planning.steps import Add
from steadlith_core.records import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeAlias

    from steadlith_core.planning.cost import Cost
    from steadlith_core.planning.plan import DocumentChange, Plan
    from steadlith_core.records import DocumentId

    Name: TypeAlias = Callable[[str], str]

NO_CHANGES = "No changes. The index matches the sources."
PREVIEW = "Preview against an exported manifest: embeddings are at most these, and it cannot be applied."

VERBS: Mapping[str, str] = {
    "add": "add",
    "move": "move",
    "update": "update",
    "reembed": "re-embed",
    "rekey": "rekey",
    "delete": "delete",
}
ALWAYS_COUNTED = frozenset({"add", "delete"})

REPAIRS: Mapping[Repair, str] = {
    Repair.STEPS: "the plan's steps repair it",
    Repair.REWRITE: "repaired by writing it anew; nothing is embedded that the cache holds",
    Repair.REBUILD: "repaired by building the index anew",
    Repair.NONE: "not repaired by applying this plan",
}
"""What applying a plan does about drift."""


def glyph(change: DocumentChange) -> str:
    """What becomes of a document."""
    return ">" if change.origin else {Fate.ADDED: "+", Fate.CHANGED: "~", Fate.REMOVED: "-"}[change.fate]


def shown(planned: Plan) -> list[DocumentChange]:
    """The changes to name: a document that goes on under another name is named there."""
    gone_on = continued(planned)
    return [change for change in planned.changes if change.id not in gone_on or change.steps]


def continued(planned: Plan) -> set[DocumentId]:
    """The documents that go on under another name."""
    return {change.origin for change in planned.changes if change.origin}


def totals(planned: Plan) -> str:
    """Steps by kind, what is free among the additions, and the documents they are in."""
    counts = planned.counts
    adds = [step for change in planned.changes for step in change.steps if isinstance(step, Add)]
    bare = sum(step.vector_key is None for step in adds)
    free = sum(not step.paid for step in adds) - bare
    note = f" ({free:,} cached" + (f", {bare:,} not embedded)" if bare else ")")
    parts = [
        f"{counts[name]:,} to {verb}" + (note if name == "add" else "")
        for name, verb in VERBS.items()
        if counts[name] or name in ALWAYS_COUNTED
    ]
    return f"Plan: {', '.join(parts)}; {counts['keep']:,} kept ({documents(planned)})."


def documents(planned: Plan) -> str:
    """How many of the documents that will be there are touched, and how many will not be there."""
    gone = [change.id for change in planned.changes if change.fate is Fate.REMOVED]
    removed = len(set(gone) - continued(planned))
    touched = f"{len(planned.changes) - len(gone):,} of {planned.target.documents:,} documents"
    return touched + (f", {removed:,} removed" if removed else "")


def embeddings(cost: Cost, name: Name = clean) -> str:
    """What is paid for, and what is not because its vector is there."""
    free = _free(cost)
    if not cost.embeddings:
        return f"Embeddings: none needed{free}."
    calls = f"{cost.calls:,} call" + ("s" if cost.calls != 1 else "")
    return (
        f"Embeddings: {cost.embeddings:,} in {calls}, {tokens(cost, name)}, {money(cost, name)}{free}; "
        f"besides, {cost.probe_texts} probe texts."
    )


def _free(cost: Cost) -> str:
    parts = [
        *([f"{cost.cached:,} cached"] if cost.cached else []),
        *([f"{cost.rekeyed:,} rekeyed"] if cost.rekeyed else []),
    ]
    return f"; free: {', '.join(parts)}" if parts else ""


def tokens(cost: Cost, name: Name = clean) -> str:
    """How many tokens are paid for, by whose count, and how far that is off."""
    if cost.error_percent:
        return f"about {cost.tokens:,} tokens (estimate, usually within {cost.error_percent} %)"
    about = "about " if cost.error_percent is None else ""
    return f"{about}{cost.tokens:,} tokens (counted by {name(cost.counted_by)})"


def money(cost: Cost, name: Name = clean) -> str:
    """What that costs, with unknown said as unknown."""
    if cost.amount is not None:
        when = f", price of {name(cost.price_as_of)}" if cost.price_as_of else ""
        return f"about {name(cost.amount)} {name(cost.currency or 'of an unknown currency')}{when}"
    return "no charge (local model)" if cost.local else "cost unknown (no price in the configuration)"


def mending(planned: Plan) -> Iterator[str]:
    """How many documents are written anew because of drift, if any are."""
    count = len(planned.mended)
    if count:
        yield f"Written anew because of drift: {count:,} document" + ("s" if count != 1 else "") + "."


def roots(planned: Plan) -> str:
    """From which content to which."""
    return f"Root: {planned.base.corpus_root.short} -> {planned.target.corpus_root.short}"


def surroundings(planned: Plan, name: Name = clean) -> Iterator[str]:
    """How the plan was made, where that is not as usual: as a preview, within a scope, looking closely."""
    if planned.preview:
        yield PREVIEW
    if planned.scope:
        yield f"Scope: documents are removed only in {', '.join(map(name, planned.scope))}."
    if planned.level is not Level.HEAD:
        yield f"Looked at the index at level {planned.level}: {_found(planned)}."


def _found(planned: Plan) -> str:
    count = len(planned.drift)
    return f"{count:,} difference" + ("s" if count != 1 else "") if count else "it is as it was committed"

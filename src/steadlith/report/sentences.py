"""Sentences about a plan that every form of a report says alike: totals, embeddings, cost, drift, where it looked.

1. Unknown is said as unknown (invariant 8).
2. What comes from elsewhere (names, ids, a forged currency) goes through `name`, which makes it harmless where it is
   shown: `clean` for a terminal, a code span in Markdown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith.report.entries import continued
from steadlith.report.lines import clean, plural
from steadlith_core.planning.plan import Fate, Repair
from steadlith_core.planning.steps import Add, Reembed, Rekey
from steadlith_core.records import DriftKind, Level

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from steadlith_core.planning.cost import Cost
    from steadlith_core.planning.plan import Drift, Plan, Tripped

    Name: TypeAlias = Callable[[str], str]

NO_CHANGES = "No changes. The index matches the sources."
SOURCES_UNSEEN = "Changes in the sources were not looked at."
PREVIEW = "Preview against an exported manifest: embeddings are at most these, and it cannot be applied."

VERBS: Mapping[str, str] = {
    "add": "add",
    "move": "move",
    "update": "update",
    "reembed": "re-embed",
    "rekey": "rekey",
    "delete": "delete",
}
LISTED_HELD = 10

ALWAYS_COUNTED = frozenset({"add", "delete"})

REPAIRS: Mapping[Repair, str] = {
    Repair.STEPS: "the plan's steps repair it",
    Repair.REWRITE: "repaired by writing it anew; nothing is embedded that the cache holds",
    Repair.REBUILD: "repaired by building the index anew",
    Repair.NONE: "not repaired by applying this plan",
}
"""What applying a plan does about drift."""

HISTORY = "older generations cannot be repaired; `steadlith compact --keep 1` lets them go"


def repair(drift: Drift) -> str:
    """What applying a plan does about this drift, or else what gets rid of it."""
    if drift.repair is Repair.NONE and drift.kind is DriftKind.HISTORY:
        return HISTORY
    return REPAIRS[drift.repair]


def nothing(planned: Plan) -> str:
    """What a plan says that does nothing: of what it looked at, and no more."""
    if planned.preview:
        return "No changes against the manifest; the index was not looked at."
    if planned.repair_only:
        found = "Nothing here is repaired by applying" if planned.drift else "No repairs are needed"
        return f"{found}. {SOURCES_UNSEEN}"
    return "No changes in the sources; applying does not repair the drift above." if planned.drift else NO_CHANGES


def refused(tripped: Sequence[Tripped], allowed: Collection[str]) -> str:
    """That guards stop a plan, and the flags that let it pass, for somebody who has the plan before them."""
    stopping = [each.override for each in tripped if each.override not in allowed]
    who = "a guard" if len(stopping) == 1 else f"{len(stopping)} guards"
    return f"refused by {who}: see above; pass {' '.join(dict.fromkeys(stopping))} if you mean it"


def totals(planned: Plan) -> str:
    """Steps by kind, what is free among the additions, and the documents they are in."""
    counts = planned.counts
    steps = [step for change in planned.changes for step in change.steps]
    paid = {step.vector_key for step in steps if isinstance(step, Add | Reembed | Rekey) and step.paid}
    keys = [step.vector_key for step in steps if isinstance(step, Add)]
    bare = keys.count(None)
    cached = sum(key not in paid for key in keys) - bare
    note = f" ({cached:,} cached" + (f", {bare:,} not embedded)" if bare else ")")
    parts = [
        f"{counts[name]:,} to {verb}" + (note if name == "add" else "")
        for name, verb in VERBS.items()
        if counts[name] or name in ALWAYS_COUNTED
    ]
    return f"Plan: {', '.join(parts)}; {counts['keep']:,} kept; {documents(planned)}."


def documents(planned: Plan, noun: str = " documents") -> str:
    """How many of the documents that will be there change, and how many will not be there."""
    gone = {change.id for change in planned.changes if change.fate is Fate.REMOVED}
    removed = len(gone - continued(planned))
    touched, total = len(planned.changes) - len(gone), planned.target.documents
    if not touched and not removed:
        return "no document changes" if noun else "none changes"
    if not touched:
        return f"{_of(removed, total + removed, noun)} {'goes' if removed == 1 else 'go'}"
    new = touched == total and all(change.fate is not Fate.CHANGED and not change.origin for change in planned.changes)
    verb = ("is new", "are new") if new else ("changes", "change")
    rest = f", {removed:,} {'is' if removed == 1 else 'are'} removed" if removed else ""
    return f"{_of(touched, total, noun)} {verb[touched != 1]}{rest}"


def _of(count: int, total: int, noun: str) -> str:
    if count != total:
        return f"{count:,} of {total:,}{noun}"
    return f"all {total:,}{noun}" if total > 1 else f"the only {'document' if noun else 'one'}"


def embeddings(cost: Cost, name: Name = clean) -> str:
    """What is paid for, and what is not because its vector is there."""
    free = _free(cost)
    if not cost.embeddings:
        return f"Embeddings: none needed{free}."
    calls = plural(cost.calls, "call")
    return (
        f"Embeddings: {cost.embeddings:,} in {calls}, {tokens(cost, name)}, {money(cost, name)}{free}; "
        f"besides, {plural(cost.probe_texts, 'probe text')}."
    )


def _free(cost: Cost) -> str:
    parts = [
        *([f"{cost.cached:,} cached"] if cost.cached else []),
        *([f"{cost.rekeyed:,} rekeyed"] if cost.rekeyed else []),
        *([f"{cost.repeated:,} repeated in this plan"] if cost.repeated else []),
    ]
    return f"; free: {', '.join(parts)}" if parts else ""


def tokens(cost: Cost, name: Name = clean) -> str:
    """How many tokens are paid for, by whose count, and how far that is off."""
    if cost.error_percent:
        return f"about {plural(cost.tokens, 'token')} (estimate, usually within {cost.error_percent} %)"
    about = "about " if cost.error_percent is None else ""
    return f"{about}{plural(cost.tokens, 'token')} (counted by {name(cost.counted_by)})"


def money(cost: Cost, name: Name = clean) -> str:
    """What that costs, with unknown said as unknown."""
    if cost.amount is not None:
        when = f", price of {name(cost.price_as_of)}" if cost.price_as_of else ""
        return f"about {name(cost.amount)} {name(cost.currency or 'of an unknown currency')}{when}"
    return "no charge (local model)" if cost.local else "cost unknown (no price in the configuration)"


def mending(planned: Plan) -> Iterator[str]:
    """How many documents are written anew because of drift, if any are."""
    if planned.mended:
        yield f"Written anew because of drift: {plural(len(planned.mended), 'document')}."


def roots(planned: Plan) -> str:
    """From which content to which, and from which index to which: what of both changes."""
    base, target = planned.base, planned.target
    corpus = f"orpus root: {base.corpus_root.short} -> {target.corpus_root.short}"
    state = f"tate root: {base.state_root.short} -> {target.state_root.short}"
    if base.corpus_root != target.corpus_root:
        return f"C{corpus}" + (f"; s{state}" if base.state_root != target.state_root else "")
    return f"S{state}" if base.state_root != target.state_root else "Corpus root and state root stay as they are."


def surroundings(planned: Plan, name: Name = clean) -> Iterator[str]:
    """How the plan was made, where that is not as usual: as a preview, within a scope, looking closely."""
    if planned.preview:
        yield PREVIEW
    if planned.repair_only and not planned.is_empty:
        yield f"Repairs only. {SOURCES_UNSEEN}"
    if planned.rollback_to is not None:
        yield f"A rollback to generation {planned.rollback_to}: no source was looked at, and nothing is embedded."
    if planned.scope:
        yield f"Scope: documents are removed only in {', '.join(map(name, planned.scope))}."
    if planned.held:
        yield f"Held, and not looked at: {_some([name(str(id_)) for id_ in planned.held])}."
    if planned.level is not Level.HEAD:
        yield f"Looked at the index at level {planned.level}: {_found(planned)}."


def going_on(documents: Sequence[str]) -> str:
    """What becomes of an apply of which the embedder refused texts."""
    return f"The embedder refuses texts of {_some(documents)}; planning the rest without them."


def held_back(documents: Sequence[str]) -> str:
    """How an apply ended that went on without these documents."""
    return (
        f"the rest was applied; as they were recorded stay {_some(documents)}, because the embedder refuses texts of "
        "theirs: make their chunks smaller ([chunking] max_tokens, max_bytes), or exclude them"
    )


def _some(documents: Sequence[str]) -> str:
    more = f" and {len(documents) - LISTED_HELD:,} more" if len(documents) > LISTED_HELD else ""
    return ", ".join(documents[:LISTED_HELD]) + more


def _found(planned: Plan) -> str:
    return plural(len(planned.drift), "difference") if planned.drift else "it is as it was committed"

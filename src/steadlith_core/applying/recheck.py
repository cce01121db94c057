"""A plan file is a claim: what must hold before an apply may write a single row.

1. The base must be the head, or the plan must be the one that made the head (then there is nothing to do).
2. The steps must be the ones that follow from the sources and the index as they are now (invariant 13), and so must
   where it looked (a generation, scope, held documents, level), which documents it writes anew, and whether it builds
   the index anew.
3. Cache outcome and cost may only have become better; a miss that the plan called free is refused.
4. Cost, other drift, findings, guards and what the store says of itself are there to be read: they decide nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_core.errors import GuardRefused, PlanRejected, PlanStale
from steadlith_core.planning.plan import Repair
from steadlith_core.planning.steps import Add, Reembed, Rekey

if TYPE_CHECKING:
    from steadlith_core.digest import Digest
    from steadlith_core.errors import SteadlithError
    from steadlith_core.planning.plan import DocumentChange, Plan
    from steadlith_core.records import Head


def is_applied(plan_digest: Digest, head: Head) -> bool:
    """Whether the head is what this plan made."""
    return head.plan_digest == plan_digest


def base_problem(plan: Plan, head: Head) -> SteadlithError | None:
    """Why this plan cannot stand on this head, if it cannot."""
    base = plan.base
    if plan.preview:
        return PlanStale("the plan is a preview, made against an exported manifest; plan against the index")
    if base.lineage != head.lineage:
        return PlanStale(
            f"the plan is for index {base.lineage or '(none yet)'}, this is {head.lineage or '(none yet)'}; plan again"
        )
    if (base.generation, base.state_root) != (head.generation, head.state_root):
        return PlanStale(
            f"the plan stands on generation {base.generation} ({base.state_root}), "
            f"the index is at generation {head.generation} ({head.state_root}); plan again"
        )
    return None


def claim_problem(claimed: Plan, now: Plan) -> SteadlithError | None:
    """Why the claimed steps are not the ones to take, if they are not."""
    if claimed.config_digest != now.config_digest or claimed.recipe != now.recipe:
        return PlanStale("the configuration is not the one that the plan was made with; plan again")
    if claimed.configuration != now.configuration:
        return PlanStale("the configuration file is not the one that the plan was made over; plan again")
    looked = _looked_problem(claimed, now)
    if looked is not None:
        return PlanRejected(looked)
    claims = {change.id: change for change in claimed.changes}
    facts = {change.id: change for change in now.changes}
    for id_ in sorted(claims.keys() | facts.keys()):
        claim, fact = claims.get(id_), facts.get(id_)
        if claim is None:
            return PlanStale(f"{id_}: changed, and the plan does not name it; plan again")
        if fact is None:
            return PlanStale(f"{id_}: the plan has steps for it, and there are none to take now; plan again")
        if claim.source_digest != fact.source_digest:
            return PlanStale(f"{id_}: changed since the plan was made; plan again")
        if claim != fact and _skeleton(claim) != _skeleton(fact):
            return PlanRejected(f"{id_}: the plan's steps do not follow from the sources and the index; plan again")
    if _outline(claimed) != _outline(now):
        return PlanRejected("the plan's roots and totals are not those that its steps lead to; plan again")
    return None


def _looked_problem(claimed: Plan, now: Plan) -> str | None:
    """What is wrong with where the plan says that it looked, and what it says it mends."""
    if claimed.rollback_to != now.rollback_to:
        return f"the plan goes back to {claimed.rollback_to}, this apply to {now.rollback_to}; plan again"
    if claimed.scope != now.scope:
        return f"the plan's scope is {_listed(claimed.scope)}, this apply's is {_listed(now.scope)}; plan again"
    if claimed.held != now.held:
        return "the plan holds other documents than this apply; plan again"
    if claimed.level is not now.level:
        return f"the plan looked at level {claimed.level}, this apply at level {now.level}; plan again"
    if claimed.mended != now.mended:
        other = sorted(set(claimed.mended) ^ set(now.mended))
        first = f" (first difference: {other[0]})" if other else ""
        return (
            f"the plan writes {len(claimed.mended)} documents anew because of drift, the index as it is needs "
            f"{len(now.mended)}{first}; plan again"
        )
    # Where nothing is there any more (an apply was killed after it moved the damaged file aside), a rebuild is a build.
    if _rebuilds(claimed) and not _rebuilds(now) and now.base.generation:
        return "the plan builds the index anew, and the index that is there can be read; plan again"
    if _rebuilds(now) and not _rebuilds(claimed):
        return "the index would have to be built anew, and the plan does not say so; plan again"
    return None


def _rebuilds(plan: Plan) -> bool:
    return any(drift.repair is Repair.REBUILD for drift in plan.drift)


def _listed(scope: tuple[str, ...]) -> str:
    return ", ".join(map(repr, scope)) or "everything"


def missing_problem(claimed: Plan, misses: tuple[Digest, ...]) -> SteadlithError | None:
    """Why these cache misses may not be paid for, if they may not."""
    promised = {
        step.vector_key
        for change in claimed.changes
        for step in change.steps
        if isinstance(step, Add | Reembed | Rekey) and step.paid
    }
    surprise = [key for key in misses if key not in promised]
    if not surprise:
        return None
    return PlanStale(
        f"{len(surprise)} embeddings that the plan called cached are gone from the cache (first: "
        f"{surprise[0]}); plan again to see the new cost"
    )


def guard_problem(now: Plan, allowed: frozenset[str]) -> SteadlithError | None:
    """The guards that stop this plan and were not overridden to apply itself."""
    stopping = [tripped for tripped in now.tripped if tripped.override not in allowed]
    if not stopping:
        return None
    lines = [f"{tripped.message} (pass {tripped.override} if you mean it)" for tripped in stopping]
    return GuardRefused("\n".join(lines))


def _outline(plan: Plan) -> tuple[object, ...]:
    """What follows from base and steps besides the steps themselves."""
    kept = (plan.kept_documents, plan.kept_chunks)
    return (plan.base, plan.target, plan.recipe_changed, kept)


def _skeleton(change: DocumentChange) -> DocumentChange:
    """A change without what may differ between planning and applying: who pays."""
    steps = tuple(
        replace(step, paid=False) if isinstance(step, Add | Reembed | Rekey) else step for step in change.steps
    )
    return replace(change, steps=steps)

"""What is compared before an apply may write, and what is not."""

from dataclasses import replace

import pytest

from steadlith_core.applying.recheck import base_problem, claim_problem, guard_problem
from steadlith_core.errors import GuardRefused, PlanRejected, PlanStale
from steadlith_core.planning.make import make_plan
from steadlith_core.planning.plan import Drift, Repair, Tripped
from steadlith_core.records import DriftKind, Finding, FindingKind, Level


@pytest.fixture
def now(build):
    before, after = build.wanted("a", "ab"), build.wanted("a", "aX")
    return make_plan(build.world([before], [after]), build.terms()).plan


@pytest.fixture
def head(build):
    return build.committed([build.wanted("a", "ab")])[0]


def test_an_honest_plan_stands(now, head):
    assert base_problem(now, head) is None
    assert claim_problem(now, now) is None
    assert guard_problem(now, frozenset()) is None


def test_a_preview_is_refused_whatever_it_stands_on(now, head):
    problem = base_problem(replace(now, preview=True), head)
    assert isinstance(problem, PlanStale)
    assert "plan against the index" in str(problem)
    assert problem.exit_code == 5


def test_a_preview_without_its_mark_stands_on_no_head(now, head):
    # A manifest has no lineage and no generation, so a preview cannot name them.
    forged = replace(now, base=replace(now.base, lineage=None, generation=0))
    assert isinstance(base_problem(forged, head), PlanStale)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"scope": ("docs:a/",)}, "the plan's scope is 'docs:a/', this apply's is everything"),
        ({"level": Level.FULL}, "the plan looked at level full, this apply at level head"),
    ],
)
def test_where_it_looked_must_follow(now, changes, part):
    for claimed, fact in ((replace(now, **changes), now), (now, replace(now, **changes))):
        problem = claim_problem(claimed, fact)
        assert isinstance(problem, PlanRejected)
    assert part in str(claim_problem(replace(now, **changes), now))


def test_what_it_mends_must_follow(now, build):
    mended = replace(now, mended=(build.id("a"),))
    for claimed, fact in ((mended, now), (now, mended)):
        problem = claim_problem(claimed, fact)
        assert isinstance(problem, PlanRejected)
        assert "first difference: docs:a" in str(problem)


def test_what_is_there_to_be_read_decides_nothing(now):
    told = replace(
        now,
        cost=replace(now.cost, tokens=0, amount="0", counted_by="nobody", rekeyed=9),
        store={"commit": "never"},
        drift=(Drift("x", DriftKind.HEAD, "a lie", Repair.REWRITE),),
        tripped=(Tripped("made-up", "no", "--allow-all"),),
        findings=(Finding("x", FindingKind.BINARY, "no"),),
        tool="another 9",
    )
    assert claim_problem(told, now) is None


def test_building_the_index_anew_must_follow(now):
    rebuilt = replace(now, drift=(Drift("index", DriftKind.INDEX_DAMAGED, "no database", Repair.REBUILD),))
    assert "can be read" in str(claim_problem(rebuilt, now))
    assert "does not say so" in str(claim_problem(now, rebuilt))
    assert claim_problem(rebuilt, rebuilt) is None


@pytest.mark.parametrize("allowed", [frozenset(), frozenset({"--allow-removals"}), frozenset({"--allow-empty"})])
def test_every_guard_needs_its_own_override(build, allowed):
    plan = make_plan(build.world([build.wanted("a", "ab")], []), build.terms()).plan
    problem = guard_problem(plan, allowed)
    if "--allow-empty" in allowed:
        assert problem is None
    else:
        assert isinstance(problem, GuardRefused)
        assert "pass --allow-empty" in str(problem)

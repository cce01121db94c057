from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core.planning import moves
from steadlith_core.planning.make import make_plan
from steadlith_core.planning.steps import Add, Delete, Move
from steadlith_core.records import DocumentId


def ids(*places):
    return [DocumentId(*place.split(":")) for place in places]


def made(build, before, after, *entries):
    return make_plan(replace(build.world(before, after), moves=entries), build.terms())


def origins(plan):
    return {change.id.path: change.origin.path for change in plan.changes if change.origin}


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [("docs:a.md", "docs:b.md")],
        [("docs:a/", "docs:b/"), ("docs:a/x.md", "docs:y.md")],
        [("docs:a/", "docs:a/b/")],
        [("docs:", "handbook:")],
        [("old:", "docs:old/")],
        [("docs:a.md", "docs:c.md"), ("docs:b.md", "docs:c.md")],
    ],
)
def test_good_entries(entries):
    assert moves.problem(entries) is None


@pytest.mark.parametrize(
    ("entries", "part"),
    [
        ([("a.md", "docs:b.md")], "'a.md' is no place"),
        ([("docs:a.md", ":b.md")], "':b.md' is no place"),
        ([("docs:/a.md", "docs:b.md")], "'docs:/a.md' is no place"),
        ([("docs:a/", "docs:b.md")], "both are documents, or both are folders"),
        ([("docs:a.md", "docs:")], "both are documents, or both are folders"),
        ([("docs:a.md", "docs:a.md")], "nothing moves"),
        ([("docs:a.md", "docs:b.md"), ("docs:a.md", "docs:c.md")], "stands there more than once"),
        ([("docs:a.md", "docs:b.md"), ("docs:b.md", "docs:c.md")], "say in one entry where it ends up"),
        ([("docs:a.md", "docs:b.md"), ("docs:b.md", "docs:a.md")], "say in one entry where it ends up"),
        ([("docs:a/", "docs:b/c/"), ("docs:b/", "docs:d/")], "say in one entry where it ends up"),
        ([("docs:a.md", "docs:b.md"), ("docs:", "new:")], "say in one entry where it ends up"),
    ],
)
def test_entries_that_chain_or_contradict_are_named(entries, part):
    assert part in moves.problem(entries)


def test_the_longest_place_decides_and_an_entry_applies_where_one_vanished_and_the_other_appeared():
    entries = (("docs:a/", "docs:b/"), ("docs:a/x.md", "docs:y.md"), ("old:", "docs:"))
    vanished = ids("docs:a/x.md", "docs:a/k/z.md", "docs:a/stays-away.md", "old:p/q.md")
    appeared = ids("docs:y.md", "docs:b/k/z.md", "docs:b/x.md", "docs:p/q.md")
    assert [(str(old), str(new)) for old, new in moves.pairs(entries, vanished, appeared)] == [
        ("docs:a/k/z.md", "docs:b/k/z.md"),
        ("docs:a/x.md", "docs:y.md"),
        ("old:p/q.md", "docs:p/q.md"),
    ]


def test_a_configured_move_comes_before_an_equal_root_and_before_what_shares_more(build):
    before = [build.wanted("old.md", "abcd"), build.wanted("other.md", "ab")]
    after = [build.wanted("new.md", "abXY"), build.wanted("copy.md", "abcd")]
    assert origins(made(build, before, after).plan) == {"copy.md": "old.md", "new.md": "other.md"}
    plan = made(build, before, after, ("docs:old.md", "docs:new.md")).plan
    assert origins(plan)["new.md"] == "old.md"
    steps = {change.id.path: change.steps for change in plan.changes}
    assert [(type(step), getattr(step, "old_position", None)) for step in steps["new.md"]] == [
        (Move, 0),
        (Move, 1),
        (Add, None),
        (Add, None),
    ]
    # What the named pair left over is matched as ever: c and d went to the copy, beside a and b of the other.
    assert [str(step.origin.path) for step in steps["copy.md"]] == ["other.md", "other.md", "old.md", "old.md"]


def test_a_named_pair_is_matched_by_the_sequence_diff(build):
    plan = made(build, [build.wanted("a", "xyxz")], [build.wanted("b", "yxz")], ("docs:a", "docs:b")).plan
    (new,) = (change for change in plan.changes if change.origin)
    assert [step.old_position for step in new.steps] == [1, 2, 3]
    assert [step.old_position for change in plan.changes for step in change.steps if isinstance(step, Delete)] == [0]


def test_a_document_rewritten_as_it_moved_is_no_removal_for_who_says_so(build):
    before = [build.wanted(f"a/{i:02}", [f"old {i}"]) for i in range(12)]
    after = [build.wanted(f"b/{i:02}", [f"new {i}"]) for i in range(12)]
    assert {tripped.guard for tripped in made(build, before, after).plan.tripped} >= {"removed_documents"}
    plan = made(build, before, after, ("docs:a/", "docs:b/")).plan
    assert plan.tripped == ()
    assert origins(plan) == {f"b/{i:02}": f"a/{i:02}" for i in range(12)}
    assert plan.counts["add"] == plan.counts["delete"] == 12


def test_an_entry_that_never_applied_changes_nothing(build):
    before, after = [build.wanted("a", "ab"), build.wanted("z", "q")], [build.wanted("a", "aX"), build.wanted("z", "q")]
    plan = made(build, before, after).plan
    assert made(build, before, after, ("docs:a", "docs:z"), ("docs:no/", "docs:where/")).plan == plan


def test_two_documents_that_became_one_both_go_on_there(build):
    before = [build.wanted("a", "ab"), build.wanted("b", "cd")]
    plan = made(build, before, [build.wanted("c", "cdab")], ("docs:a", "docs:c"), ("docs:b", "docs:c")).plan
    assert plan.counts["move"] == 4
    assert origins(plan) == {"c": "a"}


texts = st.lists(st.sampled_from("abcdef"), max_size=6)
corpora = st.dictionaries(st.sampled_from(["a/1", "a/2", "b/1", "b/2", "c"]), texts, max_size=5)
entries = st.lists(
    st.sampled_from([("docs:a/", "docs:b/"), ("docs:a/1", "docs:c"), ("docs:a/2", "docs:b/1"), ("docs:c", "docs:d")]),
    max_size=3,
    unique=True,
)


@settings(max_examples=300, deadline=None)
@given(corpora, corpora, entries)
def test_every_occurrence_goes_on_once_or_is_deleted_and_keeps_its_number(build, before, after, chosen):
    olds = [build.wanted(path, row) for path, row in before.items()]
    world = replace(build.world(olds, [build.wanted(path, row) for path, row in after.items()]), moves=tuple(chosen))
    result = make_plan(world, build.terms())
    numbers = {
        (id_, position): row.occurrence for id_, rows in world.chunks.items() for position, row in enumerate(rows)
    }
    text_of = {row.occurrence: row.text_hash for rows in world.chunks.values() for row in rows}
    placed = [p for version in result.writes.versions() for p in version.placements if p.occurrence is not None]
    assert len({p.occurrence for p in placed}) == len(placed)
    for version in result.writes.versions():
        for placement, chunk in zip(version.placements, world.wanted[version.id].chunks, strict=True):
            assert placement.occurrence is None or text_of[placement.occurrence] == chunk.text.text_hash
    deleted = {
        numbers[change.id, step.old_position]
        for change in result.plan.changes
        for step in change.steps
        if isinstance(step, Delete)
    }
    assert deleted.isdisjoint(p.occurrence for p in placed)
    assert deleted | {p.occurrence for p in placed} == set(numbers.values()) or not result.plan.changes

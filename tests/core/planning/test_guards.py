from dataclasses import replace
from decimal import Decimal

import pytest

from steadlith_core.planning import guards
from steadlith_core.planning.cost import Price
from steadlith_core.planning.guards import Limits, Unreadable
from steadlith_core.planning.make import make_plan
from steadlith_core.planning.overrides import OVERRIDES
from steadlith_core.planning.plan import Drift, Fate, Repair
from steadlith_core.records import DocumentId, DriftKind, Finding, FindingKind


def many(build, count, folder=""):
    return [build.wanted(f"{folder}{i}.md", [f"text {folder}{i}"]) for i in range(count)]


def tripped(build, before, after):
    return [guard.guard for guard in build.plan(before, after).tripped]


def test_ordinary_edits_pass(build):
    before = [build.wanted(f"{i}.md", [f"{i} a", f"{i} b", f"{i} c"]) for i in range(30)]
    after = [
        build.wanted(f"{i}.md", [f"{i} a", f"{i} X", f"{i} c"] if i < 20 else [f"{i} a", f"{i} b", f"{i} c"])
        for i in range(30)
    ]
    assert tripped(build, before, after) == []


def test_an_emptied_source_stops(build):
    assert "emptied_source" in tripped(build, many(build, 3), [])


@pytest.mark.parametrize(
    ("count", "removed", "stops"), [(20, 5, False), (20, 6, True), (100, 10, False), (100, 11, True)]
)
def test_removals_stop_above_five_and_ten_percent(build, count, removed, stops):
    documents = many(build, count)
    assert ("removed_documents" in tripped(build, documents, documents[removed:])) is stops


def test_a_renamed_folder_is_no_removal(build):
    texts = [[f"text {i}"] for i in range(40)]
    before = [build.wanted(f"old/{i}.md", row) for i, row in enumerate(texts)]
    after = [build.wanted(f"new/{i}.md", row) for i, row in enumerate(texts)]
    assert tripped(build, before, after) == []


def test_a_gone_folder_of_ten_stops_and_is_named_once(build):
    rest = many(build, 200)
    before = [*rest, *many(build, 10, "a/b/")]
    plan = build.plan(before, rest)
    assert [(guard.guard, guard.override) for guard in plan.tripped] == [("removed_folder", "--allow-removals")]
    assert "'docs:a/'" in plan.tripped[0].message


def test_many_chunks_deleted_without_replacement_stop(build):
    before = [build.wanted("a.md", [f"t{i}" for i in range(200)]), build.wanted("b.md", ["x"])]
    after = [build.wanted("a.md", [f"t{i}" for i in range(100)]), build.wanted("b.md", ["x"])]
    assert tripped(build, before, after) == ["deleted_chunks"]


# --------------------------------------------------------------------------------------- limits and overrides


def test_the_defaults_are_pinned():
    assert Limits() == Limits(
        removed_documents=5,
        removed_documents_percent=10,
        deleted_chunks=50,
        deleted_chunks_percent=20,
        max_steps=1_000_000,
        paid_tokens=None,
        paid_amount=None,
        unreadable=Unreadable.REPORT,
    )
    assert guards.LEAST_FOLDER == 10


def test_the_overrides_are_pinned():
    assert list(OVERRIDES) == [
        *("--allow-removals", "--allow-empty", "--allow-replaced-root", "--allow-model-change", "--allow-cost"),
        *("--allow-large-plan", "--allow-unreadable", "--allow-rebuild"),
    ]


def judged(build, world, **limits):
    terms = build.terms(limits=Limits(**limits), **PRICED)
    found = make_plan(world, terms).plan.tripped
    assert all(guard.override in OVERRIDES for guard in found)
    return {guard.guard: (guard.message, guard.override) for guard in found}


PRICED = {"price": Price(Decimal(1000), "USD", None)}


# --------------------------------------------------------------------------------------------- new guards


def test_a_replaced_root_stops_when_documents_would_go_with_it(build):
    documents = many(build, 100)
    world = replace(build.world(documents, documents[1:]), replaced=frozenset({"docs"}))
    message, flag = judged(build, world)["replaced_root"]
    assert "source 'docs' is another one than at the last apply" in message
    assert "1 of its documents would be removed" in message
    assert flag == "--allow-replaced-root"
    assert judged(build, replace(world, replaced=frozenset({"more"}))) == {}


def test_a_replaced_root_alone_and_a_rename_under_it_pass(build):
    documents = many(build, 100)
    renamed = [*documents[1:], build.wanted("renamed.md", ["text 0"])]
    for after in (documents, [*documents, build.wanted("new.md", ["x"])], renamed):
        assert judged(build, replace(build.world(documents, after), replaced=frozenset({"docs"}))) == {}


@pytest.mark.parametrize(("limit", "stops"), [(9, True), (10, False)])
def test_a_plan_of_too_many_steps_stops(build, limit, stops):
    found = judged(build, build.world([], many(build, 10)), max_steps=limit)
    assert ("plan_too_large" in found) is stops
    if stops:
        assert found["plan_too_large"][1] == "--allow-large-plan"
        assert "10 steps" in found["plan_too_large"][0]


def test_the_budget_in_tokens_and_in_money(build):
    world = build.world([], many(build, 10))  # 30 tokens, 0.03 USD
    assert judged(build, world, paid_tokens=30, paid_amount=Decimal("0.03")) == {}
    message, flag = judged(build, world, paid_tokens=29)["budget"]
    assert (message, flag) == ("about 30 tokens would be embedded (the budget is 29)", "--allow-cost")
    message, flag = judged(build, world, paid_amount=Decimal("0.029"))["budget"]
    assert (message, flag) == ("about 0.030000 USD would be paid (the budget is 0.029)", "--allow-cost")


def test_unknown_money_trips_no_budget(build):
    terms = build.terms(price=None, limits=Limits(paid_amount=Decimal(0)))
    assert make_plan(build.world([], many(build, 10)), terms).plan.tripped == ()


@pytest.mark.parametrize("kind", FindingKind)
def test_what_was_left_unread_stops_under_refuse_alone(build, kind):
    documents = many(build, 3)
    world = build.world(documents, documents, findings=[Finding("docs:x.md", kind, "why")])
    assert judged(build, world) == {}
    found = judged(build, world, unreadable=Unreadable.REFUSE)
    if kind in {FindingKind.UNSPLITTABLE, FindingKind.MISSING, FindingKind.EMPTY_SOURCE, FindingKind.HELD}:
        assert found == {}
    else:
        assert found["unreadable"][1] == "--allow-unreadable"
        assert f"first: docs:x.md: {kind}" in found["unreadable"][0]


def test_a_long_chunk_of_a_document_that_is_embedded_is_not_unread(build):
    after = [build.wanted("a:1.md", "ab")]
    found = Finding("docs:a:1.md:7", FindingKind.INPUT_TOO_LONG, "about 9 tokens")
    world = build.world([], after, findings=[found])
    assert judged(build, world, unreadable=Unreadable.REFUSE) == {}


def test_building_the_index_anew_stops(build):
    documents = many(build, 3)
    drift = Drift("index.sqlite3", DriftKind.INDEX_DAMAGED, "is no database", Repair.REBUILD)
    world = replace(build.world([], documents), drift=(drift,))
    message, flag = judged(build, world)["rebuild"]
    assert "moved aside" in message
    assert message.endswith("its history stays in the file that was moved (index.sqlite3: index_damaged)")
    assert flag == "--allow-rebuild"
    assert judged(build, replace(world, drift=(replace(drift, repair=Repair.STEPS),))) == {}


def test_what_the_settings_leave_out_counts_and_is_told_apart(build):
    rest = many(build, 20)
    before = [*rest, *many(build, 10, "a/"), *many(build, 4, "b/")]
    world = build.world(before, rest)
    out = replace(world, left_out=frozenset(id_ for id_ in world.vanished if id_.path.startswith("a/")))
    found = judged(build, out)
    ending = "10 of them because include, exclude or ignore rules leave them out now"
    assert found["removed_documents"][0].startswith("14 of 34 documents would be removed")
    assert found["removed_documents"][0].endswith(ending)
    assert found["removed_folder"][0].endswith(ending)
    assert {str(step.reason) for change in make_plan(out, build.terms()).plan.changes for step in change.steps} == {
        "out_of_scope",
        "document_vanished",
    }
    assert "rules" not in judged(build, world)["removed_documents"][0]


def test_an_emptied_source_says_that_the_settings_did_it(build):
    world = build.world(many(build, 3), [])
    assert judged(build, replace(world, left_out=world.vanished))["emptied_source"][0].endswith("leave them out now")


def test_sentences_count_in_words_and_with_commas(build):
    documents = many(build, 1200)
    removed = judged(build, build.world(documents, documents[:1]))
    assert removed["removed_documents"][0] == (
        "1,199 of 1,200 documents would be removed (at most 120 go without a word)"
    )
    assert removed["deleted_chunks"][0] == "1,199 of 1,200 chunks would be deleted without replacement"
    one = build.world([], documents[:1])
    size = judged(build, one, max_steps=0)["plan_too_large"][0]
    assert size == "the plan has 1 step, too many for anybody to review (the limit is 0)"
    unread = replace(build.world([], []), findings=(Finding("docs:x.md", FindingKind.BINARY, "NUL"),))
    said = judged(build, unread, unreadable=Unreadable.REFUSE)["unreadable"][0]
    assert said.startswith(
        "1 input could not be used, and what is recorded of it would stay as it is (first: docs:x.md"
    )
    budget = judged(build, build.world([], documents), paid_tokens=1000)["budget"][0]
    assert budget == "about 3,600 tokens would be embedded (the budget is 1,000)"


def test_a_tripped_guard_changes_no_step(build):
    world = build.world(many(build, 30), many(build, 3))
    tight = make_plan(world, build.terms(limits=Limits(max_steps=0, removed_documents=0))).plan
    loose = make_plan(world, build.terms(limits=Limits(removed_documents=99, deleted_chunks=99))).plan
    assert len(tight.tripped) > len(loose.tripped)
    assert replace(tight, tripped=()) == replace(loose, tripped=())


def test_a_source_whose_documents_all_went_on_elsewhere_is_not_emptied(build):
    named = [replace(build.wanted(f"{i}.md", [f"text {i}"]), id=DocumentId("notes", f"{i}.md")) for i in range(3)]
    moved = [build.wanted(f"notes/{i}.md", [f"text {i}"]) for i in range(3)]
    rest = many(build, 30, "kept/")
    plan = build.plan([*named, *rest], [*moved, *rest[1:]])
    assert plan.tripped == ()
    assert any(change.fate is Fate.REMOVED and change.id.source == "docs" for change in plan.changes)


def test_a_folder_says_of_its_own_documents_which_the_settings_leave_out(build):
    rest = many(build, 300)
    world = build.world([*rest, *many(build, 10, "a/"), *many(build, 10, "b/")], rest)
    out = replace(world, left_out=frozenset(id_ for id_ in world.vanished if id_.path.startswith("a/")))
    said = [guard.message for guard in make_plan(out, build.terms()).plan.tripped if guard.guard == "removed_folder"]
    assert [("'docs:a/'" in message, "10 of them because" in message) for message in said] == [
        (True, True),
        (False, False),
    ]


def test_guards_of_many_sources_come_in_the_order_of_their_names(build):
    sources = [f"source {number}" for number in range(8)]
    documents = [
        replace(document, id=DocumentId(source, document.id.path))
        for source in sources
        for document in many(build, 40, f"{source}/")
    ]
    gone = {DocumentId(source, f"{source}/0.md") for source in sources}
    world = build.world(documents, [document for document in documents if document.id not in gone])
    found = make_plan(replace(world, replaced=frozenset(sources)), build.terms()).plan.tripped
    assert [guard.message.split("'")[1] for guard in found] == sources


@pytest.mark.parametrize(("lost", "stops"), [(50, False), (51, True)])
def test_chunks_stop_above_fifty(build, lost, stops):
    before = [build.wanted("a.md", [f"t{i}" for i in range(200)])]
    after = [build.wanted("a.md", [f"t{i}" for i in range(200 - lost)])]
    assert ("deleted_chunks" in tripped(build, before, after)) is stops


@pytest.mark.parametrize(("lost", "stops"), [(100, False), (101, True)])
def test_chunks_stop_above_a_fifth(build, lost, stops):
    before = [build.wanted("a.md", [f"t{i}" for i in range(500)])]
    after = [build.wanted("a.md", [f"t{i}" for i in range(500 - lost)])]
    assert ("deleted_chunks" in tripped(build, before, after)) is stops


def test_what_is_counted_and_not_estimated_is_not_about(build):
    plan = build.plan([], many(build, 10))
    counted = replace(plan, cost=replace(plan.cost, error_percent=0))
    said = [
        [found.message for found in guards.judge(each, LOSSES, Limits(paid_tokens=29))]
        for each in (plan, counted, replace(plan, cost=replace(plan.cost, error_percent=1)))
    ]
    ending = "30 tokens would be embedded (the budget is 29)"
    assert said == [[f"about {ending}"], [ending], [f"about {ending}"]]


LOSSES = guards.Losses(0, 0, {}, frozenset(), frozenset({"docs"}), None)


def test_building_the_index_anew_tells_what_would_not_be_in_it(build):
    documents = many(build, 3)
    drift = Drift("index.sqlite3", DriftKind.INDEX_DAMAGED, "is no database", Repair.REBUILD)
    found = [
        Finding("docs:x.md", FindingKind.BINARY, "NUL"),
        Finding("docs:y.md", FindingKind.HELD, "held"),
        Finding("docs:z.md:7", FindingKind.INPUT_TOO_LONG, "about 9 tokens"),
    ]
    world = replace(build.world([], documents, findings=found), drift=(drift,))
    message, _ = judged(build, world)["rebuild"]
    assert message.endswith("; 2 inputs cannot be used now and would not be in it")

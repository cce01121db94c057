"""`plan --hold`: documents that stay as they are recorded, whatever became of their sources."""

import pytest

from steadlith import Look
from steadlith_core.planning.planfile import dump
from steadlith_core.records import DocumentId, FindingKind

ONE, TWO, NEW = (DocumentId("docs", f"{name}.md") for name in ("one", "two", "new"))


def changed(plan):
    return [str(change.id) for change in plan.changes]


def held(site, *ids, **options):
    return site.open().plan(Look(held=ids), **options)


@pytest.fixture
def edited(settled, article):
    settled.write("one.md", article("one", word="omega"))
    settled.write("two.md", article("two", word="omega"))
    settled.write("new.md", article("new"))
    return settled


def test_a_held_document_stays_as_it_is_recorded_and_a_new_one_stays_out(edited):
    before = [hit.text for hit in edited.hits() if hit.document == ONE]
    planned = held(edited, ONE, NEW)
    assert changed(planned) == ["docs:two.md"]
    assert [(each.place, each.kind) for each in planned.findings] == [
        ("docs:new.md", FindingKind.HELD),
        ("docs:one.md", FindingKind.HELD),
    ]
    edited.apply(planned)
    assert [hit.text for hit in edited.hits() if hit.document == ONE] == before != []
    assert edited.open().verify().ok
    assert changed(edited.plan()) == ["docs:new.md", "docs:one.md"]  # the next plan sees them again


@pytest.mark.parametrize(
    "ids", [(ONE,), (ONE, NEW), (DocumentId("docs", "three.md"),), (DocumentId("docs", "none.md"),)]
)
def test_without_the_stat_cache_the_plan_is_the_same(edited, ids):
    assert dump(held(edited, *ids)) == dump(held(edited, *ids, stat_cache=False))


@pytest.mark.parametrize("stat_cache", [True, False])
def test_a_name_that_no_document_has_is_said_to_hold_nothing(edited, stat_cache):
    none, elsewhere = DocumentId("docs", "on.md"), DocumentId("docs", "deep/one.md")
    planned = held(edited, none, ONE, elsewhere, stat_cache=stat_cache)
    assert changed(planned) == ["docs:new.md", "docs:two.md"]
    found = [(each.place, each.kind, each.message.split(",")[0]) for each in planned.findings]
    assert found == [
        ("docs:deep/one.md", FindingKind.HELD, "neither in the sources nor in the index"),
        ("docs:on.md", FindingKind.HELD, "neither in the sources nor in the index"),
        ("docs:one.md", FindingKind.HELD, "not read; what is recorded of it stays"),
    ]
    edited.apply(planned)
    assert edited.open().verify().ok


def test_a_held_document_that_is_gone_stays_too(settled):
    (settled.docs / "one.md").unlink()
    (settled.docs / "two.md").unlink()
    planned = held(settled, ONE)
    assert changed(planned) == ["docs:two.md"]
    assert [(each.place, each.kind) for each in planned.findings] == [("docs:", FindingKind.MISSING)]
    assert "held, so they stay: one.md" in planned.findings[0].message
    settled.apply(planned, allow=["--allow-removals"])
    assert settled.open().head().documents == 2
    assert changed(settled.plan()) == ["docs:one.md"]


def test_twice_and_in_any_order_is_the_same_plan(edited):
    assert dump(held(edited, ONE, TWO)) == dump(held(edited, TWO, ONE, TWO))


def test_holding_is_no_reason_to_refuse(settled, article):
    settled.configure(rest='[guards]\nunreadable = "refuse"')
    settled.write("one.md", article("one", word="omega"))
    assert held(settled, ONE).tripped == ()

"""A plan file is a claim (invariant 13): forged ones are refused before the first write."""

import json
from dataclasses import replace

import pytest

from steadlith_core.digest import Digest, hasher
from steadlith_core.errors import PlanFileError, PlanRejected, PlanStale
from steadlith_core.planning.plan import Base, DocumentChange, Drift, Fate, Repair
from steadlith_core.planning.planfile import dump, load
from steadlith_core.planning.steps import Add, Delete, Reason
from steadlith_core.records import DocumentId, DriftKind, Level

ANY = Digest(b"\x05" * 32)


@pytest.fixture
def edited(settled, article):
    settled.write("one.md", article("one") + "\nA new paragraph with alpha in it.\n")
    return settled


def refused(site, plan, kind=(PlanRejected, PlanStale)):
    before = {name: data for name, (data, _) in site.files().items() if "lock" not in name}
    with pytest.raises(kind) as raised:
        site.apply(load(dump(plan)))
    assert {name: data for name, (data, _) in site.files().items() if "lock" not in name} == before
    assert raised.value.exit_code == 5
    return str(raised.value)


def with_change(honest, change):
    """A forger keeps the order, so that the file can be read at all."""
    return replace(honest, changes=tuple(sorted((*honest.changes, change), key=lambda each: each.id)))


@pytest.mark.parametrize(
    "path", ["../secret.md", "/etc/passwd", "a/../../secret.md", "link.md", ".steadlith/index.sqlite3", "no.md"]
)
def test_an_id_outside_the_sources_is_refused(edited, path):
    (edited.root / "secret.md").write_text("secret alpha\n", "utf-8")
    (edited.docs / "link.md").symlink_to(edited.root / "secret.md")
    honest = edited.plan()
    forged = DocumentChange(
        DocumentId("docs", path), Fate.ADDED, None, ANY, 0, (Add(0, ANY, ANY, 3, True, Reason.NEW_DOCUMENT),)
    )
    message = refused(edited, with_change(honest, forged))
    assert path in message


def test_a_source_that_the_configuration_does_not_name_is_refused(edited):
    honest = edited.plan()
    change = replace(honest.changes[0], id=DocumentId("other", "one.md"))
    assert "other:one.md" in refused(edited, with_change(honest, change))


def test_a_hidden_delete_is_refused(edited):
    honest = edited.plan()
    hidden = DocumentChange(
        DocumentId("docs", "two.md"), Fate.REMOVED, None, None, 0, (Delete(0, ANY, Reason.DOCUMENT_VANISHED),)
    )
    assert "docs:two.md" in refused(edited, with_change(honest, hidden))


def test_a_step_more_or_less_is_refused(edited):
    honest = edited.plan()
    change = honest.changes[0]
    fewer = replace(change, steps=change.steps[1:], kept=change.kept + 1)
    more = replace(change, steps=(*change.steps, Delete(0, ANY, Reason.TEXT_GONE)))
    for forged in (fewer, more):
        assert "do not follow" in refused(edited, replace(honest, changes=(forged,)), PlanRejected)


def test_another_text_under_an_honest_position_is_refused(edited):
    honest = edited.plan()
    steps = tuple(replace(step, chunk_hash=ANY) if isinstance(step, Add) else step for step in honest.changes[0].steps)
    refused(edited, replace(honest, changes=(replace(honest.changes[0], steps=steps),)), PlanRejected)


@pytest.mark.parametrize("field", ["corpus_root", "state_root", "documents", "chunks"])
def test_another_target_is_refused(edited, field):
    honest = edited.plan()
    value = ANY if field.endswith("root") else 99
    refused(edited, replace(honest, target=replace(honest.target, **{field: value})), PlanRejected)


@pytest.mark.parametrize("field", ["lineage", "generation", "state_root"])
def test_another_base_is_stale(edited, field):
    honest = edited.plan()
    value = {"lineage": "other", "generation": 7, "state_root": ANY}[field]
    refused(edited, replace(honest, base=replace(honest.base, **{field: value})), PlanStale)


def test_another_recipe_or_configuration_is_stale(edited):
    honest = edited.plan()
    refused(edited, replace(honest, config_digest=ANY), PlanStale)
    refused(edited, replace(honest, recipe=replace(honest.recipe, template_id="evil/1")), PlanStale)


def test_looser_limits_in_a_file_count_for_nothing(settled):
    from steadlith_core.errors import GuardRefused

    for name in ("one", "two", "three"):
        (settled.docs / f"{name}.md").unlink()
    honest = settled.plan()
    assert honest.tripped
    with pytest.raises(GuardRefused):
        settled.apply(load(dump(replace(honest, tripped=()))))
    assert settled.open().head().documents == 3


def resealed(body):
    body.pop("checksum", None)
    compact = json.dumps(body, sort_keys=True, separators=(",", ":")).encode("ascii")
    return json.dumps({**body, "checksum": str(hasher("plan")(compact))})


def test_an_edited_file_is_refused_by_its_checksum_and_a_resealed_one_by_its_steps(edited):
    body = json.loads(dump(edited.plan()))
    body["changes"][0]["steps"] = []
    body["counts"] = dict.fromkeys(body["counts"], 0) | {"keep": body["counts"]["keep"]}
    with pytest.raises(PlanRejected, match="changed after it was written"):
        load(json.dumps(body))
    with pytest.raises(PlanRejected):
        edited.apply(load(resealed(body)))


def test_a_second_contradicting_change_of_one_document_is_refused(edited):
    body = json.loads(dump(edited.plan()))
    body["changes"].insert(0, {**body["changes"][0], "steps": []})
    with pytest.raises(PlanFileError, match="there twice"):
        load(resealed(body))


@pytest.mark.parametrize("field", ["kept_documents", "kept_chunks", "sources_root"])
def test_a_forged_rest_is_refused(edited, field):
    honest = edited.plan()
    if field == "sources_root":
        forged = replace(honest, target=replace(honest.target, sources_root=ANY))
    else:
        forged = replace(honest, **{field: 1000})
    with pytest.raises(PlanRejected, match="totals"):
        edited.apply(forged)


def test_a_forged_cost_changes_nothing_that_is_done(edited):
    honest = edited.plan()
    done = edited.apply(replace(honest, cost=replace(honest.cost, tokens=0, amount="0")))
    assert done.embedded == honest.cost.embeddings


@pytest.mark.parametrize("path", ["two.md", "../../etc/passwd"])
def test_a_forged_repair_is_refused(edited, path):
    message = refused(edited, replace(edited.plan(), mended=(DocumentId("docs", path),)), PlanRejected)
    assert f"first difference: docs:{path}" in message


def test_a_scope_that_would_not_remove_what_the_plan_removes_is_refused(settled):
    (settled.docs / "two.md").unlink()
    honest = settled.plan()
    assert "docs:two.md" in refused(settled, replace(honest, scope=("docs:one.md",)))


def test_a_scope_or_a_level_that_somebody_forged_does_no_more_than_the_steps_say(settled, article):
    settled.write("one.md", article("one") + "\nA new paragraph with alpha in it.\n")
    honest = settled.plan()
    (settled.docs / "two.md").unlink()
    done = settled.apply(load(dump(replace(honest, scope=("docs:",), level=Level.FULL))))
    assert (done.head.documents, done.head.corpus_root) == (3, honest.target.corpus_root)


def test_a_preview_is_refused_and_so_is_one_whose_mark_was_taken_away(edited):
    honest = edited.plan()
    message = refused(edited, replace(honest, preview=True), PlanStale)
    assert "plan against the index" in message
    # What a manifest can tell of its index: the roots, and no lineage and no generation.
    told = Base(None, 0, honest.base.corpus_root, honest.base.state_root, honest.base.sources_root)
    refused(edited, replace(honest, base=told), PlanStale)


def test_forged_counts_are_no_plan_file(edited):
    body = json.loads(dump(edited.plan()))
    body["counts"]["delete"] = 0
    body["counts"]["keep"] += 1
    with pytest.raises(PlanFileError, match="'counts' are"):
        load(resealed(body))


def test_forged_drift_is_a_tale_that_changes_nothing_that_is_done(edited):
    honest = edited.plan()
    tale = Drift("docs:two.md", DriftKind.VECTOR, "burnt down", Repair.REWRITE)
    before = edited.open().head()
    done = edited.apply(load(dump(replace(honest, drift=(tale,)))))
    assert (done.head.lineage, done.head.generation) == (before.lineage, before.generation + 1)
    assert done.head.corpus_root == honest.target.corpus_root


def rebuilding(plan):
    tale = Drift("index.sqlite3", DriftKind.INDEX_DAMAGED, "burnt down", Repair.REBUILD)
    return load(dump(replace(plan, drift=(tale,))))


def test_a_forged_order_to_build_the_index_anew_is_refused(site, article):
    site.write("one.md", article("one"))
    site.apply()
    site.write("one.md", article("one") + "\nMore alpha.\n")
    with pytest.raises((PlanRejected, PlanStale)):
        site.apply(rebuilding(site.plan()), allow={"--allow-rebuild"})
    assert site.open().head().generation == 1
    assert not list(site.root.rglob("*damaged*"))


def test_where_there_is_no_index_an_order_to_build_it_anew_builds_it(site, article):
    site.write("one.md", article("one"))
    assert site.apply(rebuilding(site.plan()), allow={"--allow-rebuild"}).head.generation == 1
    assert not list(site.root.rglob("*damaged*"))
    assert site.open().verify().ok


def test_a_forged_origin_is_refused(edited):
    honest = edited.plan()
    change = replace(honest.changes[0], origin=DocumentId("docs", "two.md"))
    assert "do not follow" in refused(edited, replace(honest, changes=(change,)), PlanRejected)

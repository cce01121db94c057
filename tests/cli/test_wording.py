"""Sentences that say what is so, what it means and the way out, where little can be said in few words."""

import json
from dataclasses import replace

import pytest

from steadlith.cli import planfiles
from steadlith.report import explanation, markdown, sentences, text
from steadlith_core.errors import PlanFileError
from steadlith_core.planning.plan import Drift, Repair, Tripped
from steadlith_core.planning.planfile import dump
from steadlith_core.records import DriftKind

PAST = Drift("index", DriftKind.HISTORY, "generation 1 is not as it was committed", Repair.NONE)
LOST = Drift("docs:a.md", DriftKind.VECTOR, "1 vector is gone", Repair.REWRITE)


@pytest.fixture
def empty(planned):
    """A plan that does nothing."""
    return replace(planned, changes=(), recipe_changed=False)


def lines(planned):
    return [words for _, words in text.plan(planned, steps=None)]


# -------------------------------------------------------------------------------------------- nothing to do


def test_a_plan_of_repairs_says_that_it_looked_at_nothing_else(cli, folder, empty):
    cli("apply", "--yes")
    (folder / "docs" / "a.md").write_text("Other.\n", "utf-8")
    ran = cli("plan", "--refresh-only")
    assert ran.out.endswith("\nNo repairs are needed. Changes in the sources were not looked at.\n")
    assert (ran.code, "matches" in ran.out) == (0, False)
    page = cli("plan", "--refresh-only", "--format", "markdown").out
    assert "### Steadlith plan: no repairs\n" in page
    assert "\nNo repairs are needed. Changes in the sources were not looked at.\n" in page
    for drift in ((PAST,), (LOST,)):
        said = "\n".join(lines(replace(empty, repair_only=True, drift=drift)))
        assert "Changes in the sources were not looked at." in said
        assert "No repairs are needed" not in said
        assert "matches" not in said


def test_a_preview_without_changes_says_what_it_was_compared_with(cli, folder):
    cli("apply", "--yes")
    cli("manifest", "export", "--out", "m")
    for form in ("text", "markdown"):
        page = cli("plan", "--against", "m", "--format", form).out
        assert "No changes against the manifest; the index was not looked at." in page
        assert "matches" not in page


def test_drift_that_nothing_repairs_is_not_a_match(empty):
    shown = lines(replace(empty, drift=(PAST,)))
    assert shown[-1] == "No changes in the sources; applying does not repair the drift above."
    assert shown[1].endswith(f"({sentences.HISTORY})")
    assert "compact --keep 1" in sentences.HISTORY
    assert sentences.HISTORY in markdown.plan(replace(empty, drift=(PAST,)))
    assert "older generations" not in sentences.repair(replace(PAST, kind=DriftKind.DOCUMENT))


def test_a_plan_that_was_written_says_what_it_is_good_for(cli, folder, empty):
    cli("apply", "--yes")
    cli("manifest", "export", "--out", "m")
    assert cli("plan", "--out", "p.json").err == "Plan written to p.json: nothing to apply\n"
    preview = "Preview written to p.json: it can be shown, not applied\n"
    assert cli("plan", "--out", "p.json", "--against", "m").err == preview
    (folder / "docs" / "a.md").write_text("Other.\n", "utf-8")
    assert cli("plan", "--out", "p.json", "--against", "m").err == preview
    written = cli("plan", "--out", "p.json").err
    assert written == "Plan written to p.json; apply exactly this with: steadlith apply p.json\n"


def test_an_apply_without_steps_says_where_the_index_is(cli, folder):
    cli("apply", "--yes")
    cli("plan", "--out", "p.json")
    assert cli("apply", "p.json").out == "Nothing to do: the index is at generation 1.\n"
    told = json.loads(cli("apply", "p.json", "--json").out)
    assert (told["unchanged"], told["already_applied"], told["generation"]) == (True, False, 1)
    (folder / "docs" / "a.md").write_text("Other.\n", "utf-8")
    assert json.loads(cli("apply", "--yes", "--json").out)["unchanged"] is False


# ----------------------------------------------------------------------------------------------------- roots


def test_roots_are_named_where_they_change(planned):
    base, target = planned.base, planned.target

    def said(corpus, state):
        now = replace(
            target,
            corpus_root=target.corpus_root if corpus else base.corpus_root,
            state_root=target.state_root if state else base.state_root,
        )
        return sentences.roots(replace(planned, target=now))

    corpus = f"orpus root: {base.corpus_root.short} -> {target.corpus_root.short}"
    state = f"tate root: {base.state_root.short} -> {target.state_root.short}"
    assert said(corpus=True, state=True) == f"C{corpus}; s{state}"
    assert said(corpus=False, state=True) == f"S{state}"
    assert said(corpus=True, state=False) == f"C{corpus}"
    assert said(corpus=False, state=False) == "Corpus root and state root stay as they are."


# ---------------------------------------------------------------------------------------------------- guards


def test_who_was_shown_the_plan_hears_which_flags_are_missing():
    tripped = [Tripped("a", "x", "--allow-a"), Tripped("b", "y", "--allow-b"), Tripped("c", "z", "--allow-a")]
    assert sentences.refused(tripped, ()) == ("refused by 3 guards: see above; pass --allow-a --allow-b if you mean it")
    assert sentences.refused(tripped, {"--allow-a"}) == "refused by a guard: see above; pass --allow-b if you mean it"


# --------------------------------------------------------------------------------------------------- numbers


def test_one_is_not_many(planned, cli, folder):
    one = replace(planned, cost=replace(planned.cost, tokens=1, embeddings=1, probe_texts=1))
    assert "Embeddings: 1 in 1 call, about 1 token (estimate" in "\n".join(lines(one))
    assert "besides, 1 probe text." in "\n".join(lines(one))
    exact = replace(one, cost=replace(one.cost, error_percent=0, counted_by="x"))
    assert ", 1 token (counted by x)" in "\n".join(lines(exact))
    step = replace(planned.changes[0].steps[0], tokens=1)
    few = replace(planned, changes=(replace(planned.changes[0], steps=(step,)),))
    assert "embed, about 1 token  (new document)" in "\n".join(lines(few))


def test_an_explanation_counts_its_lines_and_chunks(cli, folder):
    words = {name: f"# {name}\n\n" + f"Words of {name}. " * 150 + "\n\n" for name in ("One", "Two")}
    file = folder / "docs" / "a.md"
    file.write_text(words["One"] + words["Two"], "utf-8")
    cli("apply", "--yes")
    file.write_text(words["One"] + words["Two"].replace("Words of Two. Words", "Other words", 1), "utf-8")
    said = cli("plan", "--explain", "a.md").out
    assert "gone from it:      line 7, as it was numbered\n" in said
    assert "kept: the same text, in the same order" in said
    assert "1 chunks" not in said
    assert explanation._were(((4, 5),)) == "they were"


# ---------------------------------------------------------------------------------------------------- errors


def test_a_file_that_is_no_plan_is_named_once_with_the_way_out(cli, folder):
    hint = "`steadlith plan --out FILE` writes one\n"
    assert cli("show", "steadlith.toml").err == (
        f"Error: steadlith.toml: not a plan file: Expecting value: line 1 column 1 (char 0); {hint}"
    )
    assert cli("show", "no.json").err == (
        f"Error: cannot read plan file no.json: no such file, and no generation is named so; {hint}"
    )
    (folder / "b.json").write_bytes(b"{\xff}")
    assert cli("show", "b.json").err == f"Error: b.json: not a plan file: not UTF-8 (byte 1); {hint}"


def test_every_error_of_a_plan_file_names_it(tmp_path, planned):
    file = tmp_path / "p.json"
    for content in ("[1]", '{"kind": "steadlith-plan"}', dump(planned).replace("1.0", "9.0", 1)):
        file.write_text(content, "utf-8")
        with pytest.raises(PlanFileError, match=r"^.*/p\.json: ") as raised:
            planfiles.load(file)
        assert str(raised.value).endswith(planfiles.HINT)


def test_a_file_that_is_no_proof_is_named_with_the_way_out(cli, folder):
    root = "b3:" + "0" * 64
    hint = "; `steadlith prove DOC --out FILE` writes one\n"
    (folder / "b").write_bytes(b"\x7f\xff")
    assert cli("verify-proof", "b", "--root", root).err == f"Error: b: not a proof file: not UTF-8{hint}"
    ran = cli("verify-proof", "steadlith.toml", "--root", root)
    assert ran.err == f"Error: steadlith.toml: not a proof file: Expecting value: line 1 column 1 (char 0){hint}"
    assert ran.code == 1


def test_a_record_that_cannot_be_read_has_one_line_number(cli, folder):
    (folder / "r.jsonl").write_text('{"ref": "a", "body_text": "Words."}\n{"ref": "b"; "text": "x"}\n', "utf-8")
    settings = (folder / "steadlith.toml").read_text("utf-8")
    records = '[sources.more]\ntype = "records"\npath = "r.jsonl"\n'
    (folder / "steadlith.toml").write_text(f"{settings}\n{records}", "utf-8")
    said = cli("plan").out
    assert "line 2 is not a JSON object (Expecting ',' delimiter, column 12); mend or remove it" in said
    assert "line 1" not in said


def test_a_verification_that_finds_problems_says_what_comes_next(cli, folder):
    hint = "`steadlith plan --refresh full` says what applying can repair.\n"
    assert hint not in cli("verify").out  # there is no index: that is said already
    cli("apply", "--yes")
    assert hint not in cli("verify").out
    assert cli("verify", "--root", "b3:" + "0" * 64).out.endswith(hint)

"""`steadlith rollback`: shown first, done with a word, ended after a kill."""

import json
from contextlib import suppress

import pytest

from steadlith import pending


@pytest.fixture
def changed(folder, cli):
    """Two generations: a document and the configuration are others in the second."""
    assert cli("apply", "--yes").code == 0
    (folder / "docs" / "a.md").write_text("# Apples\n\nApples are blue.\n", "utf-8")
    file = folder / "steadlith.toml"
    file.write_text(file.read_text("utf-8") + "[guards]\nmax_steps = 7\n", "utf-8")
    assert cli("apply", "--yes").code == 0
    return folder


def test_it_is_shown_and_nothing_changes(cli, changed):
    before = (changed / "steadlith.toml").read_bytes()
    shown = cli("rollback", "1")
    assert shown.code == 0
    assert shown.out.startswith("Back to generation 1 (")
    assert "Embeddings: none needed; free: " in shown.out
    assert "\n- max_steps = 7\n" in shown.out
    assert "pass --apply to do it" in shown.out
    assert json.loads(cli("status", "--json").out)["generation"] == 2
    assert (changed / "steadlith.toml").read_bytes() == before


def test_it_is_done_with_a_yes_and_without_one_it_is_not(cli, changed):
    refused = cli("rollback", "head~1", "--apply")
    assert refused.code == 3
    assert "pass --yes" in refused.err
    assert "pass --apply" not in refused.out
    assert json.loads(cli("status", "--json").out)["generation"] == 2
    done = cli("rollback", "head~1", "--apply", "--yes")
    assert done.code == 0
    assert "Went back to generation 1, as generation 3: 2 documents, " in done.out
    assert "The configuration is that of generation 1." in done.out
    assert "max_steps" not in (changed / "steadlith.toml").read_text("utf-8")
    assert cli("verify").code == 0
    assert cli("plan", "--check").code == 2
    again = cli("rollback", "1", "--apply", "--yes")
    assert (again.code, "Nothing to do" in again.out) == (0, True)
    assert json.loads(cli("status", "--json").out)["generation"] == 3


def test_a_name_leads_back(cli, changed):
    assert cli("tag", "1", "good").code == 0
    assert cli("rollback", "good", "--apply", "-y").code == 0
    wrong = cli("rollback", "nope")
    assert (wrong.code, "'nope' names no generation" in wrong.err) == (64, True)


def test_json_is_one_document_of_what_was_shown_or_done(cli, changed):
    shown = json.loads(cli("rollback", "1", "--json").out)
    assert (shown["kind"], shown["generation"], shown["nothing"]) == ("steadlith-rollback", 1, False)
    assert shown["plan"]["rollback_to"] == 1
    assert shown["plan"]["cost"]["embeddings"] == 0
    assert "max_steps" in shown["configuration"]["now"]
    assert "max_steps" not in shown["configuration"]["then"]
    refused = cli("rollback", "1", "--json", "--apply")
    assert (refused.code, json.loads(refused.out)["error"]) == (3, "ApprovalMissing")
    done = json.loads(cli("rollback", "1", "--json", "--apply", "--yes").out)
    assert (done["kind"], done["generation"], done["rollback_to"]) == ("steadlith-apply", 3, 1)
    assert (done["embedded"], done["configured"]) == (0, True)
    nothing = json.loads(cli("rollback", "1", "--json", "--apply", "--yes").out)
    assert nothing["nothing"] is True


def test_a_saved_plan_is_shown_and_applied_and_the_configuration_comes_with_it(cli, changed):
    assert cli("rollback", "1", "--out", "back.json").code == 0
    for form in ("text", "markdown"):
        assert "A rollback to generation 1: no source was looked at" in cli("show", "back.json", "--format", form).out
    assert cli("apply", "back.json").code == 0
    assert "max_steps" not in (changed / "steadlith.toml").read_text("utf-8")
    again = cli("apply", "back.json")
    assert (again.code, "Already applied as generation 3" in again.out) == (0, True)
    assert "rollback to 1" in cli("history").out.splitlines()[0]


def test_what_was_killed_is_said_by_whoever_plans_and_ended_by_resume(cli, changed, monkeypatch):
    def leave(*_given, **_named):
        raise OSError("killed")

    with monkeypatch.context() as patch, suppress(Exception):
        patch.setattr(pending, "settle", leave)
        cli("rollback", "1", "--apply", "--yes")
    for command in (["plan"], ["apply", "--yes"], ["rollback", "2"], ["plan", "--explain", "a.md"], ["search", "x"]):
        told = cli(*command)
        if command != ["search", "x"]:
            assert told.code == 6
            assert "`steadlith rollback --resume` puts it there" in told.err
    refused = cli("rollback", "--abort")
    assert (refused.code, "--resume" in refused.err) == (6, True)
    found = cli("doctor")
    assert found.code == 2
    assert "rollback --resume" in found.out
    done = cli("rollback", "--resume")
    assert done.code == 0
    assert "Generation 3 (rollback to 1) is committed, and its configuration is in place" in done.out
    assert cli("plan", "--check").code == 2
    assert "Nothing to finish" in cli("rollback", "--resume").out
    assert json.loads(cli("rollback", "--resume", "--json").out)["generation"] is None
    assert json.loads(cli("rollback", "--abort", "--json").out)["dropped"] is False
    assert "Nothing to drop" in cli("rollback", "--abort").out
    journal = changed / ".steadlith" / "steadlith.journal.json"
    journal.write_text("{", "utf-8")
    assert "The configuration file stays as it is" in cli("rollback", "--abort", "--force").out
    assert not journal.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Say which GENERATION"),
        (["1", "--resume"], "Give one of them alone"),
        (["--resume", "--abort"], "Give one of them alone"),
        (["--resume", "--apply"], "Give one of them alone"),
        (["--abort", "--yes"], "Give one of them alone"),
        (["1", "--force"], "--force is for --resume and --abort"),
        (["1", "--lock-timeout", "nan"], "not a number of seconds"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(cli, changed, arguments, says):
    told = cli("rollback", *arguments)
    assert (told.code, says in told.err) == (64, True)


def test_what_is_not_kept_is_refused_with_the_way_out(cli, changed):
    told = cli("rollback", "7")
    assert told.code == 1
    assert "generation 7 is not kept, so it cannot be gone back to; kept are 1 to 2" in told.err
    assert cli("rollback", "head~5").code == 1
    assert cli("rollback", "0").code == 1


def test_control_characters_of_a_configuration_reach_no_terminal(cli, changed):
    file = changed / "steadlith.toml"
    file.write_text(
        "# \u202e \x7f evil\n" + file.read_text("utf-8").replace("max_steps = 7\n", "max_steps = 8\n"), "utf-8"
    )
    shown = cli("rollback", "1")
    assert "\x7f" not in shown.out
    assert "\u202e" not in shown.out

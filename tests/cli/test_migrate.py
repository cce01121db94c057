"""`steadlith migrate`: shown by cause, done with a word, gone on with after a kill."""

import json
from contextlib import suppress

import pytest

from steadlith import pending
from steadlith_adapters.stores.sqlite.transaction import SqliteTransaction

SMALLER = ("--set", "embedding.dimensions=16")


@pytest.fixture
def applied(folder, cli):
    assert cli("apply", "--yes").code == 0
    return folder


def toml(folder):
    return (folder / "steadlith.toml").read_text("utf-8")


def test_it_is_shown_and_nothing_changes(cli, applied):
    before = toml(applied)
    shown = cli("migrate", *SMALLER)
    assert shown.code == 0
    assert "\n+ dimensions = 16" in shown.out
    assert "dimensions: " in shown.out
    assert "re-embedded in 2 documents" in shown.out
    assert "Searches go on with the old generation until the swap" in shown.out
    assert "--allow-model-change" not in shown.out
    assert (toml(applied), json.loads(cli("status", "--json").out)["generation"]) == (before, 1)


def test_it_is_done_with_a_yes_and_without_one_it_is_not(cli, applied):
    refused = cli("migrate", *SMALLER, "--apply")
    assert (refused.code, "pass --yes" in refused.err) == (3, True)
    done = cli("migrate", *SMALLER, "--apply", "--yes")
    assert done.code == 0
    assert "Checked before the swap: " in done.out
    assert "Back: `steadlith rollback 1`." in done.out
    assert "dimensions = 16" in toml(applied)
    assert cli("plan", "--check").code == 0
    again = cli("migrate", *SMALLER, "--apply", "--yes")
    assert (again.code, "Nothing to migrate" in again.out) == (0, True)
    assert cli("migrate", "--set", "embedding.dimensions=24").out.count("The last migration embedded") == 1


def test_json_is_one_document_of_what_was_shown_or_done(cli, applied):
    shown = json.loads(cli("migrate", *SMALLER, "--json").out)
    assert (shown["kind"], shown["nothing"]) == ("steadlith-migration", False)
    assert shown["causes"][0]["cause"] == "dimensions"
    assert "dimensions = 16" in shown["configuration"]["then"] == shown["plan"]["configuration"]["text"]
    done = json.loads(cli("migrate", *SMALLER, "--apply", "--yes", "--json").out)
    assert (done["generation"], done["configured"]) == (2, True)
    assert done["told"]["checks"]["sampled"] == done["told"]["checks"]["found"]
    assert json.loads(cli("migrate", "--resume", "--json").out)["generation"] is None
    assert json.loads(cli("migrate", "--abort", "--json").out)["dropped"] is False


def test_another_file_takes_its_place(cli, applied):
    proposed = applied / "proposed.toml"
    proposed.write_text(f"# proposed\n{toml(applied)}[guards]\nmax_steps = 7\n", "utf-8")
    assert cli("migrate", "--to", str(proposed), "--apply", "--yes").code == 0
    assert toml(applied) == proposed.read_text("utf-8")
    assert cli("migrate", "--unset", "guards.max_steps", "--apply", "--yes").code == 0
    assert "max_steps" not in toml(applied)


def test_a_saved_plan_is_applied_later(cli, applied):
    assert cli("migrate", *SMALLER, "--out", "plan.json").code == 0
    assert "dimensions = 16" not in toml(applied)
    refused = cli("apply", "plan.json")
    assert (refused.code, "--allow-model-change" in refused.err) == (3, True)
    assert cli("apply", "plan.json", "--allow-model-change").code == 0
    assert "dimensions = 16" in toml(applied)


def test_guards_stop_it(cli, applied):
    (applied / "docs" / "a.md").unlink()
    (applied / "docs" / "b.md").unlink()
    shown = cli("migrate", *SMALLER)
    assert (shown.code, "Refused" in shown.out) == (3, True)
    refused = cli("migrate", *SMALLER, "--apply", "--yes")
    assert (refused.code, "--allow-empty" in refused.err) == (3, True)
    assert cli("migrate", *SMALLER, "--apply", "--yes", "--allow-empty", "--allow-removals").code == 0


def test_what_was_killed_is_gone_on_with_or_dropped(cli, applied, monkeypatch):
    class Crash(BaseException):
        pass

    def crash(*_given, **_named):
        raise Crash

    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(SqliteTransaction, "put_vectors", crash)
        cli("migrate", *SMALLER, "--apply", "--yes")
    assert cli("plan", "--check").code == 0
    assert cli("search", "apples").code == 0
    assert "On its way, and not committed: migrate; `steadlith migrate --resume`" in cli("status").out
    assert json.loads(cli("status", "--json").out)["begun"] == "migrate"
    shown = cli("migrate", "--resume")
    assert (shown.code, "pass --yes" in shown.err, "Embeddings: none needed" in shown.out) == (3, True, True)
    assert "is dropped" in cli("migrate", "--abort").out
    assert "Nothing to go on with" in cli("migrate", "--resume").out
    with monkeypatch.context() as patch, suppress(Crash):
        patch.setattr(pending, "settle", crash)
        cli("migrate", *SMALLER, "--apply", "--yes")
    told = cli("plan")
    assert (told.code, "`steadlith migrate --resume` puts it there" in told.err) == (6, True)
    done = cli("migrate", "--resume")
    assert (done.code, "its configuration is in place" in done.out) == (0, True)
    assert cli("plan", "--check").code == 0


def test_a_receipt_leads_back(cli, applied):
    before = toml(applied)
    cli("migrate", *SMALLER, "--apply", "--yes")
    (receipt,) = (applied / ".steadlith" / "receipts").iterdir()
    done = cli("rollback", str(receipt), "--apply", "--yes")
    assert (done.code, toml(applied)) == (0, before)
    receipt.write_text("{}", "utf-8")
    wrong = cli("rollback", str(receipt))
    assert (wrong.code, "no receipt" in wrong.err) == (64, True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--resume", "--abort"), "Give one of them alone"),
        (("--resume", "--set", "a=1"), "Give one of them alone"),
        (("--force",), "--force is for"),
        (("--set", "nothing"), "expected KEY=VALUE"),
        (("--set", 'embedding.model="half'), "the value begins as TOML and is none"),
        (("--set", "sources.docs.exclude=[x"), "the value begins as TOML and is none"),
        (("--to", "absent.toml"), "absent.toml"),
        (("--to", "docs/a.md"), "docs/a.md is not TOML"),
        (("--min-recall", "2"), "2"),
        (("--sample", "0"), "0"),
        (("--questions", "absent.jsonl"), "absent.jsonl"),
    ],
)
def test_what_makes_no_sense_is_said(cli, applied, given, said):
    wrong = cli("migrate", *given)
    assert (wrong.code, said in wrong.err) == (64, True)

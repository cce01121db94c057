"""`steadlith migrate --store`: shown, done, gone on with after a kill, taken away; and no password anywhere."""

import json
import os
import signal
from contextlib import suppress

import pytest

from steadlith import copying, storemoves

THERE = ("--store", "sqlite", "--set", "store.path=.steadlith/there.sqlite3")


def toml(folder):
    return (folder / "steadlith.toml").read_text("utf-8")


@pytest.fixture
def applied(folder, cli):
    for name in ("c", "d", "e"):
        words = " ".join(f"{name}{number}" for number in range(60))
        (folder / "docs" / f"{name}.md").write_text(f"# {name}\n\n{words}\n", "utf-8")
    commented = toml(folder).replace('[store]\ntype = "sqlite"', '# where it is\n[store]\ntype = "sqlite"  # a file')
    (folder / "steadlith.toml").write_text(commented, "utf-8")
    assert cli("apply", "--yes").code == 0
    return folder


@pytest.fixture
def cut(applied, cli, monkeypatch):
    """A move that is killed behind its first batch."""
    monkeypatch.setattr(copying, "BATCH", 2)
    whole = copying.Copy._commit

    def once(self, head, documents):
        if head.generation:
            raise KeyboardInterrupt
        return whole(self, head, documents)

    with monkeypatch.context() as patch:
        patch.setattr(copying.Copy, "_commit", once)
        assert cli("migrate", *THERE, "--apply", "--yes").code != 0
    return applied


def test_it_is_shown_and_nothing_changes(cli, applied):
    before = toml(applied)
    shown = cli("migrate", *THERE)
    assert shown.code == 0
    assert "The index moves, as generation 1 has it: 5 documents, " in shown.out
    assert (
        "- type = 'sqlite', path = '.steadlith/index.sqlite3'\n+ type = 'sqlite', path = '.steadlith/there."
        in shown.out
    )
    assert "nothing is embedded, and no source is looked at" in shown.out
    assert '+ path = ".steadlith/there.sqlite3"' in shown.out
    assert "Stays behind" not in shown.out
    assert "Nothing was changed: pass --apply to do it" in shown.out
    assert toml(applied) == before
    assert not (applied / ".steadlith" / "there.sqlite3").exists()


def test_it_is_done_with_a_yes_and_without_one_it_is_not(cli, applied):
    root = json.loads(cli("status", "--json").out)["state_root"]
    refused = cli("migrate", *THERE, "--apply")
    assert (refused.code, "pass --yes" in refused.err) == (3, True)
    done = cli("migrate", *THERE, "--apply", "--yes")
    assert done.code == 0
    assert "Moved, as generation 1: 5 documents, " in done.out
    assert "The old store is as it was (type = 'sqlite', path = '.steadlith/index.sqlite3')" in done.out
    assert "# where it is" in toml(applied)
    assert "# a file" in toml(applied)
    assert json.loads(cli("status", "--json").out)["state_root"] == root
    assert cli("verify").code == 0
    assert cli("plan", "--check").code == 0
    assert "moved from sqlite, generation 1" in cli("history").out
    again = cli("migrate", *THERE, "--apply", "--yes")
    assert (again.code, "Nothing to migrate" in again.out) == (0, True)
    assert (cli("migrate", "--resume").code, cli("migrate", "--abort").code) == (0, 0)


def test_json_is_one_document_of_what_was_shown_or_done(cli, applied):
    shown = json.loads(cli("migrate", *THERE, "--json").out)
    assert (shown["kind"], shown["documents"], shown["copied"]) == ("steadlith-store-move", 5, 0)
    assert shown["left"] == {"generations": 0, "names": []}
    assert shown["to"] == "type = 'sqlite', path = '.steadlith/there.sqlite3'"
    done = json.loads(cli("migrate", *THERE, "--apply", "--yes", "--json").out)
    assert (done["kind"], done["moved"], done["generation"]) == ("steadlith-store-moved", 1, 1)
    assert (done["corpus_root"], done["state_root"]) == (shown["corpus_root"], shown["state_root"])


def test_a_lock_of_before_holds_afterwards(cli, applied):
    assert cli("lock").code == 0
    assert cli("migrate", *THERE, "--apply", "--yes").code == 0
    assert cli("verify", "--locked").code == 0


def test_ctrl_c_stops_it_between_two_batches(cli, applied, monkeypatch):
    monkeypatch.setattr(copying, "BATCH", 2)
    whole = copying.Copy._commit

    def interrupted(self, head, documents):
        made = whole(self, head, documents)
        os.kill(os.getpid(), signal.SIGINT)
        return made

    with monkeypatch.context() as patch:
        patch.setattr(copying.Copy, "_commit", interrupted)
        stopped = cli("migrate", *THERE, "--apply", "--yes")
    assert (stopped.code, "the same move goes on behind them" in stopped.err) == (6, True)
    assert "there" not in toml(applied)
    assert cli("migrate", "--resume", "--yes").code == 0


def test_resume_goes_on_with_it(cli, cut):
    assert cli("search", "apples").code == 0
    assert cli("plan", "--check").code == 0
    assert "On its way, and not committed: move to type = 'sqlite', path = " in cli("status").out
    shown = cli("migrate", *THERE)
    assert "An earlier run copied " in shown.out
    other = cli("migrate", "--set", "embedding.dimensions=16")
    assert (other.code, "is on its way to another store" in other.err) == (6, True)
    assert cli("migrate", "--resume").code == 3
    done = cli("migrate", "--resume", "--yes")
    assert (done.code, "Moved, as generation " in done.out) == (0, True)
    assert "there.sqlite3" in toml(cut)
    assert cli("verify").code == 0


def test_abort_takes_it_away(cli, cut):
    before = toml(cut)
    gone = cli("migrate", "--abort")
    assert gone.code == 0
    assert "What was copied is now " in gone.out
    assert "there.sqlite3.damaged-1" in gone.out
    assert toml(cut) == before
    assert not (cut / ".steadlith" / "there.sqlite3").exists()
    assert "Nothing to drop" in cli("migrate", "--abort").out
    assert cli("migrate", *THERE, "--apply", "--yes").code == 0


def test_a_damaged_journal_is_dropped_with_force(cli, applied):
    journal = applied / ".steadlith" / "steadlith.journal.json"
    journal.write_text("{", "utf-8")
    for command in (("migrate", *THERE), ("migrate", "--resume"), ("migrate", "--abort")):
        refused = cli(*command)
        assert (refused.code, "cannot be read" in refused.err) == (6, True)
    assert cli("migrate", "--abort", "--force").code == 0
    assert not journal.exists()


def test_abort_with_force_leaves_the_copy_alone(cli, cut):
    dropped = json.loads(cli("migrate", "--abort", "--force", "--json").out)
    assert (dropped["kind"], dropped["aside"]) == ("steadlith-store-move-aborted", None)
    assert (cut / ".steadlith" / "there.sqlite3").exists()


@pytest.mark.parametrize(
    "options",
    [("--out", "p.json"), ("--hold", "a.md"), ("--sample", "3"), ("--min-recall", "0.5"), ("--steps",)],
)
def test_what_is_of_a_plan_is_refused(cli, applied, options):
    refused = cli("migrate", *THERE, *options)
    assert refused.code == 64
    assert "has no plan and no golden questions" in refused.err


def test_a_store_that_is_not_there_and_one_of_a_bad_setting_are_named(cli, applied):
    refused = cli("migrate", "--store", "postgress")
    assert (refused.code, "store.type = 'postgress': no such adapter" in refused.err) == (1, True)
    refused = cli("migrate", "--store", "sqlite", "--set", "store.pth=x")
    assert (refused.code, "unknown setting 'pth'" in refused.err) == (1, True)


@pytest.mark.parametrize(
    "given",
    [
        ("--set", "store.password=hunter2"),
        ("--set", "store.dsn=postgresql://me:hunter2@127.0.0.1/docs"),
        ("--set", "store.dsn=host=127.0.0.1 password=hunter2"),
        ("--set", "store.sslpassword=hunter2"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--apply", "--yes"), ("--json",)])
def test_a_password_on_the_command_line_is_refused_and_shown_nowhere(cli, applied, given, more):
    before = toml(applied)
    refused = cli("migrate", "--store", "postgres", *given, *more)
    assert refused.code == 1
    assert "hunter2" not in refused.out + refused.err
    assert "PGPASSWORD" in refused.out + refused.err
    assert toml(applied) == before
    for file in (applied / ".steadlith").rglob("*"):
        assert not file.is_file() or b"hunter2" not in file.read_bytes()


def test_one_killed_before_its_journal_went_is_done(cli, applied, monkeypatch):
    with monkeypatch.context() as patch, suppress(BaseException):
        patch.setattr(storemoves.journals, "drop", lambda _config: None)
        assert cli("migrate", *THERE, "--apply", "--yes").code == 0
    assert (applied / ".steadlith" / "steadlith.journal.json").exists()
    assert "On its way" not in cli("status").out
    (applied / "steadlith.toml").write_text("# edited since\n" + toml(applied), "utf-8")
    assert "On its way" not in cli("status").out
    assert "Nothing to go on with" in cli("migrate", "--resume").out
    assert not (applied / ".steadlith" / "steadlith.journal.json").exists()
    assert cli("plan", "--check").code == 0

"""`compact`, `doctor` and `backup` as a user types them: what is printed where, and the exit codes of docs/cli.md."""

import json

import apsw
import pytest

import steadlith
from steadlith_adapters.stores.sqlite import returning


def document(ran, kind):
    value = json.loads(ran.out)
    assert (value["kind"], value["format_version"]) == (kind, "1.0")
    assert ran.out.count("\n") == 1
    return value


@pytest.fixture
def churned(folder, cli):
    """Two generations; a document of the first is gone."""
    secret = folder / "docs" / "secret.md"
    secret.write_text("# Secret\n\nXylographic and hidden.\n", "utf-8")
    assert cli("apply", "--yes").code == 0
    secret.unlink()
    assert cli("apply", "--yes").code == 0
    return folder


def index_file(folder):
    return folder / ".steadlith" / "index.sqlite3"


def generations(folder):
    return [each.number for each in steadlith.open(folder).history()]


def test_compact_says_what_it_would_do_and_does_it_with_yes(cli, churned):
    asked = cli("compact", "--keep", "1")
    assert (asked.code, generations(churned)) == (0, [1, 2])
    assert "Would remove: 1 generation" in asked.out
    assert asked.out.endswith("Nothing was changed: pass --yes to do it.\n")
    value = document(cli("compact", "--keep", "1", "--json"), "steadlith-compactable")
    assert (value["keep_from"], value["removable"]["generations"], generations(churned)) == (2, 1, [1, 2])
    done = cli("compact", "--keep", "1", "--yes")
    assert done.code == 0
    assert "Removed: 1 generation" in done.out
    assert generations(churned) == [2]
    again = cli("compact", "--keep", "1", "--yes", "--json")
    assert (again.code, json.loads(again.out)["removable"]["generations"]) == (0, 0)


@pytest.mark.parametrize(("answer", "left"), [("y", [2]), ("n", [1, 2]), ("", [1, 2])])
def test_compact_asks_on_a_terminal(churned, at_a_terminal, answer, left):
    code, seen = at_a_terminal(answer, "compact", "--keep", "1")
    assert "Remove it for good?" in seen
    assert (code, generations(churned)) == (0, left)


def test_erase_says_what_it_does_not_cover_and_exits_6_while_somebody_reads(cli, churned, monkeypatch):
    monkeypatch.setattr(returning, "PATIENCE_MS", 0)
    with steadlith.open(churned).reader():
        held = cli("compact", "--erase", "docs:secret.md", "--yes")
        assert held.code == 6
        assert "Backups, exported manifests and saved plans are not covered" in held.out
        assert "Not erased yet: somebody is reading the index. Run this again when that has ended." in held.out
    done = cli("compact", "--erase", "docs:secret.md", "--yes")
    assert done.code == 0
    assert b"Xylographic" not in index_file(churned).read_bytes()


def test_erase_of_a_document_that_is_there_is_refused_with_the_way_out(cli, churned):
    for option in ([], ["--yes"], ["--json"]):
        ran = cli("compact", "--erase", "a.md", *option)
        assert ran.code == 64
        assert "docs:a.md is in the index, so it is not erased: remove it from its source, apply" in ran.err


def test_doctor_finds_nothing_and_changes_nothing(cli, churned):
    assert cli("doctor") == (0, "Nothing is wrong.\n", "")
    assert document(cli("doctor", "--json"), "steadlith-diagnosis") == {
        "format_version": "1.0",
        "kind": "steadlith-diagnosis",
        "ok": True,
        "troubles": [],
    }
    assert cli("doctor", "--repair") == (0, "Nothing is wrong.\n", "")


def test_doctor_names_repairs_and_exits_by_what_is_left(cli, churned):
    connection = apsw.Connection(str(index_file(churned)))
    connection.execute("DELETE FROM lexical WHERE rowid = 1").fetchall()
    connection.close()
    found = cli("doctor")
    assert found.code == 2
    assert found.out.startswith("! lexical: docs:a.md: ") or found.out.startswith("! lexical: index: ")
    assert "1 thing wrong; `steadlith doctor --repair` repairs it." in found.out
    (trouble,) = document(cli("doctor", "--json"), "steadlith-diagnosis")["troubles"]
    assert (trouble["kind"], trouble["grave"], trouble["mendable"]) == ("lexical", True, True)
    assert "--repair" in trouble["way_out"]
    done = cli("doctor", "--repair")
    assert done.code == 0
    assert done.out.endswith("Embedded: 0 texts.\nNothing is wrong any more.\n")
    assert cli("doctor").code == 0


def test_doctor_says_what_a_repair_costs_and_exits_3_before_it_pays(cli, churned):
    index_file(churned).unlink()
    (churned / ".steadlith" / "cache.sqlite3").unlink()
    refused = cli("doctor", "--repair")
    assert refused.code == 3
    assert "Embeddings: 2 in 1 call" in refused.out
    assert "Pass --yes to pay for that." in refused.out
    value = document(cli("doctor", "--repair", "--json"), "steadlith-repair")
    assert (value["ok"], value["unpaid"]["embeddings"], value["embedded"]) == (False, 2, 0)
    paid = cli("doctor", "--repair", "--yes", "--json")
    assert (paid.code, json.loads(paid.out)["embedded"], json.loads(paid.out)["unpaid"]) == (0, 2, None)


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 3)])
def test_doctor_asks_on_a_terminal_before_it_pays(cli, churned, at_a_terminal, answer, code):
    index_file(churned).unlink()
    (churned / ".steadlith" / "cache.sqlite3").unlink()
    ended, seen = at_a_terminal(answer, "doctor", "--repair")
    assert "Pay for it?" in seen
    assert ended == code
    assert cli("doctor").code == (0 if code == 0 else 2)


@pytest.mark.parametrize(
    "content", [None, "[sources", '[sources.docs]\npath = "docs"\n[embedding]\nembedder = "gpt-9"\n']
)
def test_doctor_names_a_configuration_that_cannot_be_used(cli, churned, content):
    if content is None:
        (churned / "steadlith.toml").unlink()
    else:
        (churned / "steadlith.toml").write_text(content, "utf-8")
    ran = cli("doctor")
    assert (ran.code, ran.err) == (2, "")
    assert ran.out.startswith("! configuration: configuration: ")
    assert [each["kind"] for each in json.loads(cli("doctor", "--json").out)["troubles"]] == ["configuration"]
    assert cli("doctor", "--repair").code == 2


def test_what_writes_exits_4_while_another_writer_is_at_work(cli, churned):
    lock = steadlith.open(churned)._assembly.lock(timeout=0, holder="somebody")
    lock.acquire()
    (churned / ".steadlith" / "steadlith.fingerprints").write_bytes(b"nothing")
    for command in (["doctor", "--repair"], ["compact", "--keep", "1", "--yes"]):
        held = cli(*command)
        assert held.code == 4
        assert "somebody" in held.err
    lock.release()
    assert cli("doctor", "--repair").code == 0


def test_control_characters_of_a_name_never_reach_the_terminal(cli, churned):
    (churned / "docs" / "a\x1b[31m.md").symlink_to(churned / "steadlith.toml")
    ran = cli("doctor")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert r"docs:a\x1b[31m.md" in ran.out


def test_backup_says_where_and_which_generation_and_never_replaces_unasked(cli, churned):
    made = cli("backup", "copy.sqlite3")
    assert made.code == 0
    assert made.out.startswith("Backed up generation 2 to copy.sqlite3 (")
    refused = cli("backup", "copy.sqlite3")
    assert refused.code == 64
    assert "there is a file already; pass --force to replace it" in refused.err
    value = document(cli("backup", "copy.sqlite3", "--force", "--json"), "steadlith-backup")
    assert (value["path"], value["generation"]) == ("copy.sqlite3", 2)
    assert value["state_root"] == json.loads(cli("status", "--json").out)["state_root"]
    assert cli("plan").out.startswith("No changes.")

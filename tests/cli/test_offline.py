"""Manifests, locks, differences and proofs as a user types them."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from steadlith.cli import comparing, offline, reading

ROOT = Path(__file__).parent.parent.parent
COMMANDS = {
    "manifest export": offline.export,
    "lock": offline.lock,
    "diff": comparing.diff,
    "prove": offline.prove,
    "verify-proof": offline.verify_proof,
    "verify": reading.verify,
}


def document(ran, kind):
    value = json.loads(ran.out)
    assert (value["kind"], value["format_version"]) == (kind, "1.0")
    assert ran.out.count("\n") == 1
    return value


@pytest.fixture
def applied(cli, folder):
    assert cli("apply", "--yes").code == 0
    return folder


def edit(folder):
    with (folder / "docs" / "a.md").open("a", encoding="utf-8") as stream:
        stream.write("\nAnd plums.\n")


def process(*arguments, **options):
    command = [sys.executable, "-c", "from steadlith.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, check=False, **options)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name):
    text = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert f"`steadlith {name}" in text
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Option):
            for option in parameter.opts:
                assert re.search(rf"`[^`]*(?<![\w-]){re.escape(option)}(?![\w-])", text), f"{name} {option}"


def test_a_manifest_goes_to_a_file_or_to_standard_output(cli, applied):
    ran = cli("manifest", "export", "--out", "m")
    assert ran.code == 0
    assert ran.out.startswith("Wrote m: 2 documents, 2 chunks; ")
    told = document(cli("manifest", "export", "--out", "m", "--json"), "steadlith-manifest")
    assert (told["file"], told["bytes"], told["documents"]) == ("m", (applied / "m").stat().st_size, 2)
    piped = process("manifest", "export", cwd=applied)
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, (applied / "m").read_bytes(), b"")
    assert cli("manifest", "export", "--json").code == 64


def test_a_manifest_never_goes_to_a_terminal(applied):
    master, slave = pty.openpty()
    command = [sys.executable, "-c", "from steadlith.cli import main; main()", "manifest", "export"]
    with subprocess.Popen(command, cwd=applied, stdout=slave, stderr=subprocess.PIPE, close_fds=True) as child:
        os.close(slave)
        assert b"give --out FILE" in child.stderr.read()
    os.close(master)
    assert child.returncode == 64


def test_an_older_generation_is_exported_and_one_that_is_not_kept_is_an_error(cli, applied):
    cli("manifest", "export", "--out", "one")
    edit(applied)
    cli("apply", "--yes")
    cli("manifest", "export", "--out", "again", "--at", "1")
    assert (applied / "again").read_bytes() == (applied / "one").read_bytes()
    gone = cli("manifest", "export", "--out", "none", "--at", "7")
    assert gone.code == 1
    assert "generation 7 is not kept" in gone.err
    assert not (applied / "none").exists()


def test_a_lock_is_written_and_compared_with_the_index_and_with_a_manifest(cli, applied):
    assert cli("lock").out.startswith("Wrote steadlith.lock: 2 documents, 2 chunks; ")
    told = document(cli("lock", "--json", "--out", "other.lock"), "steadlith-lock")
    assert told["corpus_root"] == json.loads(cli("status", "--json").out)["corpus_root"]
    assert (applied / "other.lock").read_bytes() == (applied / "steadlith.lock").read_bytes()
    cli("manifest", "export", "--out", "m")
    for how in (("--locked",), ("--locked", "other.lock"), ("--locked", "--refresh", "head"), ("--refresh", "full")):
        assert cli("verify", *how).code == 0
    assert cli("verify", "--locked", "--manifest", "m").out.startswith("OK: manifest m, 2 documents, 2 chunks")
    edit(applied)
    cli("apply", "--yes")
    for how in ((), ("--refresh", "head")):
        ran = cli("verify", "--locked", *how)
        assert ran.code == 2
        assert ran.out.count(", the lock has b3:") == 2
    assert cli("verify", "--locked", "--manifest", "m").code == 0
    cli("manifest", "export", "--out", "m")
    ran = cli("verify", "--locked", "--manifest", "m", "--json")
    assert ran.code == 2
    told = document(ran, "steadlith-verification")
    assert (told["ok"], told["generation"], told["manifest"], len(told["problems"])) == (False, None, "m", 2)


def test_what_cannot_be_verified_says_why(cli, folder):
    ran = cli("lock")
    assert (ran.code, ran.err) == (
        64,
        "Error: there is no index yet, so there is nothing to pin: run `steadlith apply` first\n",
    )
    assert "`steadlith lock` makes it" in cli("verify", "--locked").err
    cli("apply", "--yes")
    cli("lock")
    assert cli("verify", "--locked").code == 0
    (folder / "m").write_bytes(b"x")
    ran = cli("verify", "--manifest", "m")
    assert ran.code == 1
    assert "export it again" in ran.err
    assert document(cli("verify", "--manifest", "m", "--json"), "steadlith-error")["error"] == "ManifestError"
    assert cli("verify", "--manifest", "m", "--refresh", "head").code == 64
    (folder / ".steadlith" / "index.sqlite3").unlink()
    ran = cli("verify", "--locked")
    assert ran.code == 2
    assert "There is no index yet" in ran.out
    assert "the number of documents is 0, the lock has 2" in ran.out


def test_a_manifest_needs_no_configuration_to_be_verified(cli, applied, tmp_path):
    cli("manifest", "export", "--out", "m")
    (applied / "steadlith.toml").unlink()
    assert cli("verify", "--manifest", "m").code == 0
    assert cli("diff", "m", "m").code == 0


def test_states_differ_with_exit_code_2(cli, applied):
    cli("manifest", "export", "--out", "m")
    same = cli("diff", "m", "head")
    assert (same.code, same.out) == (0, "No differences: 2 documents, 2 chunks, same roots.\n")
    edit(applied)
    (applied / "docs" / "b.md").rename(applied / "docs" / "c.md")
    (applied / "docs" / "new.md").write_text("# New\n\nNew words.\n", "utf-8")
    cli("apply", "--yes")
    for old in ("m", "1", "head~1"):
        ran = cli("diff", old, "head")
        assert ran.code == 2
        lines = ran.out.splitlines()
        assert lines[:3] == [
            "~ docs:a.md  (1 chunk)" if old == "m" else "~ docs:a.md  (1 chunk: 1 added, 1 removed)",
            "> docs:b.md -> docs:c.md  (1 chunk)",
            "+ docs:new.md  (1 chunk)",
        ]
        assert "Documents: 1 added, 1 renamed, 1 changed." in lines
    told = document(cli("diff", "2", "m", "--json"), "steadlith-difference")
    assert [each["difference"] for each in told["documents"]] == ["changed", "renamed", "removed"]
    assert told["documents"][1]["origin"] == {"source": "docs", "path": "c.md"}
    assert (told["same"], told["old"]["documents"], told["new"]["documents"]) == (False, 3, 2)


def test_names_of_states_that_do_not_exist_say_what_is_expected(cli, applied):
    for name, code in (("9", 1), ("head~1", 1), ("nowhere", 64)):
        ran = cli("diff", name, "head")
        assert ran.code == code
        assert name in ran.err
    assert (
        "expected a generation (12, head, head~1, or a name that `steadlith tag` gave), a manifest or a plan file"
        in cli("diff", "nowhere", "1").err
    )


def test_plans_compare_with_plans(cli, folder):
    cli("plan", "--out", "old.json")
    assert cli("diff", "old.json", "old.json").out == "No differences: both plans do the same.\n"
    (folder / "docs" / "b.md").unlink()
    (folder / "docs" / "c.md").write_text("# C\n\nWords.\n", "utf-8")
    edit(folder)
    cli("plan", "--out", "new.json")
    ran = cli("diff", "old.json", "new.json")
    assert ran.code == 2
    assert "- docs:b.md  (added, 1 step)" in ran.out
    assert "+ docs:c.md  (added, 1 step)" in ran.out
    assert "~ docs:a.md  (added, 1 step) -> (added, 1 step)" in ran.out
    told = document(cli("diff", "old.json", "new.json", "--json"), "steadlith-plan-difference")
    assert [len(told[name]) for name in ("only_old", "only_new", "other_steps")] == [1, 1, 1]
    mixed = cli("diff", "old.json", "head")
    assert mixed.code == 64
    assert "a plan compares with another plan" in mixed.err


def test_a_proof_needs_the_root_and_the_file_alone(cli, applied, tmp_path):
    root = json.loads(cli("status", "--json").out)["corpus_root"]
    assert cli("prove", "a.md", "0", "--out", "p").out.startswith(f"Proven: The corpus {root} of 2 documents holds b3:")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (applied / "p").rename(elsewhere / "p")
    (elsewhere / "t").write_bytes((applied / "docs" / "a.md").read_bytes())
    for how, code in (((), 0), (("--text", "t"), 0), (("--text", "p"), 1), (("--text", "none"), 1)):
        assert process("verify-proof", "p", "--root", root, *how, cwd=elsewhere).returncode == code
    told = process("verify-proof", "p", "--root", root, "--text", "t", "--json", cwd=elsewhere)
    value = json.loads(told.stdout)
    assert (value["kind"], value["claim"], value["index"], value["count"]) == ("steadlith-proven", "chunk", 0, 1)
    assert value["text_matches"] is True
    other = process("verify-proof", "p", "--root", root[:-1] + ("0" if root[-1] != "0" else "1"), cwd=elsewhere)
    assert (other.returncode, other.stdout) == (1, b"")
    assert b"another corpus, or another claim" in other.stderr
    assert process("verify-proof", "p", "--root", "x", cwd=elsewhere).returncode == 64
    assert process("verify-proof", "p", cwd=elsewhere).returncode == 64


def test_documents_are_named_by_source_and_path_or_by_path_alone(cli, applied):
    for name in ("a.md", "docs:a.md"):
        ran = cli("prove", name, "--json")
        claim = document(ran, "steadlith-proof")
        assert claim["document"] == {"source": "docs", "path": "a.md"}
        assert ran.err == ""
    absent = cli("prove", "x:y.md")
    assert "holds no docs:x:y.md." in absent.out
    assert "(--out FILE keeps the proof, " in absent.err
    text = (applied / "steadlith.toml").read_text("utf-8")
    (applied / "steadlith.toml").write_text(text + '\n[sources.more]\npath = "docs"\n', "utf-8")
    ran = cli("prove", "a.md")
    assert ran.code == 64
    assert "expected source:path, with one of the sources docs, more" in ran.err
    assert "holds no more:a.md." in cli("prove", "more:a.md").out


def test_absences_and_documents_are_told_as_json(cli, applied):
    root = json.loads(cli("status", "--json").out)["corpus_root"]
    for name, claim in (("a.md", "document"), ("none.md", "absence")):
        cli("prove", name, "--out", "p")
        told = document(cli("verify-proof", "p", "--root", root, "--json"), "steadlith-proven")
        assert (told["claim"], told["documents"]) == (claim, 2)
        assert told["sentence"] in cli("verify-proof", "p", "--root", root).out


def test_what_a_hostile_proof_file_names_never_reaches_the_terminal_raw(cli, applied):
    root = json.loads(cli("status", "--json").out)["corpus_root"]
    assert "\x1b" not in cli("prove", "a\x1b[31m.md", "--out", "p").out
    assert "\\x1b" in cli("verify-proof", "p", "--root", root).out

"""The commands as a user types them: what is printed where, and the exit codes of docs/cli.md."""

import json
import os
import subprocess
import sys

import pytest

import steadlith
from steadlith.index import Index
from steadlith_adapters.stores.sqlite.checks import beside
from steadlith_core.digest import Digest
from steadlith_core.errors import AdapterError, LockHeld


def document(ran, kind):
    value = json.loads(ran.out)
    assert value["kind"] == kind
    assert value["format_version"] == "1.0"
    assert ran.out.count("\n") == 1
    return value


def test_the_whole_story(cli, folder):
    planned = cli("plan")
    assert planned.code == 0
    assert "+ docs:a.md" in planned.out
    assert "2 to add (0 cached)" in planned.out
    assert "no charge (local model)" in planned.out
    assert planned.err == ""
    assert cli("apply", "--yes").code == 0
    unchanged = cli("plan")
    assert (unchanged.code, unchanged.out) == (0, "No changes. The index matches the sources.\n")
    found = cli("search", "sweet pears", "-k", "1")
    assert "docs:a.md:1-7" in found.out
    verified = cli("verify")
    assert verified.code == 0
    assert verified.out.startswith("OK: generation 1, 2 documents, 2 chunks")


@pytest.mark.parametrize(("changed", "flag", "code"), [(True, True, 2), (True, False, 0), (False, True, 0)])
def test_detailed_exitcode_tells_changes(cli, folder, changed, flag, code):
    if not changed:
        cli("apply", "--yes")
    assert cli("plan", *(["--detailed-exitcode"] if flag else [])).code == code


def test_a_plan_goes_to_a_file_is_shown_and_applied_without_a_question(cli, folder):
    written = cli("plan", "--out", "p.json")
    assert written.code == 0
    assert "steadlith apply p.json" in written.err
    assert cli("show", "p.json").out == written.out
    assert document(cli("show", "p.json", "--json"), "steadlith-plan") == json.loads((folder / "p.json").read_text())
    assert cli("apply", "p.json").code == 0
    again = cli("apply", "p.json")
    assert (again.code, again.out) == (0, "Already applied as generation 1. Nothing to do.\n")
    assert document(cli("apply", "p.json", "--json"), "steadlith-apply")["already_applied"] is True


def test_a_stale_plan_exits_5_and_says_which_document(cli, folder):
    cli("plan", "--out", "p.json")
    (folder / "docs" / "a.md").write_text("# Other\n", "utf-8")
    ran = cli("apply", "p.json")
    assert ran.code == 5
    assert "docs:a.md: changed since the plan was made; plan again" in ran.err


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"kind": "steadlith-plan"}', "\x00"])
def test_a_file_that_is_no_plan_exits_1(cli, folder, content):
    (folder / "p.json").write_text(content, "utf-8")
    ran = cli("apply", "p.json")
    assert ran.code == 1
    assert "plan file" in ran.err


def test_an_edited_plan_exits_5_before_anything_is_written(cli, folder):
    cli("plan", "--out", "p.json")
    text = (folder / "p.json").read_text("utf-8")
    (folder / "p.json").write_text(text.replace('"docs"', '"other"'), "utf-8")
    assert cli("apply", "p.json").code == 5
    assert json.loads(cli("status", "--json").out)["generation"] == 0


def test_apply_without_a_terminal_needs_yes(cli, folder):
    ran = cli("apply")
    assert ran.code == 3
    assert "pass --yes" in ran.err
    assert "+ docs:a.md" in ran.out  # the plan is shown all the same
    assert document(cli("apply", "--json"), "steadlith-error")["exit_code"] == 3
    assert document(cli("apply", "--json", "--yes"), "steadlith-apply")["embedded"] == 2


def test_apply_with_nothing_to_do_asks_nothing(cli, folder):
    cli("apply", "--yes")
    ran = cli("apply")
    assert (ran.code, ran.out) == (0, "No changes. The index matches the sources.\n")
    assert document(cli("apply", "--json"), "steadlith-apply")["generation"] == 1


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 3), ("", 3)])
def test_apply_asks_on_a_terminal(cli, at_a_terminal, answer, code):
    ended, seen = at_a_terminal(answer, "apply")
    assert "Apply this plan?" in seen
    assert ended == code
    assert json.loads(cli("status", "--json").out)["generation"] == (1 if code == 0 else 0)


def test_a_guard_exits_3_prints_the_plan_and_names_the_flag(cli, folder):
    cli("apply", "--yes")
    for path in (folder / "docs").iterdir():
        path.unlink()
    planned = cli("plan", "--out", "p.json", "--detailed-exitcode")
    assert planned.code == 3
    assert "- docs:a.md" in planned.out
    assert "--allow-empty" in planned.out
    assert (folder / "p.json").exists()
    refused = cli("apply", "--yes")
    assert refused.code == 3
    assert "would go from 2 documents to none" in refused.out
    assert refused.err == "Error: refused by a guard: see above; pass --allow-empty if you mean it\n"
    assert "would go from 2 documents to none (pass --allow-empty" in cli("apply", "p.json").err
    assert "would go from 2 documents to none" in document(cli("apply", "--json"), "steadlith-error")["message"]
    assert cli("apply", "p.json").code == 3
    assert cli("apply", "p.json", "--allow-empty").code == 0


def test_status_has_what_a_script_needs(cli, folder):
    assert "steadlith plan" in cli("status").out
    before = document(cli("status", "--json"), "steadlith-status")
    assert (before["generation"], before["lineage"], before["spaces"]) == (0, None, [])
    cli("apply", "--yes")
    after = document(cli("status", "--json"), "steadlith-status")
    assert (after["generation"], after["documents"], after["chunks"]) == (1, 2, 2)
    for root in ("corpus_root", "state_root"):
        Digest.parse(after[root])
    assert after["spaces"][0]["dimensions"] == 256


def test_verify_compares_with_pinned_roots(cli, folder):
    cli("apply", "--yes")
    status = json.loads(cli("status", "--json").out)
    assert cli("verify", "--root", status["corpus_root"], "--state-root", status["state_root"]).code == 0
    other = "b3:" + "0" * 64
    ran = cli("verify", "--root", other)
    assert ran.code == 2
    assert f"expected {other}" in ran.out
    found = document(cli("verify", "--state-root", other, "--json"), "steadlith-verification")
    assert found["ok"] is False
    assert cli("verify", "--root", "sha256:abc").code == 64


def test_search_prints_spans_and_json(cli, folder):
    cli("apply", "--yes")
    (hit, *_) = document(cli("search", "bridges", "--json"), "steadlith-answer")["hits"]
    assert hit["document"] == {"source": "docs", "path": "b.md"}
    assert hit["headings"] == ["Bridges"]
    source = (folder / "docs" / "b.md").read_bytes()
    assert source[hit["span"]["start"] : hit["span"]["end"]].decode() == hit["text"]
    assert hit["lexical"] > 0
    assert cli("search", "").out == "No hits.\n"
    assert cli("search", "x", "--limit", "0").code == 64
    assert cli("search", "bridges", "--in", "nowhere/").out == "No hits.\n"
    assert document(cli("search", "bridges", "--in", "docs:b.md", "--exact", "--json"), "steadlith-answer")["hits"]
    assert cli("search", "bridges", "--in", "wiki:x").code == 64


@pytest.mark.parametrize(
    "arguments",
    [
        *(["nonsense"], ["plan", "--nope"], ["show"], ["search"], ["plan", "extra"], ["search", "-foo"]),
        *(["apply", "--lock-timeout", value] for value in ("soon", "-1", "nan", "inf")),
        *(["plan", "--out", value] for value in ("", ".", "docs")),
    ],
)
def test_usage_errors_exit_64(cli, folder, arguments):
    ran = cli(*arguments)
    assert ran.code == 64
    assert ran.err.startswith("Error: ")
    with_json = cli(*arguments, "--json")
    assert with_json.code == 64
    assert json.loads(with_json.out)["exit_code"] == 64


@pytest.mark.parametrize(
    "command", [["plan"], ["apply"], ["status"], ["search", "x"], ["verify"], ["compact"], ["backup", "x"]]
)
def test_without_a_configuration_every_command_says_how_to_get_one(cli, command):
    ran = cli(*command)
    assert ran.code == 1
    assert "steadlith init" in ran.err
    assert json.loads(cli(*command, "--json").out)["error"] == "ConfigError"


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ('embedder = "gpt-9"', ["'gpt-9'", "hash", "use"]),
        ('embedder = "hash"\nmodel = "x"', ["'model'", "dimensions"]),
    ],
)
def test_an_unknown_adapter_or_setting_names_the_choices(cli, folder, line, parts):
    text = (folder / "steadlith.toml").read_text("utf-8").replace('embedder = "hash"', line)
    (folder / "steadlith.toml").write_text(text, "utf-8")
    ran = cli("plan")
    assert ran.code == 1
    for part in parts:
        assert part in ran.err


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("max_tokens = 480", "max_tokens = 200", ["max_tokens", "200"]),
        ('policy = "structural"', 'policy = "magic"', ["chunking.policy", "'magic'", "structural"]),
        ('type = "sqlite"', 'type = "redis"', ["'redis'", "sqlite"]),
        ('path = "docs"', 'path = "nowhere"', ["'nowhere'", "does not exist"]),
    ],
)
def test_impossible_settings_name_key_value_and_rule(cli, folder, old, new, parts):
    text = (folder / "steadlith.toml").read_text("utf-8").replace(old, new)
    (folder / "steadlith.toml").write_text(text, "utf-8")
    ran = cli("plan")
    assert ran.code == 1
    for part in parts:
        assert part in ran.err


def test_control_characters_of_a_document_never_reach_the_terminal(cli, folder):
    evil = "\x1b[31mred\x1b[0m \x07bell \u202eflip"
    (folder / "docs" / "e\x1b[2Jvil.md").write_text(f"# {evil}\n\nevil words {evil}\n", "utf-8")
    (folder / "docs" / "bad\x07.md").write_bytes(b"\xff")
    for command in (
        ["plan"],
        ["apply", "--yes"],
        ["search", "evil words"],
        ["plan", "--json"],
        ["search", "evil", "--json"],
    ):
        ran = cli(*command)
        assert not set("\x1b\x07\u202e") & set(ran.out + ran.err), command
        assert ran.code == 0


def test_colours_only_on_a_terminal_and_never_with_no_color(cli, folder):
    assert "\x1b" not in cli("plan").out


def test_out_into_a_folder_that_is_not_there_is_an_error_and_leaves_nothing(cli, folder):
    ran = cli("plan", "--out", "nowhere/p.json")
    assert ran.code == 64
    assert "nowhere" in ran.err


def test_without_a_command_the_help_is_printed_plainly(cli):
    bare = cli()
    assert (bare.code, bare.err) == (0, "")
    assert bare.out == cli("--help").out


def test_a_query_that_begins_with_a_dash_stands_after_two(cli, folder):
    cli("apply", "--yes")
    assert "docs:b.md" in cli("search", "--", "-bridges").out


@pytest.mark.parametrize(
    ("options", "workers"), [([], min(os.cpu_count() or 1, 8)), (["--workers", "1"], 1), (["--workers", "3"], 3)]
)
def test_verify_looks_with_as_many_processes_as_it_is_told(cli, folder, options, workers, monkeypatch):
    cli("apply", "--yes")
    real, started = subprocess.Popen, []
    monkeypatch.setattr(beside, "PAYS", 1)
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **how: (started.append(given), real(*given, **how))[1])
    assert cli("verify", *options).code == 0
    assert len(started) == min(workers - 1, 2)
    started.clear()
    with steadlith.open(folder) as index:
        assert index.verify().ok
    assert started == []


def test_verify_without_an_index_exits_2_unless_the_empty_roots_are_pinned(cli, folder):
    ran = cli("verify")
    assert ran.code == 2
    assert "! There is no index yet: run `steadlith apply`, or look at [store] in steadlith.toml" in ran.out
    assert "\n1 problem: generation 0" in ran.out
    found = document(cli("verify", "--json"), "steadlith-verification")
    assert (found["ok"], len(found["problems"])) == (False, 1)
    for option, root in (("--root", "corpus_root"), ("--state-root", "state_root")):
        assert cli("verify", option, found[root]).code == 0
    other = cli("verify", "--root", "b3:" + "0" * 64)
    assert other.code == 2
    assert "2 problems: generation 0" in other.out


def test_search_without_an_index_says_so(cli, folder):
    ran = cli("search", "apples")
    assert (ran.code, ran.out) == (0, "No hits: there is no index yet; run `steadlith apply`.\n")
    assert document(cli("search", "apples", "--json"), "steadlith-answer")["hits"] == []


def test_a_long_plan_is_counted_and_says_what_lists_it(cli, folder):
    for number in range(21):
        (folder / "docs" / f"{number}.md").write_text(f"Text {number}.\n", "utf-8")
    planned = cli("plan")
    assert "\n(--steps lists all 23 steps)\n" in planned.out
    assert "chunk 0" not in planned.out
    assert cli("plan", "--steps").out.count("    + chunk 0") == 23
    assert "lists all" not in cli("plan", "--no-steps").out
    assert "(steadlith plan --steps lists all 23 steps)" in cli("apply").out


def test_documents_are_counted_as_touched_of_those_that_will_be_there_and_removed(cli, folder):
    cli("apply", "--yes")
    (folder / "docs" / "a.md").rename(folder / "docs" / "c.md")
    assert "kept; 1 of 2 documents changes." in cli("plan").out
    (folder / "docs" / "b.md").unlink()
    assert "kept; the only document changes, 1 is removed." in cli("plan").out


@pytest.mark.parametrize("count", [10, 11])
def test_many_findings_are_counted_by_kind(cli, folder, count):
    for number in range(count - 1):
        (folder / "docs" / f"{number}.md").write_bytes(b"\x00")
    (folder / "docs" / "u.md").write_bytes(b"\xff")
    planned = cli("plan").out
    assert f"Findings ({count})," in planned
    assert (planned.count("\n! docs:") == count) is (count == 10)
    assert (f"\n! {count - 1} binary, 1 undecodable; --json lists all\n" in planned) is (count == 11)
    assert len(json.loads(cli("plan", "--json").out)["findings"]) == count


def test_init_into_a_folder_that_is_not_there_says_so(cli, tmp_path):
    ran = cli("init", "-c", "new/steadlith.toml")
    assert ran.code == 64
    assert f"there is no folder {tmp_path / 'new'}" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_help_shows_the_exit_codes_and_every_command(cli):
    ran = cli("--help")
    assert ran.code == 0
    assert "130  interrupted" in ran.out
    for command in ("init", "plan", "show", "apply", "status", "search", "verify", "chunk", "measure"):
        assert f"  {command} " in ran.out


def test_a_shell_can_ask_for_completions(cli, monkeypatch):
    monkeypatch.setenv("_STEADLITH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "steadlith ver")
    monkeypatch.setenv("COMP_CWORD", "1")
    ran = cli()
    assert (ran.code, ran.out) == (0, "plain,verify\nplain,verify-proof\n")


def test_the_help_imports_no_heavy_library():
    code = (
        "import sys; sys.argv = ['steadlith', '--help']\n"
        "from steadlith.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'rich', 'apsw', 'yaml', 'filelock', 'concurrent.futures', 'tomllib', 'importlib.metadata'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_importing_the_core_imports_no_numpy():
    code = "import sys, steadlith_core; print('numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_init_says_what_it_chose_and_why_and_refuses_to_overwrite(cli, tmp_path):
    ran = cli("init", "--embedder", "hash", "--json")
    made = document(ran, "steadlith-init")
    assert (made["embedder"], made["why"]) == ("hash", "you chose it")
    again = cli("init")
    assert again.code == 64
    assert "--force" in again.err
    forced = cli("init", "--force")
    assert "Embedder: use (installed;" in forced.out or "Embedder: hash (finds the same words" in forced.out


def test_a_long_line_is_shown_around_what_was_asked_for(cli, folder):
    (folder / "docs" / "long.md").write_text("word " * 60 + "zebra " + "more " * 60 + "\n", "utf-8")
    cli("apply", "--yes")
    found = cli("search", "zebra word", "-k", "1").out
    shown = next(line for line in found.splitlines() if "zebra" in line)
    assert len(shown) == 103
    assert shown.startswith("   …")
    assert shown.endswith("…")


@pytest.mark.parametrize("error", [LockHeld("process 7"), AdapterError("a read-only disk")])
def test_an_apply_without_changes_succeeds_where_it_cannot_be_remembered(cli, folder, monkeypatch, error):
    assert cli("apply", "--yes").code == 0

    def refused(*_arguments, **_options):
        raise error

    monkeypatch.setattr(Index, "apply", refused)
    ran = cli("apply", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert "No changes." in ran.out
    (folder / "docs" / "more.md").write_text("# More")
    assert cli("apply", "--yes").code == error.exit_code


def test_history_lists_what_is_kept_newest_first_and_what_changed(cli, folder):
    assert "steadlith plan" in cli("history").out
    assert document(cli("history", "--json"), "steadlith-history")["generations"] == []
    cli("apply", "--yes")
    for number in range(2, 4):
        (folder / "docs" / "a.md").write_text(f"# Apples\n\nnumber {number}\n", "utf-8")
        cli("apply", "--yes")
    found = document(cli("history", "--json"), "steadlith-history")["generations"]
    assert [each["generation"] for each in found] == [3, 2, 1]
    assert [each["parent"] for each in found] == [2, 1, 0]
    status = json.loads(cli("status", "--json").out)
    assert [found[0][key] for key in ("corpus_root", "state_root")] == [status["corpus_root"], status["state_root"]]
    assert found[0]["counts"]["add"] == found[0]["counts"]["delete"] == 1
    lines = cli("history", "-n", "1").out.splitlines()
    assert lines[0].startswith("3  20")
    assert "2 documents, 2 chunks (add 1, delete 1" in lines[0]
    assert lines[1:] == ["(and 2 older; --limit 0 lists all)"]
    assert len(cli("history", "-n", "0").out.splitlines()) == 3
    config = folder / "steadlith.toml"
    text = config.read_text("utf-8").replace('embedder = "hash"', 'embedder = "hash"\ndimensions = 64')
    config.write_text(text, "utf-8")
    cli("apply", "--yes", "--allow-model-change")
    newest, changed, *_ = cli("history").out.splitlines()
    assert newest.startswith("4  ")
    assert "vectors: " in changed
    assert " 256 float32 -> " in changed


def test_a_generation_is_named_held_and_let_go(cli, folder):
    cli("apply", "--yes")
    (folder / "docs" / "a.md").write_text("# Apples\n\nother\n", "utf-8")
    cli("apply", "--yes")
    assert "No generation has a name" in cli("tag").out
    assert cli("tag", "head~1", "first").out == "first  generation 1\n"
    assert document(cli("tag", "--json"), "steadlith-tags")["tags"] == {"first": 1}
    assert "[first]" in cli("history").out.splitlines()[1]
    assert document(cli("history", "--json"), "steadlith-history")["generations"][1]["names"] == ["first"]
    assert "is named first" in cli("compact", "--keep", "1").out
    assert cli("diff", "first", "head").code == 2
    assert cli("diff", "first", "1").code == 0
    (folder / "first").write_text("no plan", "utf-8")
    assert cli("diff", "first", "head").code != 2  # a file that is there comes first
    assert cli("tag", "1").code == 64
    assert cli("tag", "1", "head").code == 64
    assert cli("tag", "nope", "x").code == 64
    assert "No generation has a name" in cli("tag", "--delete", "first").out
    assert cli("tag", "--delete", "first").code == 64


def test_restore_prints_a_document_as_it_was(cli, folder):
    cli("apply", "--yes")
    was = (folder / "docs" / "a.md").read_text("utf-8")
    (folder / "docs" / "a.md").write_text("# Apples\n\nother \x1b[31mred\n", "utf-8")
    cli("apply", "--yes")
    assert cli("restore", "a.md", "--at", "head~1").out == was
    assert document(cli("restore", "docs:a.md", "--at", "1", "--json"), "steadlith-restored")["text"] == was.rstrip()
    assert cli("restore", "a.md", "--at", "1", "--out", "old.md").out == ""
    assert (folder / "old.md").read_text("utf-8") == was
    assert cli("restore", "zzz.md").code == 64
    assert cli("restore", "a.md", "--at", "9").code == 1

"""`steadlith show GENERATION`, `diff` of generations and `search --at`, as a user types them."""

import json

import apsw
import pytest


def document(ran, kind):
    told = json.loads(ran.out)
    assert (told["kind"], told["format_version"]) == (kind, "1.0")
    return told


@pytest.fixture
def grown(folder, cli):
    """Three generations: one document is edited, then the embedder is another and a document has a hostile line."""
    assert cli("apply", "--yes").code == 0
    (folder / "docs" / "a.md").write_text("# Apples\n\nApples are blue.\n", "utf-8")
    assert cli("apply", "--yes").code == 0
    file = folder / "steadlith.toml"
    file.write_text(file.read_text("utf-8") + "[guards]\nmax_steps = 77\n", "utf-8")
    (folder / "docs" / "b.md").rename(folder / "docs" / "c.md")
    (folder / "docs" / "a.md").write_text("# Apples\n\nApples are \x1b[31mred\x1b[0m.\n", "utf-8")
    assert cli("apply", "--yes").code == 0
    assert cli("tag", "2", "blue").code == 0
    return folder


# ------------------------------------------------------------------------------------------------- show


def test_a_generation_is_shown_with_what_it_changed(cli, grown):
    for name in ("2", "head~1", "blue"):
        ran = cli("show", name)
        assert ran.code == 0
        lines = ran.out.splitlines()
        assert lines[0] == "Generation 2: 2 documents, 2 chunks  [blue]"
        assert lines[1].startswith("Made:          2")
        assert lines[1].endswith("Z, apply, from generation 1")
        assert lines[2:4] == ["Steps:         add 1, delete 1, keep 1", lines[3]]
        assert lines[3].startswith("Cost:          embedded 1, about ")
        assert lines[-2:] == ["~ docs:a.md  (1 chunk: 1 added, 1 removed)", "Documents: 1 changed."]
    assert "Configuration: `steadlith show 2 --configuration` prints it" in cli("show", "2").out
    assert "Configuration: not that of generation 2; `steadlith show 3 --" in cli("show", "head").out
    assert "> docs:b.md -> docs:c.md  (1 chunk)" in cli("show", "head").out
    assert cli("show", "1").out.endswith("It is the first one: everything in it is new.\n")


def test_json_of_a_generation_has_all_that_is_known(cli, grown):
    told = document(cli("show", "head", "--json"), "steadlith-generation")
    listed = document(cli("history", "--json"), "steadlith-history")["generations"][0]
    assert {name: told[name] for name in listed} == listed
    assert (told["generation"], told["parent"], told["why"], told["reconfigured"]) == (3, 2, "apply", True)
    assert told["configuration"] == (grown / "steadlith.toml").read_text("utf-8")
    assert told["spent"]["embedded"] == 1
    assert told["counts"]["move"] == 1
    assert [each["difference"] for each in told["changes"]["documents"]] == ["changed", "renamed"]
    assert told["changes"]["documents"][0]["chunks"]["added"] == 1
    assert document(cli("show", "1", "--format", "json"), "steadlith-generation")["changes"] is None


def test_the_configuration_of_then_comes_out_as_it_was(cli, grown):
    assert cli("show", "head", "--configuration").out == (grown / "steadlith.toml").read_text("utf-8")
    assert "max_steps" not in cli("show", "2", "--configuration").out


def test_what_an_older_release_did_not_note_is_said(cli, grown):
    connection = apsw.Connection(str(grown / ".steadlith" / "index.sqlite3"))
    connection.execute("DELETE FROM told")
    connection.close()
    assert "Configuration: not noted" in cli("show", "2").out
    ran = cli("show", "2", "--configuration")
    assert (ran.code, ran.err) == (64, "Error: generation 2 noted no configuration\n")


def test_a_parent_that_is_not_kept_can_tell_nothing(cli, grown):
    assert cli("compact", "--keep", "2", "--yes").code == 0
    assert "Generation 1, which it was made from, is not kept: what it changed cannot be told." in cli("show", "2").out
    ran = cli("show", "1")
    assert (ran.code, ran.err) == (1, "Error: generation 1 is not kept; kept are 2 to 3\n")


def test_a_file_comes_before_a_name_and_not_before_a_number(cli, grown):
    cli("plan", "--out", "blue")
    assert cli("show", "blue").out == cli("show", "./blue").out != cli("show", "2").out
    cli("plan", "--out", "2")
    ran = cli("show", "2")
    assert ran.code == 64
    assert "2 is a file here, and the name of a generation too: write ./2 for the file" in ran.err
    assert cli("show", "./2").out == cli("show", "./blue").out
    assert cli("show", "head~1").out.startswith("Generation 2: ")


def test_what_is_neither_a_file_nor_a_generation_says_so(cli, grown):
    ran = cli("show", "nowhere")
    assert ran.code == 1
    assert (
        "cannot read plan file nowhere: no such file, and no generation is named so; `steadlith plan --out" in ran.err
    )
    for name in ("9", "head~7"):
        assert cli("show", name).code == 1
    (grown / "steadlith.toml").unlink()
    assert "cannot read plan file nowhere: no such file" in cli("show", "nowhere").err
    assert "no configuration at steadlith.toml" in cli("show", "head").err


@pytest.mark.parametrize(
    "arguments", [("2", "--steps"), ("2", "--no-steps"), ("2", "--format", "markdown"), ("p.json", "--configuration")]
)
def test_options_of_the_other_kind_are_refused(cli, grown, arguments):
    cli("plan", "--out", "p.json")
    assert cli("show", *arguments).code == 64


def test_many_documents_are_counted_and_not_all_listed(cli, grown):
    for number in range(30):
        (grown / "docs" / f"{number:02}.md").write_text(f"# {number}\n\nNumber {number}.\n", "utf-8")
    cli("apply", "--yes")
    shown = cli("show", "head").out
    assert shown.count("\n+ docs:") == 20
    assert "(and 10 more; `steadlith diff 3 4` lists all)" in shown
    assert "Documents: 30 added." in shown
    assert len(document(cli("show", "head", "--json"), "steadlith-generation")["changes"]["documents"]) == 30


def test_a_rollback_notes_that_nothing_was_embedded(cli, grown):
    assert cli("rollback", "1", "--apply", "--yes").code == 0
    shown = cli("show", "head").out
    assert "rollback to 1, from generation 3" in shown
    assert "Cost:          nothing embedded" in shown
    assert "rollback to 1: 2 documents, 2 chunks (" in cli("history").out.splitlines()[0]
    assert cli("history").out.splitlines()[0].endswith("; nothing embedded)")


# ------------------------------------------------------------------------------------------------- diff


def test_one_generation_compares_with_the_head(cli, grown):
    assert cli("diff", "2").out == cli("diff", "2", "head").out
    assert cli("diff", "2").code == 2
    assert cli("diff", "head").code == 0
    assert cli("diff", "blue", "head~1").out.startswith("No differences: 2 documents, 2 chunks")


def test_texts_are_compared_and_nothing_in_them_is_obeyed(cli, grown):
    ran = cli("diff", "1", "3", "--text")
    assert ran.code == 2
    lines = ran.out.splitlines()
    assert lines[:3] == [
        "~ docs:a.md  (1 chunk: 1 added, 1 removed)",
        "    --- docs:a.md (generation 1)",
        "    +++ docs:a.md (generation 3)",
    ]
    assert lines[3].startswith("    @@ -1,")
    assert "    +Apples are \\x1b[31mred\\x1b[0m." in lines
    assert "\x1b" not in ran.out
    told = document(cli("diff", "1", "3", "--text", "--json"), "steadlith-difference")
    assert told["documents"][0]["text"][-1] == "+Apples are \x1b[31mred\x1b[0m."
    assert told["documents"][1]["text"] == []
    assert (told["old"]["generation"], told["new"]["generation"], told["new"]["sources_root"]) == (1, 3, None)
    assert "text" not in document(cli("diff", "1", "3", "--json"), "steadlith-difference")["documents"][0]


def test_only_generations_have_texts_to_compare(cli, grown):
    cli("manifest", "export", "--out", "m")
    ran = cli("diff", "m", "1", "--text")
    assert (ran.code, "only an index holds texts" in ran.err) == (64, True)
    assert document(cli("diff", "m", "1", "--json"), "steadlith-difference")["documents"][0]["chunks"] is None


# ----------------------------------------------------------------------------------------------- search


def test_a_kept_generation_is_searched(cli, grown):
    for name in ("2", "head~1", "blue"):
        told = document(cli("search", "blue apples", "--at", name, "--json"), "steadlith-answer")
        assert (told["generation"], told["note"]) == (2, None)
        assert told["hits"][0]["text"].endswith("Apples are blue.")
    assert "Apples are blue." in cli("search", "blue apples", "--at", "2").out
    assert "Apples are blue." not in cli("search", "blue apples").out
    assert cli("search", "x", "--at", "9").code == 1
    assert cli("search", "x", "--at", "nope").code == 64


def test_a_search_under_another_configuration_says_so_on_stderr(cli, grown):
    before = cli("search", "blue apples")
    file = grown / "steadlith.toml"
    text = file.read_text("utf-8")
    changed = text.replace('embedder = "hash"', 'embedder = "hash"\ndimensions = 64')
    assert changed != text
    file.write_text(changed, "utf-8")
    ran = cli("search", "blue apples")
    assert (ran.code, ran.out) == (0, before.out)
    assert ran.err.startswith("Note: generation 3 was embedded by hash/0 (256 dimensions, float32): the configuration ")
    assert "so the configuration of generation 3 was searched under" in ran.err
    told = document(cli("search", "blue apples", "--json"), "steadlith-answer")
    assert told["note"] == ran.err.removeprefix("Note: ").rstrip("\n")

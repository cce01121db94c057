"""`steadlith chunk` as a user types it: on files, without an index."""

import io
import json
import sys

import pytest

from steadlith_core import Digest

DOCUMENT = "# Ships\n\n" + "A sloop has one mast. " * 12 + "\n\n## Ketch\n\n" + "A ketch has two masts. " * 12 + "\n"
SMALL = ("--set", "min_tokens=8", "--set", "max_tokens=32")


@pytest.fixture
def ships(tmp_path):
    path = tmp_path / "ships.md"
    path.write_text(DOCUMENT, "utf-8")
    return path


def document(ran):
    value = json.loads(ran.out)
    assert (value["kind"], value["format_version"]) == ("steadlith-chunks", "1.0")
    assert ran.out.count("\n") == 1
    return value


def test_it_needs_no_configuration_and_leaves_nothing_behind(cli, ships, tmp_path):
    ran = cli("chunk", "ships.md")
    assert (ran.code, ran.err) == (0, "")
    assert "ships.md  markdown, 562 bytes: 1 chunk, about" in ran.out
    assert list(tmp_path.iterdir()) == [ships]


def test_a_row_tells_where_a_chunk_stands_and_a_map_shows_all(cli, ships):
    lines = cli("chunk", "ships.md", *SMALL).out.splitlines()
    assert len(lines[1]) == 100
    assert lines[1].startswith("┃─")
    assert "min" in lines[3]
    assert "max" in lines[3]
    assert lines[4].startswith("┃    0 1-3")
    assert "heading 1" in lines[4]
    assert lines[4].endswith("  Ships")
    assert any("heading 2" in line and line.endswith("  Ships > Ketch") for line in lines)
    assert any(line.startswith("┊") and " sentence " in line for line in lines)


def test_json_has_every_fact_of_every_chunk(cli, ships):
    found = document(cli("chunk", "ships.md", "--json", *SMALL))
    assert found["policy"]["params"]["max_tokens"] == 32
    assert found["errors"] == []
    (ship,) = found["documents"]
    assert ship.keys() == {"path", "format", "bytes", "chunks", "findings"}
    assert [chunk["index"] for chunk in ship["chunks"]] == list(range(len(ship["chunks"])))
    for chunk in ship["chunks"]:
        assert chunk.keys() == {
            *("index", "span", "bytes", "tokens", "level", "level_name", "height", "headings"),
            *("text_hash", "chunk_hash", "parent", "embed"),
        }
        Digest.parse(chunk["text_hash"])
        Digest.parse(chunk["chunk_hash"])
        assert (chunk["parent"], chunk["embed"]) == (None, True)


def test_with_text_json_has_the_fragment_of_each_span(cli, ships):
    source = ships.read_bytes()
    for chunk in document(cli("chunk", "ships.md", "--json", "--text", *SMALL))["documents"][0]["chunks"]:
        assert source[chunk["span"]["start"] : chunk["span"]["end"]].decode() == chunk["text"]
        assert len(chunk["text"].encode()) == chunk["bytes"]


def test_text_is_shown_with_its_lines_and_a_rule_before_each_chunk(cli, ships):
    lines = cli("chunk", "ships.md", "--text", *SMALL).out.splitlines()
    assert lines[1].startswith("── 0 ── heading 1 ── ")
    assert lines[2] == "     1 │ # Ships"
    assert "     5 │ ## Ketch" in lines
    chunks = document(cli("chunk", "ships.md", "--json", *SMALL))["documents"][0]["chunks"]
    assert sum(line.startswith("── ") for line in lines) == len(chunks)


def test_hashes_are_those_of_the_index(cli, folder):
    (chunk,) = document(cli("chunk", "docs/b.md", "--json"))["documents"][0]["chunks"]
    cli("apply", "--yes")
    (hit, *_) = json.loads(cli("search", "bridges", "--json").out)["hits"]
    assert hit["chunk_hash"] == chunk["chunk_hash"]


def test_the_configurations_policy_is_used_where_there_is_one(cli, folder):
    config = folder / "steadlith.toml"
    config.write_text(config.read_text("utf-8").replace("max_tokens = 480", "max_tokens = 400"), "utf-8")
    params = {}
    for name, arguments in {
        "found": [],
        "set": ["--set", "max_tokens=500"],
        "named": ["--policy", "structural"],
        "config": ["--config", str(config)],
        "folder": ["--config", str(folder)],
    }.items():
        params[name] = document(cli("chunk", "docs/a.md", "--json", *arguments))["policy"]["params"]["max_tokens"]
    assert params == {"found": 400, "set": 500, "named": 480, "config": 400, "folder": 400}


def test_a_configuration_that_is_named_has_to_be_there(cli, ships):
    ran = cli("chunk", "ships.md", "--config", "nowhere.toml")
    assert ran.code == 1
    assert "no configuration at nowhere.toml" in ran.err


@pytest.mark.parametrize(
    ("given", "expected"), [("steps.rst", "rst"), ("steps.PY", "code"), ("steps", "text"), ("steps.png", "text")]
)
def test_the_name_decides_the_format_as_in_a_source(cli, tmp_path, given, expected):
    (tmp_path / given).write_text("Text.\n", "utf-8")
    assert document(cli("chunk", given, "--json"))["documents"][0]["format"] == expected
    named = document(cli("chunk", given, "--json", "--format", "markdown"))
    assert named["documents"][0]["format"] == "markdown"


def test_a_dash_is_standard_input(cli, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"---\ntitle: T\n---\n# One\n")))
    (read,) = document(cli("chunk", "-", "--format", "markdown", "--json", "--text"))["documents"]
    assert (read["path"], read["bytes"]) == ("-", 23)
    assert [chunk["text"] for chunk in read["chunks"]] == ["# One"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"caf\xe9\n", "not UTF-8 at byte offset 3"),
        (b"a\x00b", "looks binary (a NUL byte at offset 1)"),
        (b"---\na: &x 1\n---\n", "anchors"),
        (None, "No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_cut_is_an_error_and_the_others_go_on(cli, ships, tmp_path, content, message):
    if content is not None:
        (tmp_path / "bad.md").write_bytes(content)
    ran = cli("chunk", "bad.md", "ships.md")
    assert ran.code == 1
    assert ran.err.startswith("Error: bad.md: ")
    assert message in ran.err
    assert ran.out.startswith("ships.md  markdown")
    found = document(cli("chunk", "bad.md", "ships.md", "--json"))
    assert [each["path"] for each in found["documents"]] == ["ships.md"]
    ((failed),) = found["errors"]
    assert (failed["path"], failed["error"]) == ("bad.md", "DocumentError")
    assert message in failed["message"]


def test_several_files_stand_one_below_another(cli, ships):
    out = cli("chunk", "ships.md", "ships.md").out
    assert out.count("ships.md  markdown") == 2
    assert "\n\nships.md" in out


def test_an_empty_document_has_no_chunk(cli, tmp_path):
    (tmp_path / "empty.md").write_bytes(b"")
    assert cli("chunk", "empty.md").out == (
        "empty.md  markdown, 0 bytes: 0 chunks, about 0 tokens, by "
        + document(cli("chunk", "empty.md", "--json"))["policy"]["id"]
        + " (160 to 480 tokens)\n"
    )


def test_findings_are_shown(cli, tmp_path):
    (tmp_path / "run.txt").write_text("e" + "\u0301" * 3000, "utf-8")
    ran = cli("chunk", "run.txt")
    assert ran.code == 0
    assert "! run.txt: unsplittable: line 1: " in ran.out
    (found,) = document(cli("chunk", "run.txt", "--json"))["documents"][0]["findings"]
    assert (found["place"], found["kind"]) == ("run.txt", "unsplittable")


def test_control_characters_never_reach_the_terminal(cli, tmp_path):
    evil = "\x1b[31mred\x1b[0m \x07bell \u202eflip"
    name = "e\x1b[2Jvil.md"
    (tmp_path / name).write_text(f"# {evil}\n\nevil {evil}\n", "utf-8")
    for arguments in ([name], [name, "--text"], [name, "--json", "--text"], ["no\x07file.md"]):
        ran = cli("chunk", *arguments)
        assert not set("\x1b\x07\u202e") & set(ran.out + ran.err), arguments


def test_a_parent_is_shown_as_context_and_its_children_name_it(cli, ships):
    options = ("--policy", "late", "--set", "child_max_words=16")
    first, second, *_ = document(cli("chunk", "ships.md", "--json", *options))["documents"][0]["chunks"]
    assert (first["embed"], first["parent"]) == (False, None)
    assert (second["embed"], second["parent"]) == (True, 0)
    out = cli("chunk", "ships.md", *options).out
    assert "parent  headings" in out
    assert "  (context)  Ships" in out
    assert "context, not embedded" in cli("chunk", "ships.md", "--text", *options).out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 64, "Missing argument 'FILE...'"),
        (["ships.md", "--format", "html"], 64, "markdown"),
        (["ships.md", "--set", "max_tokens"], 64, "expected KEY=VALUE"),
        (["ships.md", "--set", "=1"], 64, "expected KEY=VALUE"),
        (["ships.md", "--set", "a=1\nb=2"], 64, "expected KEY=VALUE"),
        (["ships.md", "--set", 'language="en'], 64, "expected KEY=VALUE"),
        (["ships.md", "--set", "languages=[en"], 64, "expected KEY=VALUE"),
        (["ships.md", "--policy", "magic"], 1, "policy = 'magic': no such adapter is installed; there are "),
        (["ships.md", "--set", "max_tokens=200"], 1, "max_tokens = 200"),
        (["ships.md", "--set", "colour=red"], 1, "colour"),
    ],
)
def test_what_is_wrong_with_the_call_is_said(cli, ships, arguments, code, message):
    ran = cli("chunk", *arguments)
    assert ran.code == code
    assert message in ran.err
    assert json.loads(cli("chunk", *arguments, "--json").out)["exit_code"] == code

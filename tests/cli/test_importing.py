"""`steadlith import` as it is typed: what it shows, what it asks for, what it exits with."""

import json

import pytest

from steadlith_adapters.embedders.hash import FACTORY
from steadlith_core.vectors import unpack


@pytest.fixture
def lines(folder):
    """Write rows as `chunks.jsonl`, each with a vector of its text unless it has one."""
    model = FACTORY.build({})

    def write(*rows):
        whole = []
        for row in rows:
            vector = [float(number) for number in unpack(model.embed_query(row["text"]))]
            whole.append(json.dumps({"vector": vector, **row}) + "\n")
        (folder / "chunks.jsonl").write_text("".join(whole), "utf-8")

    return write


@pytest.fixture
def chunks(lines):
    lines(
        {"text": "# Apples", "metadata": {"source": "a.md"}},
        {"text": "Apples are red or green.", "metadata": {"source": "a.md"}},
        {"text": "Nothing of ours.", "metadata": {"source": "gone\x1b[31m.md"}, "vector": [1.0]},
    )


IMPORT = ("import", "chunks.jsonl", "--from", "jsonl")


def test_a_preview_is_shown_and_changes_nothing(folder, cli, chunks):
    before = sorted(folder.rglob("*"))
    ran = cli(*IMPORT)
    assert ran.code == 0
    assert "3 chunks read; 2 chunks of 1 document to import." in ran.out
    assert "! chunks.jsonl:3: vector: its vector has 1 dimensions, not 256" in ran.out
    assert "0 embeddings" in ran.out
    assert "Nothing was changed" in ran.out
    assert sorted(folder.rglob("*")) == before


def test_a_preview_as_json_lists_everything(cli, chunks):
    found = json.loads(cli(*IMPORT, "--json").out)
    assert (found["kind"], found["from"], found["read"], found["chunks"]) == ("steadlith-import", "jsonl", 3, 2)
    assert found["passed"][0] == {
        "place": "chunks.jsonl:3",
        "why": "vector",
        "message": "its vector has 1 dimensions, not 256",
    }
    assert found["files"][0]["digest"].startswith("b3:")
    assert found["plan"]["cost"]["embeddings"] == 0


def test_it_is_done_with_a_word_about_the_model_and_a_yes(cli, chunks):
    without = cli(*IMPORT, "--apply", "--yes")
    assert without.code == 3
    assert "--same-model" in without.err
    unasked = cli(*IMPORT, "--apply", "--same-model")
    assert unasked.code == 3
    assert "pass --yes" in unasked.err
    done = cli(*IMPORT, "--apply", "--same-model", "--yes")
    assert done.code == 0
    assert "Imported 1 document, 2 chunks as generation 1; nothing was embedded." in done.out
    assert "a.md:3-3" in cli("search", "red or green").out
    again = cli(*IMPORT, "--apply", "--same-model", "--yes")
    assert again.code == 0
    assert "recorded: the index has this document" in again.out
    assert "Nothing to import" in again.out


def test_the_result_is_one_json_document(cli, chunks):
    done = json.loads(cli(*IMPORT, "--apply", "--same-model", "--yes", "--json").out)
    assert (done["generation"], done["embedded"]) == (1, 0)
    assert done["imported"] == {"documents": 1, "chunks": 2, "passed": 2}
    nothing = json.loads(cli(*IMPORT, "--apply", "--same-model", "--yes", "--json").out)
    assert (nothing["kind"], nothing["nothing"]) == ("steadlith-import", True)


def test_many_reasons_are_counted(cli, lines):
    lines(*({"text": " ", "document": "a.md", "vector": [1.0]} for _ in range(12)))
    ran = cli(*IMPORT)
    assert ran.out.count("! chunks.jsonl:") == 10
    assert "! in all 12 text; --json lists each" in ran.out


def test_files_of_which_nothing_can_be_imported_are_no_success(cli, lines):
    lines({"text": " ", "document": "a.md", "vector": [1.0]})
    for options in ((), ("--json",), ("--apply", "--same-model", "--yes")):
        assert cli(*IMPORT, *options).code == 1


def test_what_is_read_never_reaches_the_terminal_as_it_is(cli, lines):
    lines({"text": "Text.", "document": "e\x1b[2Jvil.md"}, {"text": "Text.", "document": "../\x1b[2J"})
    ran = cli(*IMPORT)
    assert "\x1b" not in ran.out
    assert "no_source" in ran.out


def test_a_chunk_that_stands_nowhere_says_so(cli, lines):
    lines({"text": "Quinces are yellow.", "document": "a.md"})
    assert "not_found" in cli(*IMPORT, "--apply", "--same-model", "--yes").out
    ran = cli("search", "quinces")
    assert "docs:a.md  " in ran.out
    assert "imported text, not found in" in ran.out
    assert cli("restore", "a.md").out == "Quinces are yellow.\n"


def test_a_plan_that_is_too_large_needs_a_word(folder, cli, chunks):
    config = folder / "steadlith.toml"
    config.write_text(config.read_text("utf-8") + "\n[guards]\nmax_steps = 1\n", "utf-8")
    ran = cli(*IMPORT, "--apply", "--same-model", "--yes")
    assert ran.code == 3
    assert "--allow-large-plan" in ran.out
    assert cli(*IMPORT, "--apply", "--same-model", "--yes", "--allow-large-plan").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("import", "chunks.jsonl"), 64, "--from"),
        (("import", "--from", "jsonl"), 64, "FILE"),
        (("import", "chunks.jsonl", "--from", "chroma"), 64, "steadlith-1"),
        ((*IMPORT, "--namespace", "x"), 64, "--namespace is for --from langchain"),
        ((*IMPORT, "--source", "x"), 64, "there are docs"),
        (("import", "none.jsonl", "--from", "jsonl"), 1, "cannot read none.jsonl"),
        (("import", "chunks.jsonl", "--from", "steadlith-1"), 1, "no SQLite database"),
    ],
)
def test_mistakes_have_their_exit_codes(cli, chunks, arguments, code, message):
    ran = cli(*arguments)
    assert ran.code == code
    assert message in ran.err


def test_a_configuration_of_1_x_says_how_its_index_is_adopted(folder, cli):
    (folder / "steadlith.toml").write_text('[sources]\ninclude = ["docs/**"]\n', "utf-8")
    assert "steadlith import --from steadlith-1" in cli("plan").err


def test_on_a_terminal_it_asks(at_a_terminal, cli, chunks):
    code, told = at_a_terminal("n", *IMPORT, "--apply", "--same-model")
    assert (code, "not applied" in told) == (3, True)
    assert "No generation yet" in cli("status").out
    code, told = at_a_terminal("y", *IMPORT, "--apply", "--same-model")
    assert (code, "Imported 1 document" in told) == (0, True)

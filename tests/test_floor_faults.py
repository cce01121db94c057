"""Faults that were measured in steadlith 1.0.1, each as a test that passes here: the same input, and what happens now.

Where a fault belongs to a room that tests it better, `ELSEWHERE` names that test. What has no counterpart yet, since
migrations and rollback are not there: a migration that is killed on the way, the comments of a migrated configuration,
a rollback after an edit, a receipt. One row is decided otherwise: of five equal files each is a hit of its own, since
a hit is a place and not a text.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import tracemalloc
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

import steadlith
from steadlith.cli.main import main
from steadlith_core.planning.steps import Add, Delete
from steadlith_core.state.identity import source_digest
from steadlith_core.text.canonical import fragment
from steadlith_core.text.tokens import estimate

CONFIG = """
[sources.docs]
path = "docs"
{source}
[chunking]
{chunking}
[embedding]
embedder = "hash"
dimensions = 64
batch_size = 4
{embedding}
"""
ELSEWHERE = {
    "a file that changes while it is read": "tests/faults/trials/test_sources_that_change.py::"
    "test_at_plan_it_is_a_finding_and_all_others_are_planned_and_applied",
    "a file that vanishes between plan and apply": "tests/faults/trials/test_sources_that_change.py::"
    "test_at_apply_a_planned_document_stops_it_before_the_first_write",
    "killed while embedding, in the transaction, after the commit": "tests/engine/test_crashes.py::"
    "test_a_killed_process_leaves_old_or_new_and_pays_no_acknowledged_embedding_twice",
    "an input over the provider's limit": "tests/faults/calls/test_refused_texts.py::"
    "test_field_case_32_one_oversized_text_is_found_and_the_others_are_kept",
    "a full disk": "tests/faults/test_apply.py::"
    "test_a_full_or_failing_disk_is_told_and_leaves_the_old_state_or_the_new",
    "a cached vector that was replaced together with its checksum": "tests/engine/test_caching.py::"
    "TestEntriesThatAreNotRight::test_one_that_was_replaced_with_its_checksum_is_believed_until_the_model_is_asked",
    "a pruned cache that stays as large as it was": "tests/engine/test_caching.py::"
    "TestPruning::test_space_is_given_back_and_reported",
    "an exported cache that is too large to be imported": "tests/core/test_cachefile.py::"
    "test_more_bytes_than_any_cap_pass_through",
}
"""Faults by the tests that try them."""
STRUCTURAL = "min_tokens = 16\nmax_tokens = 48"
ROOT = Path(__file__).parent.parent
MAIN = "from steadlith.cli import main; main()"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class Folder:
    """A configuration and `docs/`, driven as a user drives it."""

    def __init__(self, root, typed=None):
        self.root, self.docs, self._typed = root, root / "docs", typed
        self.docs.mkdir(parents=True)
        self.configure()

    def configure(self, source="", chunking=STRUCTURAL, embedding=""):
        text = CONFIG.format(source=source, chunking=chunking, embedding=embedding)
        (self.root / "steadlith.toml").write_text(text, "utf-8")

    def write(self, path, content):
        place = self.docs / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return place

    @property
    def index(self):
        return steadlith.open(self.root)

    def start(self, *arguments):
        """A process of its own."""
        return subprocess.Popen(
            [sys.executable, "-c", MAIN, *arguments],
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run_any(self, *arguments):
        """Type a command; it never ends with a traceback, whatever its code."""
        ran = self._typed(self.root, *arguments)
        assert "Traceback" not in ran.err + ran.out
        return ran

    def run(self, *arguments, code=0):
        ran = self.run_any(*arguments)
        assert ran.code == code, ran.err + ran.out
        return ran

    def apply(self, *flags):
        return self.index.apply(self.index.plan(), allow=flags)

    def hits(self, query, limit=10):
        return self.index.search(query, limit=limit).hits

    def state(self, name="index.sqlite3"):
        return self.root / ".steadlith" / name

    def findings(self):
        return {finding.place.removeprefix("docs:"): str(finding.kind) for finding in self.index.plan().findings}

    def chunks(self):
        """Every text that the index holds, by document."""
        with self.index.reader() as reader:
            found = {}
            for document in reader.documents():
                rows = reader.chunks(document.id)
                bodies = reader.texts([row.text_hash for row in rows])
                found[document.id.path] = [bodies[row.text_hash] for row in rows]
            return found


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    def typed(root, *arguments):
        monkeypatch.chdir(root)
        monkeypatch.setattr(sys, "argv", ["steadlith", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        return Ran(stopped.value.code or 0, *capsys.readouterr())

    return Folder(tmp_path / "work", typed)


def prose(name, paragraphs=6):
    parts = (
        f"The {name} paragraph {n} speaks of topic{n} and of matter{n * 7} in its own words." for n in range(paragraphs)
    )
    return "\n\n".join(parts) + "\n"


@pytest.fixture
def filled(folder):
    for name in ("one", "two", "three"):
        folder.write(f"{name}.md", f"# Part {name}\n\n" + prose(name))
    folder.apply()
    return folder


@pytest.mark.parametrize("fault", ELSEWHERE)
def test_a_fault_that_is_tried_elsewhere_is_tried(fault):
    path, *inside, name = ELSEWHERE[fault].split("::")
    text = (ROOT / path).read_text("utf-8")
    assert f"def {name}(" in text
    assert all(f"class {each}:" in text for each in inside)


# ---------------------------------------------------------------------------------------------- sizes of chunks


def test_a_base64_blob_of_400_kb_is_cut_to_size_and_blocks_nobody(folder):
    """1.0: one chunk of 400,073 characters that counted as 9 tokens, and with a strict provider no corpus any more."""
    folder.configure(chunking="")
    blob = "".join(f"{number * 7919 % 4_294_967_296:08x}" for number in range(50_000))
    folder.write("blob.md", f"# A key\n\n{blob}\n")
    folder.write("other.md", prose("other"))
    done = folder.apply()
    assert done.head.documents == 2
    pieces = folder.chunks()["blob.md"]
    assert len(pieces) > 300
    assert max(map(estimate, pieces)) <= 480
    assert "".join(pieces).replace("# A key\n\n", "").replace("\n", "") == blob


@pytest.mark.parametrize(
    "chunking",
    ['policy = "word"\ntarget_words = 10\noverlap_words = 0', 'policy = "fixed"\nmax_words = 10', STRUCTURAL],
)
def test_one_word_of_25000_characters_is_cut_and_no_error(folder, chunking):
    """1.0: "word at index 10 has token count 25000, which exceeds max_tokens"."""
    folder.configure(chunking=chunking)
    folder.write("long.md", "ten words before it stand here to be kept whole " + "x" * 25_000 + " and after it\n")
    folder.apply()
    pieces = folder.chunks()["long.md"]
    assert max(map(len, pieces)) < 2_000
    assert sum(piece.count("x") for piece in pieces) == 25_000


ARTICLES = {
    "Chinese": "数据库事务必须满足原子性和一致性。分块之后每一段都要能够单独检索,否则索引没有意义。",
    "Japanese": "データベースは原子性を満たさなければならない。分割された文章は個別に検索できる。",
    "Thai": "ฐานข้อมูลต้องรับประกันความสมบูรณ์ของธุรกรรมและค้นหาแต่ละส่วนได้",
}


@pytest.mark.parametrize("script", ARTICLES)
def test_a_text_without_spaces_is_cut_to_size_and_an_insertion_stays_local(folder, script):
    """1.0: an article of 150,000 characters was two chunks, and six characters embedded 55 % of it again."""
    sentences = [f"{ARTICLES[script]}{number}" for number in range(600)]
    place = folder.write("long.txt", "".join(sentences))
    folder.apply()
    pieces = folder.chunks()["long.txt"]
    assert len(pieces) > 100
    assert max(map(estimate, pieces)) <= 48
    sentences[300] = "新しい文" + sentences[300]
    place.write_text("".join(sentences), "utf-8")
    assert folder.index.plan().cost.embeddings <= 4


def test_a_chinese_word_inside_a_text_is_found_first(folder):
    """1.0: the word scored 0.0 everywhere, and Arabic chunks came first."""
    folder.write("zh.txt", ARTICLES["Chinese"])
    folder.write("ar.txt", "قاعدة البيانات يجب أن تضمن سلامة المعاملات")
    folder.write("en.txt", "A database has to keep its transactions atomic.")
    folder.apply()
    best = folder.hits("分块")[0]
    assert (best.document.path, best.lexical is not None) == ("zh.txt", True)
    assert folder.hits("المعاملات")[0].document.path == "ar.txt"


def test_an_insertion_at_the_start_of_a_large_file_touches_a_few_chunks(folder):
    """1.0: one chunk embedded and 16,508 "moves" reported and written."""
    place = folder.write("large.md", prose("large", 800))
    folder.apply()
    place.write_text("One sentence more.\n\n" + prose("large", 800), "utf-8")
    plan = folder.index.plan()
    assert plan.cost.embeddings <= 3
    assert sum(len(change.steps) for change in plan.changes) <= 6
    assert plan.counts["move"] == 0


def test_a_plan_of_one_large_file_takes_a_few_times_its_size(folder):
    """1.0: 51 bytes a byte, so that 50 MB took 2.5 GB."""
    folder.configure(chunking="")
    place = folder.write("large.md", prose("large", 30_000))
    folder.index.plan()  # what is loaded once is not the file's
    tracemalloc.start()
    try:
        plan = folder.index.plan()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert plan.counts["add"] > 1000
    assert most < 10 * place.stat().st_size


# ----------------------------------------------------------------------------------------------- what text keeps


def test_indentation_and_line_structure_are_content(folder):
    """1.0: `return` moved into a loop was no change, and code and tables came back on one line."""
    code = "def f(x):\n    for i in x:\n        print(i)\n    return 1\n"
    place = folder.write("code.py", code)
    folder.write("table.md", "| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n  - nested\n")
    folder.apply()
    assert folder.chunks()["code.py"] == [code.rstrip("\n")]
    assert folder.chunks()["table.md"] == ["| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n  - nested"]
    before = folder.index.head().corpus_root
    place.write_text(code.replace("    return 1", "        return 1"), "utf-8")
    assert folder.index.plan().cost.embeddings == 1
    assert folder.apply().head.corpus_root != before


def test_bom_line_ends_and_composition_change_no_identity_and_spans_are_of_the_file(folder):
    """1.0: offsets were off by one from the file after a BOM."""
    text = "# Caf\u00e9\n\nThe caf\u00e9 is open.\n"
    variants = {
        "plain.md": text.encode(),
        "bom.md": b"\xef\xbb\xbf" + text.encode(),
        "crlf.md": text.replace("\n", "\r\n").encode(),
        "cr.md": text.replace("\n", "\r").encode(),
        "nfd.md": text.replace("\u00e9", "e\u0301").encode(),
    }
    for name, content in variants.items():
        folder.write(name, content)
    assert folder.apply().embedded == 1
    hits = folder.hits("open", limit=200)
    assert {hit.document.path for hit in hits} == set(variants)
    assert len({hit.chunk_hash for hit in hits}) == 1
    for hit in hits:
        content = variants[hit.document.path]
        assert fragment(content[hit.span.start : hit.span.end]) == hit.text
        assert hit.source_digest == source_digest(content)


def test_control_characters_of_documents_never_reach_the_terminal(folder):
    """1.0: `query` passed ESC sequences on, and a document could write to the terminal."""
    folder.write("evil.md", "# Title \x1b]0;owned\x07\n\nalpha \x1b[2J\x1b[31m text with \u202e marks\n")
    folder.apply()
    for arguments in (["search", "alpha"], ["plan", "--all"], ["chunk", "docs/evil.md", "--text"]):
        out = folder.run(*arguments).out
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", out), arguments
    assert "\x1b" in folder.hits("alpha")[0].text  # it is the terminal that is guarded, not the text that is changed


MARKS = {
    "an emoji of several parts": "\U0001f469\u200d\U0001f4bb\U0001f3fd",
    "a space that does not break": "10\u00a0km",
    "a space of no width": "zero\u200bwidth",
    "marks of direction": "\u200fabc\u200e",
    "a NUL after the first 8 KiB": "one\x00two",
}


@pytest.mark.parametrize("what", MARKS)
def test_marks_that_nobody_sees_stay_in_the_text(folder, what):
    folder.write("a.md", "word " * 2000 + f"\n\nalpha {MARKS[what]} omega\n")
    folder.apply()
    assert any(f"alpha {MARKS[what]} omega" in text for text in folder.chunks()["a.md"])
    assert "\x00" not in folder.run("search", "omega").out
    folder.run("verify")


def test_copies_of_a_file_are_embedded_once(folder):
    for number in range(5):
        folder.write(f"copy-{number}.md", "One text, five times.\n")
    done = folder.apply()
    assert (done.head.documents, done.embedded) == (5, 1)


# ----------------------------------------------------------------------------------------- inputs that are not read


def test_every_bad_file_is_named_and_none_stops_the_run(filled):
    """1.0: the first one ended the run with exit 1, and only it was named."""
    filled.write("binary.txt", b"\x89PNG\r\n\x00\x00 binary")
    filled.write("utf16.txt", "alpha".encode("utf-16"))
    filled.write("latin.txt", b"caf\xe9 au lait\n")
    filled.write("surrogate.txt", b"lone \xed\xa0\x80 surrogate\n")
    filled.write("good.txt", "A good text.\n")
    ran = filled.run("apply", "--yes")
    for name in ("binary.txt", "utf16.txt", "latin.txt", "surrogate.txt"):
        assert f"docs:{name}" in ran.out + ran.err
    assert filled.findings() == {
        "binary.txt": "binary",
        "utf16.txt": "binary",
        "latin.txt": "undecodable",
        "surrogate.txt": "undecodable",
    }
    assert "good.txt" in filled.chunks()


@pytest.mark.parametrize("name", ["a.ipynb", "a.adoc", "a.org", "a.htm", "a.markdown", "a.kt", "NOTES"])
def test_a_suffix_that_nobody_knows_is_text(folder, name):
    """1.0: skipped without a word, even where the pattern asked for it."""
    folder.write(name, "Some words of alpha.\n")
    folder.apply()
    assert [hit.document.path for hit in folder.hits("alpha")] == [name]


def test_empty_files_are_documents_without_chunks(folder):
    folder.write("empty.md", b"")
    folder.write("blank.md", b" \n\t\n")
    done = folder.apply()
    assert (done.head.documents, done.head.chunks) == (2, 0)


def test_odd_links_end_nothing_and_follow_nothing_out(filled, tmp_path):
    """1.0: a link out of the folder ended the run."""
    (tmp_path / "outside.md").write_text("A secret of somebody else.\n", "utf-8")
    (filled.docs / "out.md").symlink_to(tmp_path / "outside.md")
    (filled.docs / "loop").symlink_to(filled.docs, target_is_directory=True)
    (filled.docs / "self.md").symlink_to("self.md")
    (filled.docs / "dangling.md").symlink_to("nowhere.md")
    (filled.docs / "alias.md").symlink_to("one.md")
    ran = filled.run("plan", "--json")
    assert [(each["place"], each["kind"]) for each in ran.json["findings"]] == [("docs:out.md", "link_outside")]
    filled.apply()
    assert not filled.hits("secret of somebody") or "secret" not in filled.hits("secret of somebody")[0].text


PLAN_WITHOUT_RIGHTS = """
import steadlith
index = steadlith.open(arguments[0])
index.plan()
os.chmod(arguments[1], 0)
drop()
plan = index.plan()
answer([plan.is_empty, [[finding.place, str(finding.kind)] for finding in plan.findings]])
"""


@pytest.mark.parametrize(
    ("what", "kind"), [("sub", "unreadable_folder"), ("one.md", "unreadable_file")], ids=["folder", "file"]
)
def test_what_cannot_be_read_is_not_taken_for_deleted(public_path, as_nobody, what, kind):
    """1.0: an unreadable folder was five deletes, and afterwards the plan was clean."""
    folder = Folder(public_path / "work")
    folder.write("one.md", prose("one"))
    folder.write("sub/two.md", prose("two"))
    folder.apply()
    for path in [folder.root, *folder.root.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    is_empty, findings = as_nobody(PLAN_WITHOUT_RIGHTS, str(folder.root), str(folder.docs / what))
    assert (is_empty, [found for _, found in findings]) == (True, [kind])


def test_a_file_that_vanishes_between_listing_and_reading_is_a_finding(filled, monkeypatch):
    """1.0: exit 1, "No such file"."""
    from steadlith_adapters.sources.filesystem import source

    place = filled.write("short-lived.md", "Here today.\n")
    read = source.FilesystemSource.read

    def reading(self, path):
        place.unlink(missing_ok=True)
        return read(self, path)

    monkeypatch.setattr(source.FilesystemSource, "read", reading)
    assert filled.findings() == {"short-lived.md": "vanished"}


def test_a_file_name_that_is_not_utf8_is_a_finding(filled):
    """1.0: an uncaught UnicodeEncodeError."""
    (filled.docs / os.fsdecode(b"caf\xe9.md")).write_bytes(b"text\n")
    ran = filled.run("plan")
    assert "name_not_utf8" in ran.out
    assert "\\xe9" in ran.out


# ------------------------------------------------------------------------------------------------ what is in scope


def test_a_pattern_that_ends_in_two_stars_means_the_same_on_every_python(folder):
    """1.0: `docs/**` was no file on Python 3.11, and two on 3.13. Ours are git's rules, written out (ADR 5)."""
    folder.write("guide/a.md", "alpha\n")
    folder.write("guide/deep/b.md", "beta\n")
    folder.write("c.md", "gamma\n")
    folder.configure(source='include = ["guide/**"]')
    assert sorted(change.id.path for change in folder.index.plan().changes) == ["guide/a.md", "guide/deep/b.md"]


def test_a_source_without_any_document_is_told(folder):
    """1.0: no warning, exit 0."""
    folder.write("a.md", "alpha\n")
    folder.configure(source='include = ["nothing/**"]')
    ran = folder.run("plan")
    assert "empty_source" in ran.out
    folder.configure()
    assert "empty_source" not in folder.run("plan").out


@pytest.mark.parametrize("pattern", ["build", "build/", "/build", "build/**", "**/build"])
def test_a_folder_is_excluded_however_it_is_written(folder, pattern):
    """1.0: only `docs/build/**` excluded anything."""
    folder.write("a.md", "alpha\n")
    folder.write("build/out.md", "made\n")
    folder.configure(source=f'exclude = ["{pattern}"]')
    assert [change.id.path for change in folder.index.plan().changes] == ["a.md"]


def test_gitignore_is_obeyed(folder):
    """1.0: ignored, and `node_modules` was indexed."""
    folder.write("a.md", "alpha\n")
    folder.write("node_modules/x/readme.md", "of somebody else\n")
    folder.write(".gitignore", "node_modules/\n")
    assert "node_modules" not in " ".join(change.id.path for change in folder.index.plan().changes)


def test_touched_files_are_no_change(filled):
    """1.0: a fresh clone was 6,443 moves and a new generation, which made a rollback impossible."""
    before = filled.index.head()
    for path in filled.docs.iterdir():
        os.utime(path, (1, 1))
    assert filled.run("plan", "--detailed-exitcode").code == 0
    assert filled.apply().head == before


# --------------------------------------------------------------------------------------------- files of our own


def half_made(path):
    """What a kill between the write-ahead log's pragma and the schema leaves."""
    path.parent.mkdir(exist_ok=True)
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.close()
    assert path.stat().st_size > 0


@pytest.mark.parametrize("name", ["index.sqlite3", "cache.sqlite3"])
@pytest.mark.parametrize("size", ["header", "nothing"])
def test_a_file_that_was_begun_and_holds_nothing_wedges_nothing(folder, name, size):
    """1.0: plan, index, status and verify failed until somebody removed the file by hand."""
    folder.write("a.md", "alpha\n")
    half_made(folder.state(name))
    if size == "nothing":
        folder.state(name).write_bytes(b"")
    folder.run("plan")
    folder.run("status")
    assert "Applied generation 1" in folder.run("apply", "--yes").out
    folder.run("verify")
    folder.run("search", "alpha")


KILLED_WHILE_MAKING = """
import os, signal, sys
import apsw
left = int(sys.argv[1])
class File(apsw.VFSFile):
    def __init__(self, name, flags):
        super().__init__("unix", name, flags)
    def xWrite(self, data, offset):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        super().xWrite(data, offset)
class Layer(apsw.VFS):
    def __init__(self):
        super().__init__("dying", "unix", makedefault=True)
    def xOpen(self, name, flags):
        return File(name, flags)
layer = Layer()
import steadlith
index = steadlith.open()
index.apply(index.plan())
"""


@pytest.mark.parametrize(
    "write", [1, 2, 3, 5, 8, 13, *(pytest.param(n, marks=pytest.mark.slow) for n in range(14, 120, 3))]
)
def test_a_first_apply_that_is_killed_at_any_write_is_finished_by_the_next(folder, write):
    folder.write("a.md", "alpha\n")
    done = subprocess.run([sys.executable, "-c", KILLED_WHILE_MAKING, str(write)], cwd=folder.root, check=False)
    assert done.returncode in {0, -signal.SIGKILL}
    folder.run("status")
    folder.run("plan")
    folder.run("apply", "--yes")
    folder.run("verify")


def test_first_applies_at_the_same_time_find_whole_files(folder):
    """1.0: in 5 of 8 tries one process met a file without its tables."""
    folder.write("a.md", "alpha\n")
    for _ in range(3):
        processes = [folder.start("apply", "--yes", "--lock-timeout", "60") for _ in range(3)]
        ended = [(process.communicate(timeout=120), process.returncode) for process in processes]
        # One commits. The others find that their plan was applied, that they came late, or nothing to do.
        assert {code for _, code in ended} <= {0, 5}, ended
        assert [code for _, code in ended].count(0) >= 1
        assert not any("Traceback" in err or "no such table" in err for (_, err), _ in ended)
        assert folder.index.head().generation == 1
        assert folder.index.verify().ok
        shutil.rmtree(folder.root / ".steadlith")


def test_applies_at_the_same_time_pay_once(folder):
    """1.0: no lock, so both embedded all 171 texts."""
    for number in range(16):
        folder.write(f"{number}.md", prose(f"n{number}", 8))
    wanted = folder.index.plan().cost.embeddings
    assert wanted > 80
    processes = [folder.start("apply", "--yes", "--json", "--lock-timeout", "60") for _ in range(3)]
    ended = [(json.loads(process.communicate(timeout=120)[0]), process.returncode) for process in processes]
    assert sum(told.get("embedded", 0) for told, _ in ended) == wanted
    assert {code for _, code in ended} <= {0, 5}


READ_ONLY = """
import sys
from steadlith.cli.main import main
import steadlith, steadlith.search, steadlith.verify, numpy
from steadlith_adapters.embedders import hash
index = steadlith.open(arguments[0])
index.search("topic1"); index.verify(); index.plan()
folder = os.path.dirname(arguments[1])
for path, folders, files in os.walk(arguments[0]):
    for name in files:
        os.chmod(os.path.join(path, name), 0o444)
    os.chmod(path, 0o555)
before = sorted(os.listdir(folder))
drop()
hits = index.search("topic1").hits
answer([len(hits) > 0, index.verify().ok, index.head().generation, index.plan().is_empty,
        sorted(os.listdir(folder)) == before])
"""


def test_an_index_in_a_folder_that_nobody_can_write_is_served(public_path, as_nobody):
    """1.0: every command failed, so an index could not be shipped in a read-only image."""
    folder = Folder(public_path / "work")
    folder.write("one.md", prose("one"))
    folder.apply()
    found = as_nobody(READ_ONLY, str(folder.root), str(folder.state()))
    assert found == [True, True, 1, True, True]
    for path in [folder.root, *folder.root.rglob("*")]:
        path.chmod(0o755)


def overwrite(path, at, length=20_000):
    """Bytes that mean nothing, where something was."""
    noise = bytes((n * 89 + 41) % 256 for n in range(length))
    with path.open("r+b") as file:
        file.seek(at)
        file.write(noise)


@pytest.mark.parametrize("share", [0.15, 0.35, 0.5, 0.65, 0.85])
def test_noise_in_the_middle_of_the_file_is_found_and_repaired_without_paying(folder, share):
    """1.0: plan and index said "ok", and query and verify failed from then on."""
    for number in range(20):
        folder.write(f"{number}.md", prose(f"n{number}", 12))
    before = folder.apply().head
    size = folder.state().stat().st_size
    overwrite(folder.state(), int(size * share))
    assert folder.run_any("verify").code in {1, 2}
    plan = folder.index.plan(steadlith.Look(steadlith.Level.FULL))
    assert plan.drift
    assert plan.cost.embeddings == 0
    done = folder.index.apply(plan, allow=["--allow-rebuild", "--allow-removals"])
    assert (done.head.corpus_root, done.head.state_root, done.embedded) == (before.corpus_root, before.state_root, 0)
    folder.run("verify")


def test_a_truncated_index_is_built_anew_without_paying(filled):
    """1.0: exit 3 from every command, until somebody removed the file."""
    before = filled.index.head()
    os.truncate(filled.state(), filled.state().stat().st_size // 2)
    assert "--allow-rebuild" in filled.run("plan", code=3).out
    ran = filled.run("apply", "--yes", "--allow-rebuild")
    assert "0 embedded" in ran.out
    assert filled.index.head().corpus_root == before.corpus_root


@pytest.mark.parametrize("name", ["index.sqlite3", "cache.sqlite3"])
def test_a_file_whose_header_is_gone_is_named_with_the_way_out_which_costs_nothing(filled, name):
    """It may be somebody else's file, so it is not touched: the message says what to do, and that is enough."""
    overwrite(filled.state(name), 0, 200)
    filled.write("one.md", prose("one"))  # something to do, so that the cache is asked
    ran = filled.run("plan", code=1)
    assert f"{name}: not a SQLite database" in ran.err
    assert "move it away" in ran.err
    filled.state(name).rename(filled.root / "away")
    assert filled.run("apply", "--yes").code == 0
    filled.run("verify")


def test_a_row_that_was_tampered_with_is_found_by_plan_and_repaired_by_apply(filled):
    """1.0: verify saw it, plan was clean, and nothing repaired it."""
    connection = apsw.Connection(str(filled.state()))
    connection.execute("UPDATE text SET body = replace(body, 'topic1', 'a lie')").fetchall()
    connection.close()
    assert "does not match" in filled.run("verify", code=2).out
    assert "text" in filled.run("plan", "--refresh=full").out
    ran = filled.run("plan", "--refresh=full", "--out", "repair.json")
    assert "Drift" in ran.out
    filled.run("apply", "repair.json")
    filled.run("verify")
    assert not any("a lie" in text for texts in filled.chunks().values() for text in texts)


def test_vectors_that_were_replaced_in_the_cache_are_not_believed(filled):
    """1.0: they were accepted, verify called the index valid, and retrieval was poisoned."""
    first = filled.hits("topic1", limit=200)
    chunks = filled.index.head().chunks
    connection = apsw.Connection(str(filled.state("cache.sqlite3")))
    rows = connection.execute("SELECT vector, id FROM embedding ORDER BY id").fetchall()
    others = [*rows[1:], rows[0]]  # each has the vector of another text, which is a good one
    swapped = [(vector, id_) for (vector, _), (_, id_) in zip(others, rows, strict=True)]
    connection.executemany("UPDATE embedding SET vector = ? WHERE id = ?", swapped)
    connection.close()
    for path in filled.state().parent.glob("index*"):
        path.unlink()
    done = filled.apply()
    assert done.embedded == chunks  # none was believed, all were paid for: the plan says so before
    assert filled.hits("topic1", limit=200) == first
    filled.run("verify")


def test_what_compaction_removes_is_given_back(folder):
    """1.0: 4,819 of 6,418 rows were removed, and the file was 36.8 MB before and after."""
    for number in range(40):
        folder.write(f"{number}.md", prose(f"n{number}", 20))
    folder.apply()
    for number in range(2, 40):
        (folder.docs / f"{number}.md").unlink()
    folder.apply("--allow-removals")
    before = folder.state().stat().st_size
    told = folder.run("compact", "--keep", "1", "--yes", "--json").json
    after = folder.state().stat().st_size
    assert after < before / 2
    assert after in told.values()
    folder.run("verify")
    assert {hit.document.path for hit in folder.hits("topic1", limit=200)} == {"0.md", "1.md"}


# ---------------------------------------------------------------------------------------------- words and numbers


def test_other_dimensions_need_a_word(filled):
    """1.0: `index` embedded everything again and closed every row, without being asked to."""
    before = filled.index.head()
    text = (filled.root / "steadlith.toml").read_text("utf-8")
    (filled.root / "steadlith.toml").write_text(text.replace("dimensions = 64", "dimensions = 32"), "utf-8")
    assert "--allow-model-change" in filled.run("plan", code=3).out
    filled.run("apply", "--yes", code=3)
    assert filled.index.head() == before
    filled.run("apply", "--yes", "--allow-model-change")
    assert filled.index.head().generation == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["apply", "--yes", "--lock-timeout", "999999999999999999999"],
        ["apply", "--yes", "--lock-timeout", "1e400"],
        ["apply", "--yes", "--lock-timeout", "-1"],
        ["search", "alpha", "--limit", "99999999999999999999"],
        ["search", "alpha", "--limit", "-1"],
        ["plan", "--workers", "99999999999999999999999"],
        ["compact", "--yes", "--keep", "99999999999999999999999"],
        ["cache", "prune", "--yes", "--unused-days", "999999999"],
        ["cache", "prune", "--yes", "--unused-days", "99999999999999999999999"],
        ["cache", "prune", "--yes", "--max-bytes", "99999999999999999999999TiB"],
        ["cache", "verify", "--sample", "99999999999999999999999"],
        ["diff", "99999999999999999999", "head"],
        ["manifest", "export", "--out", "m", "--at", "99999999999999999999"],
        ["prove", "one.md", "99999999999999999999"],
        ["measure", "churn", "--history", ".", "--commits", "99999999999999999999"],
    ],
    ids=" ".join,
)
def test_no_number_ends_in_a_traceback(filled, arguments):
    """1.0: `cache prune --max-age-days 999999999` and `compact --before 0001-01-01` ended in an OverflowError."""
    ran = filled.run_any(*arguments)
    assert "internal error" not in ran.err
    assert ran.code in {0, 1, 64}, ran.err
    assert (ran.code == 0) == (not ran.err.startswith("Error"))


@pytest.mark.parametrize("query", ["!!!", "qqqzzzxxxvvv", "", "   ", "\u200b"])
def test_a_query_that_has_nothing_in_common_with_any_text_finds_nothing(folder, query):
    """1.0: five arbitrary results with a score of 0.0."""
    folder.write("a.md", "Bridges cross rivers.\n")
    folder.write("b.md", "Apples are red.\n")
    folder.apply()
    assert folder.hits(query) == ()
    assert "No hits" in folder.run("search", "--", query).out


EDITS = {
    "a sentence changed": lambda text: text.replace("in its own words", "in words of its own", 1),
    "a paragraph inserted": lambda text: text.replace("\n\n", "\n\nA new paragraph stands here now.\n\n", 1),
    "a paragraph removed": lambda text: "\n\n".join(text.split("\n\n")[:2] + text.split("\n\n")[3:]),
    "appended": lambda text: text + "\nOne more line at the end.\n",
    "two paragraphs swapped": lambda text: "\n\n".join([*text.split("\n\n")[:1], *reversed(text.split("\n\n")[1:])]),
    "a heading renamed": lambda text: text.replace("# Part", "# Chapter", 1),
    "a heading inserted": lambda text: text.replace("\n\n", "\n\n## Inserted\n\n", 1),
    "a word replaced everywhere": lambda text: text.replace("paragraph", "section"),
    "rewrapped": lambda text: text.replace(" and of ", "\nand of "),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_ordinary_edit_needs_no_flag(filled, edit):
    """1.0: all of 540 real edits held a delete, so the gate for deletes stopped every one."""
    place = filled.docs / "two.md"
    place.write_text(EDITS[edit](place.read_text("utf-8")), "utf-8")
    plan = filled.index.plan()
    assert plan.tripped == ()
    filled.run("apply", "--yes")
    assert filled.index.plan().is_empty


def test_a_plan_names_the_documents_that_it_would_delete(filled):
    """1.0: four totals and a root; which files would go was only in the JSON document."""
    (filled.docs / "one.md").unlink()
    assert "- docs:one.md" in filled.run("plan").out
    steps = [type(step) for change in filled.index.plan().changes for step in change.steps]
    assert set(steps) == {Delete}
    assert Add not in steps


def test_a_price_that_nobody_gave_is_unknown_and_never_zero(folder, monkeypatch):
    """1.0: the starter file held 0.0, so a hosted model cost "~$0.000000"."""
    from dataclasses import replace

    from steadlith.assembly import Assembly

    folder.write("a.md", prose("a"))
    identity = Assembly.embedder_identity
    monkeypatch.setattr(
        Assembly, "embedder_identity", property(lambda self: replace(identity.__get__(self), local=False))
    )
    cost = folder.index.plan().cost
    assert cost.amount is None
    folder.run("init", "--embedder", "hash", "--force")
    made = tomllib.loads((folder.root / "steadlith.toml").read_text("utf-8"))
    assert not any("price" in key for key in made["embedding"])

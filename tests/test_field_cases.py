"""Faults that people reported about tools of this kind: the same input, and what must happen here.

One test a case, named after its number in the list of reports; cases that belong to one room are tested there.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import apsw
import pytest

import steadlith
from steadlith import hands
from steadlith_adapters.embedders import hash as hash_embedder
from steadlith_core import vectors
from steadlith_core.errors import AdapterError, ConfigError, UsageError
from steadlith_core.planning.planfile import dump, load
from steadlith_core.planning.steps import Add, Delete, Move, Reason, Reembed, Update

CONFIG = """
[sources.docs]
path = "docs"
front_matter = {front_matter}
[chunking]
min_tokens = 16
max_tokens = 48
[embedding]
embedder = "hash"
dimensions = 32
{embedding}
{rest}
"""


class Folder:
    """A configuration, `docs/` below it, and the index of both; opened anew for every call."""

    def __init__(self, root):
        self.root, self.docs = root, root / "docs"
        self.docs.mkdir()
        self.configure()

    def configure(self, front_matter='["tags"]', embedding="", rest=""):
        text = CONFIG.format(front_matter=front_matter, embedding=embedding, rest=rest)
        (self.root / "steadlith.toml").write_text(text, "utf-8")

    def write(self, path, text):
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        return place

    def open(self):
        return steadlith.open(self.root)

    def plan(self):
        return self.open().plan()

    def apply(self, plan=None, **options):
        return self.open().apply(plan or self.plan(), **options)

    def hits(self, query, limit=200):
        return self.open().search(query, limit=limit).hits

    def recorded(self):
        """What the index holds: path -> (metadata, rows)."""
        with self.open().reader() as reader:
            return {
                document.id.path: (document.metadata, reader.chunks(document.id)) for document in reader.documents()
            }

    def forget_the_index(self):
        for path in (self.root / ".steadlith").glob("index*"):
            path.unlink()

    def run(self, *arguments, code=0):
        """The command line, as a user starts it."""
        done = subprocess.run(
            [sys.executable, "-c", "from steadlith.cli import main; main()", *arguments],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout


def paragraph(name, number):
    return f"The {name} paragraph {number} speaks of topic{number} and of matter{number * 7} in words of its own."


def text_of(name, paragraphs, front=""):
    return front + "\n\n".join(paragraph(name, number) for number in range(paragraphs)) + "\n"


def one_chunk(number):
    """A paragraph too large to share a chunk with another one and too small to be cut: 25 to 48 tokens."""
    return f"beta number {number:05} " + "silver gamma under delta " * 5


def steps(plan):
    return [step for change in plan.changes for step in change.steps]


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


@pytest.fixture
def filled(folder):
    for name in ("one", "two", "three"):
        folder.write(f"docs/{name}.md", f"---\ntags: first\n---\n# Part {name}\n\n" + text_of(name, 6))
    folder.apply()
    return folder


# ------------------------------------------------------------------------------------ re-embedding and cost


def test_field_case_01_an_edited_tag_is_an_update_without_embedding(filled):
    place = filled.docs / "two.md"
    place.write_text(place.read_text("utf-8").replace("tags: first", "tags: second"), "utf-8")
    planned = filled.plan()
    assert steps(planned) == [Update(None, Reason.METADATA)]
    assert filled.apply(planned).embedded == 0
    assert {path: metadata["tags"] for path, (metadata, _) in filled.recorded().items()} == {
        "one.md": "first",
        "three.md": "first",
        "two.md": "second",
    }


def test_field_case_02_touched_files_are_no_changes(filled):
    for number, path in enumerate(filled.docs.iterdir()):
        os.utime(path, (number, number))
    assert "No changes" in filled.run("plan", "--detailed-exitcode", code=0)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_field_case_03_a_git_checkout_that_rewrites_every_file_is_no_change(filled):
    def git(*arguments):
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "core.autocrlf=false")
        subprocess.run(["git", *who, *arguments], cwd=filled.docs, check=True, capture_output=True)

    git("init", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--message=one")
    git("checkout", "--orphan", "empty")
    git("rm", "-r", "--force", ".")
    git("commit", "--allow-empty", "--message=two")
    assert len(filled.plan().changes) == 3
    git("checkout", "main")
    assert filled.plan().is_empty


def test_field_case_03_other_bytes_with_the_same_size_and_mtime_are_caught(filled):
    place = filled.docs / "one.md"
    before = place.stat()
    place.write_bytes(place.read_bytes().replace(b"topic3", b"topic9"))
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = place.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert [str(change.id) for change in filled.plan().changes] == ["docs:one.md"]


def test_field_case_04_only_what_the_template_uses_embeds_again_and_the_plan_says_why(filled):
    filled.configure(embedding='template = "breadcrumb"')
    filled.apply()
    place = filled.docs / "one.md"
    place.write_text(place.read_text("utf-8").replace("tags: first", "tags: other"), "utf-8")
    assert filled.plan().cost.embeddings == 0
    place.write_text(place.read_text("utf-8").replace("# Part one", "# Renamed"), "utf-8")
    planned = filled.plan()
    again = [step for step in steps(planned) if isinstance(step, Reembed)]
    assert again
    assert {step.reason for step in again} == {Reason.CONTEXT}
    assert planned.cost.embeddings == len(again) + planned.counts["add"]


def test_field_case_06_a_move_and_an_edit_embed_the_edited_chunk(folder):
    place = folder.write("docs/a/x.md", text_of("only", 12))
    folder.apply()
    (folder.docs / "b").mkdir()
    moved = place.rename(folder.docs / "b" / "x.md")
    planned = folder.plan()
    assert {type(step) for step in steps(planned)} == {Move}
    assert folder.apply(planned).embedded == 0
    moved.write_text(moved.read_text("utf-8").replace("matter35 in words", "matter35 in phrases"), "utf-8")
    assert folder.apply().embedded == 1


def test_field_case_07_one_changed_document_of_three_embeds_its_changed_chunk(filled):
    place = filled.docs / "two.md"
    place.write_text(place.read_text("utf-8").replace("matter21 in words", "matter21 in phrases"), "utf-8")
    planned = filled.plan()
    assert (planned.kept_documents, planned.cost.embeddings) == (2, 1)
    assert filled.apply(planned).embedded == 1


def test_field_case_08_four_workers_lose_no_cache_write(folder):
    folder.configure(embedding="concurrency = 4\nbatch_size = 2")
    for number in range(10):
        folder.write(f"docs/{number}.md", text_of(f"text{number}", 8))
    first = folder.apply()
    assert first.embedded == first.head.chunks > 40
    folder.forget_the_index()
    again = folder.apply()
    assert (again.embedded, again.head.corpus_root) == (0, first.head.corpus_root)


def test_field_case_08_four_workers_ask_for_each_text_once(folder, paid):
    folder.configure(embedding="concurrency = 4\nbatch_size = 1")
    for number in range(6):
        folder.write(f"docs/{number}.md", text_of("same", 4))
    folder.apply()
    assert set(paid.values()) == {1}


# ----------------------------------------------------------------------------------- model and schema change


def test_field_case_09_another_model_reembeds_all_and_cuts_nothing_anew(filled, monkeypatch):
    before = filled.open().head()
    monkeypatch.setattr(hash_embedder, "MODEL_ID", "hash/1")
    planned = filled.plan()
    assert {type(step) for step in steps(planned)} == {Reembed}
    assert {step.reason for step in steps(planned)} == {Reason.MODEL}
    assert planned.counts["reembed"] == planned.cost.embeddings == before.chunks
    done = filled.apply(planned, allow=["--allow-model-change"])
    assert done.embedded == before.chunks
    assert done.head.corpus_root == before.corpus_root
    assert done.head.state_root != before.state_root


def test_field_case_12_a_key_that_was_dropped_and_comes_back_is_filled_again(filled):
    filled.configure(front_matter="[]")
    assert filled.apply().embedded == 0
    assert all("tags" not in metadata for metadata, _ in filled.recorded().values())
    filled.configure(front_matter='["tags"]')
    assert filled.apply().embedded == 0
    assert {metadata["tags"] for metadata, _ in filled.recorded().values()} == {"first"}


# -------------------------------------------------------------------------------------------- duplicates and ids


def test_field_case_15_applying_twice_doubles_nothing(filled):
    before = filled.open().head()
    assert filled.apply().head == before
    assert len(filled.hits("paragraph")) == before.chunks


def test_field_case_18_texts_that_collide_under_a_short_hash_have_vectors_of_their_own(folder):
    for text in ("msg-4246", "msg-268273"):
        folder.write(f"docs/{text}.txt", text)
    planned = folder.plan()
    assert len({step.vector_key for step in steps(planned)}) == 2
    folder.apply(planned)
    index = folder.open()
    keys = [step.vector_key for step in steps(planned)]
    with index.reader() as reader:
        held = reader.vectors(index._assembly.cutter.space, keys)
    assert len(set(held.values())) == 2
    for text in ("msg-4246", "msg-268273"):
        assert folder.hits(text)[0].text == text


def test_field_case_19_ids_follow_neither_metadata_nor_the_model(filled, monkeypatch):
    def ids():
        return {
            path: [(row.occurrence, row.chunk_hash) for row in rows] for path, (_, rows) in filled.recorded().items()
        }

    before = ids()
    for path in filled.docs.iterdir():
        path.write_text(path.read_text("utf-8").replace("tags: first", "tags: late"), "utf-8")
    filled.apply()
    assert ids() == before
    monkeypatch.setattr(hash_embedder, "MODEL_ID", "hash/1")
    filled.apply(allow=["--allow-model-change"])
    assert ids() == before


def test_field_case_20_a_change_of_one_chunk_keeps_the_other_forty_nine(folder):
    parts = [f"# Heading\n\nSection {n:02} is " + one_chunk(n) for n in range(50)]
    place = folder.write("docs/long.md", "\n\n".join(parts))
    first = folder.apply()
    assert first.head.chunks == 50
    place.write_text("\n\n".join(parts).replace("Section 25", "Changed 25"), "utf-8")
    planned = folder.plan()
    assert (planned.counts["keep"], planned.counts["add"], planned.counts["delete"]) == (49, 1, 1)
    assert folder.apply(planned).head.chunks == 50
    assert len(folder.recorded()["long.md"][1]) == 50
    assert len(folder.hits("heading")) == 50


def test_field_case_21_one_path_in_two_sources_is_two_documents(folder):
    folder.configure(rest='[sources.more]\npath = "more"')
    folder.write("docs/readme.md", "alpha of the first source\n")
    folder.write("more/readme.md", "alpha of the second source\n")
    folder.write("more/other.md", "alpha of another document\n")
    folder.apply()
    (folder.root / "more" / "readme.md").unlink()
    planned = folder.plan()
    assert [str(change.id) for change in planned.changes] == ["more:readme.md"]
    folder.apply(planned)
    assert {str(hit.document) for hit in folder.hits("alpha")} == {"docs:readme.md", "more:other.md"}


# ------------------------------------------------------------------------------------ deletes and stale vectors


def test_field_case_23_a_deleted_file_is_a_delete_and_is_found_no_more(filled):
    (filled.docs / "two.md").unlink()
    planned = filled.plan()
    assert {(type(step), step.reason) for step in steps(planned)} == {(Delete, Reason.DOCUMENT_VANISHED)}
    assert "- docs:two.md" in filled.run("plan", "--no-steps")
    filled.apply(planned)
    found = filled.hits("two paragraph topic3")
    assert found
    assert not any(hit.document.path == "two.md" or "two paragraph" in hit.text for hit in found)


def test_field_case_25_after_churn_every_chunk_is_found_by_its_own_vector(folder):
    for number in range(240):
        folder.write(f"docs/{number:03}.txt", paragraph("first", number))
    folder.apply()
    for number in range(0, 240, 2):
        (folder.docs / f"{number:03}.txt").unlink()
    for number in range(1, 240, 6):
        folder.write(f"docs/{number:03}.txt", paragraph("second", number))
    head = folder.apply(allow=["--allow-removals"]).head
    assert head.chunks == 120
    index = folder.open()
    with index.reader() as reader:
        space = index._assembly.cutter.space
        for path in sorted(folder.docs.iterdir()):
            asked = index._assembly.embedder.embed_query(path.read_text("utf-8"))
            (best,) = reader.dense(space, vectors.unit(asked), 1)
            (hit,) = reader.occurrences([best.entry], 5)
            assert hit.id.path == path.name


def test_field_case_26_one_of_three_removed_is_one_delete(folder):
    for name in "abc":
        folder.write(f"docs/{name}.md", f"alpha text of {name}\n")
    folder.apply()
    (folder.docs / "c.md").unlink()
    planned = folder.plan()
    assert (planned.counts["delete"], planned.counts["keep"]) == (1, 2)
    assert folder.apply(planned).head.documents == 2
    assert {hit.document.path for hit in folder.hits("alpha")} == {"a.md", "b.md"}


def test_field_case_28_a_source_of_more_than_10000_chunks_is_deleted_whole(folder):
    more = '[sources.more]\npath = "more"'
    folder.configure(rest=more)
    folder.write("docs/keep.txt", "alpha stays\n")
    folder.write("more/big.txt", "\n\n".join(map(one_chunk, range(10_001))))
    assert folder.apply().head.chunks == 10_002
    folder.configure()
    after = folder.apply(allow=["--allow-removals", "--allow-empty"]).head
    assert (after.documents, after.chunks) == (1, 1)
    assert [str(hit.document) for hit in folder.hits("alpha beta silver")] == ["docs:keep.txt"]
    assert folder.open().verify().ok


# ----------------------------------------------------------------- crash, partial failure, concurrency, dry run


def test_field_case_29_the_old_version_is_served_until_the_new_one_is_whole(folder, monkeypatch):
    place = folder.write("docs/x.md", text_of("old", 3))
    folder.apply()
    before = folder.hits("paragraph")
    place.write_text(text_of("new", 5), "utf-8")
    write = hands.Hands._write

    def rejecting(own, transaction, rows):
        write(own, transaction, rows)
        raise AdapterError("409: id 4 is there already")

    with monkeypatch.context() as patch:
        patch.setattr(hands.Hands, "_write", rejecting)
        with pytest.raises(AdapterError, match="409"):
            folder.apply()
    assert folder.hits("paragraph") == before
    assert folder.apply().embedded == 0
    assert {word for hit in folder.hits("paragraph") for word in ("old", "new") if word in hit.text} == {"new"}


KILLED_BEFORE_COMMIT = """
import os, signal, sys
import steadlith
from steadlith import hands
perform = hands.Hands.perform
def killing(self, effect):
    if type(effect).__name__ == "Commit":
        os.kill(os.getpid(), signal.SIGKILL)
    return perform(self, effect)
hands.Hands.perform = killing
index = steadlith.open(sys.argv[1])
index.apply(index.plan())
"""


def test_field_case_35_a_kill_between_vectors_and_commit_leaves_the_work_to_do(folder):
    folder.write("docs/x.md", text_of("killed", 8))
    planned = folder.plan()
    run = subprocess.run([sys.executable, "-c", KILLED_BEFORE_COMMIT, str(folder.root)], check=False)
    assert run.returncode == -signal.SIGKILL
    again = folder.plan()
    assert (again.counts["keep"], again.counts["add"]) == (0, planned.counts["add"])
    assert not any(step.paid for step in steps(again) if isinstance(step, Add))
    assert folder.apply(again).embedded == 0
    assert folder.plan().is_empty


def test_field_case_38_a_restored_backup_names_its_own_head_and_what_is_missing_is_drift(filled):
    """What says which generation is live travels in the file; nothing beside it can be forgotten."""
    before = filled.open().head()
    index = filled.root / ".steadlith" / "index.sqlite3"
    filled.run("backup", "kept.sqlite3")
    filled.write("docs/new.md", text_of("new", 6))
    filled.apply()
    filled.forget_the_index()
    shutil.copy(filled.root / "kept.sqlite3", index)
    assert filled.open().head() == before
    filled.run("verify")
    planned = filled.plan()
    assert {drift.kind for drift in planned.drift} == {"index_older"}
    assert filled.apply(planned).embedded == 0
    assert "new.md" in filled.recorded()


def test_field_case_38_a_restore_that_lost_which_vectors_are_live_is_drift(filled):
    edited_behind_our_back(filled, "DELETE FROM space")
    filled.run("verify", code=2)
    planned = filled.open().plan(steadlith.Look(steadlith.Level.FULL))
    assert {drift.kind for drift in planned.drift} == {"vector"}
    assert filled.apply(planned).embedded == 0
    filled.run("verify")


def test_field_case_39_nothing_that_is_made_takes_the_place_of_what_is_live(filled):
    """A copy under the live one's name, or under a name that leads to it, is refused, and so is one file for both."""
    index = filled.root / ".steadlith" / "index.sqlite3"
    (filled.root / "alias.sqlite3").symlink_to(index)
    before = index.read_bytes()
    for name in (".steadlith/index.sqlite3", "alias.sqlite3", ".steadlith/cache.sqlite3"):
        with pytest.raises(UsageError, match="name another"):
            filled.open().backup(filled.root / name, replace=True)
        with pytest.raises(UsageError, match="name another"):
            filled.open().cache.export(filled.root / name)
    for rest in ('[store]\nalias = "live"', 'alias = "live"', '[cache]\npath = ".steadlith/index.sqlite3"'):
        filled.configure(rest=rest)
        with pytest.raises(ConfigError, match=r"no alias is needed|of the index and of the cache"):
            filled.plan()
        filled.forget_the_index()
        with pytest.raises(ConfigError):
            filled.apply()
        index.write_bytes(before)
    filled.configure()
    assert filled.open().verify().ok
    assert index.read_bytes() == before


def test_field_case_39_what_replaces_vectors_is_made_under_another_name_while_the_live_ones_answer(filled):
    """Compaction copies: it never drops what a reader stands on, and never renames."""
    (filled.docs / "two.md").unlink()
    filled.apply()
    index = filled.open()
    space = index._assembly.cutter.space
    asked = vectors.unit(index._assembly.embedder.embed_query("paragraph"))
    with index.reader() as reader:
        before = reader.dense(space, asked, 50)
        filled.run("compact", "--keep", "1", "--yes")
        assert reader.dense(space, asked, 50) == before
    filled.run("verify")
    assert len(filled.hits("paragraph")) == filled.open().head().chunks


def test_field_case_40_an_apply_without_changes_leaves_generation_and_saved_plans_alone(filled):
    empty = load(dump(filled.plan()))
    (filled.docs / "two.md").unlink()
    saved = load(dump(filled.plan()))
    before = filled.open().head()
    filled.write("docs/two.md", "---\ntags: first\n---\n# Part two\n\n" + text_of("two", 6))
    for _ in range(2):
        done = filled.apply(empty)
        assert (done.head, done.already, done.embedded) == (before, False, 0)
    assert len(filled.open().history()) == 1
    (filled.docs / "two.md").unlink()
    assert filled.apply(saved).head.generation == before.generation + 1


def test_field_case_40_the_command_line_applies_an_empty_plan_file_twice(filled):
    filled.run("plan", "--out", "plan.json")
    before = filled.run("status", "--json")
    filled.run("apply", "plan.json")
    filled.run("apply", "plan.json")
    filled.run("apply", "--yes")
    assert filled.run("status", "--json") == before


PLAN_WITHOUT_NETWORK = """
import socket
def refused(*_arguments, **_options):
    raise AssertionError("a plan opened a socket")
socket.socket = socket.create_connection = socket.getaddrinfo = refused
from steadlith.cli import main
main()
"""


def test_field_case_41_a_plan_lists_every_fate_without_network_and_writes_nothing(filled):
    (filled.docs / "one.md").unlink()
    filled.write("docs/two.md", "# Part two\n\nAnother text.\n")
    filled.write("docs/new.md", "# Part new\n\nA new text.\n")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in filled.root.rglob("*") if path.is_file()}
    run = subprocess.run(
        [sys.executable, "-c", PLAN_WITHOUT_NETWORK, "plan", "--no-steps"],
        cwd=filled.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    fates = Counter(line.split("  ")[0] for line in run.stdout.splitlines() if line[:2] in {"+ ", "~ ", "- "})
    assert fates == Counter(["- docs:one.md", "~ docs:two.md", "+ docs:new.md"])
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in filled.root.rglob("*") if path.is_file()}
    assert after == before


def test_field_case_30_only_the_given_scope_may_delete(folder):
    """Documents come in lots: what is missing outside the lot was not deleted."""
    for number in range(6):
        folder.write(f"docs/a/{number}.md", text_of(f"a{number}", 3))
        folder.write(f"docs/b/{number}.md", text_of(f"b{number}", 3))
    folder.apply()
    shutil.rmtree(folder.docs / "a")
    (folder.docs / "b" / "0.md").unlink()
    folder.write("docs/b/new.md", text_of("new", 3))
    folder.run("plan", "--scope", "docs:b/", "--out", "lot.json")
    folder.run("apply", "lot.json")
    assert sorted(folder.recorded()) == [
        *(f"a/{number}.md" for number in range(6)),
        *(f"b/{number}.md" for number in range(1, 6)),
        "b/new.md",
    ]
    assert {change.id.path for change in folder.plan().changes} == {f"a/{number}.md" for number in range(6)}


def edited_behind_our_back(folder, *statements):
    connection = apsw.Connection(str(folder.root / ".steadlith" / "index.sqlite3"))
    for statement in statements:
        connection.execute(statement).fetchall()
    connection.close()


def test_field_case_42_documents_that_lost_their_rows_are_drift_and_are_repaired(filled):
    """The index says that they are there, and nothing of them can be found."""
    before = filled.open().head()
    edited_behind_our_back(
        filled,
        "DELETE FROM occurrence WHERE document = 1",
        "DELETE FROM span WHERE document = 2",
        "DELETE FROM document_version WHERE document = 2",
    )
    shown = filled.run("plan", "--refresh=full", "--out", "repair.json")
    assert "drift" in shown.lower()
    plan = filled.open().plan(steadlith.Look(steadlith.Level.FULL))
    assert {drift.repair for drift in plan.drift} == {"rewrite"}
    assert plan.cost.embeddings == 0
    filled.run("apply", "repair.json", "--allow-removals")
    after = filled.open().head()
    assert (after.corpus_root, after.state_root, after.chunks) == (before.corpus_root, before.state_root, before.chunks)
    left = filled.open().plan(steadlith.Look(steadlith.Level.FULL))
    assert (left.is_empty, {drift.kind for drift in left.drift}) == (True, {"history"})  # sources do not hold the past


def test_field_case_43_a_text_edited_in_the_store_is_drift_and_is_restored(filled):
    before = filled.open().head()
    edited_behind_our_back(filled, "UPDATE text SET body = body || ' and a lie' WHERE text = 1")
    assert filled.plan().is_empty  # the head level does not read texts
    plan = filled.open().plan(steadlith.Look(steadlith.Level.FULL))
    assert "text" in {drift.kind for drift in plan.drift}
    assert (len(plan.mended) >= 1, plan.cost.embeddings) == (True, 0)
    filled.apply(plan)
    assert filled.open().head().state_root == before.state_root
    assert not any("and a lie" in hit.text for hit in filled.hits("lie"))
    assert filled.open().verify().problems == ()


def test_field_case_46_a_plan_without_a_store_changes_no_configuration(folder):
    folder.write("docs/x.md", text_of("x", 6))
    folder.configure(rest='[store]\ntype = "memory"')
    place = folder.root / "steadlith.toml"
    before = place.read_bytes()
    with folder.open() as index:
        config = index.config
        nowhere = index.plan()
        assert index.config == config
        assert index.plan() == nowhere
    assert place.read_bytes() == before
    folder.configure()
    somewhere = folder.plan()
    assert somewhere == replace(nowhere, store=somewhere.store)  # what a store can do is told, and decides nothing
    folder.apply(nowhere)
    assert folder.plan().is_empty

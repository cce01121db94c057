"""A kill at any instant leaves the old generation or the new one, whole, and the next write goes on from there."""

import lzma
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from steadlith_adapters.stores.sqlite import FACTORY
from steadlith_adapters.stores.sqlite.schema import SCHEMA_VERSION
from steadlith_adapters.stores.sqlite.session import Session
from steadlith_conformance.samples import doc, pieces, stage, write
from steadlith_core.errors import AdapterError, OutcomeUnknown, StoreCorrupt

WRITER = Path(__file__).with_name("sqlite_writer.py")
OLDER = sorted(Path(__file__).with_name("released").glob("index-[56].sqlite3.xz"))


def open_store(folder):
    return FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=False)


def run_writer(folder, moment):
    done = subprocess.run([sys.executable, str(WRITER), str(folder), str(moment)], capture_output=True, check=False)
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr.decode()
    return done.returncode == 0


def check_survivor(folder, before):
    store = open_store(folder)
    head = store.head()
    assert head.generation in {before, before + 1}
    reader = store.snapshot()
    assert list(reader.problems(full=True)) == []
    texts = {hit.text for hit in reader.occurrences([hit.entry for hit in reader.lexical(["text"], 9)], 100)}
    assert texts == ({f"text of generation {head.generation}"} if head.generation else set())
    reader.close()
    assert write(store, {doc("next.md"): pieces("after the crash")}).generation == head.generation + 1
    assert list(store.snapshot().problems(full=True)) == []
    store.close()
    return head.generation


def sweep(tmp_path, moments, *, prepared):
    base = tmp_path / "base"
    base.mkdir()
    if prepared:
        assert run_writer(base, -1)
    seen = set()
    for moment in moments:
        folder = tmp_path / f"at-{moment}"
        shutil.copytree(base, folder)
        finished = run_writer(folder, moment)
        seen.add(check_survivor(folder, int(prepared)))
        if finished:
            break
    return seen


@pytest.mark.parametrize("prepared", [False, True])
def test_a_kill_before_the_commit_leaves_the_old_generation(tmp_path, prepared):
    assert sweep(tmp_path, ["staged"], prepared=prepared) == {int(prepared)}


def test_a_kill_while_the_first_file_is_made_leaves_generation_0(tmp_path):
    assert sweep(tmp_path, [1, 2, 3, 9], prepared=False) == {0}


def test_a_kill_during_a_commit_leaves_the_old_generation_or_the_new(tmp_path):
    assert sweep(tmp_path, [1, 12, 90], prepared=True) == {1, 2}


@pytest.mark.slow
@pytest.mark.parametrize("prepared", [False, True])
def test_a_kill_anywhere_in_a_commit_leaves_the_old_generation_or_the_new(tmp_path, prepared):
    assert sweep(tmp_path, range(1, 1000, 7), prepared=prepared) == {int(prepared), int(prepared) + 1}


def sweep_migrating(tmp_path, older, moments):
    """The same over a file of an older schema, which the write migrates: both numbers are of then, or both of now."""
    seen = set()
    for moment in moments:
        folder = tmp_path / f"at-{moment}"
        folder.mkdir()
        (folder / "index.sqlite3").write_bytes(lzma.decompress(older.read_bytes()))
        finished = run_writer(folder, moment)
        with closing(open_store(folder)) as store:
            assert list(store.snapshot().problems(full=True)) == []
            seen.add((store.head().generation, schema_of(folder)))
            write(store, {doc("next.md"): pieces("after the crash")})
            assert list(store.snapshot().problems(full=True)) == []
        assert schema_of(folder) == SCHEMA_VERSION
        if finished:
            break
    return seen


def schema_of(folder):
    connection = apsw.Connection(str(folder / "index.sqlite3"))
    found = connection.execute("PRAGMA user_version").fetchall()[0][0]
    connection.close()
    return found


@pytest.mark.parametrize("older", OLDER, ids=lambda path: path.name)
def test_a_kill_during_a_commit_that_migrates_leaves_the_older_file_or_the_new(tmp_path, older):
    version = int(older.name[6])
    found = sweep_migrating(tmp_path, older, ["staged", 30, 90, 240])
    assert found == {(3, version), (4, SCHEMA_VERSION)}


@pytest.mark.slow
@pytest.mark.parametrize("older", OLDER, ids=lambda path: path.name)
def test_a_kill_anywhere_in_a_commit_that_migrates_leaves_the_older_file_or_the_new(tmp_path, older):
    version = int(older.name[6])
    assert sweep_migrating(tmp_path, older, range(1, 1000, 5)) == {(3, version), (4, SCHEMA_VERSION)}


@pytest.fixture
def staged(tmp_path):
    store = open_store(tmp_path)
    head = write(store, {doc("a.md"): pieces("one")})
    transaction = store.begin(head)
    yield store, transaction, stage(transaction, store.snapshot(), {doc("b.md"): pieces("two")})
    store.close()


def failing(monkeypatch, *, after=False, broken=False):
    """Make COMMIT raise: before or after it did its work, and with a file that cannot be read afterwards."""
    run = Session.run

    def fail(self, sql, *bindings):
        if sql == "COMMIT":
            if after:
                run(self, sql)
            message = "the disk is full"
            raise AdapterError(message)
        if broken and sql.startswith("PRAGMA mmap_size"):  # what every reading begins with
            message = "the disk went away"
            raise StoreCorrupt(message)
        return run(self, sql, *bindings)

    monkeypatch.setattr(Session, "run", fail)


def test_a_commit_that_failed_says_that_nothing_happened(monkeypatch, staged):
    store, transaction, given = staged
    failing(monkeypatch)
    with pytest.raises(AdapterError, match=r"nothing was committed.*generation 1: the disk is full"):
        transaction.commit(given)
    assert store.head().generation == 1


def test_a_commit_that_happened_after_all_is_a_commit(monkeypatch, staged):
    store, transaction, given = staged
    failing(monkeypatch, after=True)
    assert transaction.commit(given).generation == 2
    assert store.head().generation == 2


def test_a_commit_of_which_nothing_can_be_learned_is_unknown(monkeypatch, staged):
    _, transaction, given = staged
    failing(monkeypatch, after=True, broken=True)
    with pytest.raises(OutcomeUnknown, match="the disk went away"):
        transaction.commit(given)


def test_a_full_disk_is_a_typed_error_and_leaves_the_old_generation(tmp_path):
    store = open_store(tmp_path)
    head = write(store, {doc("a.md"): pieces("one")})
    transaction = store.begin(head)
    pages = transaction._session.value("PRAGMA page_count")
    transaction._session.run(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(AdapterError, match="the disk is full"):
        stage(transaction, store.snapshot(), {doc("b.md"): pieces(*(f"{n} " + "long " * 5000 for n in range(20)))})
    assert store.head() == head
    assert list(store.snapshot().problems(full=True)) == []
    store.close()

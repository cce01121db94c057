"""The first commit is written into the file itself: until it is whole, everybody sees generation 0."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from steadlith_adapters.sqlite import opening, undo
from steadlith_adapters.sqlite.surroundings import troubles
from steadlith_adapters.stores.sqlite import FACTORY
from steadlith_adapters.stores.sqlite.schema import INDEX
from steadlith_conformance.samples import doc, pieces, write
from steadlith_core.errors import LockHeld
from steadlith_core.ports import Ailment

WRITER = Path(__file__).with_name("sqlite_first_writer.py")
PAGES = 200


def open_store(folder, *, readonly=False):
    return FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=readonly)


def started(folder, moment="waits"):
    command = [sys.executable, str(WRITER), str(folder), moment]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@contextmanager
def writing(folder):
    """A process in the middle of the first commit; killed at the end, if it has not ended."""
    with started(folder) as process:
        assert process.stdout.readline() == "staged\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def cut(tmp_path):
    """A folder in which the first commit was killed after most of it was in the file."""
    with writing(tmp_path):
        pass
    return tmp_path


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def generation(folder):
    store = open_store(folder, readonly=True)
    head = store.head().generation
    reader = store.snapshot()
    assert len(list(reader.documents())) == (PAGES if head else 0)
    assert len(reader.lexical(["words"], 5)) == (5 if head else 0)
    assert list(reader.problems(full=True)) == []
    store.close()
    return head


def check_goes_on(folder, after):
    store = open_store(folder)
    assert write(store, {doc("next.md"): pieces("next")}).generation == after + 1
    assert list(store.snapshot().problems(full=True)) == []
    store.close()
    assert [path.name for path in folder.iterdir()] == ["index.sqlite3"]
    assert (folder / "index.sqlite3").read_bytes()[18:20] == b"\2\2"  # read and written through a log


def test_who_reads_beside_the_first_commit_sees_generation_0_until_it_is_there(tmp_path):
    with writing(tmp_path) as process:
        assert (tmp_path / "index.sqlite3").stat().st_size > 500_000
        assert generation(tmp_path) == 0
        stays = open_store(tmp_path, readonly=True)
        nothing = stays.snapshot()
        assert process.communicate("go on\n")[0] == "1\n"
        assert (nothing.head.generation, list(nothing.documents())) == (0, [])
        assert stays.head().generation == 1
        stays.close()
    assert generation(tmp_path) == 1
    check_goes_on(tmp_path, 1)


def test_who_writes_beside_the_first_commit_is_told_to_wait(tmp_path):
    with writing(tmp_path) as process:
        store = open_store(tmp_path)
        with pytest.raises(LockHeld, match="try again when it is done"):
            store.begin(store.head())
        store.close()
        assert process.communicate("go on\n")[0] == "1\n"
    check_goes_on(tmp_path, 1)


def test_of_four_first_commits_at_once_one_is_made(tmp_path):
    processes = [started(tmp_path, "races") for _ in range(4)]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 4
    for process in processes:
        process.stdin.write("go on\n")
        process.stdin.flush()
    told = sorted(process.communicate()[0].strip() for process in processes)
    assert told[0] == "1"
    assert set(told[1:]) <= {"LockHeld", "StaleHead"}
    assert generation(tmp_path) == 1
    check_goes_on(tmp_path, 1)


def test_what_a_killed_first_commit_left_is_generation_0_and_not_touched_by_who_reads(cut):
    before = files(cut)
    assert set(before) == {"index.sqlite3", "index.sqlite3-journal"}
    assert len(before["index.sqlite3"]) > 500_000
    assert generation(cut) == 0
    assert files(cut) == before


def test_what_a_killed_first_commit_left_needs_no_mending(cut):
    (left,) = troubles(INDEX, cut / "index.sqlite3")
    assert (left.kind, left.place) == (Ailment.LOG_LEFT, str(cut / "index.sqlite3-journal"))
    assert (left.grave, left.mendable) == (False, False)
    assert left.way_out == "none needed: nothing is committed yet, and whoever writes next takes back what was cut off"


def test_the_next_write_takes_back_what_a_killed_first_commit_left(cut):
    check_goes_on(cut, 0)
    assert (cut / "index.sqlite3").stat().st_size < 500_000


@pytest.mark.parametrize("size", [1, 99, 100, 9000])
def test_of_a_file_that_was_cut_off_with_its_first_commit_nothing_is_believed(cut, size):
    os.truncate(cut / "index.sqlite3", size)
    assert generation(cut) == 0
    check_goes_on(cut, 0)


def test_nobody_begins_to_read_between_the_first_commit_and_the_log(tmp_path):
    """Who did, and stayed, would keep the file from ever having one."""
    path = tmp_path / "index.sqlite3"
    with started(tmp_path, "pauses") as process:
        assert process.stdout.readline() == "committed\n"
        assert (undo.is_begun(path), path.read_bytes()[18:20]) == (False, b"\1\1")
        with pytest.raises(LockHeld):
            opening.for_reading(INDEX, path, busy_ms=10)
        assert process.communicate("go on\n")[0] == "1\n"
    assert path.read_bytes()[18:20] == b"\2\2"
    assert generation(tmp_path) == 1


@pytest.mark.parametrize("read", [True, False])
def test_a_commit_that_was_killed_before_the_file_had_its_log_is_there(tmp_path, read):
    with started(tmp_path, "unlogged") as process:
        process.wait()
    assert (tmp_path / "index.sqlite3").read_bytes()[18:20] == b"\1\1"
    if read:
        assert generation(tmp_path) == 1
        assert list(files(tmp_path)) == ["index.sqlite3"]
        assert (tmp_path / "index.sqlite3").read_bytes()[18:20] == b"\2\2"
    check_goes_on(tmp_path, 1)


def test_a_first_commit_that_begins_while_somebody_looks_is_no_error(tmp_path, monkeypatch):
    """Between the look at the journal and the look at the file."""
    with writing(tmp_path):
        looked = []
        honest = undo.is_first
        monkeypatch.setattr(undo, "is_first", lambda path: honest(path) if looked else looked.append(path))
        assert opening.for_reading(INDEX, tmp_path / "index.sqlite3", busy_ms=10) is None
        assert len(looked) == 1


def test_another_writer_than_the_first_one_is_waited_for(tmp_path):
    store = open_store(tmp_path)
    write(store, {doc("a.md"): pieces("one")})
    store.close()
    path = tmp_path / "index.sqlite3"
    other = apsw.Connection(str(path))
    other.execute("PRAGMA journal_mode = DELETE").fetchall()
    other.execute("BEGIN EXCLUSIVE").fetchall()
    with pytest.raises(LockHeld):
        opening.for_reading(INDEX, path, busy_ms=10)
    other.close(True)


# --------------------------------------------------------------------------------- where nothing may be written

ASKED = "reader.head.generation, len(list(reader.documents()))"


def test_who_may_not_write_sees_generation_0_beside_the_first_commit_and_after_its_death(outside, read_as_nobody):
    with writing(outside):
        assert read_as_nobody(outside, ASKED) == "0 0"
    assert (outside / "index.sqlite3-journal").stat().st_size
    assert read_as_nobody(outside, ASKED) == "0 0"


def test_who_may_not_write_reads_a_commit_that_was_killed_before_the_file_had_its_log(outside, read_as_nobody):
    with started(outside, "unlogged") as process:
        process.wait()
    assert read_as_nobody(outside, ASKED) == f"1 {PAGES}"


def test_who_may_not_write_is_refused_where_another_write_than_the_first_is_to_be_taken_back(outside, read_as_nobody):
    with started(outside, "unlogged") as process:
        process.wait()
    journal = outside / "index.sqlite3-journal"
    journal.write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(8) + (7).to_bytes(4, "big") + bytes(492))
    assert (undo.is_begun(outside / "index.sqlite3"), undo.is_first(outside / "index.sqlite3")) == (True, False)
    assert "index.sqlite3-journal holds what takes half a write back" in read_as_nobody(outside, ASKED)

"""A compaction that ends anywhere leaves the same head, with the old generations or without, and can be redone."""

import shutil
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from steadlith_adapters.stores.sqlite import FACTORY
from steadlith_adapters.stores.sqlite.session import Session
from steadlith_conformance.samples import doc, pieces, write
from steadlith_conformance.stores.histories import manifest

KEEPER = Path(__file__).with_name("sqlite_keeper.py")
GENERATIONS = 4
WORKS = ("compact", "scrub")


class Crash(BaseException):
    """What nothing catches."""


def open_store(folder):
    return FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=False)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    store = open_store(folder)
    for number in range(1, GENERATIONS):
        write(store, {doc("a.md"): pieces(*(f"text {number} {step}" for step in range(60))), doc("b.md"): pieces("b")})
    write(store, {doc("b.md"): None, doc("c.md"): pieces("c", "text 1 1")})
    store.close()
    return folder


@pytest.fixture
def wanted(base):
    return survey(base)


def survey(folder):
    """The head, which generations there are, and all that the head shows."""
    with closing(open_store(folder)) as store, closing(store.snapshot()) as reader:
        assert [problem.message for problem in reader.problems(full=True)] == []
        return store.head(), [each.number for each in store.history()], manifest(reader)


def check_survivor(folder, wanted, work):
    head, history, documents = survey(folder)
    assert (head, documents) == (wanted[0], wanted[2])
    assert history in (wanted[1], [GENERATIONS])
    with closing(open_store(folder)) as store:
        done = store.compact(head, GENERATIONS, scrub=work == "scrub")
        assert done.given_back
        assert store.removable(GENERATIONS).is_nothing
    assert survey(folder) == (wanted[0], [GENERATIONS], wanted[2])
    return len(history) == 1


def run_keeper(folder, work, moment):
    """How many writes it made, none if it was killed."""
    done = subprocess.run(
        [sys.executable, str(KEEPER), str(folder), work, str(moment)], capture_output=True, text=True, check=False
    )
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr
    return int(done.stdout) if done.returncode == 0 else None


def kill_at(base, tmp_path, wanted, work, moments):
    """Whether each kill left the compacted index."""
    found = []
    for moment in moments:
        folder = tmp_path / f"{work}-{moment}"
        shutil.copytree(base, folder)
        if run_keeper(folder, work, moment) is not None:
            break
        found.append(check_survivor(folder, wanted, work))
        shutil.rmtree(folder)
    return found


def count_writes(base, tmp_path, work):
    folder = tmp_path / f"{work}-whole"
    shutil.copytree(base, folder)
    return run_keeper(folder, work, 1_000_000)


@pytest.mark.parametrize("work", WORKS)
def test_a_kill_at_a_write_of_a_compaction_leaves_old_or_new_and_it_can_be_redone(base, tmp_path, wanted, work):
    writes = count_writes(base, tmp_path, work)
    assert writes > 90
    moments = [1, writes // 4, writes // 2, writes * 3 // 4, writes]
    found = kill_at(base, tmp_path, wanted, work, moments)
    assert len(found) == len(moments)
    assert found == sorted(found)  # once compacted, compacted
    assert set(found) == {False, True}


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_a_kill_at_every_write_of_a_compaction_leaves_old_or_new_and_it_can_be_redone(base, tmp_path, wanted, work):
    writes = count_writes(base, tmp_path, work)
    found = kill_at(base, tmp_path, wanted, work, range(1, writes + 1))
    assert len(found) == writes
    assert set(found) == {False, True}


def crash_at(monkeypatch, folder, work, moment):
    """Whether the statement was reached."""
    run, count = Session.run, iter(range(1, 10_000))

    def crashing(self, sql, *bindings):
        if next(count) == moment:
            raise Crash
        return run(self, sql, *bindings)

    with closing(open_store(folder)) as store:
        head = store.head()
        with monkeypatch.context() as patched:
            patched.setattr(Session, "run", crashing)
            try:
                store.compact(head, GENERATIONS, scrub=work == "scrub")
            except Crash:
                return True
    return False


def crash_everywhere(base, tmp_path, monkeypatch, wanted, work, step):
    found, moment = [], 1
    while True:
        folder = tmp_path / f"{work}-{moment}"
        shutil.copytree(base, folder)
        if not crash_at(monkeypatch, folder, work, moment):
            return found
        found.append(check_survivor(folder, wanted, work))
        shutil.rmtree(folder)
        moment += step


@pytest.mark.parametrize("work", WORKS)
def test_a_crash_at_a_statement_of_a_compaction_leaves_old_or_new(base, tmp_path, monkeypatch, wanted, work):
    found = crash_everywhere(base, tmp_path, monkeypatch, wanted, work, step=23)
    assert found == sorted(found)
    assert len(found) > 2


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_a_crash_at_every_statement_of_a_compaction_leaves_old_or_new(base, tmp_path, monkeypatch, wanted, work):
    found = crash_everywhere(base, tmp_path, monkeypatch, wanted, work, step=1)
    assert found == sorted(found)
    assert set(found) == {False, True}

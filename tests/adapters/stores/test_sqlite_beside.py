"""Checks in other processes: what is found is the same, whatever becomes of them, and none stays."""

import gc
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from functools import wraps
from pathlib import Path

import pytest

from steadlith_adapters.stores.sqlite import FACTORY, connection
from steadlith_adapters.stores.sqlite.checks import beside, levels
from steadlith_conformance.samples import SPACE, doc, pieces, stage, write
from steadlith_core.records import DriftKind

DAMAGE = (
    "UPDATE text SET body = body || '!' WHERE text = 2",
    "UPDATE vector SET checksum = zeroblob(8) WHERE entry = 3",
    "UPDATE document_version SET seal = zeroblob(8) WHERE document = 2",
    "DELETE FROM lexical WHERE rowid = 1",
    "UPDATE trie_node SET sources = zeroblob(32)",
)
KINDS = [DriftKind.TEXT, DriftKind.DOCUMENT, DriftKind.NODES, DriftKind.LEXICAL, DriftKind.VECTOR]


def opened(folder):
    return closing(FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=False))


def running(parent=None):
    """The processes that check for us, or for another parent."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command = (place / "cmdline").read_bytes()
            state, above = (place / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it ended meanwhile
            continue
        if b"checks.beside" in command and state != "Z" and int(above) == (parent or os.getpid()):
            found.add(int(place.name))
    return found


def two_running(parent=None):
    """Two of them; a process has no command yet for a moment after its start."""
    until = time.monotonic() + 60
    while len(running(parent)) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)
    return running(parent)


@pytest.fixture(autouse=True)
def nobody_left():
    """No test leaves a process behind."""
    yield
    gc.collect()
    assert running() == set()


@pytest.fixture
def started(monkeypatch):
    """What was started, for indexes of any size."""
    commands, real = [], subprocess.Popen

    def starting(command, **how):
        commands.append(command)
        return real(command, **how)

    monkeypatch.setattr(beside, "PAYS", 1)
    monkeypatch.setattr(subprocess, "Popen", starting)
    return commands


@pytest.fixture
def index(tmp_path):
    with opened(tmp_path) as store:
        write(store, {doc("a.md"): pieces("one", "two"), doc("b.md"): pieces("three", "four")})
    return tmp_path


@pytest.fixture
def damaged(index, change):
    change(index / "index.sqlite3", *DAMAGE)
    return index


def look(folder, workers):
    with opened(folder) as store, closing(store.snapshot()) as reader:
        return list(reader.problems(full=True, workers=workers))


def made_here(monkeypatch):
    """The names of the checks that this process makes, as they come."""
    names = []

    def told(check):
        @wraps(check)
        def checking(session):
            names.append(levels.name_of(check))
            yield from check(session)

        return checking

    monkeypatch.setattr(levels, "FULL", {told(check): kind for check, kind in levels.FULL.items()})
    return names


def test_any_number_of_processes_finds_the_same_in_the_same_order(damaged, started, monkeypatch):
    alone = look(damaged, 1)
    assert [problem.kind for problem in alone] == KINDS
    assert started == []
    for workers in (2, 3, 8):
        with monkeypatch.context() as patched:
            here = made_here(patched)
            started.clear()
            assert look(damaged, workers) == alone
            assert len(started) == min(workers - 1, len(levels.SHARES))
            shared = {levels.name_of(check) for share in levels.SHARES[: workers - 1] for check in share}
            assert not shared & set(here)
            assert len(here) == len(levels.FULL) - len(shared)


def test_every_check_has_a_name_of_its_own():
    assert len({levels.name_of(check) for check in levels.FULL}) == len(levels.FULL)
    assert {check for share in levels.SHARES for check in share} <= levels.FULL.keys()


@pytest.mark.parametrize("program", ["raise SystemExit(3)", "print('?')", "import os; os.abort()"])
def test_what_another_process_does_not_answer_is_checked_here(damaged, started, monkeypatch, program):
    alone = look(damaged, 1)
    monkeypatch.setattr(beside, "PROGRAM", program)
    here = made_here(monkeypatch)
    assert look(damaged, 3) == alone
    assert len(started) == 2
    assert len(here) == len(levels.FULL)


def test_without_an_interpreter_everything_is_checked_here(damaged, started, monkeypatch):
    alone = look(damaged, 1)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert look(damaged, 3) == alone
    assert len(started) == 2


def test_a_frozen_program_is_not_started_again(damaged, started, monkeypatch):
    alone = look(damaged, 1)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert look(damaged, 3) == alone
    assert started == []


def test_a_small_index_and_the_head_s_level_start_none(index, started, monkeypatch):
    with opened(index) as store, closing(store.snapshot()) as reader:
        assert list(reader.problems(full=False, workers=3)) == []
    monkeypatch.undo()
    monkeypatch.setattr(subprocess, "Popen", None)
    assert look(index, 3) == []


def test_a_write_that_looks_before_it_commits_believes_no_process_that_sees_the_generation_before(
    index, started, monkeypatch
):
    found = []
    here = made_here(monkeypatch)

    def check(reader):
        found.append(list(reader.problems(full=True, workers=3)))

    with opened(index) as store, closing(store.snapshot()) as reader:
        transaction = store.begin(reader.head)
        transaction.commit(stage(transaction, reader, {doc("c.md"): pieces("five")}, (SPACE,)), check)
    assert found == [[]]
    assert len(started) == 2
    assert len(here) == len(levels.FULL)


def test_an_index_whose_head_cannot_be_read_is_looked_at_here(index, started, change):
    change(index / "index.sqlite3", "UPDATE generation SET recipe = x'00'")
    with closing(connection.reading(index / "index.sqlite3")) as session:
        found = list(levels.problems(session, full=True, workers=3))
    assert DriftKind.HEAD in {problem.kind for problem in found}
    assert started == []


ENDLESS = "import time; time.sleep(300)"


def test_whoever_does_not_want_to_know_any_more_ends_them(index, started, monkeypatch):
    monkeypatch.setattr(beside, "PROGRAM", f"'checks.beside'; {ENDLESS}")
    with opened(index) as store, closing(store.snapshot()) as reader:
        found = reader.problems(full=True, workers=3)
        assert len(two_running()) == 2
        del found
        gc.collect()
        assert running() == set()


KILLED = """
import sys, time
from contextlib import closing
from functools import wraps
from pathlib import Path
from steadlith_adapters.stores.sqlite import connection
from steadlith_adapters.stores.sqlite.checks import beside, levels
beside.PAYS = 1
beside.PROGRAM = beside.PROGRAM.replace("; work(", "; import time; from steadlith_adapters.stores.sqlite.checks import "
    "levels; levels.made = lambda *_: iter([time.sleep(300)]); work(")
with closing(connection.reading(Path(sys.argv[1]))) as session:
    found = levels.problems(session, full=True, workers=3)
    print("ready", flush=True)
    time.sleep(300)
"""


def test_they_end_when_their_parent_is_killed(index):
    command = [sys.executable, "-c", KILLED, str(index / "index.sqlite3")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"ready\n"
        others = two_running(parent.pid)
        assert len(others) == 2
        parent.send_signal(signal.SIGKILL)
        assert parent.wait(60) == -signal.SIGKILL
    until = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in others):
        assert time.monotonic() < until
        time.sleep(0.02)


INTERRUPTED = """; import os, signal; from steadlith_adapters.stores.sqlite.checks import levels; made = levels.made
levels.made = lambda *given: (os.kill(os.getpid(), signal.SIGINT), made(*given))[1]; work("""


def test_ctrl_c_is_for_the_one_who_asked(damaged, started, monkeypatch):
    """A terminal interrupts the whole group; an answer that is on its way is still given."""
    alone = look(damaged, 1)
    monkeypatch.setattr(beside, "PROGRAM", beside.PROGRAM.replace("; work(", INTERRUPTED))
    here = made_here(monkeypatch)
    assert look(damaged, 2) == alone
    assert not any("lexical" in name for name in here)
    assert len(here) == len(levels.FULL) - 1

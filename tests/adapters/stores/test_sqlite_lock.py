"""One writer at a time, named to the next one, and freed by the kernel."""

import json
import socket
import subprocess
import sys

import pytest

from steadlith_adapters.stores.sqlite import FACTORY
from steadlith_core.errors import AdapterError, LockHeld

HOLD = """
import sys
from steadlith_adapters.stores.sqlite import FACTORY
lock = FACTORY.lock({"path": "index.sqlite3"}, root=sys.argv[1], timeout=5, holder="apply, pid 4711 on host nine")
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


def make_lock(folder, holder="this test", timeout=0.05):
    return FACTORY.lock({"path": "index.sqlite3"}, root=str(folder), timeout=timeout, holder=holder)


@pytest.fixture
def holder(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_is_refused_and_told_who_holds_it(tmp_path, holder):
    with pytest.raises(LockHeld, match=r"index\.sqlite3\.lock: apply, pid 4711 on host nine"):
        make_lock(tmp_path).acquire()


def test_the_lock_of_a_killed_process_is_free(tmp_path, holder):
    holder.kill()
    holder.wait()
    lock = make_lock(tmp_path)
    lock.acquire()
    with pytest.raises(LockHeld, match="this test"):
        make_lock(tmp_path, "another").acquire()
    lock.release()


def test_releasing_makes_room_and_leaves_no_name(tmp_path):
    first, second = make_lock(tmp_path, "first"), make_lock(tmp_path, "second")
    first.acquire()
    first.release()
    first.release()
    second.acquire()
    second.release()
    assert [path.name for path in tmp_path.iterdir()] == ["index.sqlite3.lock"]


def test_a_lock_not_held_releases_nothing(tmp_path):
    first, second = make_lock(tmp_path, "first"), make_lock(tmp_path, "second")
    first.acquire()
    second.release()
    with pytest.raises(LockHeld, match="first"):
        second.acquire()
    first.release()


def test_an_unreadable_name_still_refuses(tmp_path, holder):
    (tmp_path / "index.sqlite3.lock.info").write_text("not json")
    with pytest.raises(LockHeld, match="it left no name"):
        make_lock(tmp_path).acquire()


@pytest.mark.parametrize("pid", ["dead", -1, 0, 2**70, True, "4711", None])
def test_the_name_that_a_dead_process_left_is_not_believed(tmp_path, holder, pid):
    """Between locking and writing its name, a holder would be taken for the one before it."""
    if pid == "dead":
        with subprocess.Popen([sys.executable, "-c", ""]) as gone:
            pid = gone.pid
    info = {"command": "another command", "pid": pid, "host": socket.gethostname(), "since": "2026-01-01T00:00:00Z"}
    (tmp_path / "index.sqlite3.lock.info").write_text(json.dumps(info), "utf-8")
    with pytest.raises(LockHeld, match="it left no name"):
        make_lock(tmp_path).acquire()


def test_the_name_of_a_process_on_another_host_is_told_as_it_is(tmp_path, holder):
    info = {"command": "steadlith apply", "pid": 2**22 + 1, "host": "elsewhere", "since": "2026-01-01T00:00:00Z"}
    (tmp_path / "index.sqlite3.lock.info").write_text(json.dumps(info), "utf-8")
    with pytest.raises(LockHeld, match="steadlith apply, process 4194305 on elsewhere, since 2026-01-01T00:00:00Z"):
        make_lock(tmp_path).acquire()


def test_a_name_decides_nothing(tmp_path):
    """The lock is the open file: a record that somebody left keeps nobody out."""
    info = {"command": "steadlith apply", "pid": 1, "host": socket.gethostname(), "since": "2026-01-01T00:00:00Z"}
    (tmp_path / "index.sqlite3.lock.info").write_text(json.dumps(info), "utf-8")
    lock = make_lock(tmp_path)
    lock.acquire()
    lock.release()


def test_the_folder_is_made_when_it_is_not_there(tmp_path):
    lock = FACTORY.lock({"path": "deep/index.sqlite3"}, root=str(tmp_path), timeout=0, holder="h")
    lock.acquire()
    lock.release()
    assert (tmp_path / "deep").is_dir()


def test_a_lock_whose_name_cannot_be_written_is_given_back(tmp_path):
    (tmp_path / "index.sqlite3.lock.info").mkdir()
    with pytest.raises(AdapterError, match="cannot be locked"):
        make_lock(tmp_path).acquire()
    (tmp_path / "index.sqlite3.lock.info").rmdir()
    lock = make_lock(tmp_path)
    lock.acquire()
    lock.release()

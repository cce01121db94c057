"""The cache file: the rules of the kit, and what only a file that processes share can do."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from steadlith_adapters.caches.sqlite import FACTORY, schema
from steadlith_adapters.caches.sqlite import file as sqlite_file
from steadlith_conformance.cachefactories import CacheFactorySuite
from steadlith_conformance.caches import CacheSuite, key, samples, vector
from steadlith_conformance.cachesamples import TODAY, WIDE
from steadlith_core.errors import AdapterError, ConfigError, ForeignFile, StoreCorrupt, UsageError


@pytest.fixture
def file(tmp_path):
    return tmp_path / ".steadlith" / "cache.sqlite3"


def opened(tmp_path, *, readonly=False, today=TODAY):
    return FACTORY.open({}, root=str(tmp_path), readonly=readonly, today=today)


def raw(file, *statements):
    connection = apsw.Connection(str(file))
    answers = [list(connection.execute(statement)) for statement in statements]
    connection.close()
    return answers


def contents(folder):
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def died(script, *arguments):
    """Run `script` to its end; the signal that ended it."""
    return -subprocess.run([sys.executable, "-c", script, *arguments], check=False, timeout=60).returncode


def child(script, *arguments):
    return subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True)


class TestSqliteCache(CacheSuite):
    @pytest.fixture
    def open_cache(self, tmp_path):
        return lambda **options: opened(tmp_path, **options)

    @pytest.fixture
    def damage(self, file):
        def change_one_byte(which):
            connection = apsw.Connection(str(file))
            (old,) = next(connection.execute("select vector from embedding where key = ?", (which,)))
            new = bytes([old[0] ^ 1]) + old[1:]
            connection.execute("update embedding set vector = ? where key = ?", (new, which))
            connection.close()

        return change_one_byte


class TestSqliteFactory(CacheFactorySuite):
    @pytest.fixture
    def factory(self):
        return FACTORY


class TestSettings:
    def test_the_file_stands_where_the_path_says(self, tmp_path):
        assert FACTORY.files({}, root=str(tmp_path)) == [
            str(tmp_path / ".steadlith" / "cache.sqlite3") + end for end in ("", "-wal", "-shm", "-journal")
        ]
        shared = tmp_path / "team" / "c.db"
        FACTORY.open({"path": str(shared)}, root="/nowhere", readonly=False, today=TODAY).close()
        assert shared.exists()

    @pytest.mark.parametrize(
        ("settings", "named"),
        [({"pth": "x"}, "pth"), ({"path": 1}, "path = 1"), ({"path": "."}, r"'\./cache\.sqlite3'.* is a folder")],
    )
    def test_a_wrong_setting_is_named_with_its_value(self, tmp_path, settings, named):
        for use in (
            FACTORY.files,
            lambda settings, root: FACTORY.open(settings, root=root, readonly=True, today=TODAY),
        ):
            with pytest.raises(ConfigError, match=named):
                use(settings, root=str(tmp_path))


class TestTheFile:
    def test_it_is_marked_as_ours_and_kept_durably(self, tmp_path, file):
        opened(tmp_path).close()
        answers = raw(
            file, *(f"pragma {name}" for name in ("application_id", "user_version", "page_size", "journal_mode"))
        )
        assert answers == [[(schema.APPLICATION_ID,)], [(2,)], [(16384,)], [("wal",)]]
        cache = opened(tmp_path)
        assert list(cache._connection.execute("pragma synchronous")) == [(2,)]
        cache.close()

    def test_closing_leaves_one_file(self, tmp_path, file):
        cache = opened(tmp_path)
        cache.put(samples(3))
        cache.close()
        assert list(file.parent.iterdir()) == [file]

    def test_a_checksum_that_moved_to_another_key_does_not_vouch_for_it(self, tmp_path, file):
        cache = opened(tmp_path)
        cache.put(samples(2))
        cache.close()
        raw(
            file,
            "update embedding set vector = (select vector from embedding where id = 1), "
            "checksum = (select checksum from embedding where id = 1)",
        )
        cache = opened(tmp_path)
        assert len(cache.contains([key(0), key(1)], WIDE)) == 1
        cache.close()

    def test_a_damaged_probe_is_absent_and_can_be_recorded_again(self, tmp_path, file):
        cache = opened(tmp_path)
        cache.put_probe("model", key(0), [vector(1)])
        cache.close()
        raw(file, "update probe set vectors = zeroblob(40)")
        cache = opened(tmp_path)
        assert cache.probe("model", key(0)) is None
        cache.put_probe("model", key(0), [vector(2)])
        assert cache.probe("model", key(0)) == (vector(2),)
        cache.close()

    def test_a_put_that_fails_leaves_nothing_and_the_cache_usable(self, tmp_path):
        cache = opened(tmp_path)
        with pytest.raises(TypeError):
            cache.put({key(0): vector(0), key(1): "text"})
        cache.put(samples(1))
        assert cache.contains([key(0), key(1)], WIDE) == {key(0)}
        cache.close()


class TestOtherPeoplesFiles:
    def test_a_file_that_is_no_database_is_refused_with_the_way_out(self, tmp_path, file):
        file.parent.mkdir()
        file.write_bytes(b"not a database, " * 2000)
        before = contents(tmp_path)
        for readonly in (True, False):
            with pytest.raises(StoreCorrupt, match="move it away"):
                opened(tmp_path, readonly=readonly)
        assert contents(tmp_path) == before

    @pytest.mark.parametrize(
        ("statement", "named"),
        [
            ("create table cache_meta(key text, value text)", "1\\.x.*import"),
            ("create table letters(body text)", "another program"),
            ("pragma application_id = 7", "another program"),
            (f"pragma application_id = {schema.APPLICATION_ID}; pragma user_version = 99", "schema 99"),
        ],
    )
    def test_a_file_of_another_program_or_version_is_refused_unchanged(self, tmp_path, file, statement, named):
        file.parent.mkdir()
        raw(file, "create table t(a)", "drop table t", *statement.split("; "))
        before = contents(tmp_path)
        for readonly in (True, False):
            with pytest.raises(ForeignFile, match=named):
                opened(tmp_path, readonly=readonly)
        assert contents(tmp_path) == before

    def test_a_file_damaged_in_the_middle_is_refused_when_the_damage_is_met(self, tmp_path, file):
        cache = opened(tmp_path)
        cache.put(samples(5000))
        cache.close()
        data = bytearray(file.read_bytes())
        data[20_000:-10] = b"\xff" * len(data[20_000:-10])
        file.write_bytes(data)
        cache = opened(tmp_path)
        with pytest.raises(StoreCorrupt, match="move it away"):
            cache.get(list(samples(5000)), WIDE)
        cache.close()

    def test_a_folder_that_cannot_be_made_is_told(self, tmp_path):
        (tmp_path / ".steadlith").write_text("a file in the way")
        with pytest.raises(AdapterError, match="cannot be used"):
            opened(tmp_path)


class TestRemoving:
    def test_no_byte_of_what_is_dropped_is_left_and_what_stays_is_whole(self, tmp_path, file):
        cache = opened(tmp_path)
        given = {key(number): bytes(byte & 0x3F for byte in key(number)) * 12 for number in range(200)}
        cache.put(given)
        gone = list(given)[::3]
        assert cache.drop(gone) == len(gone)
        assert cache.reclaim().held_back is None
        cache.close()
        (data,) = contents(tmp_path).values()
        assert not any(each in data or given[each][:64] in data for each in gone)
        assert all(each in data and vector in data for each, vector in given.items() if each not in gone)

    def test_a_damaged_file_is_set_aside_with_its_log_and_can_be_opened_there(self, tmp_path, file):
        cache = opened(tmp_path)
        cache.put(samples(3))
        crashed = tmp_path / "crashed"
        shutil.copytree(file.parent, crashed / ".steadlith")  # with its log
        cache.close()
        moved = FACTORY.set_aside({}, root=str(crashed))
        assert moved == str(crashed / ".steadlith" / "cache.sqlite3.damaged-1")
        assert opened(crashed, readonly=True).stats().entries == 0
        there = FACTORY.open({"path": moved}, root=str(crashed), readonly=True, today=TODAY)
        assert there.get(list(samples(3)), WIDE) == samples(3)
        there.close()

    def test_what_is_not_ours_is_not_set_aside(self, tmp_path, file):
        file.parent.mkdir()
        raw(file, "create table t(a)", "pragma application_id = 7")
        before = contents(tmp_path)
        with pytest.raises(ForeignFile, match="another program"):
            FACTORY.set_aside({}, root=str(tmp_path))
        assert contents(tmp_path) == before


class TestReadingOnly:
    def test_it_creates_nothing(self, tmp_path):
        opened(tmp_path, readonly=True).close()
        assert list(tmp_path.iterdir()) == []

    def test_it_changes_nothing_and_leaves_no_side_files(self, tmp_path):
        cache = opened(tmp_path)
        cache.put(samples(3))
        cache.close()
        before = contents(tmp_path)
        cache = opened(tmp_path, readonly=True)
        assert cache.get([key(0), key(9)], WIDE) == samples(1)
        cache.close()
        assert contents(tmp_path) == before

    @pytest.mark.parametrize("made", [b"", None])
    def test_an_empty_or_half_made_file_is_an_empty_cache(self, tmp_path, file, made):
        file.parent.mkdir()
        if made is None:
            raw(file, "pragma journal_mode = wal")
        else:
            file.write_bytes(made)
        before = contents(tmp_path)
        cache = opened(tmp_path, readonly=True)
        assert cache.contains([key(0)], WIDE) == frozenset()
        cache.close()
        assert contents(tmp_path) == before
        cache = opened(tmp_path)
        cache.put(samples(1))
        cache.close()
        cache = opened(tmp_path, readonly=True)
        assert cache.get([key(0)], WIDE) == samples(1)
        cache.close()

    def test_it_works_where_nothing_may_be_written(self, public_path, as_nobody):
        cache = opened(public_path)
        cache.put(samples(2))
        cache.close()
        before = contents(public_path)
        assert as_nobody(READ_AS_NOBODY, str(public_path)) == 2
        assert contents(public_path) == before

    def test_a_log_left_behind_where_nothing_may_be_written_is_told(self, public_path, as_nobody):
        cache = opened(public_path)
        cache.put(samples(2))
        # The cache is still open, so its log stands beside it.
        assert "left" in as_nobody(READ_AS_NOBODY, str(public_path))
        cache.close()


READ_AS_NOBODY = """
import numpy  # as all imports, before the rights are dropped
from steadlith_adapters.caches.sqlite import FACTORY
from steadlith_conformance.cachefactories import CacheFactorySuite
from steadlith_conformance.caches import key
from steadlith_core.errors import AdapterError
drop()
try:
    cache = FACTORY.open({}, root=arguments[0], readonly=True, today=20000)
    answer(len(cache.get([key(0), key(1)], 4)))
    cache.close()
except AdapterError as error:
    answer(str(error))
"""

PUT_MANY = """
import sys
from steadlith_adapters.caches.sqlite import FACTORY
from steadlith_conformance.cachefactories import CacheFactorySuite
from steadlith_conformance.caches import key, vector
start = int(sys.argv[2])
cache = FACTORY.open({}, root=sys.argv[1], readonly=False, today=20000)
for number in range(start, start + 20):
    cache.put({key(number): vector(number)})
    print(number, flush=True)
cache.close()
"""

PUT_UNTIL_KILLED = PUT_MANY.replace("start + 20", "start + 10**6")


class TestProcesses:
    def test_several_may_make_it_at_once(self, tmp_path):
        children = [child(PUT_MANY, str(tmp_path), str(1000 * number)) for number in range(6)]
        for one in children:
            one.communicate(timeout=60)
        assert [one.returncode for one in children] == [0] * 6
        cache = opened(tmp_path, readonly=True)
        keys = [key(1000 * number + step) for number in range(6) for step in range(20)]
        assert cache.contains(keys, WIDE) == set(keys)
        cache.close()

    def test_what_put_returned_from_survives_a_kill(self, tmp_path):
        victim = child(PUT_UNTIL_KILLED, str(tmp_path), "0")
        said = [int(victim.stdout.readline()) for _ in range(10)]
        victim.send_signal(signal.SIGKILL)
        with victim:
            rest = victim.stdout.read()  # `communicate` would miss what came with the lines that were read
        said += [int(line) for line in rest.split()]
        cache = opened(tmp_path)
        keys = [key(number) for number in said]
        assert cache.get(keys, WIDE) == {key(number): vector(number) for number in said}
        cache.put(samples(1))
        cache.close()

    @pytest.mark.parametrize("statements", [[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3]])
    def test_a_kill_while_it_is_made_leaves_a_file_that_the_next_one_completes(self, tmp_path, file, statements):
        script = f"""
import os, signal, sys, apsw
from steadlith_adapters.caches.sqlite import file as sqlite_file
from steadlith_adapters.caches.sqlite import schema
file = sys.argv[1]
os.makedirs(os.path.dirname(file))
connection = apsw.Connection(file)
list(connection.execute("pragma page_size = 16384"))
connection.execute("begin immediate")
for number in {statements}:
    list(connection.execute(schema.SCHEMA[number]))
connection.cache_flush()
os.kill(os.getpid(), signal.SIGKILL)
"""
        assert died(script, str(file)) == signal.SIGKILL
        opened(tmp_path, readonly=True).close()
        cache = opened(tmp_path)
        cache.put(samples(1))
        assert cache.get([key(0)], WIDE) == samples(1)
        cache.close()

    def test_a_lock_that_is_never_given_back_is_told(self, tmp_path, file, monkeypatch):
        opened(tmp_path).close()
        monkeypatch.setattr(sqlite_file, "BUSY_MILLISECONDS", 100)
        holder = apsw.Connection(str(file))
        holder.execute("begin immediate")
        cache = opened(tmp_path)
        before = time.monotonic()
        with pytest.raises(AdapterError, match="another process"):
            cache.put(samples(1))
        assert time.monotonic() - before < 10
        assert cache.contains([key(0)], WIDE) == frozenset()
        holder.execute("rollback")
        cache.put(samples(1))
        cache.close()
        holder.close()

    @pytest.mark.skipif(
        not Path("/dev/full").exists() or os.name != "posix", reason="file sizes are limited by the shell"
    )
    def test_a_disk_that_is_full_is_told_and_nothing_half_is_kept(self, tmp_path):
        script = """
import resource, signal, sys
from steadlith_adapters.caches.sqlite import FACTORY
from steadlith_conformance.cachefactories import CacheFactorySuite
from steadlith_conformance.caches import samples
from steadlith_core.errors import AdapterError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
cache = FACTORY.open({}, root=sys.argv[1], readonly=False, today=20000)
cache.put(samples(10))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    cache.put(samples(5000))
except AdapterError as error:
    print("told", len(cache.get(list(samples(5000)), 4)), flush=True)
"""
        said, _ = child(script, str(tmp_path)).communicate(timeout=60)
        assert said.split() == ["told", "10"]


def test_a_closed_cache_says_so(tmp_path):
    cache = opened(tmp_path)
    cache.close()
    with pytest.raises(UsageError, match="closed"):
        cache.get([key(0)], WIDE)


@pytest.mark.slow
def test_many_processes_many_times_never_trip_over_each_other(tmp_path):
    for attempt in range(10):
        root = tmp_path / str(attempt)
        children = [child(PUT_MANY, str(root), str(1000 * number)) for number in range(8)]
        assert [one.wait(timeout=120) for one in children] == [0] * 8
        for one in children:
            one.stdout.close()

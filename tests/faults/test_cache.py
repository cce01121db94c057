"""A cache may die at any instant of any work: it opens, what was acknowledged is there, and the same work finishes."""

import json
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from faults import cache_writer as writer
from faults.campaign import ERRORS
from faults.fate import NEEDS_ROOM, SQLITE

from steadlith_adapters.caches.sqlite import schema
from steadlith_conformance.cachesamples import TODAY
from steadlith_core.cachefile import entry_checksum, pack
from steadlith_core.ports import PruneRule

FIRST = writer.entries(0, 300)


class Crash(BaseException):
    """What nothing catches."""


def schema_1(folder):
    """A cache as the version before made it, with the entries `FIRST`."""
    file = folder / ".steadlith" / "cache.sqlite3"
    file.parent.mkdir(parents=True)
    connection = apsw.Connection(str(file))
    connection.execute("pragma page_size = 16384").fetchall()
    connection.execute("pragma journal_mode = wal").fetchall()
    with connection:
        for statement in (*schema.SCHEMA_1, "pragma user_version = 1"):
            connection.execute(statement).fetchall()
        connection.executemany(
            "insert into embedding(key, vector, checksum) values (?, ?, ?)",
            [(key, vector, entry_checksum(key + vector)) for key, vector in FIRST.items()],
        )
    connection.close()


def schema_2(folder):
    """A cache of this version with the entries `FIRST`, the last fifty of them used a day later."""
    cache = writer.opened(folder, TODAY)
    cache.put(FIRST)
    cache.close()
    cache = writer.opened(folder, TODAY + 1)
    cache.touch(list(writer.entries(250, 300)))
    cache.close()


def nothing(folder):
    """No cache."""
    folder.mkdir(parents=True, exist_ok=True)


BASES = {"schema 2": schema_2, "schema 1": schema_1, "nothing": nothing}
CASES = [
    *(("schema 2", work) for work in writer.WORKS),
    *(("schema 1", work) for work in writer.WORKS),
    *(("nothing", work) for work in ("put", "add")),
]
HOW = {
    "torn": "SIGKILL within a write, or before a sync or truncation",
    "lost": "a power cut at a write, sync or truncation: what was not synced is gone",
}
CALLED = [f"{work} on {base}" for base, work in CASES]


def state(folder):
    """All that a cache holds, after every check that it can be given."""
    connection = apsw.Connection(str(folder / ".steadlith" / "cache.sqlite3"))
    (checked,) = next(connection.execute("pragma integrity_check"))
    notes = "select key, day, dimensions, imported from embedding left join note using (id) order by key"
    rows = list(connection.execute(notes))
    loose = list(connection.execute("select id from note where id not in (select id from embedding)"))
    due = list(connection.execute("select id from due"))
    connection.close()
    assert (checked, loose, due) == ("ok", [], [])
    return rows


def contents(folder):
    cache = writer.opened(folder)
    found = {kept.key: (kept.vector, kept.problem) for kept in cache.entries()}
    cache.close()
    return found


def expected(tmp_path, base, work):
    """What the work leaves when nothing happens to it."""
    folder = tmp_path / "whole"
    BASES[base](folder)
    cache = writer.opened(folder)
    writer.WORKS[work](cache, lambda *_: None)
    cache.close()
    return state(folder), contents(folder)


def check_survivor(folder, base, work, acknowledged, whole):
    rows, kept = whole
    found = contents(folder)
    before = {} if base == "nothing" else FIRST
    assert all(problem is None for _, problem in found.values())
    assert found.items() <= ({key: (vector, None) for key, vector in before.items()} | kept).items()
    for start, end in acknowledged:
        assert writer.entries(start, end).keys() <= found.keys()
    if work not in {"prune", "drop"}:
        assert before.keys() <= found.keys()
    # The same work again finishes it.
    cache = writer.opened(folder)
    writer.WORKS[work](cache, lambda *_: None)
    cache.close()
    assert state(folder) == rows
    assert contents(folder) == kept


def crash_in_process(folder, work, moment):
    """Raise what nothing catches at the `moment`-th statement. What was acknowledged before it, and how many statements
    there were.
    """
    cache = writer.opened(folder)
    connection, said, seen = cache._connection, [], 0

    def trace(_cursor, _statement, _bindings):
        nonlocal seen
        seen += 1
        if seen == moment:
            raise Crash
        return True

    connection.exec_trace = trace
    try:
        with suppress(Crash):
            writer.WORKS[work](cache, lambda start, end: said.append((start, end)))
    finally:
        connection.exec_trace = None
        cache.close()
    return said, seen


def crashes(tmp_path, base, work, moments):
    whole = expected(tmp_path, base, work)
    made, measured = tmp_path / "made", tmp_path / "measured"
    BASES[base](made)
    shutil.copytree(made, measured)
    _, statements = crash_in_process(measured, work, -1)
    assert statements >= 5
    for moment in moments(statements):
        folder = tmp_path / f"at-{moment}"
        shutil.copytree(made, folder)
        said, _ = crash_in_process(folder, work, moment)
        check_survivor(folder, base, work, said, whole)
        shutil.rmtree(folder)
    return len(moments(statements))


@pytest.fixture(scope="module")
def kill():
    """Whether a child came to its end, what it acknowledged until then, and how many effects there were."""
    command = [sys.executable, writer.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as forking:

        def run(folder, work, moment, how, *, careless=False):
            job = {"folder": str(folder), "work": work, "moment": moment, "how": how, "careless": careless}
            forking.stdin.write(json.dumps(job) + "\n")
            forking.stdin.flush()
            code, out = json.loads(forking.stdout.readline())
            assert code in {0, -signal.SIGKILL}
            lines = [line.split() for line in out.splitlines()]
            said = [(int(start), int(end)) for start, end in lines if start != "effects"]
            effects = next((int(number) for word, number in lines if word == "effects"), None)
            return code == 0, said, effects

        yield run
        forking.stdin.close()


def kills(kill, tmp_path, base, work, how, moments):
    whole = expected(tmp_path, base, work)
    made, measured = tmp_path / "made", tmp_path / "measured"
    BASES[base](made)
    shutil.copytree(made, measured)
    finished, _, effects = kill(measured, work, 10**6, how)
    assert finished
    assert effects >= 5
    for moment in moments(effects):
        folder = tmp_path / f"at-{moment}"
        shutil.copytree(made, folder)
        finished, said, _ = kill(folder, work, moment, how)
        assert not finished
        check_survivor(folder, base, work, said, whole)
        shutil.rmtree(folder)
    return len(moments(effects))


def few(count):
    """Soon after the begin, in the middle, and before the end."""
    return sorted({count // 5, count // 2, count - 1})


def every(count):
    return range(1, count + 1)


FAULT = "a cache that dies while it is changed"
SAMPLE = [("schema 2", work) for work in writer.WORKS] + [("schema 1", "add"), ("nothing", "put")]


def sampled(cases):
    """Some cases at a few moments each, and in the whole campaign all of them at every moment."""
    some = [pytest.param(base, work, few, id=f"{work} on {base}") for base, work in cases]
    whole = [
        pytest.param(*case, every, id=f"{called}, everywhere", marks=pytest.mark.faults)
        for case, called in zip(CASES, CALLED, strict=True)
    ]
    return pytest.mark.parametrize(("base", "work", "moments"), [*some, *whole])


@sampled(SAMPLE)
def test_a_crash_at_a_statement_loses_nothing_that_was_acknowledged(tmp_path, tried, base, work, moments):
    times = crashes(tmp_path, base, work, moments)
    tried(f"{FAULT}: {work}, {base}", "an exception that nothing catches, at a statement", times)


@pytest.mark.parametrize("how", HOW)
@sampled([("schema 2", "prune"), ("schema 2", "add")])
def test_a_kill_at_a_write_loses_nothing_that_was_acknowledged(kill, tmp_path, tried, base, work, moments, how):
    times = kills(kill, tmp_path, base, work, how, moments)
    tried(f"{FAULT}: {work}, {base}", HOW[how], times)


def test_the_harness_can_tell_what_was_synchronised_from_what_was_not(kill, tmp_path):
    """Without `synchronous`, a power cut takes what was acknowledged: a kill alone would not show that."""
    schema_2(tmp_path)
    finished, said, _ = kill(tmp_path, "put", 60, "lost", careless=True)
    assert not finished
    assert (300, 400) in said
    assert not writer.entries(300, 400).keys() <= contents(tmp_path).keys()


# ------------------------------------------------------------------- a full or failing disk, as a user meets it

CONFIG = """
[sources.docs]
path = "docs"
[embedding]
embedder = "hash"
dimensions = 96
"""
COMMANDS = {
    "import": ("cache", "import", "team.cache", "--trust", "--json"),
    "prune": ("cache", "prune", "--max-bytes", "20kB", "--yes", "--json"),
    "repair": ("cache", "verify", "--repair", "--json"),
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A cache of `FIRST`, one of them damaged, and a file of a hundred entries that are there and two hundred more."""
    site = tmp_path_factory.mktemp("shared") / "site"
    (site / "docs").mkdir(parents=True)
    (site / "steadlith.toml").write_text(CONFIG, "utf-8")
    schema_2(site)
    pieces = pack(sorted(writer.entries(200, 500).items()))
    (site / "team.cache").write_bytes(b"".join(pieces))
    connection = apsw.Connection(str(site / ".steadlith" / "cache.sqlite3"))
    connection.execute("update embedding set checksum = zeroblob(32) where id = 17").fetchall()
    connection.close()
    return site


class Keeping:
    """One command on a cache whose file fails, and what it leaves when nothing does."""

    def __init__(self, forks, shared, command):
        self._forks, self._shared, self._command = forks, shared, COMMANDS[command]
        whole = self._copy("whole")
        ran = self._run(whole)
        assert ran.code == 0, ran.err
        self._before, self._after = contents(self._copy("before")), contents(whole)
        assert self._before != self._after
        self.operations = [verb for verb, _ in ran.noted("seen")]

    def points(self, kind, some):
        meets = [verb for verb in self.operations if kind != "full" or verb in NEEDS_ROOM]
        return few(len(meets)) if some else every(len(meets))

    def try_fault(self, kind, at, *, lasting):
        site = self._copy("tried")
        ran = self._run(site, kind=kind, at=at, lasting=lasting)
        where = f"{kind} at {at} of {len(self.operations)}, lasting {lasting}: {ran.out}{ran.err}"
        # Space that cannot be given back is told and is no error; all else that fails is.
        assert ran.code in {0, 1}, where
        assert "Traceback" not in ran.err, where
        assert "internal error" not in ran.err, where
        if ran.code:
            assert json.loads(ran.out)["error"] in {"AdapterError", "StoreCorrupt"}, where
            assert "cache.sqlite3" in json.loads(ran.out)["message"], where
        found = contents(site)
        assert found.items() <= (self._before | self._after).items(), where
        assert self._before.items() & self._after.items() <= found.items(), where
        again = self._run(site)
        assert again.code == 0, f"{where}, then {again.err}"
        assert contents(site) == self._after, where
        return ran.code

    def _copy(self, name):
        site = self._shared.with_name(name)
        shutil.rmtree(site, ignore_errors=True)
        return shutil.copytree(self._shared, site)

    def _run(self, site, **fault):
        return self._forks("command", site, arguments=self._command, fault={"verbs": SQLITE, **fault})


@pytest.mark.parametrize("some", [True, pytest.param(False, marks=pytest.mark.faults)])
@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_or_failing_disk_is_told_and_the_command_can_be_given_again(forks, shared, tried, command, kind, some):
    keeping = Keeping(forks, shared, command)
    places = [(at, lasting) for at in keeping.points(kind, some) for lasting in (False, True)]
    assert 1 in {keeping.try_fault(kind, at, lasting=lasting) for at, lasting in places}
    how = {"full": "ENOSPC at a write", "error": "EIO at a write, sync, truncation or removal"}[kind]
    tried(f"a full or failing disk while the cache is kept: {command}", f"{how}, once or from then on", len(places))


# ---------------------------------------------------------------------------------------------- several at once

PUT = """
import sys
import cache_writer as writer
from steadlith_conformance.cachesamples import TODAY
cache = writer.opened(sys.argv[1], TODAY + 1)
start = int(sys.argv[2])
for number in range(start, start + int(sys.argv[3])):
    cache.put(writer.entries(number, number + 1))
cache.close()
"""


@pytest.mark.parametrize("each", [40, pytest.param(500, marks=pytest.mark.faults)])
def test_what_others_put_while_space_is_given_back_stays(tmp_path, tried, each):
    """Giving space back rewrites the file under their feet."""
    schema_2(tmp_path)
    starts = (1000, 2000)
    command = [sys.executable, "-c", PUT, str(tmp_path)]
    place = Path(writer.__file__).parent
    writers = [subprocess.Popen([*command, str(start), str(each)], cwd=place) for start in starts]
    pruned = 0
    while any(process.poll() is None for process in writers):
        cache = writer.opened(tmp_path, TODAY + 1)
        cache.prune(PruneRule(unused_before=TODAY + 1))
        cache.drop(list(writer.entries(pruned % 300, pruned % 300 + 1)))
        cache.reclaim()
        cache.close()
        pruned += 1
    assert [process.wait() for process in writers] == [0, 0]
    found = contents(tmp_path)
    for start in starts:
        assert writer.entries(start, start + each).keys() <= found.keys()
    assert all(problem is None for _, problem in found.values())
    tried("a cache that is pruned while others write to it", "two processes put, one prunes and gives back", pruned)

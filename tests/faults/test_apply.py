"""An apply meets a fault at any of its operations on files: the old state or the new one, and the next run goes on."""

from itertools import product

import pytest
from faults.campaign import ERRORS, Scenario, edit, make_base
from faults.fate import FILES

PAGES = {"a first apply": 1000, "a first apply that spills": 20, "an apply": 20}
"""How many pages wait for the end of the commit: of twenty, all others spill before it, into the log, or into the file
itself where nothing was committed before."""
SOME = 8
"""Points in a sample; the whole campaign is at all of them, errors at every fourth one, and reads at some."""


@pytest.fixture(scope="module")
def scenario(forks, tmp_path_factory):
    """A scenario by its name, made once."""
    made = {}

    def make(name):
        if name not in made:
            site = make_base(tmp_path_factory.mktemp("apply"))
            if name == "an apply":
                assert forks("command", site, arguments=["apply", "--yes"]).code == 0
                edit(site)
            made[name] = Scenario(forks, site, pages=PAGES[name])
        return made[name]

    return make


some_or_all = pytest.mark.parametrize(
    ("name", "some"),
    [
        pytest.param("a first apply that spills", SOME // 2, marks=pytest.mark.sample),
        pytest.param("an apply", SOME, marks=pytest.mark.sample),
        *(pytest.param(name, None, marks=pytest.mark.faults) for name in PAGES),
    ],
)


def on(operations, file):
    """The numbers of those on one of SQLite's files and its log."""
    return [at for at, (_, name) in enumerate(operations, start=1) if name.startswith(file)]


@pytest.mark.parametrize("name", PAGES)
def test_the_commit_that_is_cut_is_a_long_one(scenario, name):
    tries = scenario(name)
    commit = [tries.operations[at - 1][0] for at in on(tries.operations, "index.sqlite3")]
    assert commit.count("write") >= (90 if PAGES[name] < 90 else 60)
    log, verbs = ("-wal", {"truncate"}) if name == "an apply" else ("-journal", set())
    assert {"write", "sync", "delete", *verbs} == set(commit)
    assert {verb for verb, file in tries.operations if file == f"index.sqlite3{log}"} >= {"write", "sync", "delete"}
    assert {verb for verb, _ in tries.operations} >= {*FILES} - {"remove"}
    assert len(on(tries.operations, "cache.sqlite3")) >= 20


@some_or_all
def test_a_kill_leaves_the_old_state_or_the_new(scenario, tried, name, some):
    tries = scenario(name)
    places = tries.points("kill within", some)
    assert {tries.try_fault("kill within", at, seed=at) for at in places} == {"old", "new"}
    tried(f"a kill while files are written: {name}", "SIGKILL at each operation, writes torn", len(places))


@some_or_all
def test_a_power_cut_leaves_what_was_acknowledged(scenario, tried, name, some):
    tries = scenario(name)
    places = tries.points("power cut", some)
    assert {tries.try_fault("power cut", at, seed=at) for at in places} == {"old", "new"}
    tried(
        f"a power cut while files are written: {name}",
        "at each operation, what was not synced is dropped, torn or reordered",
        len(places),
    )


@pytest.mark.parametrize("kind", ERRORS)
@some_or_all
def test_a_full_or_failing_disk_is_told_and_leaves_the_old_state_or_the_new(scenario, tried, name, kind, some):
    tries = scenario(name)
    points = tries.points(kind, max(some // 2, 4)) if some else tries.points(kind, None)[::4]
    places = list(enumerate(points))
    assert "old" in {tries.try_fault(kind, at, lasting=bool(number % 2)) for number, at in places}
    code = {"full": "ENOSPC", "error": "EIO"}[kind]
    tried(f"a full or failing disk: {name}", f"{code} at every fourth operation, once or from then on", len(places))


@pytest.mark.parametrize(
    "some", [pytest.param(SOME // 2, marks=pytest.mark.sample), pytest.param(40, marks=pytest.mark.faults)]
)
def test_what_cannot_be_read_is_told_and_changes_nothing(forks, scenario, tried, some):
    tries = Scenario(forks, scenario("an apply").base, ("read",), pages=20)
    places = list(enumerate(tries.points("error", some)))
    assert "old" in {tries.try_fault("error", at, lasting=bool(number % 2)) for number, at in places}
    tried("a disk that cannot read", "EIO at reads of an apply, once or from then on", len(places))


@pytest.mark.parametrize(
    ("name", "level"), [("a first apply that spills", "OFF"), ("an apply", "OFF"), ("an apply", "NORMAL")]
)
def test_the_campaign_notices_an_index_that_is_not_synced(scenario, name, level):
    """A test that cannot fail proves nothing: a kill cannot tell FULL from OFF, a power cut must."""
    tries = scenario(name)
    spoiled = ("index", level)
    operations = tries.measured(spoiled=spoiled)
    # Fingerprints are written after the commit was acknowledged and before the log is folded into the file.
    acknowledged = [at for at, (verb, _) in enumerate(operations, start=1) if verb in FILES]

    def sweep():
        for at, seed in product(acknowledged, range(4)):
            tries.try_fault("power cut", at, seed=seed, spoiled=spoiled)

    with pytest.raises(AssertionError, match=r"acknowledged|malformed|damaged|problems"):
        sweep()


@pytest.mark.parametrize("level", ["OFF", "NORMAL"])
def test_the_campaign_notices_a_cache_that_is_not_synced(scenario, level):
    tries = scenario("an apply")
    spoiled = ("cache", level)
    there = on(tries.measured(spoiled=spoiled), "cache.sqlite3")

    def sweep():
        for at, seed in product(there[len(there) // 2 :], range(2)):
            tries.try_fault("power cut", at, seed=seed, spoiled=spoiled)

    with pytest.raises(AssertionError, match="vectors that the cache took are gone"):
        sweep()

"""An apply meets a fault at any of its operations on files: the old state or the new one, and the next run goes on."""

from itertools import product

import pytest
from faults.campaign import CACHE, ERRORS, INDEX, Scenario, edit, make_base
from faults.fate import FILES, SQLITE

SOME = 12
NAMES = {
    "first commit": "while an index is made",
    "commit": "while a commit is written",
    "cache": "while the cache is written",
    "whole": "anywhere in an apply: cache, index, fingerprints",
}


@pytest.fixture(scope="module")
def scenario(forks, tmp_path_factory):
    """A scenario by its name, made once."""
    made = {}

    def make(name):
        if name not in made:
            site = make_base(tmp_path_factory.mktemp("apply"))
            if name in {"commit", "whole"}:
                assert forks("command", site, arguments=["apply", "--yes"]).code == 0
                edit(site)
            files, verbs = {"cache": ((CACHE,), SQLITE), "whole": (("",), (*SQLITE, *FILES))}.get(
                name, ((INDEX,), SQLITE)
            )
            made[name] = Scenario(forks, site, files, verbs)
        return made[name]

    return make


def sampled(*names):
    """Each name with `SOME` points, and with all of them in the whole campaign."""
    return pytest.mark.parametrize(
        ("name", "some"),
        [*((name, SOME) for name in names), *(pytest.param(name, None, marks=pytest.mark.faults) for name in NAMES)],
    )


def test_the_commit_that_is_cut_is_a_long_one(scenario):
    """It spills from a cache of 20 pages into the log before it is committed."""
    operations = scenario("commit").operations
    assert operations.count("write") >= 90
    assert {"write", "sync", "truncate", "delete"} == set(operations)


@sampled("first commit", "commit", "cache")
def test_a_kill_leaves_the_old_state_or_the_new(scenario, tried, name, some):
    tries = scenario(name)
    places = tries.points("kill within", some)
    assert {tries.try_fault("kill within", at, seed=at) for at in places} == {"old", "new"}
    tried(f"a kill {NAMES[name]}", "SIGKILL at a write (torn), sync, truncation or removal", len(places))


@sampled("first commit", "commit", "cache", "whole")
def test_a_power_cut_leaves_what_was_acknowledged(scenario, tried, name, some):
    tries = scenario(name)
    places = list(product(tries.points("power cut", some), [0] if some else [0, 1]))
    assert {tries.try_fault("power cut", at, seed=seed) for at, seed in places} == {"old", "new"}
    tried(f"a power cut {NAMES[name]}", "what was not synced is dropped, torn or reordered, then SIGKILL", len(places))


@pytest.mark.parametrize("kind", ERRORS)
@sampled("commit", "cache", "whole")
def test_a_full_or_failing_disk_is_told_and_leaves_the_old_state_or_the_new(scenario, tried, name, kind, some):
    tries = scenario(name)
    points = tries.points(kind, some and some // 2)
    places = list(enumerate(points)) if some else list(product((0, 1), points))
    assert "old" in {tries.try_fault(kind, at, lasting=bool(number % 2)) for number, at in places}
    how = {"full": "ENOSPC at a write", "error": "EIO at a write, sync, truncation or removal"}[kind]
    tried(f"a {kind.replace('error', 'failing')} disk {NAMES[name]}", f"{how}, once or from then on", len(places))


@pytest.mark.parametrize("some", [SOME, pytest.param(None, marks=pytest.mark.faults)])
def test_what_cannot_be_read_is_told_and_changes_nothing(forks, scenario, tried, some):
    site = scenario("commit").base
    tries = Scenario(forks, site, ("",), ("read",))
    places = list(enumerate(tries.points("error", some)))
    assert "old" in {tries.try_fault("error", at, lasting=bool(number % 2)) for number, at in places}
    tried("a failing disk while an apply reads", "EIO at a read, once or from then on", len(places))


@pytest.mark.parametrize("level", ["OFF", "NORMAL"])
def test_the_campaign_notices_an_index_that_is_not_synced(scenario, level):
    """A test that cannot fail proves nothing: a kill cannot tell FULL from OFF, a power cut must."""
    tries = scenario("commit")
    last = len(tries.measured(level=level))

    def sweep():
        for at, seed in product(range(last - 8, last + 1), range(4)):
            tries.try_fault("power cut", at, seed=seed, level=level)

    with pytest.raises(AssertionError, match="acknowledged|malformed|damaged|problems"):
        sweep()


@pytest.mark.parametrize("level", ["OFF", "NORMAL"])
def test_the_campaign_notices_a_cache_that_is_not_synced(scenario, level):
    tries = scenario("cache")
    last = len(tries.measured(level=level))

    def sweep():
        for at, seed in product(range(last // 2, last), range(2)):
            tries.try_fault("power cut", at, seed=seed, level=level)

    with pytest.raises(AssertionError, match="vectors that the cache took are gone"):
        sweep()

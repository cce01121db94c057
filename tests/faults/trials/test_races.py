"""Races of real processes: one commit wins, nobody sees half of it, and the whole history is one chain."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from trials.history import ALREADY, COMMITTED, REFUSED, Apply, Kept, Read, compacted_away, gather, problems
from trials.place import Place

from steadlith_core.planning.planfile import dump

FOLDER = Path(__file__).parent.parent


@pytest.fixture
def place(tmp_path):
    (tmp_path / "logs").mkdir()
    return Place(tmp_path / "place").settle("a", "b", "c")


def race(place, *roles, compacted=False):
    """Run it; all operations, after the checker found that one index can have told them."""
    logs = place.root.parent / "logs"
    path = os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "trials.worker", str(place.root), str(logs), *roles],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    index, operations = place.open(), gather(logs)
    assert problems(operations, kept(place), compacted=compacted) == []
    assert index.verify().problems == ()
    with index.reader() as reader:
        assert list(reader.problems(full=True)) == []
    return operations


def kept(place):
    """The history as the index tells it."""
    return [
        Kept(each.number, each.parent, str(each.plan_digest), str(each.corpus_root)) for each in place.open().history()
    ]


def outcomes(operations):
    return sorted(each.outcome for each in operations if isinstance(each, Apply))


def reads(operations):
    return [each for each in operations if isinstance(each, Read)]


def test_several_processes_with_one_plan_commit_it_once(place, tried):
    place.write("a", 0)
    file = place.root / "plan.json"
    file.write_text(dump(place.open().plan()), "utf-8")
    found = race(place, *(f"plan:{number}:{file}" for number in range(4)))
    assert outcomes(found) == [ALREADY, ALREADY, ALREADY, COMMITTED]
    tried("several applies of one plan at once", "4 processes: one commits, the others find it applied", 4)


def test_writers_with_different_plans_commit_one_after_the_other_or_are_refused(place, tried):
    found = race(place, "write:a:6", "write:b:6", "write:c:6")
    assert len(found) == 18
    assert set(outcomes(found)) == {COMMITTED, REFUSED}
    assert len({each.base for each in found if each.outcome == COMMITTED}) == outcomes(found).count(COMMITTED)
    tried("several applies of different plans at once", "3 processes: one commit a base, the others exit 4 or 5", 18)


@pytest.mark.parametrize(
    "rounds",
    [pytest.param(10, marks=pytest.mark.sample, id="short"), pytest.param(80, marks=pytest.mark.faults, id="long")],
)
def test_sixteen_readers_see_whole_generations_and_never_an_older_one(place, tried, rounds):
    roles = [f"write:a:{rounds}", f"write:b:{rounds}", *(f"read:{number}" for number in range(16))]
    found = reads(race(place, *roles))
    assert len(found) >= 6 * 16
    assert len({each.generation for each in found}) > 2
    tried("searches while others apply", "16 processes beside 2 writers, every answer checked", len(found))


@pytest.mark.parametrize(
    "rounds", [pytest.param(8, marks=pytest.mark.sample), pytest.param(60, marks=pytest.mark.faults)]
)
def test_of_a_compaction_and_applies_one_writes_and_readers_see_whole_generations(place, tried, rounds):
    roles = [f"write:a:{rounds}", f"write:b:{rounds}", "compact:one", "compact:other", "read:0", "read:1"]
    found = race(place, *roles, compacted=True)
    removed = compacted_away(place.root.parent / "logs")
    assert sum(removed) > rounds // 4
    assert len(kept(place)) == 2
    commits = outcomes(found).count(COMMITTED)
    assert commits == sum(removed) + 2
    assert len(reads(found)) >= 12
    tried("compactions while others apply and search", "2 processes beside 2 writers and 2 readers", len(removed))


def test_a_reader_that_is_shown_two_generations_is_found(place, monkeypatch):
    """The trial can fail: of a real history, one hit of an older generation is put among a newer one's."""
    found = race(place, "write:a:3", "read:one")
    applies = [each for each in found if isinstance(each, Apply)]
    mixed = Read("forged", 10**30, 10**30, 3, (*applies[2].content[:-1], applies[1].content[-1]))
    assert "torn read of generation 3" in " ".join(problems([*found, mixed], kept(place)))

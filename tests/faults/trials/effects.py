"""A crash at every effect of an apply, before it is performed and after, in every kind of run.

1. A crash is an exception that nothing catches, or SIGKILL of a process that was forked for it.
2. Afterwards the index is as it was or as the plan says; the same plan then leads to the target, whoever finishes it.
3. What was kept is not paid again; what was in flight may be, once.

Usage: python -m trials.effects SCENE (with tests/faults on PYTHONPATH): SIGKILL at every effect; prints how many kills.
"""

import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import apsw
from trials.place import EVERYTHING, Place
from trials.watching import BATCH_FAILS, COMMIT_LOST, COMMIT_NOT_TOLD, FAIR, Board, Purse, watched
from trials.worker import fork

from steadlith import hands
from steadlith.observe import Look
from steadlith_core.errors import AdapterError, StoreCorrupt
from steadlith_core.planning.planfile import plan_digest
from steadlith_core.records import Level

BATCH, CONCURRENCY = 3, 2
ALLOWED = (*EVERYTHING, "--allow-rebuild")
FULL = Look(Level.FULL)


def _index(place):
    return place.root / ".steadlith" / "index.sqlite3"


def _first(place):
    for path in (place.root / ".steadlith").iterdir():
        path.unlink()
    return place.open().plan()


def _edit(place):
    place.write("a", 2)
    return place.open().plan()


def _deletes(place):
    for name in ("0.txt", "1.txt"):
        (place.root / "docs-a" / name).unlink()
    return place.open().plan()


def _renames(place):
    for name in ("0", "1"):
        (place.root / "docs-a" / f"{name}.txt").rename(place.root / "docs-a" / f"new-{name}.txt")
    return place.open().plan()


def _nothing(place):
    return place.open().plan()


def _repair(place):
    connection = apsw.Connection(str(_index(place)))
    connection.execute("UPDATE text SET body = body || ' and a lie' WHERE text = 1").fetchall()
    connection.execute("DELETE FROM vector WHERE entry = 2").fetchall()
    connection.close()
    return place.open().plan(FULL)


def _rebuild(place):
    os.truncate(_index(place), _index(place).stat().st_size // 2)
    return place.open().plan()


@dataclass(frozen=True)
class Scene:
    """One kind of run: `arrange` leaves a settled place as it is before the apply, and answers the plan."""

    arrange: object
    weather: str = FAIR
    damaged: bool = False


SCENES = {
    "a first apply": Scene(_first),
    "an edit": Scene(_edit),
    "only deletes": Scene(_deletes),
    "only renames": Scene(_renames),
    "nothing to do": Scene(_nothing),
    "a repair": Scene(_repair, damaged=True),
    "a rebuild": Scene(_rebuild, damaged=True),
    BATCH_FAILS: Scene(_edit, BATCH_FAILS),
    COMMIT_LOST: Scene(_edit, COMMIT_LOST),
    COMMIT_NOT_TOLD: Scene(_edit, COMMIT_NOT_TOLD),
}


class Crash(BaseException):
    """What nothing catches."""


@contextmanager
def crashing(number, when, die):
    """Within, `die` is called at the `number`-th effect."""
    perform, seen = hands.Hands.perform, count(1)

    def performing(own, effect):
        at = next(seen)
        if (at, "before") == (number, when):
            die()
        outcome = perform(own, effect)
        if (at, "after") == (number, when):
            die()
        return outcome

    hands.Hands.perform = performing
    try:
        yield
    finally:
        hands.Hands.perform = perform


def by_exception(run, number, when):
    """Whether the run crashed; it is this process's own."""

    def die():
        raise Crash

    try:
        with crashing(number, when, die):
            run()
    except Crash:
        return True
    return False


def by_kill(run, number, when):
    """Whether the run crashed; it is a process of its own, and killed."""

    def killed():
        with crashing(number, when, lambda: os.kill(os.getpid(), signal.SIGKILL)):
            run()

    status = os.waitpid(fork(killed), 0)[1]
    assert status in {0, signal.SIGKILL}, status
    return status == signal.SIGKILL


def sweep(name, crash, folder):
    """Crash at every effect; how many there were. Raises if anything is not as it must be."""
    scene, settled = SCENES[name], folder / "settled"
    place = Place(settled, documents=4, batch_size=BATCH).settle("a")
    place.write("a", 1)
    place.open().apply(place.open().plan())
    crashes = 0
    for number in count(1):
        for when in ("before", "after"):
            here = folder / f"{number}-{when}"
            shutil.copytree(settled, here)
            if not _crashes(Place(here, documents=4, batch_size=BATCH), scene, crash, number, when):
                return crashes
            crashes += 1
            shutil.rmtree(here)
    raise AssertionError


def _crashes(place, scene, crash, number, when):
    """Crash once, and judge what is left; false if the run had ended before."""
    plan, content = scene.arrange(place), place.content("a")
    before = _head(place)
    purse = Purse(place.root / "purse")

    def run():
        # A run in foul weather ends with an error of its own: that is tested elsewhere, this is about the crash.
        with watched(Board(), purse, weather=scene.weather, pause=0), suppress(AdapterError):
            place.open().apply(plan, allow=ALLOWED)

    if not crash(run, number, when):
        return False
    where = f"{when} effect {number}"
    head = _head(place)
    if head is not None and head.plan_digest == plan_digest(plan):
        assert (head.corpus_root, head.state_root) == (plan.target.corpus_root, plan.target.state_root), where
        assert place.open().verify().problems == (), where
    elif scene.damaged:
        # What was damaged still is, or is out of the way: nothing is there in its place but by the commit.
        assert head in {before, None} or head.generation == 0, where
    else:
        assert head == before, where
        assert place.open().verify().problems == (), where
    with watched(Board(), purse, pause=0):
        done = place.open().apply(plan, allow=ALLOWED)
    assert (done.head.corpus_root, done.head.documents) == (plan.target.corpus_root, plan.target.documents), where
    index = place.open()
    with index.reader() as reader:
        assert place.held(reader) == content, where
        assert list(reader.problems(full=True)) == [], where
    assert index.verify().problems == (), where
    assert index.plan(FULL).is_empty, where
    _check_money(place, where)
    return True


def _head(place):
    try:
        return place.open().head()
    except StoreCorrupt:
        return None


def _check_money(place, where):
    paid, kept = Counter(), set()
    for line in (place.root / "purse").read_text().splitlines():
        what, key = line.split()
        if what == "kept":
            kept.add(key)
        else:
            assert key not in kept, f"{where}: {key} was kept, and is paid again"
            paid[key] += 1
    again = sum(paid.values()) - len(paid)
    assert again <= BATCH * CONCURRENCY, f"{where}: {again} embeddings paid again"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="steadlith-effects-") as made:
        sys.stdout.write(f"{sweep(sys.argv[1], by_kill, Path(made))}\n")

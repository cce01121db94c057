"""The kill loop: two appliers compete for one index, both are killed at a random moment, round after round.

1. Each round has a weather of its own (`watching.WEATHERS`); in every fourth one both apply the same plan. Kill times
   are uniform over a run of the two in that weather, measured first.
2. After the kills the index is opened: its head is the old one or that of one of the two plans, its roots are in the
   chain, its content is that of its plan; every 20th time every row is checked.
3. Then a third process applies what the first writer's folder holds: it gets the lock at once and leads to the target.
4. Nothing that was kept is paid again, and a kill costs at most the batches in flight.
5. In the end the history checker judges all rounds together.

Usage: python -m trials.kill_loop [--rounds N] [--seed N] [--least N] [--json] (with tests/faults on PYTHONPATH).
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from trials.history import Apply, Kept, Read, problems
from trials.place import EVERYTHING, Place
from trials.watching import FAIR, WEATHERS, Board, Purse, outcome_of, watched
from trials.worker import fork

from steadlith_core.applying.states import State
from steadlith_core.errors import SteadlithError
from steadlith_core.planning.planfile import plan_digest

BATCH, CONCURRENCY = 3, 2
UNREACHABLE = {State.READY}
"""A run leaves it while it is made."""


class Loop:
    """The place, and what was seen so far."""

    def __init__(self, root, seed):
        self.place = Place(root, documents=3, batch_size=BATCH).settle("a", "b")
        self.random = random.Random(seed)
        self.boards = Board(), Board()
        self.purse = Purse(root / "purse")
        self.purse_file = (root / "purse").open()
        self.operations, self.kills, self.paid, self.kept = [], Counter(), Counter(), set()
        self.ended = self.full_checks = self.paid_again = self.number = 0
        self.lengths = {}

    # ------------------------------------------------------------------------------------------ one round

    def play(self, *, kill=True):
        """One round. Without `kill` both run to their end; how long that took, in seconds."""
        self.number += 1
        place, before = self.place, self.place.open().head()
        for writer in "ab":
            place.write(writer, self.number)
        writers = ("a", "a") if self.number % 4 == 0 else ("a", "b")
        asked = [self._asked(writer) for writer in writers]
        weather = WEATHERS[self.number % 4 if not kill else self.random.randrange(4)]
        began = time.monotonic()
        children = [self._start(*each, weather) for each in zip(writers, asked, self.boards, strict=True)]
        killed = self._kill(children, began, self.lengths[weather]) if kill else self._wait(children)
        length = time.monotonic() - began
        self._answered(asked)
        self._check(before, [plan for plan, _ in asked])
        self._count(killed)
        self._finish()
        self._count_money(len(killed))
        return weather, length

    def _asked(self, writer):
        plan = self.place.open(writer).plan()
        return plan, self.place.content(writer)

    def _start(self, writer, asked, board, weather):
        board.clear()

        def apply():
            with watched(board, self.purse, weather=weather):
                try:
                    done = self.place.open(writer).apply(asked[0], allow=EVERYTHING, lock_timeout=60)
                except SteadlithError as error:
                    board.answer(outcome_of(error), 0)
                else:
                    board.answer("already" if done.already else "committed", done.head.generation)

        return fork(apply)

    def _kill(self, children, began, length):
        """Kill both, each at a moment of its own; who was killed before it had ended."""
        times = sorted((began + self.random.uniform(0, length), at) for at in range(2))
        killed = []
        for moment, at in times:
            time.sleep(max(0.0, moment - time.monotonic()))
            os.kill(children[at], signal.SIGKILL)
            status = os.waitpid(children[at], 0)[1]
            assert status in {0, signal.SIGKILL}, f"round {self.number}: an apply ended with {status}"
            if status:
                killed.append(at)
        return killed

    def _wait(self, children):
        statuses = [os.waitpid(child, 0)[1] for child in children]
        assert statuses == [0, 0], statuses
        return []

    # ----------------------------------------------------------------------------------------- the checks

    def _answered(self, asked):
        for at, (plan, content) in enumerate(asked):
            told = self.boards[at].read()
            self._note(f"{self.number}-{at}", plan, content, told.outcome, told.generation or None)

    def _note(self, process, plan, content, outcome, generation):
        now = time.monotonic_ns()
        digest, root = str(plan_digest(plan)), str(plan.target.corpus_root)
        base = plan.base.generation
        ended = None if outcome is None else now
        self.operations.append(Apply(process, now - 1, base, digest, root, tuple(content), ended, outcome, generation))

    def _check(self, before, plans):
        index = self.place.open()
        at = time.monotonic_ns()
        with index.reader() as reader:
            head, content = reader.head, self.place.held(reader)
            if self.number % 20 == 0:
                self.full_checks += 1
                assert list(reader.problems(full=True)) == [], f"round {self.number}"
                assert index.verify().problems == (), f"round {self.number}"
        if head != before:
            assert head.generation == before.generation + 1, f"round {self.number}: {before} -> {head}"
            made = {(plan_digest(plan), plan.target.corpus_root, plan.target.state_root) for plan in plans}
            assert (head.plan_digest, head.corpus_root, head.state_root) in made, f"round {self.number}"
        root = str(head.corpus_root) if head.generation else None
        self.operations.append(Read("parent", at, time.monotonic_ns(), head.generation, tuple(content), root))

    def _count(self, killed):
        for at in killed:
            told = self.boards[at].read()
            where = str(told.state)
            if told.state is State.COMMITTING:
                where += {"before": ", before the transaction", "in": ", in it", "after": ", after it"}[told.phase]
            self.kills[where] += 1
        self.ended += 2 - len(killed)

    def _finish(self):
        """The next run: it gets the lock at once, goes on from what is kept, and leads to the target."""
        plan, content = self._asked("a")
        board = self.boards[0]
        board.clear()

        def apply():
            with watched(board, self.purse, weather=FAIR, pause=0):
                done = self.place.open().apply(plan, allow=EVERYTHING)
                board.answer("committed", done.head.generation)

        assert os.waitpid(fork(apply), 0)[1] == 0, f"round {self.number}: the next run failed"
        index = self.place.open()
        with index.reader() as reader:
            assert self.place.held(reader) == content, f"round {self.number}: the next run did not lead to the target"
        assert index.plan().is_empty
        if not plan.is_empty:
            self._note(f"{self.number}-next", plan, content, "committed", board.read().generation)

    def _count_money(self, kills):
        """What was paid in this round: what the killed ones had in flight, the next run may have paid again."""
        again = 0
        for line in self.purse_file:
            what, key = line.split()
            if what == "kept":
                self.kept.add(key)
                continue
            assert key not in self.kept, f"round {self.number}: {key} was kept, and is paid again"
            again += self.paid[key] > 0
            self.paid[key] += 1
        assert again <= kills * BATCH * CONCURRENCY, f"round {self.number}: {again} embeddings paid again"
        self.paid_again += again

    # ------------------------------------------------------------------------------------------- the end

    def measure(self):
        """How long a run of two takes in each weather."""
        for _ in WEATHERS:
            weather, self.lengths[weather] = self.play(kill=False)

    def judge(self):
        """All rounds together."""
        history = self.place.open().history()
        kept = [Kept(each.number, each.parent, str(each.plan_digest), str(each.corpus_root)) for each in history]
        assert problems(self.operations, kept) == []
        return len(kept)


def states():
    """Every place where a kill can find a run."""
    for state in State:
        if state is State.COMMITTING:
            yield from (f"{state}, before the transaction", f"{state}, in it", f"{state}, after it")
        elif state not in UNREACHABLE:
            yield str(state)


def run(rounds, seed):
    """The loop; what was counted."""
    with tempfile.TemporaryDirectory(prefix="steadlith-kills-") as folder:
        loop = Loop(Path(folder), seed)
        loop.measure()
        for _ in range(rounds):
            loop.play()
        generations = loop.judge()
    return {
        "rounds": rounds,
        "seed": seed,
        "kills": sum(loop.kills.values()),
        "ended before": loop.ended - 2 * len(WEATHERS),
        "by state": {where: loop.kills[where] for where in states()},
        "generations": generations,
        "full checks": loop.full_checks,
        "embeddings": len(loop.paid),
        "paid twice": loop.paid_again,
    }


def table(found):
    """The counts as Markdown."""
    lines = ["| the run was | kills |", "|---|---|"]
    lines += [f"| {where} | {times} |" for where, times in found["by state"].items()]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=int, default=0, help="fail if a state was hit less often than this")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    found = run(chosen.rounds, chosen.seed)
    rest = ", ".join(f"{name}: {value}" for name, value in found.items() if name != "by state")
    sys.stdout.write((json.dumps(found) if chosen.json else f"{table(found)}\n\n{rest}") + "\n")
    return min(found["by state"].values()) < chosen.least


if __name__ == "__main__":
    sys.exit(main())

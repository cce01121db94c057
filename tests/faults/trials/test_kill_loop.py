"""A sample of the kill loop; `make faults` runs a thousand rounds of it, in four parts side by side."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent
LEAST = 2
"""Kills in each state that each part has to reach; `tests/test_reliability.py` wants thirty of all together."""


def loop(*arguments):
    """The loop in a process of its own: it forks, which a process with threads must not."""
    path = os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "trials.kill_loop", "--json", *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("rounds", "seed", "least"),
    [
        pytest.param(10, 10, 0, marks=pytest.mark.sample),
        *(pytest.param(250, seed, LEAST, marks=pytest.mark.faults) for seed in (1, 2, 3, 4)),
    ],
)
def test_two_appliers_that_are_killed_at_random_leave_old_or_new_and_pay_nothing_twice(tried, rounds, seed, least):
    found = loop("--rounds", str(rounds), "--seed", str(seed), "--least", str(least))
    assert found["rounds"] == rounds
    assert found["kills"] + found["ended before"] == 2 * rounds
    assert found["generations"] >= rounds  # every round ends with an apply that succeeds
    for state, kills in found["by state"].items():
        tried(
            f"a kill of one of two competing applies at a random moment: {state}", "SIGKILL, uniform over a run", kills
        )

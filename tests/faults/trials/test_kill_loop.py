"""A sample of the kill loop; `make faults` runs a thousand rounds of it (docs/reliability.md has the counts)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent
LEAST = 30
"""Kills in each state that the whole loop has to reach."""


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
    ("rounds", "least"),
    [pytest.param(10, 0, marks=pytest.mark.sample), pytest.param(1000, LEAST, marks=pytest.mark.faults)],
    ids=["sample", "whole"],
)
def test_two_appliers_that_are_killed_at_random_leave_old_or_new_and_pay_nothing_twice(tried, rounds, least):
    found = loop("--rounds", str(rounds), "--seed", str(rounds), "--least", str(least))
    assert found["rounds"] == rounds
    assert found["kills"] + found["ended before"] == 2 * rounds
    assert found["generations"] >= rounds  # every round ends with an apply that succeeds
    for state, kills in found["by state"].items():
        tried(
            f"a kill of one of two competing applies at a random moment: {state}", "SIGKILL, uniform over a run", kills
        )

"""A crash at every effect of every kind of apply leaves the old state or the new one, and the same plan finishes it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from trials.effects import SCENES, by_exception, sweep

FOLDER = Path(__file__).parent.parent
SHORT = {"only deletes", "nothing to do", "a repair", "a rebuild"}
"""Runs of few effects: these are swept whole by default. The first apply and the edit are, in tests/engine."""
FAULT = "a crash at every effect of an apply"


@pytest.mark.parametrize(
    "scene", [name if name in SHORT else pytest.param(name, marks=pytest.mark.faults) for name in SCENES]
)
def test_an_exception_at_every_effect(tmp_path, tried, scene):
    crashes = sweep(scene, by_exception, tmp_path)
    assert crashes >= 10
    tried(f"{FAULT}: {scene}", "an exception that nothing catches, before and after each effect", crashes)


@pytest.mark.parametrize(
    "scene", [name if name == "nothing to do" else pytest.param(name, marks=pytest.mark.faults) for name in SCENES]
)
def test_a_kill_at_every_effect(tried, scene):
    """In a process of its own: it forks, which a process with threads must not."""
    path = os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "trials.effects", scene],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 10
    tried(f"{FAULT}: {scene}", "SIGKILL, before and after each effect", int(done.stdout))

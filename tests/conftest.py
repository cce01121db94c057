"""What all tests share: Hypothesis's profile, and a child process without root's rights (faults of permission do not
exist for root, who runs the tests in CI).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

# In CI the examples are the same each time: a submission is judged by its change, not by a draw.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

NOBODY = 65534

# The child imports as root (the interpreter may stand in a folder that nobody can enter), then drops its rights.
PRELUDE = """
import json, os, sys
import urllib.parse  # pathlib's as_uri loads it when it is first needed, which is too late for nobody
def drop():
    os.setgroups([]); os.setgid({nobody}); os.setuid({nobody})
def answer(value):
    print(json.dumps(value))
arguments = json.loads(sys.argv[1])
"""


@pytest.fixture
def as_nobody():
    """Run a script that calls `drop()` once it has imported, and `answer(...)` once; returns what it answered."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can start a process as another user")

    def run(script, *arguments):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PRELUDE.format(nobody=NOBODY) + script, json.dumps(arguments)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.fixture
def public_path():
    """A folder that every user can enter and read; pytest's own belongs to its user alone."""
    path = Path(tempfile.mkdtemp(prefix="steadlith-public-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)

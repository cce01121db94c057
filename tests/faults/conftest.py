"""How often each fault was tried: the counts behind the table in docs/reliability.md.

1. A test calls `tried(fault, how, times)` for what it has tried *and judged*: after its asserts, not before.
2. `fault` is what a user fears ("a power cut while files are written"), `how` is how it is brought about. What stands
   after a colon is a variety: the varieties of a fault share a row of the table.
3. Every fault has its line in `found.toml`: what trying it has shown. `tests/test_reliability.py` holds them together.
4. Where STEADLITH_TRIED names a folder, every process of the run leaves its counts there, so that a parallel run adds
   up: `scripts/reliability.py FOLDER` merges them into the page.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

# Like every test folder this one has no `__init__.py`; its modules are a package nevertheless, and so is `trials`.
package = ModuleType("faults")
package.__path__ = [str(Path(__file__).parent)]
sys.modules["faults"] = package
if package.__path__[0] not in sys.path:
    sys.path.append(package.__path__[0])

VARIABLE = "STEADLITH_TRIED"
TRIES = pytest.StashKey[Counter]()


@pytest.fixture
def tried(request):
    """Call `tried(fault, how, times=1)` for each fault that was tried, once its outcome was found to be right."""
    tries = request.config.stash.setdefault(TRIES, Counter())

    def count(fault, how, times=1):
        tries[fault, how] += times

    return count


@pytest.fixture(scope="session")
def forks(tmp_path_factory):
    """The process that forks a child for each job; see `forks.py`."""
    from faults.campaign import Forks

    with Forks(tmp_path_factory.mktemp("forks") / "child") as running:
        yield running


def pytest_sessionfinish(session):
    folder = os.environ.get(VARIABLE)
    tries = session.config.stash.get(TRIES, None)
    if folder and tries:
        rows = [{"fault": fault, "how": how, "times": times} for (fault, how), times in sorted(tries.items())]
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{worker}.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False), "utf-8")

"""The package `sabotage`, and the run of the kit over its adapters.

Where SABOTAGE_VERDICTS names a file, this process is that run: `arena.py` makes its classes, and what every rule has
shown is written there.
"""

import os
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

# Like every test folder this one has no `__init__.py`; its modules are a package nevertheless.
package = ModuleType("sabotage")
package.__path__ = [str(Path(__file__).parent)]
sys.modules["sabotage"] = package

pytest.register_assert_rewrite("steadlith_conformance")
collect_ignore = ["arena.py"] if "SABOTAGE_VERDICTS" not in os.environ else []


def pytest_configure(config):
    target = os.environ.get("SABOTAGE_VERDICTS")
    if target:
        from sabotage.verdicts import Verdicts

        config.pluginmanager.register(Verdicts(Path(target)))


@pytest.fixture(scope="session")
def verdicts(tmp_path_factory):
    """What the whole suite says of every saboteur of a kind: messages by saboteur and rule; one run a kind."""
    from sabotage.verdicts import run

    return cache(lambda kind: run(kind, tmp_path_factory.mktemp(kind)))

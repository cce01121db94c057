"""The package `sabotage`, and the run of the kit over its adapters.

Where SABOTAGE_VERDICTS names a file, this process is that run: `arena.py` makes its classes, and what every rule has
shown is written there.
"""

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

# Like every test folder this one has no `__init__.py`; its modules are a package nevertheless.
package = ModuleType("sabotage")
package.__path__ = [str(Path(__file__).parent)]
sys.modules["sabotage"] = package

collect_ignore = ["arena.py"] if "SABOTAGE_VERDICTS" not in os.environ else []


def pytest_configure(config):
    target = os.environ.get("SABOTAGE_VERDICTS")
    if target:
        from sabotage.verdicts import Verdicts

        config.pluginmanager.register(Verdicts(Path(target)))


@pytest.fixture(scope="session")
def verdicts(tmp_path_factory):
    """What the kit says of every saboteur of a kind: one run a kind, also where the run itself fails."""
    from sabotage.verdicts import run

    found = {}

    def of(kind):
        if kind not in found:
            try:
                found[kind] = run(kind, tmp_path_factory.mktemp(kind))
            except AssertionError as error:
                found[kind] = error
        if isinstance(found[kind], AssertionError):
            pytest.fail(str(found[kind]))
        return found[kind]

    return of

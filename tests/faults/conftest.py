"""The parts of the fault campaign: the packages `faults` and `trials`, and the process that forks for them."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

# Like every test folder this one has no `__init__.py`; its modules are a package nevertheless, and so is `trials`.
package = ModuleType("faults")
package.__path__ = [str(Path(__file__).parent)]
sys.modules["faults"] = package
if package.__path__[0] not in sys.path:
    sys.path.append(package.__path__[0])


@pytest.fixture(scope="session")
def forks(tmp_path_factory):
    """The process that forks a child for each job; see `forks.py`."""
    from faults.campaign import Forks

    with Forks(tmp_path_factory.mktemp("forks") / "child") as running:
        yield running

"""Every plan that `build.plan` makes here is held against the published schema and survives its file."""

import json
from importlib.resources import files
from types import SimpleNamespace

import pytest
from jsonschema import Draft202012Validator

from steadlith_core.planning.planfile import dump, load

SCHEMA = json.loads((files("steadlith") / "schemas" / "plan-1.0.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def checked():
    """Check a plan against the schema and its own file; gives it back."""
    validator = Draft202012Validator(SCHEMA)

    def check(plan):
        written = dump(plan)
        problems = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(json.loads(written))]
        assert problems == []
        assert load(written) == plan
        return plan

    return check


@pytest.fixture(scope="session", name="build")
def build_checked(build, checked):
    plan = lambda *args, **kwargs: checked(build.plan(*args, **kwargs))  # noqa: E731
    return SimpleNamespace(**{**vars(build), "plan": plan})

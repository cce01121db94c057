"""The third party of tests/thirdparty: built, installed, found by entry point, used to its end, and certified."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "thirdparty"
COMMAND = "from steadlith.cli.main import main; main()"

CONFIG = """
[sources.docs]
path = "."

[store]
type = "example"
path = "index"

[embedding]
embedder = "example"
"""


def succeed(*command, cwd, path=()):
    """Run a command with these folders on the path besides; what it wrote on stdout."""
    folders = os.pathsep.join([*map(str, path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": folders, "NO_COLOR": "1", "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that the example's wheel was installed into, as pip does it."""
    place = tmp_path_factory.mktemp("thirdparty")
    source = shutil.copytree(PACKAGE, place / "source", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    # Without the build backend here, an environment of its own is made for it, which needs the network.
    alone = ["--no-isolation"] if find_spec("hatchling") else []
    succeed("-m", "build", "--wheel", *alone, "--outdir", place, source, cwd=place)
    (wheel,) = place.glob("*.whl")
    target = place / "installed"
    pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index"]
    succeed(*pip, "--target", target, wheel, cwd=place)
    return target


def test_it_is_used_by_name_from_the_first_plan_to_a_verified_index(installed, tmp_path):
    def steadlith(*arguments):
        return succeed("-c", COMMAND, *arguments, cwd=tmp_path, path=[installed])

    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "apples.md").write_text("# Apples\n\nRed apples are sweet.\n", "utf-8")
    (docs / "pears.md").write_text("# Pears\n\nPears are green.\n", "utf-8")
    (tmp_path / "steadlith.toml").write_text(CONFIG, "utf-8")
    plan = json.loads(steadlith("plan", "--json"))
    assert "example/1" in json.dumps(plan)
    assert len(plan["changes"]) == 2
    steadlith("apply", "--yes")
    assert "docs/apples.md" in steadlith("search", "sweet").splitlines()[0]
    steadlith("verify")
    (docs / "pears.md").write_text("# Pears\n\nPears are yellow now.\n", "utf-8")
    steadlith("apply", "--yes")
    assert "yellow" in steadlith("search", "yellow pear")
    steadlith("compact", "--keep", "1", "--yes")
    steadlith("verify")
    assert "No changes" in steadlith("plan")


def test_the_kit_certifies_it(installed, tmp_path):
    tests = shutil.copytree(PACKAGE / "tests", tmp_path / "tests")
    shutil.copy(PACKAGE / "pyproject.toml", tmp_path)
    pytest_ = ["-m", "pytest", "-q", "-p", "steadlith_conformance.plugin", "-p", "no:cacheprovider", "-m", "not slow"]
    told = succeed(*pytest_, "--conformance-report", "report.json", tests, cwd=tmp_path, path=[installed])
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert report["problems"] == []
    assert {each["adapter"]: each["conforms"] for each in report["adapters"]} == {
        "tests/test_embedder.py::TestExampleEmbedder": True,
        "tests/test_store.py::TestExampleStore": True,
        "tests/test_store.py::TestExampleStores": True,
    }, told
    for each in report["adapters"]:
        rules = {rule["rule"]: rule["outcome"] for rule in each["rules"]}
        left = {name for name, outcome in rules.items() if outcome not in {"passed", "inapplicable"}}
        # The long loops, and nothing else, are left to `-m slow`.
        assert all("ten_thousand" in name or "field_case_25" in name for name in left), left

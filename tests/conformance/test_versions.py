"""The kit goes with one version of Steadlith, and is complete by itself (docs/conformance.md, Versions)."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def project(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_kit_has_the_version_of_steadlith_and_requires_exactly_that_one():
    ours, kit = project(ROOT), project(ROOT / "conformance")
    assert kit["version"] == ours["version"]
    assert f"steadlith=={ours['version']}" in kit["dependencies"]
    assert kit["requires-python"] == ours["requires-python"]


def test_the_plug_in_is_found_under_the_name_of_its_module():
    assert project(ROOT / "conformance")["entry-points"] == {
        "pytest11": {"steadlith_conformance.plugin": "steadlith_conformance.plugin"}
    }


def test_the_kit_carries_the_licence_and_what_to_read():
    assert (ROOT / "conformance" / "LICENSE").read_text("utf-8") == (ROOT / "LICENSE").read_text("utf-8")
    assert "StoreSuite" in (ROOT / "docs" / "conformance.md").read_text("utf-8")
    assert "EmbedderSuite" in (ROOT / "conformance" / "README.md").read_text("utf-8")

"""What stands in a table to be found fast is what the environment says."""

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import steadlith
from steadlith import wiring
from steadlith.cli.main import COMMANDS, group
from steadlith.version import VERSION
from steadlith_core.errors import ConfigError

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_table_of_our_adapters_is_part_of_our_entry_points():
    for group_name, adapters in wiring.OURS.items():
        declared = PROJECT["entry-points"][f"steadlith.{group_name}"]
        assert adapters.items() <= declared.items()


def test_the_version_that_plans_name_is_the_distribution_s():
    assert version("steadlith") == VERSION == PROJECT["version"]


def test_every_command_is_loaded_by_its_own_name():
    for name in COMMANDS:
        assert group.get_command(None, name).name == name


def test_a_plan_without_changes_asks_for_no_entry_points_and_loads_no_numpy(make_site, article):
    site = make_site()
    site.write("a.md", article("a"))
    site.apply()
    script = "import sys\nfrom steadlith.cli.main import group\ngroup.main(['plan'], standalone_mode=False)\n"
    command = [sys.executable, "-c", script + "print(*sys.modules)"]
    done = subprocess.run(command, cwd=site.root, capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "steadlith.observe" in modules
    assert modules.isdisjoint({"numpy", "importlib.metadata", "rich", "yaml", "steadlith_core.chunking.arena"})


RECORDS = [{"ref": "a", "body_text": "It rains."}, {"ref": "b", "body_text": "The sun shines."}]


@pytest.mark.parametrize(
    "given", [list, iter, lambda records: lambda: iter(records)], ids=["list", "iterator", "callable"]
)
def test_a_program_gives_its_records_by_the_name_of_a_source(tmp_path, given):
    (tmp_path / "steadlith.toml").write_text('[sources.notes]\ntype = "python"\n[embedding]\nembedder = "hash"\n')
    with steadlith.open(tmp_path, sources={"notes": given(RECORDS)}) as index:
        assert index.apply(index.plan()).head.documents == 2
        assert index.plan().is_empty
    with steadlith.open(tmp_path, sources={"notes": given(RECORDS[:1])}) as index:
        assert [change.id.path for change in index.plan().changes] == ["b"]


def test_a_source_that_the_configuration_does_not_have_is_refused(site):
    with pytest.raises(ConfigError, match="no such source"):
        steadlith.open(site.root, sources={"notes": RECORDS})

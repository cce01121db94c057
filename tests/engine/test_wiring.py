"""What stands in a table to be found fast is what the environment says."""

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

from steadlith import wiring
from steadlith.cli.main import COMMANDS, group
from steadlith.version import VERSION

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

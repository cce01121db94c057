"""The documentation names everything that a user can meet: commands, options, exit codes, classes, reasons."""

import inspect
import re
from pathlib import Path

import click
import pytest

from steadlith import config
from steadlith.cli import (
    caching,
    changes,
    comparing,
    cutting,
    importing,
    measuring,
    migrate,
    offline,
    past,
    reading,
    rollback,
    showing,
    start,
    upkeep,
)
from steadlith.cli.main import CODES
from steadlith.foreign.rows import Why
from steadlith_conformance.embedders import EmbedderSuite
from steadlith_conformance.stores import StoreSuite
from steadlith_core import errors
from steadlith_core.planning.plan import Repair
from steadlith_core.planning.steps import GLYPHS, KINDS, Reason
from steadlith_core.ports import Ailment
from steadlith_core.records import DriftKind, FindingKind
from steadlith_core.state.template import TEMPLATES

ROOT = Path(__file__).parent.parent
COMMANDS = {
    **{command.name: command for command in (start.init, changes.plan, showing.show, changes.apply)},
    **{command.name: command for command in (reading.status, reading.search, reading.verify, cutting.chunk)},
    **{command.name: command for command in (offline.lock, offline.prove, offline.verify_proof, comparing.diff)},
    **{command.name: command for command in (upkeep.compact, upkeep.doctor, upkeep.backup)},
    **{command.name: command for command in (past.history, past.tag, past.restore, rollback.rollback, migrate.migrate)},
    **{command.name: command for command in (importing.import_,)},
    **{f"cache {command.name}": command for command in caching.cache.commands.values()},
    **{f"measure {command.name}": command for command in measuring.measure.commands.values()},
    **{f"manifest {command.name}": command for command in offline.manifest.commands.values()},
}
CLASSES = [
    value for _, value in inspect.getmembers(errors, inspect.isclass) if issubclass(value, errors.SteadlithError)
]


def page(name):
    return (ROOT / "docs" / name).read_text("utf-8")


def row(text, name):
    rows = [line for line in text.splitlines() if line.startswith(f"| `{name}`")]
    assert rows, f"{name} has no row of its own"
    return rows[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name):
    text = page("cli.md")
    assert f"`steadlith {name}" in text
    for parameter in COMMANDS[name].params:
        if isinstance(parameter, click.Option):
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert re.search(rf"`[^`]*(?<![\w-]){re.escape(option)}(?![\w-])", text), f"{name} {option}"


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_every_error_class_is_documented_with_its_exit_code(error):
    assert f"| {error.exit_code} |" in row(page("errors.md"), error.__name__)


def test_every_exit_code_is_documented_and_in_the_help():
    codes = {error.exit_code for error in CLASSES} | {0, 2}
    for code in codes:
        assert re.search(rf"^\| {code} \| ", page("cli.md"), re.MULTILINE)
        assert re.search(rf"^  {code} ", CODES, re.MULTILINE)


@pytest.mark.parametrize("why", Why)
def test_every_reason_not_to_import_is_documented(why):
    assert row(page("import.md"), why)


@pytest.mark.parametrize("kind", FindingKind)
def test_every_finding_is_documented(kind):
    row(page("findings.md"), kind)


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_documented(reason):
    row(page("plan.md"), reason)


@pytest.mark.parametrize("kind", DriftKind)
def test_every_kind_of_drift_is_documented(kind):
    row(page("drift.md"), kind)


@pytest.mark.parametrize("ailment", Ailment)
def test_everything_that_the_doctor_names_is_documented(ailment):
    assert re.search(rf"^\| (`\w+`, )*`{ailment}`", page("maintenance.md"), re.MULTILINE)


@pytest.mark.parametrize("repair", Repair)
def test_every_repair_of_drift_is_documented(repair):
    assert f"`{repair}`" in page("drift.md")


def test_every_step_is_documented_with_its_glyph():
    for name, kind in KINDS.items():
        assert f"| `{GLYPHS[kind]}` | `{name}` |" in page("plan.md")


def test_every_guard_is_documented_with_its_override():
    for flag in changes.OVERRIDES:
        assert f"`{flag}`" in page("plan.md")
    for key in config.Limits.__dataclass_fields__:
        assert f"`{key}`" in page("configuration.md")


def test_every_template_and_rejected_setting_is_documented():
    for name in (*TEMPLATES, *config.REJECTED):
        assert f"`{name}`" in page("configuration.md")


def test_every_page_is_in_the_index_and_every_link_leads_somewhere():
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert all(f"({name})" in page("index.md") for name in pages)
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        prose = re.sub(r"```.*?```|`[^`]*`", "", path.read_text("utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", prose):
            assert (path.parent / target).exists(), f"{path.name} -> {target}"


def test_what_adapters_md_shows_of_the_example_package_is_its_code():
    package = ROOT / "tests" / "thirdparty"
    shown = re.findall(r"^```py (\S+)\n(.*?)^```$", page("adapters.md"), re.DOTALL | re.MULTILINE)
    assert len(shown) > 8
    for name, code in shown:
        (file,) = package.rglob(name)
        assert code in file.read_text("utf-8"), f"{name}:\n{code}"
    used = (package / "pyproject.toml").read_text("utf-8")
    used += (ROOT / "tests" / "conformance" / "test_third_party.py").read_text("utf-8")
    for code in re.findall(r"^```toml\n(.*?)^```$", page("adapters.md"), re.DOTALL | re.MULTILINE):
        assert code in used, code


def test_every_rule_that_adapters_md_names_is_a_rule_of_the_kit():
    named = set(re.findall(r"`(test_\w+)`", page("adapters.md")))
    assert len(named) > 20
    assert named <= StoreSuite.rules.keys() | EmbedderSuite.rules.keys()

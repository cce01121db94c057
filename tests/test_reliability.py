"""The table of docs/reliability.md: every fault that a test counts has its row, and no row is nobody's."""

import ast
import tomllib
from pathlib import Path

import pytest

from steadlith_core.applying.states import State

ROOT = Path(__file__).parent.parent
FOUND = tomllib.loads((ROOT / "tests" / "faults" / "found.toml").read_text("utf-8"))["found"]


def constants(module):
    """A module's names that stand for one text."""
    return {
        target.id: each.value.value
        for each in module.body
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant)
        for target in each.targets
        if isinstance(target, ast.Name)
    }


def fault_of(argument, names):
    """What comes before the colon; it must be known without running the test."""
    if isinstance(argument, ast.Name):
        return names[argument.id].partition(": ")[0]
    if isinstance(argument, ast.Constant):
        return argument.value.partition(": ")[0]
    assert isinstance(argument, ast.JoinedStr), ast.unparse(argument)
    text = ""
    for part in argument.values:
        value = part.value
        if isinstance(part, ast.FormattedValue):
            if not (isinstance(value, ast.Name) and value.id in names):
                break
            value = names[value.id]
        text += value
        if ": " in text:
            return text.partition(": ")[0]
    raise AssertionError(f"{ast.unparse(argument)}: a fault is a literal text up to its colon")


def counted():
    """Every fault that a test counts, and where."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        module = ast.parse(path.read_text("utf-8"))
        names = constants(module)
        for call in ast.walk(module):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "tried":
                yield fault_of(call.args[0], names), path.name


def table(name):
    page = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    inside = page.split(f"<!-- {name}: begin -->")[1].split(f"<!-- {name}: end -->")[0]
    lines = [line for line in inside.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines[2:]]


def test_every_fault_that_is_counted_has_a_line_and_every_line_is_counted():
    faults = dict(counted())
    assert faults.keys() - FOUND.keys() == set(), "write what was found into tests/faults/found.toml"
    assert FOUND.keys() - faults.keys() == set(), "no test counts these any more"


def test_the_page_has_a_row_of_every_fault_with_what_was_found():
    rows = table("faults")
    assert {fault for fault, *_ in rows} == FOUND.keys(), "`make faults` writes the page"
    assert {fault: found for fault, _, _, found in rows} == FOUND
    assert all(int(times.split()[0].replace(",", "")) > 0 for _, _, times, _ in rows)


def test_every_state_of_a_run_was_hit_by_thirty_kills():
    rows = table("kills")
    assert {where.partition(", ")[0] for where, _ in rows} == {str(state) for state in State} - {State.READY}
    assert all(int(kills.replace(",", "")) >= 30 for _, kills in rows), rows


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("tried('a kill', 'how')", "a kill"),
        ("tried('a kill: of an apply', 'how')", "a kill"),
        ("tried(f'a kill {WHAT}: {name}', 'how')", "a kill somewhere"),
    ],
)
def test_a_fault_is_read_from_its_call(written, fault):
    assert fault_of(ast.parse(written).body[0].value.args[0], {"WHAT": "somewhere"}) == fault


@pytest.mark.parametrize("written", ["tried(f'a kill of {name}', 'how')", "tried(f'a {kind} disk: {name}', 'how')"])
def test_a_fault_that_only_a_run_can_know_is_refused(written):
    with pytest.raises(AssertionError, match="a literal text up to its colon"):
        fault_of(ast.parse(written).body[0].value.args[0], {})

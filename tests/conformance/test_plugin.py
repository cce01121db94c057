"""The plug-in in runs of its own, over a small suite: levels, expected failures, the report, what is not silenced."""

import json
import os
import re
import subprocess
import sys
from importlib.resources import files

import jsonschema
import pytest

from steadlith_conformance.expected import ExpectedError, read

SUITE = '''
import pytest
from steadlith_conformance.suite import Suite, inapplicable, should

class ToySuite(Suite, port="store"):
    @pytest.fixture
    def toy(self):
        raise NotImplementedError("override `toy`")

    def test_one_is_one(self, toy):
        """A toy that is not itself confuses everybody. Return what you were made of."""
        assert toy["one"] == 1

    @pytest.mark.parametrize("number", [1, 2])
    def test_doubles_are_even(self, toy, number):
        assert toy["double"](number) % 2 == 0

    @should
    def test_it_is_quick(self, toy):
        """Nobody waits gladly."""
        assert toy["quick"]

    def test_what_it_has_no_tail_for_is_left_out(self, toy):
        if "tail" not in toy:
            inapplicable("it says that it has no tail")
'''
GOOD = """
import pytest
from toys import ToySuite

class TestToy(ToySuite):
    @pytest.fixture
    def toy(self):
        return {toy}
"""
WHOLE = '{"one": 1, "double": lambda number: 2 * number, "quick": True}'
BROKEN = '{"one": 2, "double": lambda number: number, "quick": False}'


@pytest.fixture
def run(tmp_path):
    """Run pytest over one toy; its exit code, what it printed, its report."""
    (tmp_path / "toys.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nconformance_xfail =\n")

    def run(toy, *options, expected=None, module=None):
        (tmp_path / "test_toy.py").write_text(module or GOOD.format(toy=toy))
        if expected is not None:
            (tmp_path / "conformance.toml").write_text(expected)
            (tmp_path / "pytest.ini").write_text("[pytest]\nconformance_xfail = conformance.toml\n")
        path = os.pathsep.join([str(tmp_path), *sys.path])
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-p", "steadlith_conformance.plugin", "-p", "no:cacheprovider"),
                *("-W", "error", "--conformance-report", "report.json", *options),
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "160"},
            capture_output=True,
            text=True,
            check=False,
        )
        target = tmp_path / "report.json"
        report = json.loads(target.read_text()) if target.exists() else None
        target.unlink(missing_ok=True)
        return done.returncode, done.stdout + done.stderr, report

    return run


def entry(rule, reason="it is a toy", adapter="test_toy.py::TestToy", **more):
    keys = {"class": adapter, "rule": rule, "reason": reason, **more}
    return "[[expected]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())


def outcomes(report):
    (adapter,) = report["adapters"]
    return {rule["rule"].removeprefix("test_"): rule["outcome"] for rule in adapter["rules"]}


def test_an_adapter_that_keeps_every_rule_conforms(run):
    code, printed, report = run(WHOLE)
    assert code == 0
    assert "test_toy.py::TestToy  store       3       0         0       0        0    1" in printed
    assert report["adapters"][0]["conforms"]
    assert report["adapters"][0]["complete"]
    assert set(outcomes(report).values()) == {"passed", "inapplicable"}
    schema = json.loads(files("steadlith_conformance").joinpath("report.schema.json").read_text("utf-8"))
    jsonschema.validate(report, schema)


def test_a_rule_that_fails_says_what_it_demands_and_what_to_do(run):
    code, printed, report = run(BROKEN)
    assert code == 1
    assert "MUST (store): one is one." in printed
    assert "Return what you were made of." in printed
    assert outcomes(report) == {
        "one_is_one": "failed",
        "doubles_are_even": "failed",
        "it_is_quick": "should_failed",
        "what_it_has_no_tail_for_is_left_out": "inapplicable",
    }
    assert not report["adapters"][0]["conforms"]


def test_a_should_is_told_and_fails_the_run_only_when_asked_to(run):
    slow = WHOLE.replace("True", "False")
    code, printed, report = run(slow)
    assert code == 0
    assert "TestToy.test_it_is_quick: SHOULD: " in printed
    assert report["adapters"][0]["conforms"]
    code, printed, report = run(slow, "--conformance-strict")
    assert code == 1
    assert "Nobody waits gladly." in printed
    assert outcomes(report)["it_is_quick"] == "failed"


def test_a_fixture_that_nobody_overrode_is_a_failure_that_names_it_a_should_or_not(run):
    code, printed, report = run("", module="from toys import ToySuite\nclass TestToy(ToySuite):\n    pass\n")
    assert code == 1
    assert "override `toy`" in printed
    assert set(outcomes(report).values()) == {"failed"}


def test_what_is_expected_to_fail_does_not_fail_the_run_and_does_not_conform(run):
    code, printed, report = run(
        BROKEN, expected=entry("test_one_is_one", issue="toys/7") + entry("test_doubles_are_even[1]")
    )
    assert code == 0
    assert "TestToy.test_one_is_one: expected to fail: it is a toy (toys/7)" in printed
    assert outcomes(report)["one_is_one"] == outcomes(report)["doubles_are_even"] == "expected_failure"
    assert not report["adapters"][0]["conforms"]


def test_what_is_expected_to_fail_and_passes_fails_the_run(run):
    code, printed, report = run(WHOLE, expected=entry("test_one_is_one"))
    assert code == 1
    assert "this rule is kept, and is expected to fail (it is a toy): remove the entry" in printed
    assert outcomes(report)["one_is_one"] == "unexpected_pass"


def test_what_is_expected_to_fail_and_is_not_put_to_the_test_fails_the_run(run):
    code, printed, _ = run(WHOLE, expected=entry("test_what_it_has_no_tail_for_is_left_out"))
    assert code == 1
    assert "was not put to the test: does not apply: it says that it has no tail" in printed


def test_an_entry_that_names_nothing_fails_the_run(run):
    wrong = (
        ("test_toy.py::TestToy", "test_one_is_won", "the kit has no rule test_one_is_won"),
        ("test_toy.py::TestTroy", "test_one_is_one", "no such class of rules in test_toy.py"),
        ("test_gone.py::TestToy", "test_one_is_one", "there is no file test_gone.py"),
    )
    expected = "".join(entry(rule, adapter=adapter) for adapter, rule, _ in wrong)
    code, printed, report = run(WHOLE, expected=expected)
    assert code == 1
    assert len(report["problems"]) == len(wrong)
    for adapter, _, named in wrong:
        assert f"ERROR expected failures: {adapter}: " in printed
        assert named in printed


@pytest.mark.parametrize(
    ("expected", "named"),
    [
        (entry("test_one_is_one", reason=" "), "'reason' must be a text"),
        ('[[expected]]\nclass = "test_toy.py::TestToy"\nrule = "test_one_is_one"\n', "'reason' must be a text"),
        (entry("test_one_is_one", issue=""), "'issue' must be a text"),
        (entry("test_one_is_one", why="so"), "the key 'why' is unknown"),
        (entry("test_one_is_one", adapter="TestToy"), "name the file too"),
        (entry("test_one_is_one") * 2, "names twice: test_toy.py::TestToy test_one_is_one"),
        ("expected = 1", "nothing but tables like this one"),
        ("expected = [1]", "entry 1: it is not a table"),
        ("[other]", "nothing but tables like this one"),
        ("[[expected", "cannot be read"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused(tmp_path, expected, named):
    (tmp_path / "conformance.toml").write_text(expected)
    with pytest.raises(ExpectedError, match=re.escape(named)):
        read(tmp_path / "conformance.toml")


def test_a_file_that_is_refused_stops_the_run(run):
    code, printed, _ = run(WHOLE, "--conformance-xfail", "absent.toml")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "expected failures: absent.toml cannot be read" in printed


def test_a_run_of_other_tests_says_nothing_of_entries_that_it_cannot_judge(run, tmp_path):
    (tmp_path / "test_other.py").write_text("def test_nothing():\n    pass\n")
    expected = entry("test_one_is_one")
    assert run(BROKEN, "test_other.py", expected=expected)[0] == 0
    assert run(BROKEN, "test_toy.py", "-k", "one_is_one", expected=expected)[0] == 0


def test_a_mark_that_silences_rules_fails_the_run(run):
    marks = ("skip", "xfail")
    classes = "".join(
        f"@pytest.mark.{mark}\nclass Test{number}(Mine):\n    pass\n" for number, mark in enumerate(marks)
    )
    module = GOOD.format(toy=WHOLE).replace("class TestToy", "class Mine") + classes
    code, printed, _ = run("", module=module)
    assert code == 1
    for number, mark in enumerate(marks):
        assert f"ERROR test_toy.py::Test{number}: rules are marked {mark!r}" in printed


def test_what_is_skipped_or_left_out_stands_in_the_report(run):
    module = GOOD.format(toy="pytest.skip('no toys here')")
    code, printed, report = run("", module=module)
    assert code == 0
    assert "TestToy.test_one_is_one: not run: no toys here" in printed
    assert set(outcomes(report).values()) == {"not_run"}
    module = GOOD.format(toy=WHOLE).replace(
        "class TestToy", "@pytest.mark.skipif(True, reason='no moon')\nclass TestToy"
    )
    code, printed, _ = run("", module=module)
    assert code == 0
    assert "TestToy.test_one_is_one: not run: no moon" in printed
    report = run(WHOLE, "-k", "one_is_one")[2]
    assert outcomes(report)["it_is_quick"] == "not_run"
    assert not report["adapters"][0]["complete"]


def test_a_run_in_two_processes_tells_the_same(run):
    expected = entry("test_one_is_one") + entry("test_one_is_won")
    alone, together = (run(BROKEN, *options, expected=expected) for options in ((), ("-n", "2")))
    assert alone[0] == together[0] == 1
    assert alone[2] == together[2]
    for printed in (alone[1], together[1]):
        assert "the kit has no rule test_one_is_won" in printed
        assert "TestToy.test_it_is_quick: SHOULD" in printed


def test_a_run_without_suites_imports_none(run):
    module = """
import sys
def test_nothing_is_loaded():
    ours = {name for name in sys.modules if name.startswith("steadlith")}
    assert ours == {"steadlith_conformance", "steadlith_conformance.plugin", "steadlith_conformance.book"}
    assert "hypothesis" not in sys.modules
"""
    code, printed, report = run("", module=module)
    assert code == 0, printed
    assert "conformance ===" not in printed
    assert report["adapters"] == []


def test_a_process_that_dies_is_a_problem_and_no_crash(run):
    module = GOOD.format(toy=WHOLE) + "\n    def test_that_kills(self):\n        import os\n        os._exit(3)\n"
    code, printed, report = run("", "-n", "1", "--max-worker-restart", "0", module=module)
    assert code != 0
    assert "INTERNALERROR" not in printed
    assert "died, so not all of its rules are known" in report["problems"][0]


def test_a_run_that_only_collects_writes_no_report(run):
    code, printed, report = run(WHOLE, "--collect-only")
    assert code == 0
    assert report is None
    assert "conformance ===" not in printed

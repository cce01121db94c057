"""What one run knows of adapters and rules: found when tests are collected, filled while they run, told at the end.

1. What a rule has shown travels in pytest's own reports, and what is known of classes in a worker's output: a run in
   several processes (xdist) adds up to the book of one.
2. What is wrong with the run as a whole (an unknown entry, a silenced rule) is a problem; any problem fails the run.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from steadlith_conformance.expected import Expected
    from steadlith_conformance.report import Adapter
    from steadlith_conformance.suite import Rule, Suite

SILENCERS = frozenset({"skip", "xfail"})
"""Marks that hide a rule whatever is the case. What `skipif` leaves out is reported as not run, with its reason."""
FACTS = frozenset({"capabilities"})
"""Properties that rules record (`record_property`) and that stand in the report."""

_RULE = pytest.StashKey["tuple[str, type[Suite], Rule]"]()
_EXPECTED = pytest.StashKey["Expected"]()
_KEY = "steadlith_conformance"


class Book:
    """The hooks of a run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.adapters: dict[str, Adapter] = {}
        self.problems: set[str] = set()
        self.shown: list[dict[str, Any]] = []
        self.expected = _expected(config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Find the rules among the tests, before any is deselected, and what is expected of them."""
        classes: dict[str, type[Suite]] = {}
        for item in items:
            found = _rule(item)
            if found is not None:
                adapter, classes[adapter], rule = item.stash[_RULE] = found
                self._mark(item, adapter, rule)
        if classes:
            self._open(classes)
        if self.expected:
            self._judge_expected(items, classes)

    def _mark(self, item: pytest.Item, adapter: str, rule: Rule) -> None:
        self.problems.update(
            f"{adapter}: rules are marked {mark.name!r}; one that cannot be kept yet is named in the file of expected "
            "failures"
            for mark in item.iter_markers()
            if mark.name in SILENCERS
        )
        for each in self.expected:
            if each.adapter == adapter and each.rule in {rule.name, item.name}:
                item.stash[_EXPECTED] = each
                item.add_marker(pytest.mark.xfail(reason=each.words, strict=True))

    def _open(self, classes: dict[str, type[Suite]]) -> None:
        from steadlith_conformance.checks import checks_of
        from steadlith_conformance.report import Adapter

        for adapter, cls in classes.items():
            rules = {name: (str(rule.level), checks_of(cls.port, name)) for name, rule in cls.rules.items()}
            self.adapters[adapter] = Adapter(cls.port, rules)
            self.problems.update(f"{adapter}: the rule {name} was replaced" for name in cls.silenced())

    def _judge_expected(self, items: list[pytest.Item], classes: dict[str, type[Suite]]) -> None:
        from steadlith_conformance.expected import unknown

        modules = {item.nodeid.partition("::")[0]: item.getparent(pytest.Module) for item in items}
        for each in self.expected:  # a run of one class collects no other, and its module has it all the same
            module, _, name = each.adapter.partition("::")
            held = getattr(getattr(modules.get(module), "obj", None), name, None)
            if _is_adapter(held):
                classes.setdefault(each.adapter, held)
        self.problems.update(unknown(self.expected, self.config.rootpath, modules, classes))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note what a rule has shown, and say what it demands where it fails."""
        report = yield
        if _RULE in item.stash:
            from steadlith_conformance.judging import judge

            adapter, cls, rule = item.stash[_RULE]
            strict = bool(self.config.getoption("--conformance-strict"))
            judged = judge(report, cls.port, rule, item.stash.get(_EXPECTED, None), strict=strict)
            if judged is not None:
                shown = {"adapter": adapter, "rule": rule.name, "outcome": judged[0].value, "message": judged[1]}
                report.conformance = shown  # type: ignore[attr-defined]  # reports carry what plug-ins put there
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Enter it."""
        shown = getattr(report, "conformance", None)
        if shown is not None:
            facts = {name: value for name, value in report.user_properties if name in FACTS}
            self.shown.append({**shown, "facts": facts})

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker found."""
        from steadlith_conformance.report import Adapter

        told = getattr(node, "workeroutput", {}).get(_KEY)
        if told:
            self.problems.update(told["problems"])
            self.adapters |= {name: Adapter(*opened) for name, opened in told["adapters"].items()}

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand the book to the process that reports; or close it, write the report, and fail the run for a problem."""
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            adapters = {name: (each.port, dict(each.rules)) for name, each in self.adapters.items()}
            output[_KEY] = {"problems": sorted(self.problems), "adapters": adapters}
            return
        for each in self.shown:
            if (adapter := self.adapters.get(each["adapter"])) is not None:
                adapter.enter(each)
            else:
                self.problems.add(f"{each['adapter']}: the process that ran it died, so not all of its rules are known")
        if self.problems and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if (target := self.config.getoption("--conformance-report")) and not self.config.option.collectonly:
            from steadlith_conformance.report import write

            write(self.config.invocation_params.dir / target, self.adapters, self.problems)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The table, and the problems."""
        if self.adapters and not self.config.option.collectonly:
            from steadlith_conformance.report import table

            terminalreporter.section("conformance")
            for line in table(self.adapters):
                terminalreporter.write_line(line)
        for problem in sorted(self.problems):
            terminalreporter.write_line(f"ERROR {problem}", red=True)


def _expected(config: pytest.Config) -> tuple[Expected, ...]:
    """The entries of the file of expected failures, if one is named; an option is relative to where it is typed."""
    given = config.getoption("--conformance-xfail")
    named = config.getini("conformance_xfail")
    if given:
        path = config.invocation_params.dir / given
    elif named:
        path = (config.inipath.parent if config.inipath else config.rootpath) / named
    else:
        return ()
    from steadlith_conformance.expected import ExpectedError, read

    try:
        return read(Path(path))
    except ExpectedError as error:
        raise pytest.UsageError(str(error)) from error


def _rule(item: pytest.Item) -> tuple[str, type[Suite], Rule] | None:
    """The class under test by its node id, the class, and the rule, if the test is a rule of the kit."""
    cls = getattr(item, "cls", None)
    parent = item.getparent(pytest.Class)
    if not _is_adapter(cls) or parent is None:
        return None
    rule = cls.rules.get(getattr(item, "originalname", ""))
    return (parent.nodeid, cls, rule) if rule else None


def _is_adapter(held: object) -> TypeGuard[type[Suite]]:
    # Who has not imported a suite has none.
    suite = sys.modules.get("steadlith_conformance.suite")
    return suite is not None and isinstance(held, type) and issubclass(held, suite.Suite)

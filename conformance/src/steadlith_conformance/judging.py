"""What a phase of a rule has shown, and what its author is told: one report of pytest's, read and set right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_conformance.checks import checks_of
from steadlith_conformance.report import Outcome
from steadlith_conformance.suite import INAPPLICABLE, Level

if TYPE_CHECKING:
    import pytest

    from steadlith_conformance.expected import Expected
    from steadlith_conformance.suite import Rule


def judge(
    report: pytest.TestReport, port: str, rule: Rule, expected: Expected | None, *, strict: bool
) -> tuple[Outcome, str] | None:
    """The outcome with its message; none of a phase that shows nothing. Changes what pytest is to make of it."""
    if report.skipped:
        return _skipped(report, expected)
    if report.failed:
        return _failed(report, port, rule, expected, strict=strict)
    return (Outcome.PASSED, "") if report.when == "call" else None


def _skipped(report: pytest.TestReport, expected: Expected | None) -> tuple[Outcome, str]:
    if hasattr(report, "wasxfail"):
        return Outcome.EXPECTED_FAILURE, str(report.wasxfail).removeprefix("reason: ")
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = reason.removeprefix("Skipped: ")
    if expected is not None:
        report.outcome = "failed"
        report.longrepr = f"this rule is expected to fail ({expected.words}), and was not put to the test: {reason}"
        return Outcome.FAILED, report.longrepr
    if reason.startswith(INAPPLICABLE):
        return Outcome.INAPPLICABLE, reason.removeprefix(INAPPLICABLE)
    return Outcome.NOT_RUN, reason


def _failed(
    report: pytest.TestReport, port: str, rule: Rule, expected: Expected | None, *, strict: bool
) -> tuple[Outcome, str]:
    if expected is not None and str(report.longrepr).startswith("[XPASS(strict)]"):
        report.longrepr = f"this rule is kept, and is expected to fail ({expected.words}): remove the entry"
        return Outcome.UNEXPECTED_PASS, report.longrepr
    message = _message(report)
    if rule.level is Level.SHOULD and report.when == "call" and not strict:
        report.outcome = "skipped"
        report.wasxfail = message
        return Outcome.SHOULD_FAILED, message
    if not report.skipped:
        explain = getattr(report.longrepr, "addsection", None)
        if explain is not None:
            explain("what this rule demands", demand(port, rule))
    return Outcome.FAILED, message


def demand(port: str, rule: Rule) -> str:
    """The rule in words, for whoever has to keep it."""
    numbers = ", ".join(map(str, checks_of(port, rule.name)))
    head = f"{rule.level} ({port}{f', check {numbers}' if numbers else ''}): {rule.sentence}."
    return f"{head}\n{rule.advice}" if rule.advice else head


def _message(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message if crash is not None else report.longrepr)

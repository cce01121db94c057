"""What a run has shown: one record for each adapter and rule, as JSON for machines and as a table for people.

1. The report is a function of what the rules have shown: no clock, no duration, no absolute path of the kit's own.
2. It names every rule of every adapter, also those that were not run; nothing goes without a word.
3. Of a rule with several cases the worst outcome counts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

SCHEMA = "steadlith-conformance-report/1"
"""Changes when a field is removed or gets another meaning; a reader ignores fields that it does not know."""

NOT_SELECTED = "not selected in this run"
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


class Outcome(StrEnum):
    """What became of a rule, the worst first."""

    FAILED = "failed"
    UNEXPECTED_PASS = "unexpected_pass"  # noqa: S105 -- an outcome, no password
    EXPECTED_FAILURE = "expected_failure"
    SHOULD_FAILED = "should_failed"
    NOT_RUN = "not_run"
    PASSED = "passed"
    INAPPLICABLE = "inapplicable"


_ORDER = list(Outcome)
BAD = frozenset({Outcome.FAILED, Outcome.UNEXPECTED_PASS})
COLUMNS = (
    ("passed", (Outcome.PASSED,)),
    ("failed", (Outcome.FAILED, Outcome.UNEXPECTED_PASS)),
    ("expected", (Outcome.EXPECTED_FAILURE,)),
    ("should", (Outcome.SHOULD_FAILED,)),
    ("not run", (Outcome.NOT_RUN,)),
    ("n/a", (Outcome.INAPPLICABLE,)),
)


@dataclass(slots=True)
class Adapter:
    """One class under test: its rules as (level, checks) by name, and what is known of them so far."""

    port: str
    rules: Mapping[str, tuple[str, list[int]]]
    facts: dict[str, Any] = field(default_factory=dict)
    shown: dict[str, tuple[Outcome, str]] = field(default_factory=dict)

    def enter(self, shown: Mapping[str, Any]) -> None:
        """Note what one case or phase of a rule has shown."""
        outcome, known = Outcome(shown["outcome"]), self.shown.get(shown["rule"])
        if known is None or _ORDER.index(outcome) < _ORDER.index(known[0]):
            self.shown[shown["rule"]] = (outcome, shown["message"])
        self.facts.update(shown["facts"])

    def outcomes(self) -> list[tuple[str, Outcome, str]]:
        """Every rule with its outcome and message, by name."""
        return [(name, *self.shown.get(name, (Outcome.NOT_RUN, NOT_SELECTED))) for name in sorted(self.rules)]


def write(target: Path, adapters: Mapping[str, Adapter], problems: Iterable[str]) -> None:
    """Write the machine-readable report."""
    made = document(adapters, problems, version("steadlith-conformance"))
    target.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")


def document(adapters: Mapping[str, Adapter], problems: Iterable[str], kit: str) -> dict[str, Any]:
    """The machine-readable report (report.schema.json)."""
    return {
        "schema": SCHEMA,
        "kit": kit,
        "problems": sorted(problems),
        "adapters": [_adapter(name, adapters[name]) for name in sorted(adapters)],
    }


def _adapter(name: str, adapter: Adapter) -> dict[str, Any]:
    outcomes = adapter.outcomes()
    counted = Counter(outcome for _, outcome, _ in outcomes)
    return {
        "adapter": name,
        "port": adapter.port,
        "conforms": not any(counted[each] for each in (*BAD, Outcome.EXPECTED_FAILURE)),
        "complete": not counted[Outcome.NOT_RUN],
        **adapter.facts,
        "counts": {outcome.value: counted[outcome] for outcome in sorted(Outcome)},
        "rules": [
            {
                "rule": rule,
                "level": adapter.rules[rule][0],
                "checks": adapter.rules[rule][1],
                "outcome": outcome.value,
                "message": _ADDRESS.sub("0x...", message),
            }
            for rule, outcome, message in outcomes
        ],
    }


def table(adapters: Mapping[str, Adapter]) -> list[str]:
    """The summary: a line for each adapter, then every rule that is no plain pass, with its reason."""
    rows = [("adapter", "port", *(title for title, _ in COLUMNS))]
    notes = []
    for name in sorted(adapters):
        counted = Counter(outcome for _, outcome, _ in adapters[name].outcomes())
        numbers = [str(sum(counted[each] for each in outcomes)) for _, outcomes in COLUMNS]
        rows.append((name, adapters[name].port, *numbers))
        notes += _notes(name, adapters[name])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return [*lines, *([""] if notes else []), *notes]


def _notes(name: str, adapter: Adapter) -> list[str]:
    """What a reader must know besides the numbers; rules that were not selected are counted, not listed."""
    words = {
        Outcome.UNEXPECTED_PASS: "passes, and is expected to fail",
        Outcome.EXPECTED_FAILURE: "expected to fail",
        Outcome.SHOULD_FAILED: "SHOULD",
        Outcome.NOT_RUN: "not run",
    }
    return [
        f"{name.rpartition('::')[2]}.{rule}: {words[outcome]}: {message.splitlines()[0] if message else ''}"
        for rule, outcome, message in adapter.outcomes()
        if outcome in words and message != NOT_SELECTED
    ]

"""The one file of expected failures: which rules an adapter cannot keep yet, and why.

1. It is strict: an entry that names no class or no rule, that has no reason, or whose rule passes, fails the run.
2. A class is named as pytest does, `tests/test_store.py::TestStore`; a rule by its name, or, if only some of its cases
   fail, with the case: `test_the_best_are_those_of_a_full_comparison[1500]`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from steadlith_conformance.suite import Suite

KEYS = ("class", "rule", "reason", "issue")
FORM = """
[[expected]]
class = "tests/test_store.py::TestStore"
rule = "test_ids_are_never_used_twice"
reason = "ids come from a sequence that a restart sets back"
issue = "https://example.org/issues/7"   # may be left out
"""


class ExpectedError(ValueError):
    """The file cannot be used."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One rule of one class that is expected to fail."""

    adapter: str
    rule: str
    reason: str
    issue: str = ""

    @property
    def words(self) -> str:
        """The reason, and where it is followed up."""
        return f"{self.reason} ({self.issue})" if self.issue else self.reason


def read(path: Path) -> tuple[Expected, ...]:
    """All entries; `ExpectedError` says what is wrong with which of them."""
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        message = f"expected failures: {path.name} cannot be read: {error}"
        raise ExpectedError(message) from error
    entries = table.pop("expected", [])
    if table or not isinstance(entries, list):
        message = f"expected failures: {path.name} holds nothing but tables like this one:\n{FORM}"
        raise ExpectedError(message)
    found = tuple(_entry(entry, f"{path.name}, entry {number}") for number, entry in enumerate(entries, 1))
    twice = sorted({f"{one.adapter} {one.rule}" for one in found if found.count(one) > 1})
    if twice:
        message = f"expected failures: {path.name} names twice: {', '.join(twice)}"
        raise ExpectedError(message)
    return found


def _entry(entry: Any, where: str) -> Expected:
    wrong = (
        f"it is not a table of {', '.join(KEYS)}"
        if not isinstance(entry, dict)
        else next((f"the key {key!r} is unknown" for key in entry if key not in KEYS), None)
        or next((f"{key!r} must be a text that says something" for key in KEYS[:3] if not _says(entry, key)), None)
        or ("'issue' must be a text that says something" if "issue" in entry and not _says(entry, "issue") else None)
        or (
            None if "::" in entry["class"] else f"class = {entry['class']!r}: name the file too, tests/test_x.py::TestX"
        )
    )
    if wrong:
        message = f"expected failures: {where}: {wrong}. An entry looks like this:\n{FORM}"
        raise ExpectedError(message)
    return Expected(entry["class"], entry["rule"], entry["reason"], entry.get("issue", ""))


def _says(entry: Mapping[str, Any], key: str) -> bool:
    return isinstance(entry.get(key), str) and bool(entry[key].strip())


def unknown(
    expected: Iterable[Expected], root: Path, modules: Iterable[str], adapters: Mapping[str, type[Suite]]
) -> list[str]:
    """What is wrong with entries: their file is gone, or is one of the collected `modules` and has no such rule."""
    problems = []
    collected = set(modules)
    for each in expected:
        module = each.adapter.partition("::")[0]
        if not (root / module).is_file():
            problems.append(f"expected failures: {each.adapter}: there is no file {module}")
        elif module not in collected:
            continue  # a run of other files cannot tell
        elif each.adapter not in adapters:
            problems.append(f"expected failures: {each.adapter}: there is no such class of rules in {module}")
        elif each.rule.partition("[")[0] not in adapters[each.adapter].rules:
            problems.append(f"expected failures: {each.adapter}: the kit has no rule {each.rule}")
    return problems

"""What becomes of a configuration file: the lines that differ, and how it ended."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING

from steadlith.report.lines import STYLES, clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith.journals import Journal
    from steadlith.report.lines import Line


def in_place(done: Journal) -> Iterator[Line]:
    """A committed change whose configuration is there now."""
    yield "bold green", f"Generation {done.number} ({clean(done.why)}) is committed, and its configuration is in place."


def kept() -> Iterator[Line]:
    """A journal that was dropped by force, whatever was committed under it."""
    yield "", "The journal is dropped. The configuration file stays as it is; the next plan shows what that changes."


def differing(now: str, then: str) -> Iterator[Line]:
    """Each line that goes and each that comes."""
    changed = unified_diff(now.splitlines(), then.splitlines(), lineterm="", n=0)
    for line in list(changed)[2:]:
        if not line.startswith("@@"):
            yield STYLES.get(line[:1], ""), f"{line[:1]} {clean(line[1:])}"

"""What becomes of a configuration file: the lines that differ."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING

from steadlith.report.lines import STYLES, clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith.report.lines import Line


def differing(now: str, then: str) -> Iterator[Line]:
    """Each line that goes and each that comes."""
    changed = unified_diff(now.splitlines(), then.splitlines(), lineterm="", n=0)
    for line in list(changed)[2:]:
        if not line.startswith("@@"):
            yield STYLES.get(line[:1], ""), f"{line[:1]} {clean(line[1:])}"

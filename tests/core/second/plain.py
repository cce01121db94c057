"""docs/format.md, section 14: text and code."""

import re
from types import SimpleNamespace

MARKER = re.compile(r"(?:[-*+\u2022]|([0-9]{1,9}[.)]))(?:[ \t]|\Z)")  # 14.1


def prose_start(line):
    marker = MARKER.match(line.inner)
    return len(line.indentation) + (marker.end(1) if marker and marker.group(1) else 0)


TEXT = SimpleNamespace(
    SENTENCES=True,
    part=lambda lines, number, fresh, parts: None,
    is_item=lambda line: MARKER.match(line.inner) is not None,
    prose_start=prose_start,
    ordinary_level=lambda line, fresh: None,
)

CODE = SimpleNamespace(
    SENTENCES=False,
    part=lambda lines, number, fresh, parts: None,
    ordinary_level=lambda line, fresh: 4 if fresh and not line.indentation else 3,  # 14.2
)

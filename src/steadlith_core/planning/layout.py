"""The layout of a plan file: JSON of which people read the upper part, and diff the rest line by line.

1. Deterministic: keys sorted, ASCII, no floats (format.md 7.1); what a file says does not depend on its layout.
2. A step is one line, and so is whatever holds no further value; the rest opens up, one space a level.
"""

from __future__ import annotations

import json
from typing import Any

OPEN_LEVELS = 2
"""Values this deep or less open up even where they hold single values only."""

ONE_LINE = 4
"""Values this deep are on one line whatever they hold: steps (body, changes, change, steps, step)."""


def lay_out(value: Any, level: int = 0) -> str:
    """`value` as text, as it stands `level` levels deep."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    nested = any(isinstance(each, dict | list) and each for each in inner)
    if not inner or level >= ONE_LINE or (level >= OPEN_LEVELS and not nested):
        return json.dumps(value, sort_keys=True)
    indent = "\n" + " " * (level + 1)
    if isinstance(value, dict):
        items = (f"{json.dumps(key)}: {lay_out(value[key], level + 1)}" for key in sorted(value))
        return "{" + indent + f",{indent}".join(items) + indent[:-1] + "}"
    return "[" + indent + f",{indent}".join(lay_out(each, level + 1) for each in value) + indent[:-1] + "]"

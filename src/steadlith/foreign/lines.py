"""JSON Lines as others write them: one object a line, read as they stream.

1. A line is looked at by itself: what is wrong with one never stops the others.
2. UTF-8 with or without a byte order mark; blank lines are passed over; a line that is too long is not held in memory.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

from steadlith.foreign.rows import Passed, Why
from steadlith.foreign.whole import cannot_read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_LINE = 16 << 20
"""A chunk with a vector of 8,192 numbers takes less than a hundredth of it."""

_BOM = b"\xef\xbb\xbf"


def objects(path: Path) -> Iterator[tuple[str, dict[str, Any] | Passed]]:
    """The place (`FILE:LINE`) and the object of every line. Raises `ImportFileError` for a file that cannot be read."""
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(_lines(stream), 1):
                if line is None or line.strip() not in (b"", _BOM):
                    place = f"{path.name}:{number}"
                    yield place, _object(place, line)
    except OSError as error:
        raise cannot_read(path, error) from error


def _lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """Each line, none in the place of one that is too long."""
    while line := stream.readline(MAX_LINE + 1):
        if len(line) <= MAX_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE)
        yield None


def _object(place: str, line: bytes | None) -> dict[str, Any] | Passed:
    if line is None:
        return Passed(place, Why.UNREADABLE, f"the line has more than {MAX_LINE:,} bytes")
    try:
        value = json.loads(line.removeprefix(_BOM).decode("utf-8"))
    except UnicodeDecodeError as error:
        return Passed(place, Why.UNREADABLE, f"the line is not UTF-8 (byte {error.start} of it)")
    except (ValueError, RecursionError) as error:
        why = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        return Passed(place, Why.UNREADABLE, f"the line is no JSON ({why})")
    if not isinstance(value, dict):
        return Passed(place, Why.UNREADABLE, f"the line is {value!r:.60}, expected an object")
    return value

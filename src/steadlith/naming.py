"""What a person calls a generation: its number, the head, so many before the head, or the name that it was given.

1. A given name cannot look like one of the other three, so no name has two meanings.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steadlith_core.errors import GenerationGone, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.records import Generation

EXPECTED = "a generation (12, head, head~1, or a name that `steadlith tag` gave)"
LONGEST_NAME = 100

_COUNTED = re.compile(r"(\d{1,18})|head(?:~(\d{1,9}))?")
_SPOILT = re.compile(r"[\x00-\x20\x7f-\x9f]|^[-~./]|~")


def is_counted(name: str) -> bool:
    """Whether a name is a number, the head, or so many before it: what needs no index to be told from a file."""
    return _COUNTED.fullmatch(name) is not None


def find(history: Sequence[Generation], tags: Mapping[str, int], name: str) -> int | None:
    """The number of the generation that `name` means; none if it means no generation at all.

    A number is answered as it is. Raises `GenerationGone` where fewer generations are kept than `head~N` goes back.
    """
    match = _COUNTED.fullmatch(name)
    if match is None:
        return tags.get(name)
    if match[1] is not None:
        return int(match[1])
    back = int(match[2] or 0)
    if not history and back == 0:
        return 0
    if back >= len(history):
        message = f"{name}: {len(history)} generations are kept, the head included"
        raise GenerationGone(message)
    return history[-1 - back].number


def checked(name: str) -> str:
    """A name that a generation may be given. Raises `UsageError`."""
    if not 1 <= len(name) <= LONGEST_NAME:
        message = f"a name has 1 to {LONGEST_NAME} characters, this has {len(name)}"
        raise UsageError(message)
    if is_counted(name):
        message = f"{name!r} would be taken for a number or the head; choose another name"
        raise UsageError(message)
    if _SPOILT.search(name):
        message = f"{name!r}: a name has no spaces, control characters or ~, and begins with none of - . /"
        raise UsageError(message)
    return name

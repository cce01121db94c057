"""Rows: one chunk of another program with its vector, as it was read; and what was passed over, and why.

1. A row is usable or it is passed over, by name: one bad row never stops the rest.
2. Text and vector are verbatim. A vector is float32, as every one of ours; what float32 cannot hold is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from steadlith_core import vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith.foreign.whole import Whole
    from steadlith_core.vectors import Vector


class Why(StrEnum):
    """Why something of what was read is not imported as it is. Closed; docs/import.md has each."""

    UNREADABLE = "unreadable"
    TEXT = "text"
    VECTOR = "vector"
    DUPLICATE = "duplicate"
    DELETED = "deleted"
    ABSENT = "absent"
    PATH = "path"
    DAMAGED = "damaged"
    RECORDED = "recorded"
    NOT_FOUND = "not_found"
    INCOMPLETE = "incomplete"
    NO_SOURCE = "no_source"
    METADATA = "metadata"


@dataclass(frozen=True, slots=True)
class Passed:
    """What is not imported as it is: where, why, and in a sentence."""

    place: str
    why: Why
    message: str


@dataclass(frozen=True, slots=True)
class Row:
    """One chunk. `place` says where it was read, `document` which document it is of as the other program names it;
    `at` orders the chunks of a document, where there is such a number.
    """

    place: str
    id: str | None
    document: str
    text: str
    vector: Vector
    metadata: Mapping[str, Any]
    at: int | None = None


Read: TypeAlias = "Row | Passed"


class Reading(Protocol):
    """What another program left, open to be read more than once."""

    @property
    def name(self) -> str:
        """Whose it is: a foreign document's policy is `foreign/` and this."""
        ...

    def rows(self) -> Iterator[Read]:
        """All of it, from the beginning, in an order that is the same each time."""
        ...

    def whole(self) -> Whole:
        """What it says of itself, and the digests of its files."""
        ...


def row(
    place: str,
    id: Any,  # noqa: A002
    document: Any,
    text: Any,
    vector: Any,
    metadata: Any,
    dimensions: int,
    at: Any = None,
) -> Read:
    """The row of these values, if they can be one."""
    if problem := _wrong_text(text):
        return Passed(place, Why.TEXT, problem)
    if id is not None and not isinstance(id, str | int):
        return Passed(place, Why.UNREADABLE, f"its id is {id!r:.80}, expected text or a number")
    if not isinstance(document, str) or not document:
        return Passed(place, Why.PATH, f"it names no document ({document!r:.80})")
    if metadata is not None and not isinstance(metadata, Mapping):
        return Passed(place, Why.UNREADABLE, f"its metadata are {metadata!r:.80}, expected an object")
    packed = packed_vector(vector, dimensions)
    if isinstance(packed, str):
        return Passed(place, Why.VECTOR, packed)
    number = at if isinstance(at, int) and not isinstance(at, bool) else None
    return Row(place, None if id is None else str(id), document, text, packed, metadata or {}, number)


def _wrong_text(text: Any) -> str | None:
    if not isinstance(text, str):
        return f"its text is {text!r:.80}, expected text"
    if not text.strip():
        return "its text is empty"
    if "\0" in text:
        return "its text holds a NUL"
    return None if is_unicode(text) else "its text holds half of a surrogate pair, so it is no text"


def is_unicode(text: str) -> bool:
    """Whether it can be written in UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def packed_vector(values: Any, dimensions: int) -> Vector | str:
    """The vector, or what is wrong with it."""
    if isinstance(values, bytes):
        packed = values
    elif isinstance(values, list) and set(map(type, values)) <= {int, float}:
        packed = _packed(values)
    else:
        return f"its vector is {values!r:.60}, expected a list of numbers"
    found = vectors.problems(packed, dimensions)
    return f"its vector {found[0]}" if found else packed


def _packed(values: Sequence[float]) -> Vector:
    import numpy as np

    try:
        with np.errstate(over="ignore"):
            return vectors.pack(values)
    except OverflowError:  # a whole number that no float holds
        return vectors.pack([float("inf")] * len(values))

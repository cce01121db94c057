"""Columns that hold canonical bytes, as the values that records have.

1. What `canon` can read but the column cannot mean is a `ValueError`, like any other damage.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from steadlith_core import canon

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_metadata(data: bytes) -> Mapping[str, str]:
    """A document's metadata."""
    value = canon.decode(data)
    if not isinstance(value, dict):
        message = f"metadata is a map, got {value!r}"
        raise ValueError(message)  # noqa: TRY004 -- the bytes are wrong, not a caller's type
    texts = {key: text for key, text in value.items() if isinstance(text, str)}
    if len(texts) != len(value):
        message = f"metadata maps text to text, got {value!r}"
        raise ValueError(message)
    return texts


@lru_cache(maxsize=1 << 10)
def read_headings(data: bytes) -> tuple[str, ...]:
    """An entry's path of headings; neighbours share theirs."""
    value = canon.decode(data)
    if not isinstance(value, list):
        message = f"headings are a list, got {value!r}"
        raise ValueError(message)  # noqa: TRY004 -- the bytes are wrong, not a caller's type
    texts = [text for text in value if isinstance(text, str)]
    if len(texts) != len(value):
        message = f"headings are texts, got {value!r}"
        raise ValueError(message)
    return tuple(texts)


def read_counts(data: bytes) -> Mapping[str, int]:
    """A generation's summary."""
    value = canon.decode(data)
    if not isinstance(value, dict):
        message = f"a summary is a map, got {value!r}"
        raise ValueError(message)  # noqa: TRY004 -- the bytes are wrong, not a caller's type
    counts = {key: count for key, count in value.items() if type(count) is int}
    if len(counts) != len(value):
        message = f"a summary counts steps, got {value!r}"
        raise ValueError(message)
    return counts

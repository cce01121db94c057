"""Sample entries of a cache, and how suites call what opens one."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, TypeAlias

from steadlith_core.digest import hash_fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Cache
    from steadlith_core.vectors import Vector

TODAY = 20_000
"""The day that suites open a cache on, unless they say another."""

WIDE = 4
"""Dimensions of the sample vectors, unless a rule says others."""

OpenCache: TypeAlias = "Callable[..., Cache]"
"""Opens the cache at one place, again and again: `open_cache(readonly=True)`, `open_cache(today=TODAY + 1)`."""


def key(number: int) -> Digest:
    """The key of sample entry `number`."""
    return hash_fields("conformance", number)


def vector(number: int, dimensions: int = WIDE) -> Vector:
    """The vector of sample entry `number`."""
    return struct.pack(f"<{dimensions}f", *(number + place + 1 for place in range(dimensions)))


def samples(count: int) -> dict[Digest, Vector]:
    """The first `count` sample entries."""
    return {key(number): vector(number) for number in range(count)}

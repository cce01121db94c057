"""Vectors that an index holds already, in whatever form: what they cost is paid.

1. Spaces that differ in quantization alone keep the same vectors, so each is asked for what the one before has not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.retrieval.quantization import siblings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader, Recorded
    from steadlith_core.records import Space
    from steadlith_core.vectors import Vector


def held(index: Recorded, space: Space, keys: Sequence[Digest]) -> frozenset[Digest]:
    """Which of the keys `vectors` would answer."""
    found: frozenset[Digest] = frozenset()
    for each in siblings(space):
        found |= index.held(each, [key for key in keys if key not in found])
    return found


def vectors(index: Reader, space: Space, keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
    """The vectors by key, as far as the index has them."""
    found: dict[Digest, Vector] = {}
    for each in siblings(space):
        found |= index.vectors(each, [key for key in keys if key not in found])
    return found

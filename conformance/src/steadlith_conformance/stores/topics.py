"""A sample of vectors about topics, as embeddings of related texts are, and what a full comparison finds in it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from steadlith_conformance.samples import vector
from steadlith_core import vectors

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.vectors import Vector

DIMENSIONS = 64
TOPICS, NOISE = 30, 1.5
"""So much noise that taking half as many candidates by their bits would lose one hit in seven."""
MANY = 1500
"""Vectors of the sample that is searched; more than a store may find worth comparing one by one."""
LIMIT = 10


@cache
def sample() -> Mapping[str, Vector]:
    """The vectors by text."""
    return {f"text {number}": _near(f"topic {number % TOPICS}", f"v{number}") for number in range(MANY)}


@cache
def queries() -> Sequence[Vector]:
    """What is asked."""
    return [_near(f"topic {number}", f"q{number}") for number in range(20)]


def best(given: Mapping[str, Vector], query: Vector) -> list[str]:
    """The texts of the nearest, best first."""
    scores = dict(zip(given, vectors.cosines(list(given.values()), query), strict=True))
    return sorted(scores, key=lambda text: -scores[text])[:LIMIT]


def _near(topic: str, label: str) -> Vector:
    """A vector about a topic."""
    import numpy as np

    both = vectors.matrix([vector(topic, DIMENSIONS), vector(label, DIMENSIONS)], DIMENSIONS)
    return vectors.unit((both[0] + both[1] * np.float32(NOISE)).tobytes())

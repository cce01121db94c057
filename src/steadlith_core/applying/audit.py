"""Judging adapters' answers: pure functions that return what is wrong as sentences for the adapter's author.

1. The conformance kit uses the same functions, so what passes there passes here.
2. Count, dimension, finite, not zero: nothing else is a fact about a vector, and what is not a fact stops nothing.
   Order and equality are opinions: a strict audit warns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core import vectors as vec
from steadlith_core.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.vectors import Vector

MOST_REPORTED = 5


def answer_problems(asked: int, dimensions: int, answer: Sequence[Vector]) -> tuple[str, ...]:
    """What is wrong with an embedder's answer to `asked` texts; empty when nothing is."""
    if len(answer) != asked:
        return (f"{len(answer)} vectors came back for {asked} texts",)
    found = [
        f"vector {index} {problem}"
        for index, vector in enumerate(answer)
        for problem in vec.problems(vector, dimensions)
    ]
    more = len(found) - MOST_REPORTED
    return (*found[:MOST_REPORTED], *([f"and {more} more"] if more > 0 else []))


def equality_doubt(answer: Sequence[Vector]) -> str | None:
    """What is odd about the vectors of different texts, if they are all one vector."""
    if len(answer) < 2 or len(set(answer)) > 1:
        return None
    return f"the embedder answers {len(answer)} different texts with one and the same vector"


def order_doubt(answer: Sequence[Vector], position: int, alone: Vector) -> str | None:
    """What is odd about an answer whose text at `position` was embedded `alone` as well, if the two are not near."""
    query = vec.unit(alone)
    cosines = vec.cosines([vec.unit(vector) for vector in answer], query)
    distance = 1.0 - cosines[position]
    if distance <= PROBE_TOLERANCE:
        return None
    nearest = max(range(len(answer)), key=cosines.__getitem__)
    where = f"; it is nearest to vector {nearest}, so the order may be wrong" if nearest != position else ""
    return (
        f"the embedder answers text {position} of {len(answer)} with another vector than the same text alone "
        f"(cosine distance {distance:.4f}){where}"
    )


PROBE_TEXTS = (
    "The quick brown fox jumps over the lazy dog.",
    "How do I reset a forgotten password?",
    "def add(a: int, b: int) -> int:\n    return a + b",
    "Revenue grew by 12.5 % in the third quarter of 2025.",
    "数据库事务必须满足原子性。",
    "La bibliothèque ferme à dix-huit heures.",
    "| name | type |\n|---|---|\n| id | integer |",
    "Error 404: the page that you asked for does not exist.",
)
"""Eight short texts of different kinds; a model that answers them as before is taken for the same model."""

PROBE_TOLERANCE = 1e-3
PROBE_MISSES = 2


def probe_error(now: Sequence[Vector], recorded: Sequence[Vector] | None, dimensions: int) -> EmbeddingError | None:
    """Why nothing may be embedded by whoever answers the probe texts like this, if nothing may."""
    found = answer_problems(len(PROBE_TEXTS), dimensions, now)
    if found:
        return EmbeddingError("the embedder's answer to the probe texts: " + "; ".join(found))
    changed = None if recorded is None else probe_problem(now, recorded)
    return EmbeddingError(changed) if changed else None


def probe_problem(now: Sequence[Vector], recorded: Sequence[Vector]) -> str | None:
    """Whether the model changed behind its name: cosine distance over the tolerance on at least two probe texts."""
    if len(now) != len(recorded) or any(len(a) != len(b) for a, b in zip(now, recorded, strict=True)):
        return "the model answers the probe texts with vectors of another shape than it did at first"
    distances = [
        1.0 - vec.cosines([vec.unit(left)], vec.unit(right))[0] for left, right in zip(now, recorded, strict=True)
    ]
    off = [distance for distance in distances if distance > PROBE_TOLERANCE]
    if len(off) < PROBE_MISSES:
        return None
    return (
        f"the model changed behind its name: {len(off)} of {len(now)} probe texts are further from their recorded "
        f"vectors than {PROBE_TOLERANCE} (worst cosine distance {max(off):.4f})"
    )

"""Judging adapters' answers: pure functions that return what is wrong as sentences for the adapter's author.

1. The conformance kit uses the same functions, so what passes there passes here.
2. Count, dimension, finite, not zero: nothing else is a fact about a vector (order and equality are opinions).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core import vectors as vec

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

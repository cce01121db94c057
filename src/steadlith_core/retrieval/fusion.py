"""Fusion: one ranking from a dense and a lexical arm.

1. Additive: each arm's scores divided by that arm's best score, summed (weight 1.0 each). Max-normalised sums do at
   least as well as min-max or ranks on short lists (Fox and Shaw 1994, CombSUM; measured here on SciFact).
2. An entry that only the lexical arm found gets its exact cosine, so no arm's cut-off decides a score.
3. An entry that has none of the terms and no cosine above zero has nothing in common with the query: it is no answer.
4. The order is total: score, then the store's entry number; equal queries get equal answers (invariant 12).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.rows import ArmHit


@dataclass(frozen=True, slots=True)
class Fused:
    """One entry with its fused score and what each arm said; none where an arm had nothing to say."""

    entry: int
    score: float
    dense: float | None
    lexical: float | None


def additive(dense: Sequence[ArmHit], lexical: Sequence[ArmHit], backfilled: Mapping[int, float]) -> tuple[Fused, ...]:
    """Fuse; `backfilled` holds cosines of entries that only the lexical arm found. Best first; O(n log n)."""
    cosines = {**backfilled, **{hit.entry: hit.score for hit in dense}}
    terms = {hit.entry: hit.score for hit in lexical}
    best_cosine = max(cosines.values(), default=0.0)
    best_terms = max(terms.values(), default=0.0)
    fused = [
        Fused(
            entry,
            _share(cosines.get(entry), best_cosine) + _share(terms.get(entry), best_terms),
            cosines.get(entry),
            terms.get(entry),
        )
        for entry in terms.keys() | {entry for entry, cosine in cosines.items() if cosine > 0.0}
    ]
    return tuple(sorted(fused, key=lambda hit: (-hit.score, hit.entry)))


def _share(score: float | None, best: float) -> float:
    """A score as a share of its arm's best, from 0 to 1. A cosine below zero says nothing for its entry, and must
    not grow when the best one is small.
    """
    return max(score, 0.0) / best if score is not None and best > 0.0 else 0.0

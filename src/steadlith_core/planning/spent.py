"""What a generation notes of the apply that made it: the steps of its plan by kind, and what was embedded for them.

1. A note is numbers under names (`Generation.summary`), sealed by the store with all else that it keeps of a
   generation. A step's name is a word, what was spent has a colon in it: neither is taken for the other.
2. What is not known is not noted: no tokens where another number of texts was embedded than the plan counted, and no
   money without a price. A generation that notes nothing was made by an older release.
3. Money is a whole number of millionths of its currency.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from steadlith_core.planning.cost import MICRO

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.planning.plan import Plan

EMBEDDED, CACHED, TOKENS = "spent:embedded", "spent:cached", "spent:tokens"
AMOUNT = "spent:amount:"
"""What stands before the currency."""


@dataclass(frozen=True, slots=True)
class Spent:
    """`embedded` texts were sent to the model, `cached` steps needed a vector that was there. `tokens` and `amount`, a
    decimal number as text, are none where they are unknown.
    """

    embedded: int
    cached: int
    tokens: int | None
    amount: str | None
    currency: str | None


def note(plan: Plan, embedded: int) -> Mapping[str, int]:
    """The note of an apply that embedded so many texts; `plan` is as it was when the apply began."""
    noted = {**plan.counts, EMBEDDED: embedded, CACHED: plan.cost.cached}
    if embedded == plan.cost.embeddings:
        noted[TOKENS] = plan.cost.tokens
        if plan.cost.amount is not None:
            noted[f"{AMOUNT}{plan.cost.currency}"] = int(Decimal(plan.cost.amount) / MICRO)
    return noted


def steps(noted: Mapping[str, int]) -> Mapping[str, int]:
    """The steps by kind."""
    return {name: count for name, count in noted.items() if ":" not in name}


def spent(noted: Mapping[str, int]) -> Spent | None:
    """What was spent, if that was noted."""
    if EMBEDDED not in noted:
        return None
    amounts = {name.removeprefix(AMOUNT): count for name, count in noted.items() if name.startswith(AMOUNT)}
    currency = next(iter(sorted(amounts)), None)
    return Spent(
        embedded=noted[EMBEDDED],
        cached=noted.get(CACHED, 0),
        tokens=noted.get(TOKENS),
        amount=None if currency is None else str(amounts[currency] * MICRO),
        currency=currency,
    )

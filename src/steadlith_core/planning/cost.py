"""Cost: calls, tokens and money for the embeddings that are really missing.

1. Only cache misses cost; each distinct vector key is paid once.
2. Unknown stays unknown: without a price the amount is none, never zero (invariant 8).
3. Money is decimal; no float touches it.
4. A number of tokens says who counted it, and how far it is usually off.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from steadlith_core.text.tokens import ESTIMATOR_ID

if TYPE_CHECKING:
    from collections.abc import Mapping

MICRO = Decimal("0.000001")

USUAL_ERROR_PERCENT: Mapping[str, int] = {ESTIMATOR_ID: 15}
"""How far an estimator is off: two deviations around its mean, on English and Python that it was not fitted to
(benchmarks/tokens/RESULTS.md, "Unseen documents"; other languages may be further off)."""


@dataclass(frozen=True, slots=True)
class Price:
    """Per million input tokens, in `currency`, as somebody looked it up on `as_of` (a date as written)."""

    per_million: Decimal
    currency: str
    as_of: str | None


@dataclass(frozen=True, slots=True)
class Cost:
    """`embeddings` are paid for. `cached` steps need a vector that is there already, `repeated` ones one that another
    step of the plan pays for; of `rekeyed` ones the text has a new identity, and its vector is reused.

    `tokens` are those of what is paid for, as `counted_by` counts them; `error_percent` is how far that is usually off,
    0 for an exact count and none where nobody measured it. `amount` is a decimal number as text, none when it is
    unknown. `local` models charge nothing. `probe_texts` are embedded besides, once a run, when anything is embedded
    at all.
    """

    embeddings: int
    cached: int
    rekeyed: int
    repeated: int
    tokens: int
    counted_by: str
    error_percent: int | None
    calls: int
    probe_texts: int
    local: bool
    amount: str | None
    currency: str | None
    price_as_of: str | None


def cost(
    token_counts: list[int],
    *,
    cached: int,
    batch_size: int,
    probe_texts: int,
    local: bool,
    price: Price | None,
    rekeyed: int = 0,
    repeated: int = 0,
    counted_by: str = ESTIMATOR_ID,
) -> Cost:
    """Add up what `token_counts`, one per paid embedding, come to."""
    tokens = sum(token_counts)
    return Cost(
        embeddings=len(token_counts),
        cached=cached,
        rekeyed=rekeyed,
        repeated=repeated,
        tokens=tokens,
        counted_by=counted_by,
        error_percent=USUAL_ERROR_PERCENT.get(counted_by),
        calls=-(-len(token_counts) // batch_size),
        probe_texts=probe_texts if token_counts else 0,
        local=local,
        amount=amount(tokens, price),
        currency=price.currency if price else None,
        price_as_of=price.as_of if price else None,
    )


def amount(tokens: int, price: Price | None) -> str | None:
    """What so many tokens cost, to a millionth; none without a price."""
    if price is None:
        return None
    exact = Decimal(tokens) * price.per_million / Decimal(1_000_000)
    return str(exact.quantize(MICRO, rounding=ROUND_HALF_UP))

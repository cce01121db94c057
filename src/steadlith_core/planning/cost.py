"""Cost: calls, tokens and money for the embeddings that are really missing.

1. Only cache misses cost; each distinct vector key is paid once.
2. Unknown stays unknown: without a price the amount is none, never zero (invariant 8).
3. Money is decimal; no float touches it.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

MICRO = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class Price:
    """Per million input tokens, in `currency`, as somebody looked it up on `as_of` (a date as written)."""

    per_million: Decimal
    currency: str
    as_of: str | None


@dataclass(frozen=True, slots=True)
class Cost:
    """`embeddings` are paid for; `cached` steps need a vector that is there already; `tokens` is an estimate.

    `amount` is a decimal number as text, none when it is unknown. `local` models charge nothing.
    `probe_texts` are embedded besides, once a run, when anything is embedded at all.
    """

    embeddings: int
    cached: int
    tokens: int
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
) -> Cost:
    """Add up what `token_counts`, one per paid embedding, come to."""
    tokens = sum(token_counts)
    calls = -(-len(token_counts) // batch_size)
    amount = None
    if price is not None:
        exact = Decimal(tokens) * price.per_million / Decimal(1_000_000)
        amount = str(exact.quantize(MICRO, rounding=ROUND_HALF_UP))
    return Cost(
        embeddings=len(token_counts),
        cached=cached,
        tokens=tokens,
        calls=calls,
        probe_texts=probe_texts if token_counts else 0,
        local=local,
        amount=amount,
        currency=price.currency if price else None,
        price_as_of=price.as_of if price else None,
    )

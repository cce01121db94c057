"""Exact cost: what a plan pays for, counted by the model's own tokenizer instead of estimated.

1. The steps keep their estimates: they are what an apply compares, and what a plan without a tokenizer says.
2. Each distinct model input that nobody has a vector of is counted once, by itself, as the model is given it.
3. A tokenizer is a file on this machine; the network is never asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith import wiring
from steadlith.border import adapter
from steadlith_core.errors import ConfigError
from steadlith_core.planning.cost import amount
from steadlith_core.text.tokens import whole

if TYPE_CHECKING:
    from collections.abc import Collection

    from steadlith.config import Config
    from steadlith_core.digest import Digest
    from steadlith_core.planning.cost import Price
    from steadlith_core.planning.make import Planned
    from steadlith_core.planning.plan import Plan
    from steadlith_core.policies import Measure


def tokenizer(config: Config) -> Measure:
    """The tokenizer of `[embedding.tokenizer]`. Raises `ConfigError` if there is none, or it cannot be used."""
    chosen, there = config.embedding.tokenizer, wiring.installed("tokenizers")
    if chosen is None:
        raise ConfigError(
            "an exact count needs the embedding model's tokenizer, and there is no [embedding.tokenizer]: name one "
            f'({", ".join(there)}), for example type = "tokenizers" with file = "tokenizer.json", or go by the estimate'
        )
    if chosen.type not in there:
        raise ConfigError(
            f"embedding.tokenizer.type = {chosen.type!r}: no such adapter is installed; there are {', '.join(there)}"
        )
    with adapter(f"building tokenizer {chosen.type!r}"):
        return wiring.tokenizer_factory(chosen.type).build(chosen.settings, root=str(config.root))


def counted(planned: Planned, available: Collection[Digest], by: Measure, price: Price | None) -> Plan:
    """The plan with the cost of what is really paid: every input whose vector is not `available`, counted `by` this.

    The guards stay as the estimate tripped them: an apply, which counts nothing, judges by it too.
    """
    cost = planned.plan.cost
    paid = [text for key, text in planned.writes.inputs.items() if key not in available]
    with adapter(f"counting tokens by {by.id}"):
        tokens = sum(_size(by, text) for text in paid)
    exact = replace(
        cost,
        tokens=tokens,
        counted_by=by.id,
        error_percent=0,
        amount=amount(tokens, price),
        currency=price.currency if price else None,
        price_as_of=price.as_of if price else None,
    )
    return replace(planned.plan, cost=exact)


def _size(by: Measure, text: str) -> int:
    return whole(int(by.cumulative(text.encode())[-1]))

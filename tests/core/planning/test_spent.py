"""What a generation notes of the apply that made it, and what is read of that."""

from dataclasses import replace

import pytest

from steadlith_core.planning.cost import Price, cost
from steadlith_core.planning.spent import Spent, note, spent, steps


class Planned:
    """The part of a plan that is asked."""

    def __init__(self, tokens, price=None, cached=0):
        self.counts = {"keep": 3, "add": 2, "delete": 0}
        self.cost = cost(tokens, cached=cached, batch_size=8, probe_texts=8, local=price is None, price=price)


EUR = Price(20, "EUR", "2026-01-01")


def euros(per_million):
    from decimal import Decimal

    return replace(EUR, per_million=Decimal(per_million))


@pytest.mark.parametrize(
    ("planned", "embedded", "wanted"),
    [
        (Planned([]), 0, Spent(0, 0, 0, None, None)),
        (Planned([7, 4], cached=5), 2, Spent(2, 5, 11, None, None)),
        (Planned([7, 4], euros("20")), 2, Spent(2, 0, 11, "0.000220", "EUR")),
        (Planned([1], euros("0.02")), 1, Spent(1, 0, 1, "0.000000", "EUR")),
        (Planned([10**9], euros("123456.789")), 1, Spent(1, 0, 10**9, "123456789.000000", "EUR")),
        # Another number than was counted: what it came to is not known.
        (Planned([7, 4], euros("20")), 1, Spent(1, 0, None, None, None)),
    ],
)
def test_what_is_noted_is_read(planned, embedded, wanted):
    noted = note(planned, embedded)
    assert all(type(count) is int for count in noted.values())
    assert spent(noted) == wanted
    assert steps(noted) == planned.counts


def test_a_generation_of_an_older_release_noted_its_steps_alone():
    assert spent({"add": 3, "keep": 1}) is None
    assert steps({"add": 3, "keep": 1}) == {"add": 3, "keep": 1}

"""How long is waited: pure rules."""

import pytest

from steadlith_core.applying.waiting import LONGEST_SECONDS, LOOKS, Budget, Looks, Retries
from steadlith_core.errors import AdapterError, EmbeddingError, Failure


def transient(seconds=None):
    return EmbeddingError("429", failure=Failure.TRANSIENT, retry_after=seconds)


def waits(retries, errors):
    """The waits of a call that fails in so many ways, one after the other; each begins when the last one is over."""
    at, found = 0.0, []
    for error in errors:
        seconds = retries.wait(error, at)
        if seconds is None:
            break
        found.append(seconds)
        at += seconds
    return found


def test_waits_double_up_to_the_longest():
    found = waits(Retries(10_000), [transient()] * 8)
    assert found == [1, 2, 4, 8, 16, LONGEST_SECONDS, LONGEST_SECONDS, LONGEST_SECONDS]


def test_ten_thousand_failures_overflow_nothing():
    assert waits(Retries(1e9), [transient()] * 10_000)[-1] == LONGEST_SECONDS


def test_what_a_provider_asks_for_is_waited_and_an_impatient_one_is_left_alone_all_the_same():
    assert waits(Retries(1000), [transient(7)] * 5) == [7, 7, 7, 8, 16]
    assert waits(Retries(1000), [transient(0.01)] * 2) == [1, 2]


@pytest.mark.parametrize("asked", [60, 3600, 1e300])
def test_no_wait_is_longer_than_what_is_left(asked):
    assert waits(Retries(60), [transient(asked)] * 9) == [60]


def test_all_waits_together_are_as_long_as_was_allowed():
    found = waits(Retries(20), [transient()] * 50)
    assert found == [1, 2, 4, 8, 5]


def test_without_any_time_nothing_is_asked_again():
    assert waits(Retries(0), [transient()] * 3) == []


def test_time_that_the_calls_take_is_charged_but_for_the_first():
    retries = Retries(10)
    assert retries.wait(transient(), at=500) == 1
    assert retries.wait(transient(), at=509) == 1  # of two seconds, one is left
    assert retries.wait(transient(), at=511) is None


@pytest.mark.parametrize(
    "error", [EmbeddingError("401"), EmbeddingError("400", failure=Failure.INPUT), AdapterError("?")]
)
def test_what_does_not_pass_by_itself_is_not_waited_for(error):
    assert Retries(60).wait(error, at=0) is None


@pytest.mark.parametrize("asked", [float("nan"), float("inf"), -1.0, 0.0, None])
def test_no_sensible_number_of_seconds_counts_as_none(asked):
    assert transient(asked).retry_after is None


def test_the_last_error_says_how_often_and_keeps_its_cause():
    retries, error = Retries(3), transient(5)
    waits(retries, [error] * 9)
    final = retries.final(error)
    assert "429 (given up after 2 attempts, max_retry_time is 3 seconds)" in str(final)
    assert (final.__cause__, final.failure) == (error, Failure.TRANSIENT)
    assert Retries(3).final(error) is error  # asked once: there is nothing to add


def test_a_budget_begins_when_it_is_first_asked_for():
    budget = Budget(5)
    assert not budget.begun
    assert budget.left(100) == 5
    assert budget.left(104.5) == 0.5
    assert budget.left(105) == budget.left(200) == 0


def test_a_rest_too_small_for_a_clock_is_none():
    budget = Budget(1)
    budget.left(0)
    assert budget.left(0.9999) == 0


def test_the_head_is_looked_at_a_few_times():
    looks = Looks()
    found = [looks.wait() for _ in range(LOOKS)]
    assert found[:-1] == [1.0] * (LOOKS - 1)
    assert found[-1] is None

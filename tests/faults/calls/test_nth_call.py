"""The n-th call to a provider fails, in every way and for every n: over HTTP, judged by the provider's own books."""

import shutil
import string
from collections import Counter
from itertools import chain, product

import pytest
from faults.calls.provider import BAD_ANSWERS, REFUSALS, TRANSIENT, WORKED_ON

from steadlith_core.errors import AdapterError, EmbeddingError, Failure
from steadlith_core.events import Retrying

BATCH = 3
OLD, NEW = ("first", "second"), string.ascii_lowercase[:12]
CALLS = 1 + len(NEW) // BATCH
"""The probe, then the batches."""

ASKED = {"429, Retry-After in seconds": (2, 2), "429, Retry-After as a date": (2, 4)}
"""Least and most seconds that are waited where a provider asks for it; without that it is one second. A date is given
to the second.
"""

WAYS = "timeouts, resets, cut answers, 408, 429, 5xx, with and without Retry-After"
WRONG = "401, 403, 404, wrong count or dimension, NaN, infinities, zeros, words, no vectors at all"


@pytest.fixture
def begin(shop):
    """An index with two documents and twelve more to embed: made once, and brought there again for each try."""
    shop.write(*OLD)
    shop.apply()
    base = shop.root.with_name(shop.root.name + "-base")
    shutil.copytree(shop.root, base)

    def again(**calls):
        shutil.rmtree(shop.root)
        shutil.copytree(base, shop.root)
        shop.provider.reset()
        shop.configure(batch_size=BATCH, timeout=0.3, **calls)
        shop.write(*NEW)
        return shop.plan()

    yield again
    shutil.rmtree(base)


def each(faults):
    """Every fault at one of the calls, two calls at a time; in the whole campaign at every call, one and three at a
    time.
    """
    whole = product(faults, range(1, CALLS + 1), (1, 3))
    return pytest.mark.parametrize(
        ("fault", "number", "concurrency"),
        [
            *((fault, 1 + place % CALLS, 2) for place, fault in enumerate(faults)),
            *(pytest.param(*case, marks=pytest.mark.faults) for case in whole),
        ],
    )


def texts(calls):
    return Counter(chain.from_iterable(calls))


def is_finished_for_the_rest(shop, plan, kept):
    """The same plan applied again, without faults: what was acknowledged is there, and only the rest is paid for."""
    before = shop.provider.paid.copy()
    done = shop.apply(plan)
    assert (done.head.generation, done.cached, done.embedded) == (2, len(kept), len(NEW) - len(kept))
    now = shop.provider.paid
    assert len(now) == len(NEW)
    assert now - before == Counter(now.keys() - kept.keys())
    assert shop.plan().is_empty
    return shop.is_sound()


@each(TRANSIENT)
def test_what_passes_is_waited_for_and_only_the_call_that_failed_is_paid_twice(
    begin, shop, ticking, tried, fault, number, concurrency
):
    plan = begin(concurrency=concurrency)
    shop.provider.faults[number] = fault
    told = []
    done = shop.apply(plan, report=told.append)
    assert (done.embedded, done.retries, done.calls) == (len(NEW), 1, CALLS + 1)
    (retry,) = (event for event in told if isinstance(event, Retrying))
    least, most = ASKED.get(fault, (1, 1))
    assert least <= retry.seconds <= most
    failed = texts([shop.provider.calls[number - 1]]) if number > 1 and fault in WORKED_ON else Counter()
    assert shop.provider.paid == Counter(shop.provider.paid.keys()) + failed
    assert len(shop.provider.paid) == len(NEW)
    assert shop.is_sound()
    tried("a call to a provider fails once", f"{WAYS}, over HTTP, at each call of an apply; it is made again")


@each([*REFUSALS, *BAD_ANSWERS])
def test_what_does_not_pass_is_a_typed_error_and_the_next_run_pays_for_the_rest(
    begin, shop, ticking, tried, fault, number, concurrency
):
    plan = begin(concurrency=concurrency)
    shop.provider.faults[number] = fault
    with pytest.raises(AdapterError) as raised:
        shop.apply(plan)
    assert raised.value.exit_code == 1
    assert ticking.waited == 0
    calls = shop.provider.calls
    if concurrency == 1:  # else another one may end, and one more begin, before this one is heard of
        assert len(calls) == number
    kept = texts(call for place, call in enumerate(calls[1:], start=2) if place != number)
    assert shop.cached() == kept
    assert shop.open().head().generation == 1
    assert shop.is_sound()
    assert is_finished_for_the_rest(shop, plan, kept)
    twice = {text for text, times in shop.provider.paid.items() if times > 1}
    assert len(twice) == (BATCH if number > 1 and fault in WORKED_ON else 0)
    tried("a provider refuses a call or answers wrongly", f"{WRONG}, over HTTP, at each call; then run again")


@each(TRANSIENT)
def test_what_does_not_pass_in_time_is_given_up_with_all_that_was_acknowledged_kept(
    begin, shop, ticking, tried, fault, number, concurrency
):
    plan = begin(concurrency=concurrency)
    shop.provider.lasting = number, fault
    with pytest.raises(EmbeddingError, match=r"given up after \d+ attempts.*apply again") as raised:
        shop.apply(plan, max_retry_time=5)
    assert (raised.value.exit_code, raised.value.failure) == (1, Failure.TRANSIENT)
    assert ticking.waited < 5 * 1.25 * concurrency + 1
    kept = texts(shop.provider.calls[1 : number - 1])
    assert shop.cached() == kept
    assert len(shop.provider.paid.keys() - kept.keys()) <= BATCH * concurrency
    assert shop.open().head().generation == 1
    assert shop.is_sound()
    shop.provider.lasting = None
    assert is_finished_for_the_rest(shop, plan, kept)
    tried("a provider is away for longer than is waited", f"{WAYS}, over HTTP, from each call on; then run again")

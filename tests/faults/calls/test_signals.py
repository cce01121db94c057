"""SIGINT and SIGTERM to real processes, wherever an apply may wait: it stops soon, says how to go on, and does."""

import signal
import string

import pytest
from faults.calls.shop import SIGNALS, until

WORDS = string.ascii_lowercase[:9]
MINUTES = "429, Retry-After of minutes"
PAUSING = """
import time
from steadlith.hands import Hands
whole = Hands.perform
def perform(hands, effect):
    if type(effect).__name__ == {effect!r}:
        print("pausing", flush=True)
        time.sleep(0.5)
    return whole(hands, effect)
Hands.perform = perform
"""
HOW = "SIGINT and SIGTERM to a process of its own; then run again"


@pytest.fixture
def filled(shop):
    shop.write(*WORDS)
    return shop


def stopped(process, number, code):
    """Send the signal; what was told."""
    process.send_signal(number)
    _, told = process.communicate(timeout=30)
    assert process.returncode == code, told
    assert "Traceback" not in told
    return told


def finished(shop, kept):
    """Apply to the end: what was kept is not paid for again."""
    shop.provider.faults.clear()
    before = shop.provider.paid.copy()
    done = shop.apply()
    if kept is None:  # the commit happened
        assert done.unchanged
        return shop.provider.paid == before and shop.is_sound()
    assert (done.cached, done.embedded) == (kept, len(WORDS) - kept)
    assert (shop.provider.paid - before).total() == len(WORDS) - kept
    return shop.is_sound()


@SIGNALS
def test_while_it_waits_for_the_lock(filled, tried, number):
    with (
        filled.locked(holder="steadlith compact"),
        filled.running("apply", "--yes", "--lock-timeout", "600") as process,
    ):
        assert "Waiting for the lock, at most 600 s" in process.stderr.readline()
        told = stopped(process, number, 130)
    assert "interrupted before anything was written; apply again when you like" in told
    assert not filled.provider.calls
    assert finished(filled, kept=0)
    tried("a signal while an apply waits for the lock", HOW)


@SIGNALS
def test_while_it_backs_off_before_anything_is_embedded(filled, tried, number):
    filled.provider.faults[1] = MINUTES
    with filled.running("apply", "--yes", "--max-retry-time", "900") as process:
        until(lambda: "waiting 300 s, then attempt 2" in process.stderr.readline())
        told = stopped(process, number, 130)
    assert "interrupted before anything was written; apply again when you like" in told
    assert len(filled.provider.calls) == 1
    assert finished(filled, kept=0)
    tried("a signal while an apply waits for a provider", HOW)


@SIGNALS
def test_while_it_backs_off_between_batches(filled, tried, number):
    filled.provider.faults[4] = MINUTES
    with filled.running("apply", "--yes", "--max-retry-time", "900") as process:
        until(lambda: "attempt 2" in process.stderr.readline())
        told = stopped(process, number, 6)
    assert "stopped after 6 of 9 embeddings, which are kept in the cache; apply again to go on from there" in told
    assert len(filled.provider.calls) == 4
    assert filled.open().head().generation == 0
    assert finished(filled, kept=6)
    tried("a signal while an apply waits for a provider", HOW)


@SIGNALS
def test_while_a_call_is_in_flight_its_answer_is_kept_first(filled, tried, number):
    filled.provider.faults[3] = "slow"
    with filled.running("apply", "--yes") as process:
        until(lambda: len(filled.provider.calls) == 3)
        process.send_signal(number)
        until(lambda: "Stopping at the next safe point" in process.stderr.readline())
        filled.provider.released.set()
        _, told = process.communicate(timeout=30)
    assert process.returncode == 6
    assert "stopped after 6 of 9 embeddings" in told
    assert finished(filled, kept=6)
    tried("a signal while a call to a provider is in flight", HOW)


@SIGNALS
def test_asked_twice_it_leaves_at_once_and_nothing_acknowledged_is_lost(filled, tried, number):
    filled.provider.faults[3] = "slow"
    with filled.running("apply", "--yes") as process:
        until(lambda: len(filled.provider.calls) == 3)
        process.send_signal(number)
        until(lambda: "Stopping at the next safe point" in process.stderr.readline())
        stopped(process, number, 130)
    filled.provider.released.set()
    assert finished(filled, kept=3)
    tried("a second signal while an apply stops", HOW)


@pytest.mark.parametrize(
    ("effect", "code", "generation"),
    [("Recompute", 130, 0), ("Resolve", 130, 0), ("Keep", 6, 0), ("Commit", 0, 1), ("Remember", 0, 1)],
)
def test_while_it_does_anything_else(filled, tried, effect, code, generation):
    with filled.running("apply", "--yes", first=PAUSING.format(effect=effect)) as process:
        until(lambda: process.stdout.readline() == "pausing\n")
        told = stopped(process, signal.SIGTERM, code)
    assert "Stopping at the next safe point" in told
    assert filled.open().head().generation == generation
    assert finished(filled, kept={6: 3, 130: 0, 0: None}[code])
    tried("a signal while an apply checks, keeps or commits", HOW)

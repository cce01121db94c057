"""Faults that people reported about calls, retries and locks: the same input over real HTTP, and what must happen here.

One test a case, named after its number in the list of reports.
"""

import string

import pytest
from faults.calls.shop import until

from steadlith.hands import Hands
from steadlith_adapters.stores.sqlite.lock import SqliteLock
from steadlith_core.applying import effects as fx
from steadlith_core.errors import EmbeddingError, StaleHead
from steadlith_core.events import Retrying

WORDS = string.ascii_lowercase[:12]


@pytest.fixture
def filled(shop):
    shop.write(*WORDS)
    return shop


def test_field_case_31_a_partial_failure_says_so_and_the_next_run_embeds_what_is_missing(filled):
    """Embedding failed half-way; the next run skipped all of it and called it complete."""
    filled.provider.faults[4] = "401"
    told = filled.run("apply", "--yes", code=1)
    assert "401 from the provider" in told
    assert filled.open().head().generation == 0
    planned = filled.plan()
    assert (planned.cost.cached, planned.cost.embeddings) == (6, 6)
    assert "Embedding 6 texts in 2 calls" in filled.run("apply", "--yes")
    assert filled.open().head().chunks == 12
    assert set(filled.provider.paid.values()) == {1}
    assert filled.is_sound()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("no vectors", "0 vectors came back for 3 texts"),
        ("partial batch", "2 vectors came back for 3 texts"),
        ("wrong dimension", "vector 0 has 7 dimensions, not 8"),
        ("NaN", "vector 2 holds a value that is not finite"),
        ("zeros", "vector 2 is all zeros"),
        ("an error with status 200", "embed failed: KeyError: 'vectors'"),
    ],
)
def test_field_case_33_an_answer_that_is_none_is_rejected_before_anything_is_kept(filled, fault, message):
    filled.provider.faults[2] = fault
    assert message in filled.run("apply", "--yes", code=1)
    assert filled.open().head().generation == 0
    assert filled.plan().cost.cached == 0


def test_field_case_34_a_429_in_a_long_run_is_waited_for(filled):
    """In a process of its own and by the clock on the wall: it waits as long as it was asked to, and goes on."""
    filled.provider.faults[3] = "429, Retry-After in seconds"
    told = filled.run("apply", "--yes")
    assert "429 from the provider" in told
    assert "waiting 2 s, then attempt 2" in told
    before, after = filled.provider.times[2:4]
    assert after - before >= 2
    assert filled.open().head().chunks == 12


def test_field_case_34_no_longer_than_max_retry_time(filled, ticking):
    filled.provider.lasting = 3, "429, Retry-After of minutes"
    told = []
    with pytest.raises(EmbeddingError, match=r"given up after 2 attempts, max_retry_time is 10 seconds"):
        filled.apply(max_retry_time=10, report=told.append)
    assert [event.seconds for event in told if isinstance(event, Retrying)] == [10]
    assert filled.cached().total() == 3


def test_field_case_34_the_configuration_says_it_for_every_run(filled, ticking):
    filled.configure(embedding="max_retry_time = 0")
    filled.provider.faults[3] = "429"
    with pytest.raises(EmbeddingError, match="429 from the provider") as raised:
        filled.apply()
    assert "given up" not in str(raised.value)  # it was asked once
    assert ticking.waited == 0
    assert filled.apply().embedded == 9


def test_field_case_36_of_two_applies_at_once_one_is_told_who_holds_the_lock(filled):
    filled.provider.faults[2] = "slow"
    with filled.running("apply", "--yes") as first:
        until(lambda: len(filled.provider.calls) == 2)
        told = filled.run("apply", "--yes", code=4)
        assert f"steadlith apply, process {first.pid} on " in told
        assert "--lock-timeout SECONDS" in told
        with filled.running("apply", "--yes", "--lock-timeout", "600") as second:
            until(lambda: "Waiting for the lock" in second.stderr.readline())
            filled.provider.released.set()
            out, _ = second.communicate(timeout=30)
        first.communicate(timeout=30)
    assert (first.returncode, second.returncode) == (0, 0)
    assert "already applied" in out.lower()
    assert filled.provider.paid.total() == 12


def test_field_case_37_of_two_hosts_with_one_base_one_commits_and_the_other_is_stale(filled, monkeypatch):
    """Locks that know nothing of each other, as on two machines: the head is compared where it is swapped."""
    theirs = filled.plan()
    filled.write("ours")
    ours = filled.plan()
    monkeypatch.setattr(SqliteLock, "acquire", lambda _self: None)
    whole = Hands.perform

    def perform(hands, effect):
        if isinstance(effect, fx.Commit) and hands.plan == ours and not filled.open().head().generation:
            (filled.docs / "ours.txt").unlink()
            filled.apply(theirs)
        return whole(hands, effect)

    monkeypatch.setattr(Hands, "perform", perform)
    with pytest.raises(StaleHead, match="plan again") as raised:
        filled.apply(ours)
    assert raised.value.exit_code == 5
    head = filled.open().head()
    assert (head.generation, head.corpus_root) == (1, theirs.target.corpus_root)
    assert filled.is_sound()

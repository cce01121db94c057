"""No vector outlives its batch in memory: a commit reads them where they are kept."""

import gc
from contextlib import closing

import pytest

from steadlith import hands
from steadlith_core.applying import effects as fx
from steadlith_core.errors import AdapterError

BLOCKS = 60
BATCH = 8


class Counted(bytes):
    """A vector that says how many of its kind are held."""

    alive = 0

    def __new__(cls, raw):
        Counted.alive += 1
        return super().__new__(cls, raw)

    def __del__(self):
        Counted.alive -= 1


@pytest.fixture
def large(make_site):
    site = make_site(embedding=f"batch_size = {BATCH}\nconcurrency = 1")
    for number in range(BLOCKS):
        site.write(f"{number}.md", f"# Title {number}\n\nwords of number {number}\n")
    return site


def test_an_apply_holds_the_vectors_of_the_batches_in_flight_and_no_others(large, monkeypatch):
    perform, seen, at_commit = hands.Hands.perform, [], []

    def counting(own, effect):
        if isinstance(effect, fx.Commit):
            gc.collect()
            at_commit.append(Counted.alive)
        outcome = perform(own, effect)
        if isinstance(outcome, fx.Embedded):
            outcome = fx.Embedded(outcome.batch, tuple(map(Counted, outcome.vectors)))
            seen.append(Counted.alive)
        return outcome

    monkeypatch.setattr(hands.Hands, "perform", counting)
    assert large.apply().embedded == BLOCKS
    assert len(seen) == -(-BLOCKS // BATCH)
    assert max(seen) <= 2 * BATCH  # the last answer may still be held while the next one comes
    assert max(at_commit) <= BATCH  # nor is the last one let go of until another is asked for


def test_a_vector_that_goes_between_look_and_commit_ends_the_apply_and_is_embedded_anew(large, monkeypatch):
    large.apply()
    large.write("0.md", "# Title 0\n\nother words of number 0\n")
    large.write("1.md", "# Title 1\n\nother words of number 1\n")
    perform = hands.Hands.perform

    def pruned(own, effect):
        if isinstance(effect, fx.Commit):
            with closing(own.assembly.open_cache(readonly=False)) as cache:
                assert cache.drop(list(effect.planned.writes.inputs)[:1]) == 1
        return perform(own, effect)

    before = large.open().head()
    with monkeypatch.context() as patch:
        patch.setattr(hands.Hands, "perform", pruned)
        with pytest.raises(AdapterError, match=r"gone from the cache and the index.*apply again"):
            large.apply()
    assert large.open().head() == before
    assert large.apply().embedded == 1
    assert large.open().verify().ok

"""A run whose calls fail: what is asked for again, when, how it is taken apart, and what is told."""

from itertools import count

import pytest

from steadlith_core import events, vectors
from steadlith_core.applying import effects as fx
from steadlith_core.applying.batches import MOST_REFUSED
from steadlith_core.errors import (
    AdapterError,
    EmbeddingError,
    Failure,
    InputRefused,
    Interrupted,
    LockHeld,
    OutcomeUnknown,
    Stopped,
)

VECTOR = vectors.pack([1.0, 0.0, 0.0, 0.0])
OTHER = vectors.pack([0.0, 1.0, 0.0, 0.0])
FIVE_MINUTES = EmbeddingError("429", failure=Failure.TRANSIENT, retry_after=300)


def transient():
    return EmbeddingError("503", failure=Failure.TRANSIENT)


def failing_at(world, numbers, error):
    """Answer as usual, but for the calls of these numbers, counted from 1."""
    counted = count(1)

    def embed(effect):
        return fx.EmbedFailed(effect.batch, error) if next(counted) in numbers else world.usual(effect)

    return embed


def refusing(world, wanted, *, named=False):
    def embed(effect):
        refused = [place for place, text in enumerate(effect.texts) if text in wanted]
        if not refused:
            return world.usual(effect)
        error = EmbeddingError("400", failure=Failure.INPUT, inputs=refused if named else ())
        return fx.EmbedFailed(effect.batch, error)

    return embed


def test_the_whole_call_is_made_again_after_the_wait(make_world):
    world = make_world()
    world.answers["Embed"] = failing_at(world, {2}, transient())
    run = world.drive()
    assert world.texts() == ["ab", "cd", "cd", "e"]
    assert world.waits() == [1.0]
    assert (run.result.calls, run.result.retries) == (5, 1)
    assert world.told(events.Retrying) == [events.Retrying("503", 1.0, 2)]


def test_a_waiting_call_keeps_its_place_and_the_others_go_on(build, make_world):
    world = make_world(after=[build.wanted("a", "abcdef")], concurrency=2)
    for _ in range(5):
        (effect,) = world.run.next_effects()
        world.perform(effect)
    first, second = world.run.next_effects()
    world.feed(fx.EmbedFailed(first.batch, transient()))
    (wait,) = world.run.next_effects()
    world.perform(second)
    (keep,) = world.run.next_effects()
    world.perform(keep)
    (third,) = world.run.next_effects()  # in the second one's place
    assert third.texts == ("e", "f")
    world.feed(fx.Waited(wait.batch))
    (again,) = world.run.next_effects()
    assert again.texts == first.texts


def test_the_probe_is_made_again_too(make_world):
    counted = count(1)
    world = make_world(Probe=lambda _effect: fx.Failed(transient()) if next(counted) < 3 else None)
    run = world.drive()
    assert world.waits() == [1.0, 2.0]
    assert (run.result.calls, run.result.retries) == (6, 2)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("position", range(8))
def test_a_refused_text_is_found_and_all_others_are_kept(build, make_world, position, named):
    letters = "abcdefgh"
    world = make_world(after=[build.wanted("a", letters)], batch_size=8)
    world.answers["Embed"] = refusing(world, {letters[position]}, named=named)
    error = world.drive().error
    assert isinstance(error, InputRefused)
    assert error.documents == ("docs:a",)
    kept = {key for effect in world.asked if isinstance(effect, fx.Keep) for key in effect.vectors}
    assert len(kept) == 7
    assert world.names().count("Embed") == (2 if named else 1 + 2 * 3)
    assert "Commit" not in world.names()
    (refused,) = world.told(events.Refused)
    assert f"(chunk {position})" in refused.finding.place


def test_two_refused_texts_are_both_found(build, make_world):
    world = make_world(after=[build.wanted("a", "abcdefgh")], batch_size=4)
    world.answers["Embed"] = refusing(world, {"b", "g"})
    assert "refused 2 of 8 texts" in str(world.drive().error)
    assert len(world.told(events.Refused)) == 2


def test_positions_that_cannot_be_are_no_positions(build, make_world):
    """A provider that names texts that were not asked for is not believed: the call is halved."""
    world = make_world(after=[build.wanted("a", "abcd")], batch_size=4)

    def embed(effect):
        if "b" in effect.texts:
            return fx.EmbedFailed(effect.batch, EmbeddingError("400", failure=Failure.INPUT, inputs=[99, -1]))
        return world.usual(effect)

    world.answers["Embed"] = embed
    world.drive()
    assert world.texts() == ["abcd", "ab", "a", "b", "cd"]


def test_where_everything_is_refused_calls_end_soon(build, make_world):
    world = make_world(after=[build.wanted("a", [str(number) for number in range(200)])], batch_size=2)
    world.answers["Embed"] = lambda effect: fx.EmbedFailed(effect.batch, EmbeddingError("400", failure=Failure.INPUT))
    error = world.drive().error
    assert error.documents == ()
    assert f"refused {MOST_REFUSED} of 200 texts" in str(error)
    assert "look at the embedder's settings" in str(error)
    assert world.names().count("Embed") == 3 * MOST_REFUSED // 2


@pytest.mark.parametrize("stopped_while", ["Lock", "Probe", "Embed"])
def test_a_stop_ends_every_wait_at_once_and_nothing_is_asked_again(make_world, stopped_while):
    world = make_world(lock_timeout=600, max_retry_time=600)
    held, calls = fx.Failed(LockHeld("process 7")), count(1)
    world.answers = {
        "Lock": {"Lock": lambda _effect: held},
        "Probe": {"Probe": lambda _effect: fx.Failed(FIVE_MINUTES)},
        "Embed": {"Embed": lambda effect: next(calls) > 1 and fx.EmbedFailed(effect.batch, FIVE_MINUTES)},
    }[stopped_while]

    def wait(effect):
        world.stop()
        assert world.run.hurried
        return fx.Waited(effect.batch)

    world.answers["Wait"] = wait
    error = world.drive().error
    assert isinstance(error, Stopped if stopped_while == "Embed" else Interrupted)
    assert "apply again" in str(error)
    assert world.names().count("Wait") == 1
    assert world.at == 1000  # no time has passed
    assert world.names().count(stopped_while) == (2 if stopped_while == "Embed" else 1)


def test_what_was_in_flight_at_a_stop_is_kept_and_counts(build, make_world):
    world = make_world(after=[build.wanted("a", "abcdefgh")], concurrency=3)

    def embed(effect):
        world.stop()
        return world.usual(effect)

    world.answers["Embed"] = embed
    error = world.drive().error
    assert isinstance(error, Stopped)
    assert "stopped after 6 of 8 embeddings" in str(error)
    assert world.names().count("Embed") == world.names().count("Keep") == 3


def test_the_lock_is_asked_for_until_its_time_is_over(make_world):
    world = make_world(lock_timeout=0.35, Lock=fx.Failed(LockHeld("process 7 holds it")))
    error = world.drive().error
    assert str(error) == "process 7 holds it (waited 0.35 s)"
    assert world.names() == ["Lock", *["Wait", "Lock"] * 4, "Release"]
    assert world.told(events.Waiting) == [events.Waiting("process 7 holds it", 0.35)]


def test_a_lock_that_becomes_free_is_taken(make_world):
    counted = count(1)
    world = make_world(lock_timeout=60, Lock=lambda _effect: next(counted) < 4 and fx.Failed(LockHeld("process 7")))
    assert world.drive().error is None
    assert len(world.waits()) == 3


@pytest.mark.parametrize("failures", range(4))
def test_an_unknown_outcome_is_looked_at_until_the_head_can_be_read(make_world, failures):
    world = make_world(Commit=lambda _effect: fx.CommitUnknown(OutcomeUnknown("gone")))
    looks = count(1)

    def read(_effect):
        if "Commit" not in world.names():
            return fx.HeadRead(world.head)
        return fx.Failed(AdapterError("disk")) if next(looks) <= failures else fx.HeadRead(world.after)

    world.answers["ReadHead"] = read
    run = world.drive()
    if failures < 3:
        assert (run.error, run.result.head) == (None, world.after)
        assert world.waits() == [1.0] * failures
    else:
        assert isinstance(run.error, OutcomeUnknown)
        assert run.error.exit_code == 6
        assert "run again: it will find out" in str(run.error)
    assert world.names().count("Commit") == 1  # never again by itself


def test_by_default_equal_vectors_and_another_order_are_no_fault(make_world):
    world = make_world()
    assert world.drive().error is None
    assert world.told(events.Warned) == []


def test_a_strict_audit_warns_of_one_vector_for_all_texts_and_stops_nothing(make_world):
    world = make_world(strict=True)
    assert world.drive().error is None
    assert "2 different texts with one and the same vector" in world.told(events.Warned)[0].message


def test_a_strict_audit_asks_one_text_again_and_warns_of_an_order_that_is_not_the_texts(make_world):
    def embed(effect):
        answer = {"a": VECTOR, "b": OTHER}
        return fx.Embedded(effect.batch, [answer.get(text, VECTOR) for text in reversed(effect.texts)])

    world = make_world(strict=True, Embed=embed)
    run = world.drive()
    assert run.error is None
    assert world.texts()[:2] == ["ab", "b"]
    assert run.result.embedded == 5  # the comparison is no embedding of ours
    told = world.told(events.Warned)[0].message
    assert "another vector than the same text alone" in told
    assert "nearest to vector 0, so the order may be wrong" in told


def test_a_strict_audit_that_cannot_compare_says_so_and_stops_nothing(make_world):
    def embed(effect):
        if len(effect.texts) == 1 and effect.texts[0] == "b":
            return fx.EmbedFailed(effect.batch, transient())
        return fx.Embedded(effect.batch, [VECTOR, OTHER][: len(effect.texts)])

    world = make_world(strict=True, Embed=embed)
    assert world.drive().error is None
    assert "no text could be embedded a second time" in world.told(events.Warned)[0].message


def test_events_come_in_the_order_of_the_page(make_world):
    world = make_world()
    world.drive()
    kinds = [type(event).__name__ for event in world.events]
    assert kinds == ["Checking", "Started", *["Embedded"] * 3, "Committing", "Committed"]

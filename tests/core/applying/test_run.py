"""The run, driven by hand: every outcome that a driver can feed, without a store or a model."""

from dataclasses import replace

import pytest

from steadlith_core import events, vectors
from steadlith_core.applying import effects as fx
from steadlith_core.applying.run import Result
from steadlith_core.errors import (
    AdapterError,
    EmbeddingError,
    Failure,
    GuardRefused,
    Interrupted,
    LockHeld,
    OutcomeUnknown,
    PlanRejected,
    PlanStale,
    Stopped,
)
from steadlith_core.planning.make import make_plan
from steadlith_core.planning.planfile import plan_digest
from steadlith_core.planning.steps import Add

VECTOR = vectors.pack([1.0, 0.0, 0.0, 0.0])


def failed(error):
    return lambda _effect: fx.Failed(error)


def test_a_good_run_asks_in_order_and_embeds_in_batches(make_world):
    world = make_world()
    run = world.drive()
    assert world.names() == [
        *("Lock", "ReadHead", "Recompute", "Resolve", "Probe"),
        *("Embed", "Keep", "Embed", "Keep", "Embed", "Keep"),
        *("Commit", "Remember", "Release"),
    ]
    assert (run.error, run.result.embedded, run.result.cached, run.result.already) == (None, 5, 0, False)
    assert [event for event in world.events if isinstance(event, events.Embedded)][-1].done == 5


def test_nothing_missing_means_no_probe_and_no_embedding(build, make_world):
    keys = [chunk.vector_key for chunk in build.wanted("a", "abcde").chunks]
    world = make_world(available=keys, Resolve=lambda effect: fx.Resolved(frozenset(effect.keys)))
    run = world.drive()
    assert "Probe" not in world.names()
    assert (run.result.embedded, run.result.cached) == (0, 5)


def test_a_batch_is_kept_before_another_is_asked_for_in_its_place(build, make_world):
    world = make_world(after=[build.wanted("a", [str(i) for i in range(20)])], concurrency=3)
    in_flight = set()
    largest = 0
    while not world.run.ended:
        for effect in world.run.next_effects():
            if isinstance(effect, fx.Embed):
                in_flight.add(effect.batch)
                largest = max(largest, len(in_flight))
            if isinstance(effect, fx.Keep):
                in_flight.discard(effect.batch)
            world.perform(effect)
    assert largest == 3
    assert world.run.result.embedded == 20


@pytest.mark.parametrize(
    ("effect", "released"),
    [("Lock", True), ("ReadHead", True), ("Recompute", True), ("Resolve", True), ("Probe", True), ("Commit", True)],
)
def test_whatever_fails_the_lock_is_released_last_and_the_error_stands(make_world, effect, released):
    error = AdapterError("broken")
    world = make_world(**{effect: failed(error)})
    run = world.drive()
    assert run.error is error
    assert run.result is None
    assert (world.names()[-1] == "Release") is released
    if effect != "Commit":
        assert "Commit" not in world.names()


def test_a_held_lock_asks_for_nothing_else(make_world):
    world = make_world(Lock=failed(LockHeld("process 7")))
    assert isinstance(world.drive().error, LockHeld)
    assert world.names() == ["Lock", "Release"]


def test_a_plan_that_made_the_head_is_already_applied(make_world):
    world = make_world()
    world.head = replace(world.head, lineage="x", generation=4, plan_digest=plan_digest(world.plan))
    run = world.drive()
    assert run.error is None
    assert run.result.already
    assert world.names() == ["Lock", "ReadHead", "Release"]


def test_a_moved_index_is_stale_before_any_source_is_read(make_world):
    world = make_world()
    world.head = replace(world.head, lineage="x", generation=9)
    assert isinstance(world.drive().error, PlanStale)
    assert "Recompute" not in world.names()


def test_a_changed_document_is_stale(build, make_world):
    world = make_world()
    now = make_plan(build.world([], [build.wanted("a", "abcdX")]), build.terms())
    world.answers["Recompute"] = lambda _effect: fx.Recomputed(now)
    error = world.drive().error
    assert isinstance(error, PlanStale)
    assert "docs:a" in str(error)


def test_steps_that_do_not_follow_are_rejected(build, make_world):
    honest = build.plan([], [build.wanted("a", "abcde")])
    change = honest.changes[0]
    forged = replace(honest, changes=(replace(change, steps=change.steps[:-1], kept=1),))
    world = make_world(plan=forged)
    assert isinstance(world.drive().error, PlanRejected)
    assert "Resolve" not in world.names()


def test_roots_that_do_not_follow_are_rejected(build, make_world):
    honest = build.plan([], [build.wanted("a", "abcde")])
    forged = replace(honest, target=replace(honest.target, chunks=6))
    assert isinstance(make_world(plan=forged).drive().error, PlanRejected)


def test_a_miss_that_the_plan_called_cached_is_refused_before_anything_is_paid(build, make_world):
    keys = [chunk.vector_key for chunk in build.wanted("a", "abcde").chunks]
    world = make_world(available=keys)  # the plan counts on them, Resolve finds nothing
    error = world.drive().error
    assert isinstance(error, PlanStale)
    assert "5 embeddings that the plan called cached" in str(error)
    assert not {"Probe", "Embed"} & set(world.names())


def test_fewer_misses_than_planned_are_fine(make_world):
    world = make_world(Resolve=lambda effect: fx.Resolved(frozenset(effect.keys[:3])))
    run = world.drive()
    assert (run.result.embedded, run.result.cached) == (2, 3)


def test_who_pays_in_the_file_is_not_compared(build, make_world):
    honest = build.plan([], [build.wanted("a", "abcde")])
    change = honest.changes[0]
    steps = tuple(replace(step, paid=True) for step in change.steps if isinstance(step, Add))
    world = make_world(plan=replace(honest, changes=(replace(change, steps=steps),)))
    assert world.drive().error is None


def test_a_guard_stops_unless_it_is_overridden_to_apply_itself(build, make_world):
    before = [build.wanted("a", "ab")]
    world = make_world(before=before, after=[])
    assert isinstance(world.drive().error, GuardRefused)
    allowed = make_world(before=before, after=[], allowed=frozenset({"--allow-empty", "--allow-removals"}))
    assert allowed.drive().error is None


def test_an_override_in_the_file_is_display_only(build, make_world):
    before = [build.wanted("a", "ab")]
    planned = build.plan(before, [])
    assert planned.tripped
    world = make_world(before=before, after=[], plan=replace(planned, tripped=()))
    assert isinstance(world.drive().error, GuardRefused)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([], "0 vectors came back for 2 texts"),
        ([VECTOR], "1 vectors came back for 2 texts"),
        ([VECTOR, VECTOR[:-4]], "vector 1 has 3 dimensions, not 4"),
        ([vectors.pack([float("nan"), 0, 0, 0]), VECTOR], "vector 0 holds a value that is not finite"),
        ([VECTOR, vectors.pack([0, 0, 0, 0])], "vector 1 is all zeros"),
    ],
)
def test_field_case_33_a_bad_answer_is_rejected_before_commit(make_world, answer, message):
    world = make_world(Embed=lambda effect: fx.Embedded(effect.batch, answer))
    error = world.drive().error
    assert isinstance(error, EmbeddingError)
    assert message in str(error)
    assert not {"Keep", "Commit"} & set(world.names())


def test_a_failed_batch_lets_the_others_in_flight_be_kept(make_world):
    error = EmbeddingError("429")
    world = make_world(concurrency=3)
    world.answers["Embed"] = lambda effect: (
        fx.EmbedFailed(0, error) if effect.batch == 0 else fx.Embedded(effect.batch, [VECTOR] * len(effect.texts))
    )
    run = world.drive()
    assert run.error is error
    assert world.names().count("Embed") == 3
    assert world.names().count("Keep") == 2
    assert "Commit" not in world.names()


def test_a_failed_keep_stops_a_batch_that_was_not_begun(build, make_world):
    """Field case 33's sister: nothing is paid for once the cache is known to be broken."""
    world = make_world(after=[build.wanted("a", [str(i) for i in range(12)])], concurrency=2)
    for _ in range(5):
        (effect,) = world.run.next_effects()
        world.perform(effect)
    first, second = world.run.next_effects()
    for effect in (first, second):
        world.perform(effect)
    keep_first, keep_second = world.run.next_effects()
    world.perform(keep_first)  # asks for the third batch
    world.feed(fx.KeepFailed(keep_second.batch, AdapterError("disk full")))
    assert [type(effect) for effect in world.run.next_effects()] == [fx.Release]
    world.feed(fx.Released())
    assert "disk full" in str(world.run.error)


def test_a_lock_that_cannot_be_given_back_changes_no_outcome(make_world):
    world = make_world(Release=failed(AdapterError("gone")))
    run = world.drive()
    assert (run.error, run.result.embedded) == (None, 5)
    assert any(isinstance(event, events.Warned) for event in world.events)


def test_a_changed_model_is_told_before_the_first_batch(make_world):
    other = vectors.pack([0.0, 1.0, 0.0, 0.0])
    world = make_world(Probe=lambda _effect: fx.Probed([VECTOR] * 8, [VECTOR] * 6 + [other] * 2))
    error = world.drive().error
    assert isinstance(error, EmbeddingError)
    assert "2 of 8 probe texts" in str(error)
    assert "Embed" not in world.names()


def test_one_odd_probe_answer_is_no_changed_model(make_world):
    other = vectors.pack([0.0, 1.0, 0.0, 0.0])
    world = make_world(Probe=lambda _effect: fx.Probed([VECTOR] * 8, [VECTOR] * 7 + [other]))
    assert world.drive().error is None


def test_an_unknown_outcome_is_looked_at_and_found_done(make_world):
    world = make_world(Commit=lambda _effect: fx.CommitUnknown(OutcomeUnknown("gone")))

    def look(_effect):
        if "Commit" in world.names():
            return fx.HeadRead(replace(world.head, lineage="x", generation=1, plan_digest=plan_digest(world.plan)))
        return fx.HeadRead(world.head)

    world.answers["ReadHead"] = look
    run = world.drive()
    assert run.error is None
    assert run.result.head.generation == 1


def test_an_unknown_outcome_that_did_not_happen_says_so(make_world):
    world = make_world(Commit=lambda _effect: fx.CommitUnknown(OutcomeUnknown("gone")))
    error = world.drive().error
    assert isinstance(error, AdapterError)
    assert "did not happen" in str(error)


@pytest.mark.parametrize("at", range(5))
def test_a_stop_before_the_first_batch_is_an_interruption(make_world, at):
    world = make_world()
    for number in range(100):
        if number == at:
            world.stop()
        for effect in world.run.next_effects():
            world.perform(effect)
        if world.run.ended:
            break
    assert isinstance(world.run.error, Interrupted)
    assert "Embed" not in world.names()


def test_a_stop_while_embedding_keeps_what_is_paid_and_says_how_far_it_came(make_world):
    world = make_world()
    world.answers["Keep"] = lambda effect: (world.stop(), fx.Kept(effect.batch))[1]
    error = world.drive().error
    assert isinstance(error, Stopped)
    assert "2 of 5 embeddings" in str(error)
    assert "Commit" not in world.names()


def test_an_outcome_that_nobody_asked_for_is_the_drivers_mistake(make_world):
    with pytest.raises(ValueError, match="Released while locking"):
        make_world().feed(fx.Released())


def test_a_plan_without_steps_ends_without_a_generation_and_costs_nothing(build, make_world):
    documents = [build.wanted("a", "ab")]
    world = make_world(before=documents, after=documents)
    run = world.drive()
    assert run.error is None
    assert run.result == Result(world.head, already=False, embedded=0, cached=0, unchanged=True, calls=0, retries=0)
    assert "Commit" not in world.names()
    assert world.names()[-2:] == ["Remember", "Release"]


def test_each_retry_of_the_probe_and_of_a_look_says_which_it_is(make_world):
    passing = EmbeddingError("429", failure=Failure.TRANSIENT)
    failures = iter([fx.Failed(passing), fx.Failed(passing)])
    world = make_world(Probe=lambda _: next(failures, None))
    world.drive()
    assert [event.attempt for event in world.told(events.Retrying)] == [2, 3]
    looks = iter([None, fx.Failed(AdapterError("no answer")), fx.Failed(AdapterError("no answer"))])
    world = make_world(Commit=fx.CommitUnknown(AdapterError("lost")), ReadHead=lambda _: next(looks, None))
    world.drive()
    assert [event.attempt for event in world.told(events.Retrying)] == [2, 3]

"""Every way that a small run can go, tried out: each configuration that can be reached, with each outcome of each of
the effects that are due there, and a request to stop at any time.
"""

import copy
import dataclasses
from collections import deque

import pytest

from steadlith_core import events, vectors
from steadlith_core.applying import effects as fx
from steadlith_core.applying.batches import Batches
from steadlith_core.applying.embedding import Embedding
from steadlith_core.applying.run import _JUDGES, ApplyRun
from steadlith_core.applying.states import TRANSITIONS, State
from steadlith_core.applying.waiting import Budget, Looks, Retries
from steadlith_core.errors import AdapterError, EmbeddingError, Failure, LockHeld, OutcomeUnknown

VECTOR = vectors.pack([1.0, 0.0, 0.0, 0.0])
BROKEN = AdapterError("broken")
TRANSIENT = EmbeddingError("429", failure=Failure.TRANSIENT)
REFUSED = EmbeddingError("400", failure=Failure.INPUT)
FINAL = EmbeddingError("401")


@dataclasses.dataclass
class Node:
    """A run where it stands, with what its driver knows."""

    run: ApplyRun
    due: tuple
    at: float
    kept: frozenset
    locked: bool

    def signature(self):
        """What decides how it may go on; of the time, only what is left of a budget that is in use."""
        run, work = self.run, self.run._embedding
        counted = ()
        if run.state in {State.LOCKING, State.AWAITING_LOCK}:
            counted = self.left(run._lock_budget)
        if run.state in {State.PROBING, State.AWAITING_PROBE}:
            counted = (run._probe_retries.failures, *self.left(run._probe_retries._budget))
        if run.state in {State.LOOKING, State.AWAITING_LOOK}:
            counted = (run._looks.failures,)
        batches = ()
        if run.state in {State.EMBEDDING, State.DRAINING}:
            calls = work.batches
            open_ = {*calls._queue, *calls._in_flight}
            batches = (
                tuple(calls.keys(number) for number in calls._queue),
                frozenset(calls.keys(number) for number in calls._in_flight),
                frozenset(calls.refused),
                frozenset(
                    (calls.keys(number), each.failures, *self.left(each._budget))
                    for number, each in calls._retries.items()
                    if number in open_
                ),
                calls.kept,
            )
        due = frozenset((type(each).__name__, self.what(each)) for each in self.due)
        return (run.state, run._stop, type(run.error), run.result is not None, self.locked, counted, due, batches)

    def left(self, budget):
        return (round(budget._since + budget.seconds - self.at, 3),) if budget.begun else ()

    def what(self, effect):
        number = getattr(effect, "batch", None)
        return None if number is None else self.run._embedding.batches.keys(number)


def outcomes(world, effect):  # noqa: C901, PLR0911 -- one case an effect
    match effect:
        case fx.Lock():
            return [fx.Locked(), fx.Failed(LockHeld("process 7")), fx.Failed(BROKEN)]
        case fx.ReadHead():
            return [fx.HeadRead(world.head), fx.HeadRead(world.after), fx.Failed(BROKEN)]
        case fx.Recompute():
            return [fx.Recomputed(world.planned), fx.Failed(BROKEN)]
        case fx.Resolve():
            return [
                fx.Resolved(frozenset()),
                fx.Resolved(frozenset(effect.keys[:1])),
                fx.Resolved(frozenset(effect.keys)),
                fx.Failed(BROKEN),
            ]
        case fx.Probe():
            return [
                fx.Probed([VECTOR] * 8, None),
                fx.Probed([VECTOR] * 7, None),
                fx.Failed(TRANSIENT),
                fx.Failed(FINAL),
            ]
        case fx.Embed():
            failed = [fx.EmbedFailed(effect.batch, error) for error in (TRANSIENT, REFUSED, FINAL)]
            return [fx.Embedded(effect.batch, [VECTOR] * len(effect.keys)), fx.Embedded(effect.batch, []), *failed]
        case fx.Keep():
            return [fx.Kept(effect.batch), fx.KeepFailed(effect.batch, BROKEN)]
        case fx.Wait():
            return [fx.Waited(effect.batch)]
        case fx.Commit():
            return [fx.CommitDone(world.after), fx.CommitUnknown(OutcomeUnknown("gone")), fx.Failed(BROKEN)]
        case fx.Remember():
            return [fx.Remembered(), fx.Failed(BROKEN)]
        case fx.Release():
            return [fx.Released(), fx.Failed(BROKEN)]


MUTABLE = (ApplyRun, Embedding, Batches, Retries, Budget, Looks)


def clone(value):
    """A run of its own, which shares what nobody changes."""
    if isinstance(value, MUTABLE):
        copied = copy.copy(value)
        for field in dataclasses.fields(value):
            setattr(copied, field.name, clone(getattr(value, field.name)))
        return copied
    if isinstance(value, dict):
        return {key: clone(each) for key, each in value.items()}
    return copy.copy(value) if isinstance(value, list | set | deque) else value


def step(world, node, effect, outcome):
    """The node that follows; checks what must hold on the way."""
    copied = clone(node.run)
    at = node.at + (effect.seconds if isinstance(effect, fx.Wait) and not copied.hurried else 0)
    kept = node.kept | (frozenset(node.what(effect)) if isinstance(outcome, fx.Kept) else frozenset())
    kept |= outcome.held if isinstance(outcome, fx.Resolved) else frozenset()
    committing = copied.state is State.COMMITTING
    copied.feed(outcome, at)
    due = tuple(each for each in node.due if each is not effect)
    asked = copied.next_effects()
    for new in asked:
        if isinstance(new, fx.Embed):
            assert not kept & set(new.keys), "a kept text is asked for again"
            assert copied.error is None, "something new is begun by a run that is to end"
        if isinstance(new, fx.Commit):
            assert copied.error is None
            assert kept >= set(world.planned.writes.inputs), "a commit without all its vectors"
    locked = (node.locked or isinstance(outcome, fx.Locked)) and not isinstance(effect, fx.Release)
    assert not (committing and copied.state is State.RELEASING and copied.error is None), "a commit without a result"
    after = Node(copied, (*due, *asked), at, kept, locked)
    flying = [each for each in after.due if isinstance(each, fx.Embed | fx.Keep | fx.Wait) and each.batch is not None]
    assert len(flying) <= copied.calls.concurrency, "too many calls in flight"
    assert len({each.batch for each in flying}) == len(flying)
    if copied.ended:
        assert not after.due, "it ended with something still due"
        assert not after.locked, "it ended with the lock"
        assert (copied.error is None) != (copied.result is None), "neither or both of a result and an error"
    else:
        assert after.due, f"nothing due while {copied.state}"
    return after


def explore(world):
    """Every node that can be reached, and the nodes that follow each."""
    run = ApplyRun(world.plan, world.run.calls, lock_timeout=0.15, report=events.silent)
    start = Node(run, run.next_effects(), 0.0, frozenset(), locked=False)
    graph, queue, pairs, moves = {start.signature(): set()}, deque([start]), set(), set()
    while queue:
        node = queue.popleft()
        following = []
        if not node.run.ended and not node.run._stop:
            stopping = clone(node.run)
            stopping.feed(fx.StopRequested(), node.at)
            following.append(dataclasses.replace(node, run=stopping))
        for effect in node.due:
            for outcome in outcomes(world, effect):
                after = step(world, node, effect, outcome)
                pairs.add((node.run.state, type(outcome)))
                moves.add((node.run.state, after.run.state))
                following.append(after)
        for after in following:
            name = after.signature()
            if name not in graph:
                graph[name] = set()
                queue.append(after)
            graph[node.signature()].add(name)
    return start.signature(), graph, pairs, moves


def longest(start, graph):
    """The longest way through the graph; fails on a way that comes back to where it was."""
    done, on_the_way, stack = {}, set(), [(start, False)]
    while stack:
        name, left = stack.pop()
        if left:
            on_the_way.discard(name)
            done[name] = 1 + max((done[each] for each in graph[name]), default=0)
        elif name not in done:
            assert name not in on_the_way, "a run may go on for ever"
            on_the_way.add(name)
            stack.append((name, True))
            stack.extend((each, False) for each in graph[name] if each not in done)
            assert not any(each in on_the_way for each in graph[name]), "a run may go on for ever"
    return done[start]


def test_every_way_ends_with_the_lock_free_and_pays_for_nothing_that_is_kept(build, make_world):
    texts = build.wanted("a", "abc")
    world = make_world(after=[texts], concurrency=2, max_retry_time=1)
    start, graph, pairs, moves = explore(world)
    assert longest(start, graph) > 12
    assert len(graph) > 300
    unchanged = make_world(before=[texts], after=[texts])
    _, _, more_pairs, more_moves = explore(unchanged)
    # Nothing in the tables is there for nothing.
    assert pairs | more_pairs == set(_JUDGES)
    assert moves | more_moves == {(b, after) for (b, _), after in TRANSITIONS.items()} - {(State.READY, State.LOCKING)}


def test_every_other_pair_of_state_and_outcome_is_the_drivers_mistake(make_world):
    kinds = {kind for _, kind in _JUDGES}
    for state in State:
        for kind in kinds:
            if (state, kind) in _JUDGES:
                continue
            run = make_world().run
            run.state = state
            outcome = kind(*(None for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING))
            with pytest.raises(ValueError, match=f"{kind.__name__} while {state}"):
                run.feed(outcome, 0.0)

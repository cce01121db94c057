"""The apply run: a table of states, driven from outside.

1. The run asks (`next_effects`), the driver answers (`feed`); the run performs nothing itself.
2. Nothing is embedded before base, sources, steps, guards and promised costs were checked; nothing is written to
   the store before every vector is there (invariants 2 and 3).
3. A batch is made durable before another one is asked for in its place, so at a crash at most `concurrency` batches
   are lost (invariant 4).
4. An unknown outcome is a state of its own: the head decides what happened.
5. What was seen of the sources is remembered under the lock, after a run that ended well.
6. Whatever ends the run, the lock is released last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steadlith_core import events, vectors
from steadlith_core.applying import audit, recheck
from steadlith_core.applying import effects as fx
from steadlith_core.applying.states import TRANSITIONS, Signal, State
from steadlith_core.errors import AdapterError, EmbeddingError, Interrupted, SteadlithError, Stopped
from steadlith_core.planning.planfile import plan_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steadlith_core.digest import Digest
    from steadlith_core.planning.make import Planned
    from steadlith_core.planning.plan import Plan
    from steadlith_core.records import Head
    from steadlith_core.vectors import Vector


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended without an error: the head, and what it cost. `already` if the plan had been applied before;
    `unchanged` if it had no steps, so that no generation was made.
    """

    head: Head
    already: bool
    embedded: int
    cached: int
    unchanged: bool = False


@dataclass(slots=True)
class ApplyRun:
    """One apply of one plan. Feed it from one thread."""

    plan: Plan
    batch_size: int
    concurrency: int
    allowed: frozenset[str] = frozenset()
    report: events.Reporter = events.silent
    state: State = State.READY
    result: Result | None = None
    error: SteadlithError | None = None
    _digest: Digest = field(init=False)
    _head: Head | None = None
    _planned: Planned | None = None
    _vectors: dict[Digest, Vector] = field(default_factory=dict)
    _batches: list[tuple[Digest, ...]] = field(default_factory=list)
    _next_batch: int = 0
    _in_flight: set[int] = field(default_factory=set)
    _embedded: int = 0
    _cached: int = 0
    _stop: bool = False
    _pending: list[fx.Effect] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._digest = plan_digest(self.plan)
        self._move(Signal.BEGUN)

    @property
    def ended(self) -> bool:
        """True once the lock is released; then `result` or `error` is set."""
        return self.state is State.ENDED

    def next_effects(self) -> tuple[fx.Effect, ...]:
        """Effects not asked for yet; empty while outcomes are awaited, or when the run has ended."""
        asked = tuple(self._pending)
        self._pending.clear()
        return asked

    def feed(self, outcome: fx.Outcome) -> None:
        """Take one outcome. `ValueError` if the run is in no state to hear it."""
        if isinstance(outcome, fx.StopRequested):
            self._stop = True
            return
        judge = _JUDGES.get((self.state, type(outcome)))
        if judge is None:
            message = f"{type(outcome).__name__} while {self.state}"
            raise ValueError(message)
        self._move(judge(self, outcome))

    # ------------------------------------------------------------------------------------------- moving

    def _move(self, signal: Signal) -> None:
        self.state = TRANSITIONS[self.state, signal]
        entered = _ENTRIES.get(self.state)
        if entered is not None:
            entered(self)

    def _ask_for_batches(self) -> None:
        while self._next_batch < len(self._batches) and len(self._in_flight) < self.concurrency:
            keys = self._batches[self._next_batch]
            texts = tuple(self._ready().writes.inputs[key] for key in keys)
            self._pending.append(fx.Embed(self._next_batch, keys, texts))
            self._in_flight.add(self._next_batch)
            self._next_batch += 1

    def _ask_for_commit(self) -> None:
        assert self._head is not None  # checked before anything else
        self._pending.append(fx.Commit(self._head, self._ready(), self._vectors))

    def _drop_batches_not_begun(self) -> None:
        begun: list[fx.Effect] = [effect for effect in self._pending if not isinstance(effect, fx.Embed)]
        self._in_flight -= {effect.batch for effect in self._pending if isinstance(effect, fx.Embed)}
        self._pending = begun

    def _ready(self) -> Planned:
        assert self._planned is not None  # set by the only way into every later state
        return self._planned

    # ------------------------------------------------------------------------------------------ judging

    def _fail(self, error: SteadlithError) -> Signal:
        self.error = self.error or error
        return Signal.BAD

    def _failed(self, outcome: fx.Failed) -> Signal:
        return self._fail(outcome.error)

    def _stopped_early(self) -> Signal | None:
        if not self._stop:
            return None
        return self._fail(Interrupted("interrupted before anything was written"))

    def _locked(self, _outcome: fx.Locked) -> Signal:
        return self._stopped_early() or Signal.GOOD

    def _head_read(self, outcome: fx.HeadRead) -> Signal:
        if recheck.is_applied(self._digest, outcome.head):
            self.result = Result(outcome.head, already=True, embedded=0, cached=0)
            return Signal.NOTHING_TO_DO
        problem = recheck.base_problem(self.plan, outcome.head)
        self._head = outcome.head
        return self._fail(problem) if problem else self._stopped_early() or Signal.GOOD

    def _recomputed(self, outcome: fx.Recomputed) -> Signal:
        now = outcome.planned.plan
        problem = recheck.claim_problem(self.plan, now) or recheck.guard_problem(now, self.allowed)
        if problem:
            return self._fail(problem)
        if now.is_empty:
            assert self._head is not None  # read before the sources
            self.result = Result(self._head, already=False, embedded=0, cached=0, unchanged=True)
            return Signal.NOTHING_TO_DO  # a generation of its own would make saved plans stale
        self._planned = outcome.planned
        return self._stopped_early() or Signal.GOOD

    def _resolved(self, outcome: fx.Resolved) -> Signal:
        space = self._ready().writes.space
        for key, vector in outcome.vectors.items():
            if not vectors.problems(vector, space.dimensions):
                self._vectors[key] = vector
        wanted = tuple(self._ready().writes.inputs)
        misses = tuple(key for key in wanted if key not in self._vectors)
        self._cached = len(wanted) - len(misses)
        problem = recheck.missing_problem(self.plan, misses)
        if problem:
            return self._fail(problem)
        size = self.batch_size
        self._batches = [misses[at : at + size] for at in range(0, len(misses), size)]
        self.report(events.Started(len(misses), len(self._batches)))
        return self._stopped_early() or (Signal.GOOD if misses else Signal.NOTHING_TO_EMBED)

    def _probed(self, outcome: fx.Probed) -> Signal:
        dimensions = self._ready().writes.space.dimensions
        found = audit.answer_problems(len(audit.PROBE_TEXTS), dimensions, outcome.now)
        if found:
            return self._fail(EmbeddingError("the embedder's answer to the probe texts: " + "; ".join(found)))
        if outcome.recorded is not None:
            changed = audit.probe_problem(outcome.now, outcome.recorded)
            if changed:
                return self._fail(EmbeddingError(changed))
        return self._stopped_early() or Signal.GOOD

    def _embedded_batch(self, outcome: fx.Embedded) -> Signal:
        keys = self._batches[outcome.batch]
        dimensions = self._ready().writes.space.dimensions
        found = audit.answer_problems(len(keys), dimensions, outcome.vectors)
        if found:
            error = EmbeddingError("the embedder's answer: " + "; ".join(found))
            return self._batch_failed(fx.EmbedFailed(outcome.batch, error))
        answer = dict(zip(keys, outcome.vectors, strict=True))
        self._vectors |= answer
        self._pending.append(fx.Keep(outcome.batch, answer))
        return Signal.MORE

    def _kept_batch(self, outcome: fx.Kept) -> Signal:
        self._in_flight.discard(outcome.batch)
        self._embedded += len(self._batches[outcome.batch])
        self.report(events.Embedded(self._embedded, sum(map(len, self._batches))))
        if self.state is State.DRAINING:
            return Signal.MORE if self._in_flight else Signal.DRAINED
        if self._stop:
            self._fail(self._stopped())
            self._drop_batches_not_begun()
            return Signal.STOP if self._in_flight else Signal.DRAINED
        done = self._next_batch == len(self._batches) and not self._in_flight
        return Signal.ALL_KEPT if done else Signal.MORE

    def _batch_failed(self, outcome: fx.EmbedFailed) -> Signal:
        self._in_flight.discard(outcome.batch)
        self._fail(outcome.error)
        self._drop_batches_not_begun()
        return Signal.BAD if self._in_flight else Signal.DRAINED

    def _stopped(self) -> Stopped:
        total = sum(map(len, self._batches))
        return Stopped(
            f"stopped after {self._embedded} of {total} embeddings, which are kept in the cache; "
            "apply again to go on from there"
        )

    def _committed(self, outcome: fx.CommitDone) -> Signal:
        self.result = Result(outcome.head, already=False, embedded=self._embedded, cached=self._cached)
        self.report(events.Committed(outcome.head.generation))
        return Signal.GOOD

    def _commit_unknown(self, outcome: fx.CommitUnknown) -> Signal:
        self.error = outcome.error  # stands unless the look shows that the commit happened
        return Signal.UNKNOWN

    def _looked(self, outcome: fx.HeadRead) -> Signal:
        if not recheck.is_applied(self._digest, outcome.head):
            self.error = AdapterError(
                f"the commit did not happen, the index is still at generation {outcome.head.generation}: "
                f"apply again ({self.error})"
            )
            return Signal.BAD
        self.error = None
        return self._committed(fx.CommitDone(outcome.head))

    def _ask_to_remember(self) -> None:
        assert self.result is not None  # only what ended well is remembered
        self._pending.append(fx.Remember(self.result.head))

    def _remembered(self, _outcome: fx.Remembered) -> Signal:
        return Signal.GOOD

    def _not_remembered(self, outcome: fx.Failed) -> Signal:
        # What was seen can be seen again: the next plan reads more, and says the same.
        self.report(events.Warned(f"the next plan will read every document: {outcome.error}"))
        return Signal.GOOD

    def _released(self, _outcome: fx.Released) -> Signal:
        return Signal.GOOD

    def _not_released(self, outcome: fx.Failed) -> Signal:
        # What was decided stands: the kernel frees the lock with its process at the latest.
        self.report(events.Warned(f"the lock could not be given back: {outcome.error}"))
        return Signal.GOOD


_ENTRIES: Mapping[State, Callable[[ApplyRun], None]] = {
    State.LOCKING: lambda run: run._pending.append(fx.Lock()),
    State.CHECKING_BASE: lambda run: run._pending.append(fx.ReadHead()),
    State.CHECKING_SOURCES: lambda run: run._pending.append(fx.Recompute()),
    State.RESOLVING: lambda run: run._pending.append(fx.Resolve(tuple(run._ready().writes.inputs))),
    State.PROBING: lambda run: run._pending.append(fx.Probe(audit.PROBE_TEXTS)),
    State.EMBEDDING: ApplyRun._ask_for_batches,
    State.COMMITTING: ApplyRun._ask_for_commit,
    State.LOOKING: lambda run: run._pending.append(fx.ReadHead()),
    State.REMEMBERING: ApplyRun._ask_to_remember,
    State.RELEASING: lambda run: run._pending.append(fx.Release()),
}
"""What a run asks for when it enters a state (or enters it again)."""

_JUDGES: Mapping[tuple[State, type], Callable[..., Signal]] = {
    (State.LOCKING, fx.Locked): ApplyRun._locked,
    (State.LOCKING, fx.Failed): ApplyRun._failed,
    (State.CHECKING_BASE, fx.HeadRead): ApplyRun._head_read,
    (State.CHECKING_BASE, fx.Failed): ApplyRun._failed,
    (State.CHECKING_SOURCES, fx.Recomputed): ApplyRun._recomputed,
    (State.CHECKING_SOURCES, fx.Failed): ApplyRun._failed,
    (State.RESOLVING, fx.Resolved): ApplyRun._resolved,
    (State.RESOLVING, fx.Failed): ApplyRun._failed,
    (State.PROBING, fx.Probed): ApplyRun._probed,
    (State.PROBING, fx.Failed): ApplyRun._failed,
    (State.EMBEDDING, fx.Embedded): ApplyRun._embedded_batch,
    (State.EMBEDDING, fx.Kept): ApplyRun._kept_batch,
    (State.EMBEDDING, fx.EmbedFailed): ApplyRun._batch_failed,
    (State.DRAINING, fx.Embedded): ApplyRun._embedded_batch,
    (State.DRAINING, fx.Kept): ApplyRun._kept_batch,
    (State.DRAINING, fx.EmbedFailed): ApplyRun._batch_failed,
    (State.COMMITTING, fx.CommitDone): ApplyRun._committed,
    (State.COMMITTING, fx.CommitUnknown): ApplyRun._commit_unknown,
    (State.COMMITTING, fx.Failed): ApplyRun._failed,
    (State.LOOKING, fx.HeadRead): ApplyRun._looked,
    (State.LOOKING, fx.Failed): ApplyRun._failed,
    (State.REMEMBERING, fx.Remembered): ApplyRun._remembered,
    (State.REMEMBERING, fx.Failed): ApplyRun._not_remembered,
    (State.RELEASING, fx.Released): ApplyRun._released,
    (State.RELEASING, fx.Failed): ApplyRun._not_released,
}
"""Who judges which outcome in which state; everything else is a driver's mistake."""

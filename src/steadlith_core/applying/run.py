"""The apply run: a table of states, driven from outside.

1. The run asks (`next_effects`), the driver answers (`feed`); the run performs nothing itself, and is told the time.
2. Nothing is embedded before base, sources, steps, guards and promised costs were checked; nothing is written to
   the store before every vector is there (invariants 2 and 3).
3. A batch is made durable before another one is asked for in its place, so at a crash at most `concurrency` batches
   are lost (invariant 4). No vector outlives its batch here: a commit reads them where they are kept.
4. What may pass by itself is waited for and asked for again; once the run is to end, nothing is.
5. An unknown outcome is a state of its own: the head decides what happened.
6. What was seen of the sources is remembered under the lock, after a run that ended well.
7. Whatever ends the run, the lock is released last.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steadlith_core import events
from steadlith_core.applying import audit, recheck
from steadlith_core.applying import effects as fx
from steadlith_core.applying.batches import Batches
from steadlith_core.applying.embedding import Embedding, interrupted
from steadlith_core.applying.states import TRANSITIONS, Signal, State
from steadlith_core.applying.waiting import LOCK_SECONDS, Budget, Looks, Retries
from steadlith_core.errors import AdapterError, Interrupted, LockHeld, SteadlithError, Stopped
from steadlith_core.planning.planfile import plan_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steadlith_core.applying.batches import Calls
    from steadlith_core.digest import Digest
    from steadlith_core.planning.make import Planned
    from steadlith_core.planning.plan import Plan
    from steadlith_core.records import Head


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended without an error: the head, and what it cost. `already` if the plan had been applied before;
    `unchanged` if it had no steps, so that no generation was made. `calls` were made to the embedder, the probe's among
    them, and `retries` of them were calls made again.
    """

    head: Head
    already: bool
    embedded: int
    cached: int
    unchanged: bool = False
    calls: int = 0
    retries: int = 0


@dataclass(slots=True)
class ApplyRun:
    """One apply of one plan. Feed it from one thread."""

    plan: Plan
    calls: Calls
    lock_timeout: float = 0.0
    allowed: frozenset[str] = frozenset()
    report: events.Reporter = events.silent
    state: State = State.READY
    result: Result | None = None
    error: SteadlithError | None = None
    _digest: Digest = field(init=False)
    _head: Head | None = None
    _planned: Planned | None = None
    _embedding: Embedding | None = None
    _cached: int = 0
    _probes: int = 0
    _looks: Looks = field(default_factory=Looks)
    _pause: float = 0.0
    _lock_budget: Budget = field(init=False)
    _probe_retries: Retries = field(init=False)
    _stop: bool = False
    _pending: list[fx.Effect] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._digest = plan_digest(self.plan)
        self._lock_budget = Budget(self.lock_timeout)
        self._probe_retries = Retries(self.calls.max_retry_time)
        self._move(Signal.BEGUN)

    @property
    def ended(self) -> bool:
        """True once the lock is released; then `result` or `error` is set."""
        return self.state is State.ENDED

    @property
    def hurried(self) -> bool:
        """Whether the run is to end, so that no wait is worth its time."""
        return self._stop or self.state is State.DRAINING

    def next_effects(self) -> tuple[fx.Effect, ...]:
        """Effects not asked for yet; empty while outcomes are awaited, or when the run has ended."""
        lists = [self._pending] if self._embedding is None else [self._pending, self._embedding.pending]
        asked = tuple(effect for effects in lists for effect in effects)
        for effects in lists:
            effects.clear()
        return asked

    def feed(self, outcome: fx.Outcome, at: float) -> None:
        """Take one outcome, heard `at` so many seconds on a clock that only goes forward.

        `ValueError` if the run is in no state to hear it.
        """
        if isinstance(outcome, fx.StopRequested):
            self._stop = True
            return
        judge = _JUDGES.get((self.state, type(outcome)))
        if judge is None:
            message = f"{type(outcome).__name__} while {self.state}"
            raise ValueError(message)
        self._move(judge(self, outcome, at))

    # ------------------------------------------------------------------------------------------- moving

    def _move(self, signal: Signal) -> None:
        self.state = TRANSITIONS[self.state, signal]
        entered = _ENTRIES.get(self.state)
        if entered is not None:
            entered(self)

    def _begin_checking(self) -> None:
        self.report(events.Checking())
        self._pending.append(fx.Recompute())

    def _ask_for_probe(self) -> None:
        self._probes += 1
        self._pending.append(fx.Probe(audit.PROBE_TEXTS))

    def _ask_for_commit(self) -> None:
        assert self._head is not None  # checked before anything else
        self.report(events.Committing())
        self._pending.append(fx.Commit(self._head, self._ready(), self._digest))

    def _ask_to_remember(self) -> None:
        assert self.result is not None  # only what ended well is remembered
        self._pending.append(fx.Remember(self.result.head))

    def _ready(self) -> Planned:
        assert self._planned is not None  # set by the only way into every later state
        return self._planned

    def _work(self) -> Embedding:
        assert self._embedding is not None  # likewise
        return self._embedding

    # ------------------------------------------------------------------------------------------ judging

    def _fail(self, error: SteadlithError) -> Signal:
        self.error = self.error or error
        return Signal.BAD

    def _failed(self, outcome: fx.Failed, _at: float) -> Signal:
        return self._fail(outcome.error)

    def _later(self, seconds: float) -> Signal:
        self._pause = seconds
        return Signal.LATER

    def _good_unless_stopped(self, _outcome: object = None, _at: float = 0.0) -> Signal:
        if self._stop:
            return self._fail(interrupted())
        return Signal.GOOD

    def _good(self, _outcome: object, _at: float) -> Signal:
        return Signal.GOOD

    def _not_locked(self, outcome: fx.Failed, at: float) -> Signal:
        if not isinstance(outcome.error, LockHeld):
            return self._fail(outcome.error)
        if self._stop:
            return self._good_unless_stopped()
        first = not self._lock_budget.begun
        left = self._lock_budget.left(at)
        if not left:
            waited = "" if first else f" (waited {self.lock_timeout:g} s)"
            return self._fail(LockHeld(f"{outcome.error}{waited}"))
        if first:
            self.report(events.Waiting(str(outcome.error), self.lock_timeout))
        return self._later(min(LOCK_SECONDS, left))

    def _head_read(self, outcome: fx.HeadRead, _at: float) -> Signal:
        if recheck.is_applied(self._digest, outcome.head):
            self.result = Result(outcome.head, already=True, embedded=0, cached=0)
            return Signal.NOTHING_TO_DO
        problem = recheck.base_problem(self.plan, outcome.head)
        self._head = outcome.head
        return self._fail(problem) if problem else self._good_unless_stopped()

    def _recomputed(self, outcome: fx.Recomputed, _at: float) -> Signal:
        now = outcome.planned.plan
        problem = recheck.claim_problem(self.plan, now) or recheck.guard_problem(now, self.allowed)
        if problem:
            return self._fail(problem)
        if now.is_empty:
            assert self._head is not None  # read before the sources
            self.result = Result(self._head, already=False, embedded=0, cached=0, unchanged=True)
            return Signal.NOTHING_TO_DO  # a generation of its own would make saved plans stale
        self._planned = outcome.planned
        return self._good_unless_stopped()

    def _resolved(self, outcome: fx.Resolved, _at: float) -> Signal:
        writes = self._ready().writes
        misses = tuple(key for key in writes.inputs if key not in outcome.held)
        self._cached = len(writes.inputs) - len(misses)
        problem = recheck.missing_problem(self.plan, misses)
        if problem:
            return self._fail(problem)
        batches = Batches(self.calls)
        batches.fill(misses)
        self._embedding = Embedding(writes, batches, self.report)
        self.report(events.Started(len(misses), len(batches)))
        signal = self._good_unless_stopped()
        return Signal.NOTHING_TO_EMBED if signal is Signal.GOOD and not misses else signal

    def _probed(self, outcome: fx.Probed, _at: float) -> Signal:
        problem = audit.probe_error(outcome.now, outcome.recorded, self._ready().writes.space.dimensions)
        return self._fail(problem) if problem else self._good_unless_stopped()

    def _not_probed(self, outcome: fx.Failed, at: float) -> Signal:
        seconds = self._probe_retries.wait(outcome.error, at)
        if self._stop:
            return self._good_unless_stopped()
        if seconds is None:
            return self._fail(self._probe_retries.final(outcome.error))
        self.report(events.Retrying(str(outcome.error), seconds, self._probe_retries.failures + 1))
        return self._later(seconds)

    def _batch(self, outcome: fx.BatchOutcome, at: float) -> Signal:
        work = self._work()
        problem = work.take(outcome, at, ending=self.hurried)
        if problem is None and self._stop:
            problem = work.stopped()
        if problem is None and work.done:
            problem = work.refused()
        if problem is not None:
            self._fail(problem)
        if self.error is None:
            return Signal.ALL_KEPT if work.done else Signal.MORE
        work.drop()
        if work.batches.idle:
            if isinstance(self.error, Interrupted | Stopped):
                self.error = work.stopped()  # what was in flight is kept by now, and counts
            return Signal.DRAINED
        if self.state is State.DRAINING:
            return Signal.MORE
        return Signal.STOP if self._stop else Signal.BAD

    def _committed(self, outcome: fx.CommitDone, _at: float) -> Signal:
        batches = self._work().batches
        self.result = Result(
            outcome.head,
            already=False,
            embedded=batches.kept,
            cached=self._cached,
            calls=self._probes + batches.made,
            retries=max(0, self._probes - 1) + batches.retried,
        )
        self.report(events.Committed(outcome.head.generation))
        return Signal.GOOD

    def _commit_unknown(self, outcome: fx.CommitUnknown, _at: float) -> Signal:
        self.error = outcome.error  # stands unless the look shows what happened
        return Signal.UNKNOWN

    def _looked(self, outcome: fx.HeadRead, at: float) -> Signal:
        if not recheck.is_applied(self._digest, outcome.head):
            self.error = AdapterError(
                f"the commit did not happen, the index is still at generation {outcome.head.generation}: "
                f"apply again, nothing is paid twice ({self.error})"
            )
            return Signal.BAD
        self.error = None
        return self._committed(fx.CommitDone(outcome.head), at)

    def _not_looked(self, outcome: fx.Failed, _at: float) -> Signal:
        seconds = self._looks.wait()
        if seconds is None:
            self.error = self._looks.final(self.error, outcome.error)
            return Signal.BAD
        self.report(events.Retrying(f"a commit's outcome: {outcome.error}", seconds, self._looks.failures + 1))
        return self._later(seconds)

    def _not_remembered(self, outcome: fx.Failed, _at: float) -> Signal:
        # What was seen can be seen again: the next plan reads more, and says the same.
        self.report(events.Warned(f"the next plan will read every document: {outcome.error}"))
        return Signal.GOOD

    def _not_released(self, outcome: fx.Failed, _at: float) -> Signal:
        # What was decided stands: the kernel frees the lock with its process at the latest.
        self.report(events.Warned(f"the lock could not be given back: {outcome.error}"))
        return Signal.GOOD


_ENTRIES: Mapping[State, Callable[[ApplyRun], None]] = {
    State.LOCKING: lambda run: run._pending.append(fx.Lock()),
    State.AWAITING_LOCK: lambda run: run._pending.append(fx.Wait(None, run._pause)),
    State.CHECKING_BASE: lambda run: run._pending.append(fx.ReadHead()),
    State.CHECKING_SOURCES: ApplyRun._begin_checking,
    State.RESOLVING: lambda run: run._pending.append(fx.Resolve(tuple(run._ready().writes.inputs))),
    State.PROBING: ApplyRun._ask_for_probe,
    State.AWAITING_PROBE: lambda run: run._pending.append(fx.Wait(None, run._pause)),
    State.EMBEDDING: lambda run: run._work().ask(),
    State.COMMITTING: ApplyRun._ask_for_commit,
    State.LOOKING: lambda run: run._pending.append(fx.ReadHead()),
    State.AWAITING_LOOK: lambda run: run._pending.append(fx.Wait(None, run._pause)),
    State.REMEMBERING: ApplyRun._ask_to_remember,
    State.RELEASING: lambda run: run._pending.append(fx.Release()),
}
"""What a run asks for when it enters a state (or enters it again)."""

_JUDGES: Mapping[tuple[State, type], Callable[..., Signal]] = {
    (State.LOCKING, fx.Locked): ApplyRun._good_unless_stopped,
    (State.LOCKING, fx.Failed): ApplyRun._not_locked,
    (State.AWAITING_LOCK, fx.Waited): ApplyRun._good_unless_stopped,
    (State.CHECKING_BASE, fx.HeadRead): ApplyRun._head_read,
    (State.CHECKING_BASE, fx.Failed): ApplyRun._failed,
    (State.CHECKING_SOURCES, fx.Recomputed): ApplyRun._recomputed,
    (State.CHECKING_SOURCES, fx.Failed): ApplyRun._failed,
    (State.RESOLVING, fx.Resolved): ApplyRun._resolved,
    (State.RESOLVING, fx.Failed): ApplyRun._failed,
    (State.PROBING, fx.Probed): ApplyRun._probed,
    (State.PROBING, fx.Failed): ApplyRun._not_probed,
    (State.AWAITING_PROBE, fx.Waited): ApplyRun._good_unless_stopped,
    **{
        (state, outcome): ApplyRun._batch
        for state in (State.EMBEDDING, State.DRAINING)
        for outcome in (fx.Embedded, fx.EmbedFailed, fx.Kept, fx.KeepFailed, fx.Waited)
    },
    (State.COMMITTING, fx.CommitDone): ApplyRun._committed,
    (State.COMMITTING, fx.CommitUnknown): ApplyRun._commit_unknown,
    (State.COMMITTING, fx.Failed): ApplyRun._failed,
    (State.LOOKING, fx.HeadRead): ApplyRun._looked,
    (State.LOOKING, fx.Failed): ApplyRun._not_looked,
    (State.AWAITING_LOOK, fx.Waited): ApplyRun._good,
    (State.REMEMBERING, fx.Remembered): ApplyRun._good,
    (State.REMEMBERING, fx.Failed): ApplyRun._not_remembered,
    (State.RELEASING, fx.Released): ApplyRun._good,
    (State.RELEASING, fx.Failed): ApplyRun._not_released,
}
"""Who judges which outcome in which state; everything else is a driver's mistake."""

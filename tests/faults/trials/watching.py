"""What a process under trial tells of itself, so that whoever kills it knows where it was and what it had paid.

1. State, phase and answer stand in memory that is shared with the killer: a kill loses nothing of it.
2. Real states last microseconds to milliseconds. A pause before and after each effect gives every one of them a share
   of the run; states that few runs pass through are given longer ones. What an effect itself does is not slowed down,
   but for one more pause in the middle of a commit: everything is written then, and nothing is committed.
3. Texts are `paid` when the model has answered and `kept` when the cache has; one line each, in order.
"""

import mmap
import os
import struct
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from steadlith import hands
from steadlith_core.applying import effects as fx
from steadlith_core.applying import waiting
from steadlith_core.applying.run import ApplyRun
from steadlith_core.applying.states import State
from steadlith_core.errors import AdapterError, EmbeddingError, Failure, OutcomeUnknown

STATES = tuple(State)
PHASES = ("before", "in", "after")
OUTCOMES = (None, "committed", "already", "refused")
PAUSE = 0.004
WAIT = 0.16
"""Seconds that a run waits before it asks again, where a user's waits for one."""
LONGER = {
    **dict.fromkeys((State.CHECKING_BASE, State.CHECKING_SOURCES, State.PROBING, State.RELEASING), 5),
    **dict.fromkeys((State.RESOLVING, State.LOOKING), 8),
    **dict.fromkeys((State.DRAINING, State.REMEMBERING, State.ENDED), 16),
    State.COMMITTING: 24,
}
"""A run is in these once, most of them briefly; it drains only if a batch fails beside another one."""

FAIR, BATCH_FAILS, COMMIT_LOST, COMMIT_NOT_TOLD = "fair", "a batch fails", "a commit fails", "a commit is not answered"
WEATHERS = (FAIR, BATCH_FAILS, COMMIT_LOST, COMMIT_NOT_TOLD)
FAILS_ONCE = {
    (BATCH_FAILS, State.PROBING): EmbeddingError("503 of a provider, by the weather", failure=Failure.TRANSIENT),
    (COMMIT_LOST, State.LOOKING): AdapterError("the disk is away for a while, by the weather"),
    (COMMIT_NOT_TOLD, State.LOOKING): AdapterError("the disk is away for a while, by the weather"),
}
"""What passes: the run waits and asks again."""
_RECORD = struct.Struct("<BBBI")


@dataclass(frozen=True)
class Told:
    """What stands in the shared memory."""

    state: State
    phase: str
    outcome: str | None
    generation: int


class Board:
    """Shared memory for one process at a time; made before the fork."""

    def __init__(self):
        self._memory = mmap.mmap(-1, _RECORD.size)

    def clear(self):
        self._memory[:] = bytes(_RECORD.size)

    def at(self, state):
        self._memory[0:2] = bytes([STATES.index(state), 0])

    def phase(self, phase):
        self._memory[1] = PHASES.index(phase)

    def answer(self, outcome, generation):
        told = self.read()
        _RECORD.pack_into(
            self._memory, 0, STATES.index(told.state), PHASES.index(told.phase), OUTCOMES.index(outcome), generation
        )

    def read(self):
        state, phase, outcome, generation = _RECORD.unpack_from(self._memory)
        return Told(STATES[state], PHASES[phase], OUTCOMES[outcome], generation)


class Purse:
    """What was paid and kept, by all processes, in one file."""

    def __init__(self, path):
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def note(self, what, keys):
        os.write(self._file, "".join(f"{what} {key}\n" for key in keys).encode())


@contextmanager
def watched(board, purse, *, weather=FAIR, pause=PAUSE):
    """Within, applies of this process are watched; `weather` says what goes wrong in them besides the kill."""
    move, perform, write = ApplyRun._move, hands.Hands.perform, hands.Hands._write
    embedding, keys_of, failed = threading.Barrier(2), {}, set()
    waits = waiting.FIRST_SECONDS, waiting.LOOK_SECONDS

    def moving(run, signal):
        move(run, signal)
        board.at(run.state)

    def rest():
        time.sleep(pause * LONGER.get(board.read().state, 1))

    def writing(own, transaction, rows):
        write(own, transaction, rows)
        rest()

    def fails_once():
        state = board.read().state
        if state in failed or (weather, state) not in FAILS_ONCE:
            return None
        failed.add(state)
        return fx.Failed(FAILS_ONCE[weather, state])

    def performing(own, effect):
        board.phase("before")
        rest()
        board.phase("in")
        outcome = fails_once() or _perform(perform, own, effect, weather, embedding)
        if isinstance(outcome, fx.Embedded):
            keys_of[effect.batch] = effect.keys
            purse.note("paid", effect.keys)
        elif isinstance(outcome, fx.Kept):
            purse.note("kept", keys_of[effect.batch])
        board.phase("after")
        rest()
        return outcome

    ApplyRun._move, hands.Hands.perform, hands.Hands._write = moving, performing, writing
    waiting.FIRST_SECONDS = waiting.LOOK_SECONDS = WAIT
    try:
        yield
        rest()
    finally:
        ApplyRun._move, hands.Hands.perform, hands.Hands._write = move, perform, write
        waiting.FIRST_SECONDS, waiting.LOOK_SECONDS = waits


def _perform(perform, own, effect, weather, embedding):
    """Perform the effect, in this weather."""
    if weather == BATCH_FAILS and isinstance(effect, fx.Embed) and effect.batch < 2:
        with suppress(threading.BrokenBarrierError):  # there is one batch only
            embedding.wait(timeout=1)  # the first two are in flight together when the first one fails
        if effect.batch == 0:
            return fx.EmbedFailed(0, EmbeddingError("503 of a provider, by the weather"))
    if weather == COMMIT_LOST and isinstance(effect, fx.Commit):
        return fx.CommitUnknown(OutcomeUnknown("the disk went away before, by the weather"))
    outcome = perform(own, effect)
    if weather == COMMIT_NOT_TOLD and isinstance(outcome, fx.CommitDone):
        return fx.CommitUnknown(OutcomeUnknown("the disk went away after, by the weather"))
    return outcome


def outcome_of(error):
    """An apply that ended with this error did not happen."""
    assert error.exit_code in {4, 5} or isinstance(error, AdapterError), error
    return "refused"

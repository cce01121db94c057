"""The embedding part of a run: what each batch's outcome leads to, and what is asked for next.

1. An answer is judged before any of it is kept, and a judged answer is kept before its place is given to another call.
2. Once the run is to end, nothing is made again and nothing new is begun; what is in flight is still kept.
3. It says what ends the run, as an error; when the run ends is the run's own matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steadlith_core import events
from steadlith_core.applying import audit, refusals
from steadlith_core.applying import effects as fx
from steadlith_core.applying.batches import Batches, Later, Over, Parted
from steadlith_core.errors import EmbeddingError, Interrupted, SteadlithError, Stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.planning.writes import Writes
    from steadlith_core.vectors import Vector


def interrupted() -> Interrupted:
    """The error of a run that was asked to stop before it had anything to keep."""
    return Interrupted("interrupted before anything was written; apply again when you like")


@dataclass(slots=True)
class Embedding:
    """The batches that bring the vectors that a run has not, and the effects that these ask for."""

    writes: Writes
    batches: Batches
    report: events.Reporter
    pending: list[fx.Effect] = field(default_factory=list)
    _compared: tuple[int, Sequence[Vector]] | None = None

    @property
    def done(self) -> bool:
        """Whether nothing is left to be asked for or awaited."""
        return self.batches.done

    def ask(self) -> None:
        """Begin as many calls as may be in flight."""
        for number, keys in self.batches.begin():
            self.pending.append(fx.Embed(number, keys, tuple(self.writes.inputs[key] for key in keys)))

    def drop(self) -> None:
        """Take back the calls that nobody has begun yet."""
        for effect in self.pending:
            if isinstance(effect, fx.Embed):
                self.batches.withdraw(effect.batch)
        self.pending = [effect for effect in self.pending if not isinstance(effect, fx.Embed)]

    def take(self, outcome: fx.BatchOutcome, at: float, *, ending: bool) -> SteadlithError | None:
        """Take a batch's outcome; what ends the run, if something does."""
        match outcome:
            case fx.Embedded():
                return self._answered(outcome)
            case fx.EmbedFailed():
                return self._failed(outcome, at, ending=ending)
            case fx.Kept():
                self.batches.keep(outcome.batch)
                self.report(events.Embedded(self.batches.kept, self.batches.total))
            case fx.KeepFailed():
                self.batches.leave(outcome.batch)
                return outcome.error
            case fx.Waited():
                assert outcome.batch is not None  # only batches wait here
                (self.batches.leave if ending else self.batches.again)(outcome.batch)
        return None

    def stopped(self) -> SteadlithError:
        """The error of a run that was asked to stop."""
        kept, total = self.batches.kept, self.batches.total
        if not kept:
            return interrupted()
        return Stopped(
            f"stopped after {kept} of {total} embeddings, which are kept in the cache; apply again to go on from there"
        )

    def refused(self) -> SteadlithError | None:
        """The error for the texts that the embedder does not take, if there are any."""
        batches = self.batches
        if not batches.refused:
            return None
        left = batches.total - batches.kept - len(batches.refused)
        return refusals.error(batches.refused, self.writes, kept=batches.kept, left=left)

    def _answered(self, outcome: fx.Embedded) -> SteadlithError | None:
        keys = self.batches.keys(outcome.batch)
        problems = audit.answer_problems(len(keys), self.writes.space.dimensions, outcome.vectors)
        if self.batches.is_comparison(outcome.batch):
            self._compare(outcome, problems)
            return None
        if problems:
            self.batches.leave(outcome.batch)
            return EmbeddingError("the embedder's answer: " + "; ".join(problems))
        if self.batches.calls.strict:
            self._doubt(keys, outcome.vectors)
        self.pending.append(fx.Keep(outcome.batch, dict(zip(keys, outcome.vectors, strict=True))))
        return None

    def _failed(self, outcome: fx.EmbedFailed, at: float, *, ending: bool) -> SteadlithError | None:
        number, error = outcome.batch, outcome.error
        if self.batches.is_comparison(number):
            self.batches.leave(number)
            self.report(events.Warned(f"no text could be embedded a second time, to compare: {error}"))
            return None
        if ending:
            self.batches.leave(number)
            return error
        match self.batches.fail(number, error, at):
            case Later(seconds, attempt):
                self.report(events.Retrying(str(error), seconds, attempt))
                self.pending.append(fx.Wait(number, seconds))
            case Parted(refused):
                for key in refused:
                    self.report(events.Refused(refusals.finding(key, error, self.writes)))
                return self.refused() if self.batches.hopeless else None
            case Over(final):
                return final
        return None

    def _doubt(self, keys: Sequence[Digest], answer: Sequence[Vector]) -> None:
        doubt = audit.equality_doubt(answer)
        if doubt:
            self.report(events.Warned(doubt))
        elif self._compared is None and len(keys) > 1:
            self._compared = (len(keys) - 1, answer)
            self.batches.compare(keys[-1])

    def _compare(self, outcome: fx.Embedded, problems: Sequence[str]) -> None:
        assert self._compared is not None  # set before the comparison was asked for
        self.batches.leave(outcome.batch)
        doubt = "; ".join(problems) or audit.order_doubt(self._compared[1], self._compared[0], outcome.vectors[0])
        if doubt:
            self.report(events.Warned(doubt))

"""A run driven by hand: what a driver would feed, without a store, a model or a clock."""

from dataclasses import replace
from functools import partial

import pytest

from steadlith_core import vectors
from steadlith_core.applying import effects as fx
from steadlith_core.applying.batches import Calls
from steadlith_core.applying.run import ApplyRun
from steadlith_core.planning.make import make_plan
from steadlith_core.planning.planfile import plan_digest

VECTOR = vectors.pack([1.0, 0.0, 0.0, 0.0])


class World:
    """A driver with a memory of what was asked; `answers` replaces the usual outcome of an effect type, where it
    has or answers one. Time passes only while it waits.
    """

    def __init__(
        self,
        build,
        *,
        before=(),
        after=None,
        concurrency=1,
        batch_size=2,
        max_retry_time=60,
        strict=False,
        lock_timeout=0.0,
        plan=None,
        available=(),
        allowed=frozenset(),
        **answers,
    ):
        after = after if after is not None else [build.wanted("a", "abcde")]
        self.planned = make_plan(build.world(list(before), after, available=available), build.terms())
        self.head = build.world(list(before), after).head
        self.plan = plan or self.planned.plan
        self.answers = answers
        self.asked = []
        self.events = []
        self.at = 1000.0
        self.run = ApplyRun(
            self.plan,
            Calls(batch_size, concurrency, max_retry_time, strict=strict),
            lock_timeout=lock_timeout,
            allowed=allowed,
            report=self.events.append,
        )

    @property
    def after(self):
        """The head that the commit makes."""
        return replace(
            self.head, lineage="line", generation=self.head.generation + 1, plan_digest=plan_digest(self.plan)
        )

    def usual(self, effect):  # noqa: C901, PLR0911 -- one case an effect
        match effect:
            case fx.Lock():
                return fx.Locked()
            case fx.ReadHead():
                return fx.HeadRead(self.head)
            case fx.Recompute():
                return fx.Recomputed(self.planned)
            case fx.Resolve():
                return fx.Resolved(frozenset())
            case fx.Probe():
                return fx.Probed([VECTOR] * 8, None)
            case fx.Embed():
                return fx.Embedded(effect.batch, [VECTOR] * len(effect.texts))
            case fx.Keep():
                return fx.Kept(effect.batch)
            case fx.Wait():
                self.at += effect.seconds
                return fx.Waited(effect.batch)
            case fx.Commit():
                return fx.CommitDone(self.after)
            case fx.Remember():
                return fx.Remembered()
            case fx.Release():
                return fx.Released()

    def answer(self, effect):
        self.asked.append(effect)
        given = self.answers.get(type(effect).__name__)
        return (given(effect) if callable(given) else given) or self.usual(effect)

    def feed(self, outcome):
        self.run.feed(outcome, self.at)

    def perform(self, effect):
        self.feed(self.answer(effect))

    def stop(self):
        self.feed(fx.StopRequested())

    def drive(self):
        while not self.run.ended:
            effects = self.run.next_effects()
            assert effects, f"nothing asked while {self.run.state}"
            for effect in effects:
                self.perform(effect)
        return self.run

    def names(self):
        return [type(effect).__name__ for effect in self.asked]

    def texts(self):
        """The texts of every call, in the order in which they were asked for."""
        return ["".join(effect.texts) for effect in self.asked if isinstance(effect, fx.Embed)]

    def waits(self):
        return [effect.seconds for effect in self.asked if isinstance(effect, fx.Wait)]

    def told(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture(scope="session")
def make_world(build):
    return partial(World, build)

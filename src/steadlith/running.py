"""Running an apply: the table-driven run, the hands that do what it asks for, and the lock, from first to last."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from steadlith.collecting import collecting_seldom
from steadlith.driver import drive
from steadlith.hands import Hands
from steadlith.terms import calls, terms
from steadlith_core import events
from steadlith_core.applying.run import ApplyRun
from steadlith_core.errors import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith.assembly import Assembly
    from steadlith.generations import Open
    from steadlith.goals import Goal
    from steadlith_core.applying.run import Result
    from steadlith_core.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class How:
    """How to apply; each as in `Index.apply`."""

    allow: frozenset[str] = frozenset()
    lock_timeout: float = 0.0
    max_retry_time: float | None = None
    stat_cache: bool = True
    workers: int = 1
    report: events.Reporter = events.silent
    stop_requested: Callable[[], bool] = lambda: False


def run(assembly: Assembly, open_store: Open, plan: Plan, how: How, goal: Goal | None = None) -> Result:
    """Do the plan, under the goal's configuration if there is one; raises as `Index.apply` does."""
    under = assembly if goal is None else goal.assembly
    with ExitStack() as stack:
        # It never waits itself, and the run gives it back: this is for an exception that nobody expected.
        lock = assembly.lock(timeout=0.0, holder=f"steadlith {'apply' if goal is None else goal.command}")
        stack.callback(lock.release)
        opening = partial(open_store, stack, readonly=False)
        hands = Hands(under, opening, lock, plan, terms(under), how.report, how.stat_cache, how.workers, goal)
        stack.callback(hands.close)
        work = ApplyRun(
            plan,
            calls(under, how.max_retry_time),
            lock_timeout=how.lock_timeout,
            allowed=how.allow,
            report=how.report,
        )
        with collecting_seldom:
            drive(work, hands, how.stop_requested)
    if failed := work.error or hands.unfinished:
        if isinstance(failed, Stopped) and goal is not None and goal.command == "migrate":
            raise Stopped(f"{failed} (`steadlith migrate --resume`)")
        raise failed
    assert work.result is not None  # an ended run has one or the other
    return work.result

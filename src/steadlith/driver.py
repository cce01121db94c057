"""The driver: performs what a run asks for, until it has ended.

1. Embedding runs in threads, at most `concurrency` calls at a time; everything else runs here, in order.
2. A request to stop is passed on between outcomes, and ends every wait at once; the run decides where it is safe.
3. The clock, and what keeps waiters apart from one another, are here: the run is told the time and asks for seconds.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from steadlith import clock
from steadlith_core.applying import effects as fx

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith.hands import Hands
    from steadlith_core.applying.run import ApplyRun

TICK = 0.1
"""Seconds after which a wait looks up: whether somebody wants the run to stop, whether a call has ended."""


def drive(run: ApplyRun, hands: Hands, stop_requested: Callable[[], bool]) -> None:
    """Run to the end; then `run.result` or `run.error` is set."""

    def hear(outcome: fx.Outcome) -> None:
        # The request first: what an outcome would begin is not begun any more.
        if stop_requested():
            run.feed(fx.StopRequested(), clock.monotonic())
        run.feed(outcome, clock.monotonic())

    with ThreadPoolExecutor(max_workers=run.calls.concurrency, thread_name_prefix="steadlith-embed") as pool:
        calls: set[Future[fx.Outcome]] = set()
        waits: dict[fx.Wait, float] = {}
        while not run.ended:
            asked = run.next_effects()
            for effect in asked:
                match effect:
                    case fx.Embed():
                        calls.add(pool.submit(hands.perform, effect))
                    case fx.Wait():
                        waits[effect] = clock.monotonic() + clock.spread(effect.seconds)
                    case _:
                        hear(hands.perform(effect))
            if not asked:
                done, calls = _some(calls, waits)
                for call in done:
                    hear(call.result())
                if waits and stop_requested():
                    run.feed(fx.StopRequested(), clock.monotonic())
                _end(run, waits)


def _some(
    calls: set[Future[fx.Outcome]], waits: dict[fx.Wait, float]
) -> tuple[set[Future[fx.Outcome]], set[Future[fx.Outcome]]]:
    """Let time pass until a call has ended or a wait has to be looked at: the calls that ended, and the others."""
    if not waits:
        return wait(calls, return_when=FIRST_COMPLETED)
    seconds = max(0.0, min(TICK, min(waits.values()) - clock.monotonic()))
    if calls:
        return wait(calls, timeout=seconds, return_when=FIRST_COMPLETED)
    clock.sleep(seconds)
    return set(), set()


def _end(run: ApplyRun, waits: dict[fx.Wait, float]) -> None:
    """End the waits whose time is over, or all of them when the run has no time to lose."""
    for effect, until in tuple(waits.items()):
        if run.hurried or until <= clock.monotonic():
            del waits[effect]
            run.feed(fx.Waited(effect.batch), clock.monotonic())

"""The driver: performs what a run asks for, until it has ended.

1. Embedding runs in threads, at most `concurrency` calls at a time; everything else runs here, in order.
2. A request to stop is passed on between outcomes; the run decides where it is safe.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from steadlith_core.applying import effects as fx

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith.hands import Hands
    from steadlith_core.applying.run import ApplyRun


def drive(run: ApplyRun, hands: Hands, stop_requested: Callable[[], bool]) -> None:
    """Run to the end; then `run.result` or `run.error` is set."""
    with ThreadPoolExecutor(max_workers=run.concurrency, thread_name_prefix="steadlith-embed") as pool:
        calls: set[Future[fx.Outcome]] = set()
        while not run.ended:
            if stop_requested():
                run.feed(fx.StopRequested())
            asked = run.next_effects()
            for effect in asked:
                if isinstance(effect, fx.Embed):
                    calls.add(pool.submit(hands.perform, effect))
                else:
                    run.feed(hands.perform(effect))
            if calls and not asked:
                done, calls = wait(calls, return_when=FIRST_COMPLETED)
                for call in done:
                    run.feed(call.result())

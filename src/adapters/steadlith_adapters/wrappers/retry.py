"""Wrapper `retry`: what may pass by itself is asked for again, within a budget.

The engine does this for the embedder of an apply, under one budget for the whole run, and in a way that can be stopped;
never wrap what it uses. This is for programs that use an embedder, a cache, a store or a source on their own.

1. Only calls that may be made twice are made twice: reading, embedding, and what the port says is harmless to repeat.
   A write of a store never is: a commit whose answer got lost may have happened.
2. Only what may pass by itself is tried again: an `EmbeddingError` that says so, and a lost or timed-out connection.
3. Waits grow as the engine's do, honour `Retry-After`, and are never longer than what is left of the budget. When that
   is used up, the last error is raised as it came.
4. Clock and sleep are arguments.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from steadlith_core.applying.waiting import Budget, growing
from steadlith_core.errors import AdapterError, EmbeddingError, Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith_adapters.wrappers.calls import Call

T = TypeVar("T")

REPEATABLE = frozenset(
    {
        *("embedder.embed_documents", "embedder.embed_query"),
        *("source.list", "source.read", "source.stamp", "source.leaves_out", "source.place"),
        *("cache.contains", "cache.get", "cache.probe", "cache.stats", "cache.entries", "cache.prunable"),
        *("cache.put", "cache.touch", "cache.put_probe"),  # "harmless", says the port
        *("store.head", "store.snapshot", "store.history", "store.tags", "store.removable", "store.traces"),
        *("reader.documents", "reader.find", "reader.nodes", "reader.rows", "reader.chunks", "reader.entries"),
        *("reader.texts", "reader.held", "reader.problems", "reader.vectors", "reader.cosines", "reader.occurrences"),
        *("reader.dense", "reader.lexical", "reader.within"),
    }
)
"""Calls whose second answer is as good as their first (rule 1)."""

LOST = (ConnectionError, TimeoutError)


def passes(error: Exception) -> bool:
    """Whether the same call may be answered a moment later."""
    if isinstance(error, EmbeddingError):
        return error.failure is Failure.TRANSIENT
    return isinstance(error, LOST) or (isinstance(error, AdapterError) and isinstance(error.__cause__, LOST))


@dataclass(frozen=True, slots=True)
class Retry:
    """Up to so many `seconds`, from a call's first failure on."""

    seconds: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def __call__(self, call: Call, perform: Callable[[], T], /) -> T:
        """See `Around`."""
        if call.name not in REPEATABLE:
            return perform()
        budget, failures = Budget(self.seconds), 0
        while True:
            try:
                return perform()
            except Exception as error:
                left = budget.left(self.clock())
                failures += 1
                if not left or not passes(error):
                    raise
                self.sleep(growing(failures, getattr(error, "retry_after", None), left))

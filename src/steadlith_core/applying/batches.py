"""The texts to embed, as calls: queued, in flight, waiting to be made again, or done.

1. A text is in one call at most, and in none any more once its vector is kept or it was refused; so nothing that is
   kept is asked for twice, but the one text of a comparison that a strict audit asked for.
2. At most `concurrency` calls are in flight; one that waits to be made again keeps its place.
3. A call that is refused for one of its texts is made again without it where it is named, and in halves where not; a
   text that is refused alone is refused for good.
4. Every failure makes a call smaller, later, or the last: so the calls end.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from steadlith_core.applying.waiting import Retries
from steadlith_core.errors import EmbeddingError, Failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.errors import SteadlithError

MOST_REFUSED = 16
"""Texts refused alone, if more were refused than embedded: then it is not the texts, and no more calls are wasted."""


@dataclass(frozen=True, slots=True)
class Calls:
    """How an embedder is called: texts a call, calls at a time, the most seconds that a failing call is made again for;
    with `strict`, answers are compared with one another as well.
    """

    batch_size: int
    concurrency: int = 1
    max_retry_time: float = 60.0
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Later:
    """The call is to be made again after `seconds`, as its `attempt`-th."""

    seconds: float
    attempt: int


@dataclass(frozen=True, slots=True)
class Parted:
    """The call was taken apart; `refused` are those of its texts that are refused for good."""

    refused: tuple[Digest, ...]


@dataclass(frozen=True, slots=True)
class Over:
    """The run cannot go on."""

    error: SteadlithError


Verdict: TypeAlias = Later | Parted | Over
Batch: TypeAlias = "tuple[Digest, ...]"


@dataclass(slots=True)
class Batches:
    """All calls of one run. Whoever begins one ends it by exactly one of `keep`, `fail` and `withdraw`."""

    calls: Calls
    total: int = 0
    kept: int = 0
    made: int = 0
    retried: int = 0
    refused: dict[Digest, SteadlithError] = field(default_factory=dict)
    _batches: dict[int, Batch] = field(default_factory=dict)
    _queue: deque[int] = field(default_factory=deque)
    _in_flight: set[int] = field(default_factory=set)
    _retries: dict[int, Retries] = field(default_factory=dict)
    _comparison: int | None = None
    _next: int = 0

    def fill(self, keys: Sequence[Digest]) -> None:
        """Cut the distinct `keys` into calls, in order."""
        size = self.calls.batch_size
        self.total = len(keys)
        self._queue.extend(self._new(tuple(keys[at : at + size])) for at in range(0, len(keys), size))

    def __len__(self) -> int:
        return len(self._batches)

    @property
    def idle(self) -> bool:
        """Whether no call is in flight or waiting."""
        return not self._in_flight

    @property
    def done(self) -> bool:
        """Whether no call is left to be made or awaited."""
        return not self._in_flight and not self._queue

    @property
    def hopeless(self) -> bool:
        """Whether whatever is asked for is refused."""
        return len(self.refused) >= MOST_REFUSED and len(self.refused) > self.kept

    def begin(self) -> Iterator[tuple[int, Batch]]:
        """Calls to make now, each with its number."""
        while self._queue and len(self._in_flight) < self.calls.concurrency:
            number = self._queue.popleft()
            self._in_flight.add(number)
            self.made += 1
            yield number, self._batches[number]

    def compare(self, key: Digest) -> None:
        """Once a run: ask for one text again, alone and next."""
        if self._comparison is None:
            self._comparison = self._new((key,))
            self._queue.appendleft(self._comparison)

    def is_comparison(self, number: int) -> bool:
        """Whether this call was made to compare its answer with another one."""
        return number == self._comparison

    def withdraw(self, number: int) -> None:
        """The call was begun and nobody made it."""
        self._in_flight.discard(number)
        self.made -= 1

    def keys(self, number: int) -> Batch:
        """What a call asks for."""
        return self._batches[number]

    def keep(self, number: int) -> None:
        """The call's vectors are durable."""
        self._in_flight.discard(number)
        self.kept += len(self._batches[number])

    def again(self, number: int) -> None:
        """The wait is over: the call is the next one to be made."""
        self._in_flight.discard(number)
        self._queue.appendleft(number)
        self.retried += 1

    def leave(self, number: int) -> None:
        """The call has ended without vectors and is not made again."""
        self._in_flight.discard(number)

    def fail(self, number: int, error: SteadlithError, at: float) -> Verdict:
        """The call failed; after `Later` it is still in flight, until `again` or `leave`."""
        if isinstance(error, EmbeddingError) and error.failure is Failure.INPUT:
            self._in_flight.discard(number)
            return Parted(self._part(self._batches[number], error))
        retries = self._retries.setdefault(number, Retries(self.calls.max_retry_time))
        seconds = retries.wait(error, at)
        if seconds is None:
            self._in_flight.discard(number)
            return Over(retries.final(error))
        return Later(seconds, retries.failures + 1)

    def _part(self, batch: Batch, error: EmbeddingError) -> Batch:
        named = {batch[position] for position in error.inputs if 0 <= position < len(batch)}
        refused = tuple(key for key in batch if key in named) or (batch if len(batch) == 1 else ())
        self.refused |= dict.fromkeys(refused, error)
        if refused:
            parts = [tuple(key for key in batch if key not in self.refused)]
        else:
            half = len(batch) // 2
            parts = [batch[:half], batch[half:]]
        self._queue.extendleft(self._new(part) for part in reversed(parts) if part)
        return refused

    def _new(self, batch: Batch) -> int:
        number, self._next = self._next, self._next + 1
        self._batches[number] = batch
        return number

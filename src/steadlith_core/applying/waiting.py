"""How long to wait before something is asked for again: pure rules; the clock and the waiting are the driver's.

1. A wait is never longer than what is left of its budget, whatever a provider asks for.
2. What a provider asks for is honoured, but the same answer again and again is waited for longer and longer.
3. The time of the first failing call is not charged to the budget, that of the later ones is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steadlith_core.errors import EmbeddingError, Failure, OutcomeUnknown

if TYPE_CHECKING:
    from steadlith_core.errors import SteadlithError

FIRST_SECONDS, LONGEST_SECONDS = 1.0, 30.0
"""The first wait for an embedder; each is twice the one before, up to the longest."""

DOUBLINGS = 10
"""More would be beyond the longest wait by far, and some day beyond what a float holds."""

LEAST_SECONDS = 0.001
"""A budget with less left is used up: a clock's steps would make a shorter wait none at all."""

LOCK_SECONDS = 0.1
"""How often a held lock is asked for."""

LOOKS, LOOK_SECONDS = 3, 1.0
"""How often the head is looked at after a commit of unknown outcome, and the wait between."""


@dataclass(slots=True)
class Budget:
    """So many `seconds` from the first time that somebody asks what is left."""

    seconds: float
    _since: float | None = None

    @property
    def begun(self) -> bool:
        """Whether somebody has asked."""
        return self._since is not None

    def left(self, at: float) -> float:
        """What is left of it; 0 when it is used up."""
        if self._since is None:
            self._since = at
        left = self._since + self.seconds - at
        return left if left >= LEAST_SECONDS else 0.0


def growing(failures: int, asked: float | None, left: float) -> float:
    """The wait after so many failures: at least what the provider asked for, at most what is left of the budget."""
    wait = min(FIRST_SECONDS * 2.0 ** min(failures - 1, DOUBLINGS), LONGEST_SECONDS)
    return min(max(wait, asked or 0.0), left)


@dataclass(slots=True)
class Retries:
    """The failures of one call to the embedder."""

    seconds: float
    failures: int = 0
    _budget: Budget = field(init=False)

    def __post_init__(self) -> None:
        self._budget = Budget(self.seconds)

    def wait(self, error: SteadlithError, at: float) -> float | None:
        """How long to wait before the call is made again after this failure; none if it is not to be made again."""
        if not isinstance(error, EmbeddingError) or error.failure is not Failure.TRANSIENT:
            return None
        self.failures += 1
        left = self._budget.left(at)
        if not left:
            return None
        return growing(self.failures, error.retry_after, left)

    def final(self, error: SteadlithError) -> SteadlithError:
        """The error that ends the run, when this call is not made again."""
        if self.failures < 2 or not isinstance(error, EmbeddingError):
            return error
        ended = EmbeddingError(
            f"{error} (given up after {self.failures} attempts, max_retry_time is {self.seconds:g} seconds); what was "
            "embedded before is kept in the cache: apply again when the embedder answers",
            failure=error.failure,
            retry_after=error.retry_after,
        )
        ended.__cause__ = error
        return ended


@dataclass(slots=True)
class Looks:
    """The looks at the head after a commit of unknown outcome, as far as they failed."""

    failures: int = 0

    def wait(self) -> float | None:
        """How long to wait before the head is looked at again; none if it was looked at often enough."""
        self.failures += 1
        return LOOK_SECONDS if self.failures < LOOKS else None

    @staticmethod
    def final(commit: SteadlithError | None, look: SteadlithError) -> OutcomeUnknown:
        """The error of a run that cannot find out; running again can."""
        return OutcomeUnknown(
            f"it is unknown whether the commit happened ({commit}), and the index cannot be read to find out ({look}); "
            "run again: it will find out, and pays for nothing twice"
        )

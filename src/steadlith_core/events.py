"""What a run tells while it goes on; whoever listens renders it. Pure code reports through a `Reporter` only.

An apply tells, in this order: `Waiting` if another writer holds the lock, `Checking`, `Started`, `Embedded` a batch,
`Committing`, `Committed`; between them `Retrying`, `Refused` and `Warned`, when there is reason to. One that ends early
tells no more, and raises its error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from steadlith_core.records import Finding


@dataclass(frozen=True, slots=True)
class Waiting:
    """Another writer holds the lock, and we wait for it, at most `seconds`. Told once."""

    message: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Checking:
    """The lock is ours, and the plan stands on the head: sources and steps are worked out again."""


@dataclass(frozen=True, slots=True)
class Started:
    """Every check has passed: `embeddings` texts are to be embedded in `batches` calls, retries aside."""

    embeddings: int
    batches: int


@dataclass(frozen=True, slots=True)
class Embedded:
    """A batch of vectors is safe in the cache; `done` of `total` so far."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Retrying:
    """A call failed, and what may pass by itself is waited for; `attempt` is the number of the call to come."""

    message: str
    seconds: float
    attempt: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The embedder does not take a text; what else there is to embed goes on, and nothing is committed."""

    finding: Finding


@dataclass(frozen=True, slots=True)
class Committing:
    """Every vector is there: from here on a request to stop waits for the commit's end."""


@dataclass(frozen=True, slots=True)
class Committed:
    """Rows and head became visible together."""

    generation: int


@dataclass(frozen=True, slots=True)
class Copied:
    """A batch of an index that moves is committed where it goes; `done` of `total` chunks so far."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a person should read, without any effect on the outcome."""

    message: str


Event: TypeAlias = (
    "Waiting | Checking | Started | Embedded | Retrying | Refused | Committing | Committed | Copied | Warned"
)


class Reporter(Protocol):
    """Receives events in the order in which they happen, in the thread that drives the run. Must not raise."""

    def __call__(self, event: Event, /) -> None:
        """Take one event."""


def silent(_event: Event, /) -> None:
    """The reporter that says nothing."""

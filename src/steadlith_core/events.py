"""What a run tells while it goes on; whoever listens renders it. Pure code reports through a `Reporter` only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Started:
    """An apply begins: `embeddings` texts are to be embedded in `batches` calls."""

    embeddings: int
    batches: int


@dataclass(frozen=True, slots=True)
class Embedded:
    """A batch of vectors is safe in the cache; `done` of `total` so far."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Committed:
    """Rows and head became visible together."""

    generation: int


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a person should read, without any effect on the outcome."""

    message: str


Event: TypeAlias = "Started | Embedded | Committed | Warned"


class Reporter(Protocol):
    """Receives events in the order in which they happen. Must not raise."""

    def __call__(self, event: Event, /) -> None:
        """Take one event."""


def silent(_event: Event, /) -> None:
    """The reporter that says nothing."""

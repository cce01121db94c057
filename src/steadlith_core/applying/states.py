"""The states of an apply run and every move between them, as a table.

1. What is not in the table cannot happen; a missing row is a mistake that a test finds.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class State(StrEnum):
    """Where a run stands."""

    READY = "ready"
    LOCKING = "locking"
    AWAITING_LOCK = "awaiting lock"
    CHECKING_BASE = "checking base"
    CHECKING_SOURCES = "checking sources"
    RESOLVING = "resolving"
    PROBING = "probing"
    AWAITING_PROBE = "awaiting probe"
    EMBEDDING = "embedding"
    DRAINING = "draining"
    COMMITTING = "committing"
    LOOKING = "looking"
    AWAITING_LOOK = "awaiting look"
    REMEMBERING = "remembering"
    RELEASING = "releasing"
    ENDED = "ended"


class Signal(StrEnum):
    """What an outcome means to the run; the judgement between an outcome and a transition."""

    BEGUN = "begun"
    GOOD = "good"
    MORE = "more"
    LATER = "later"
    NOTHING_TO_DO = "nothing to do"
    NOTHING_TO_EMBED = "nothing to embed"
    ALL_KEPT = "all kept"
    DRAINED = "drained"
    BAD = "bad"
    STOP = "stop"
    UNKNOWN = "unknown"


TRANSITIONS: Mapping[tuple[State, Signal], State] = {
    (State.READY, Signal.BEGUN): State.LOCKING,
    (State.LOCKING, Signal.GOOD): State.CHECKING_BASE,
    (State.LOCKING, Signal.LATER): State.AWAITING_LOCK,
    (State.LOCKING, Signal.BAD): State.RELEASING,
    (State.AWAITING_LOCK, Signal.GOOD): State.LOCKING,
    (State.AWAITING_LOCK, Signal.BAD): State.RELEASING,
    (State.CHECKING_BASE, Signal.GOOD): State.CHECKING_SOURCES,
    (State.CHECKING_BASE, Signal.NOTHING_TO_DO): State.RELEASING,
    (State.CHECKING_BASE, Signal.BAD): State.RELEASING,
    (State.CHECKING_SOURCES, Signal.GOOD): State.RESOLVING,
    (State.CHECKING_SOURCES, Signal.NOTHING_TO_DO): State.REMEMBERING,
    (State.CHECKING_SOURCES, Signal.BAD): State.RELEASING,
    (State.RESOLVING, Signal.GOOD): State.PROBING,
    (State.RESOLVING, Signal.NOTHING_TO_EMBED): State.COMMITTING,
    (State.RESOLVING, Signal.BAD): State.RELEASING,
    (State.PROBING, Signal.GOOD): State.EMBEDDING,
    (State.PROBING, Signal.LATER): State.AWAITING_PROBE,
    (State.PROBING, Signal.BAD): State.RELEASING,
    (State.AWAITING_PROBE, Signal.GOOD): State.PROBING,
    (State.AWAITING_PROBE, Signal.BAD): State.RELEASING,
    (State.EMBEDDING, Signal.MORE): State.EMBEDDING,
    (State.EMBEDDING, Signal.ALL_KEPT): State.COMMITTING,
    (State.EMBEDDING, Signal.BAD): State.DRAINING,
    (State.EMBEDDING, Signal.STOP): State.DRAINING,
    (State.EMBEDDING, Signal.DRAINED): State.RELEASING,
    (State.DRAINING, Signal.MORE): State.DRAINING,
    (State.DRAINING, Signal.DRAINED): State.RELEASING,
    (State.COMMITTING, Signal.GOOD): State.REMEMBERING,
    (State.COMMITTING, Signal.UNKNOWN): State.LOOKING,
    (State.COMMITTING, Signal.BAD): State.RELEASING,
    (State.LOOKING, Signal.GOOD): State.REMEMBERING,
    (State.LOOKING, Signal.LATER): State.AWAITING_LOOK,
    (State.LOOKING, Signal.BAD): State.RELEASING,
    (State.AWAITING_LOOK, Signal.GOOD): State.LOOKING,
    (State.REMEMBERING, Signal.GOOD): State.RELEASING,
    (State.RELEASING, Signal.GOOD): State.ENDED,
}
"""Every move that a run can make; docs/apply.md draws it from here. Embedding and draining loop over batches."""

"""What an apply asks of its driver, and what the driver tells it afterwards.

1. An effect is asked for once; the driver performs it and feeds exactly one outcome for it.
2. Outcomes carry facts, not decisions: the run decides.
3. `Embed` and `Wait` go on while others are performed; every other effect is performed alone, in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.errors import SteadlithError
    from steadlith_core.planning.make import Planned
    from steadlith_core.records import Head
    from steadlith_core.vectors import Vector

# ------------------------------------------------------------------------------------------------ effects


@dataclass(frozen=True, slots=True)
class Lock:
    """Take the writer's lock if it is free now. Feed `Locked` or `Failed`."""


@dataclass(frozen=True, slots=True)
class ReadHead:
    """Read the store's head. Feed `HeadRead` or `Failed`."""


@dataclass(frozen=True, slots=True)
class Recompute:
    """Read the sources again and plan from what they hold now. Feed `Recomputed` or `Failed`."""


@dataclass(frozen=True, slots=True)
class Resolve:
    """Look which vectors the cache or the store has, intact. Feed `Resolved` or `Failed`."""

    keys: tuple[Digest, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """Embed the probe texts and fetch what the first run recorded. Feed `Probed` or `Failed`."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Embed:
    """Embed one batch, in any thread. Feed `Embedded` or `EmbedFailed`."""

    batch: int
    keys: tuple[Digest, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keep:
    """Make one batch of vectors durable in the cache. Feed `Kept` or `KeepFailed`."""

    batch: int
    vectors: Mapping[Digest, Vector]


@dataclass(frozen=True, slots=True)
class Wait:
    """Let `seconds` pass, or a little more, so that not everybody comes back at once. Feed `Waited`: at once, when the
    run is `hurried`. `batch` is what waits; none if it is the run.
    """

    batch: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Commit:
    """Write rows and head in one transaction. Feed `CommitDone`, `CommitUnknown` or `Failed`.

    The vectors that `planned.writes.vectors()` needs are all to be had: from the cache, or from the store.
    `plan_digest` names the plan that is applied.
    """

    expected: Head
    planned: Planned
    plan_digest: Digest


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep what was seen of the sources, for the next plan to believe. Feed `Remembered` or `Failed`."""

    head: Head


@dataclass(frozen=True, slots=True)
class Release:
    """Give the lock back. Feed `Released`."""


Effect: TypeAlias = "Lock | ReadHead | Recompute | Resolve | Probe | Embed | Keep | Wait | Commit | Remember | Release"

# ----------------------------------------------------------------------------------------------- outcomes


@dataclass(frozen=True, slots=True)
class Locked:
    """The lock is ours."""


@dataclass(frozen=True, slots=True)
class HeadRead:
    """The head as it is now, at the first look or at the look after an unknown outcome."""

    head: Head


@dataclass(frozen=True, slots=True)
class Recomputed:
    """The plan that follows from the sources and the index as they are now."""

    planned: Planned


@dataclass(frozen=True, slots=True)
class Resolved:
    """Keys of the vectors that are to be had."""

    held: frozenset[Digest]


@dataclass(frozen=True, slots=True)
class Probed:
    """The probe's vectors now, and those recorded by the first run under this model (none if this is the first)."""

    now: Sequence[Vector]
    recorded: Sequence[Vector] | None


@dataclass(frozen=True, slots=True)
class Embedded:
    """What the embedder answered for one batch, not judged yet."""

    batch: int
    vectors: Sequence[Vector]


@dataclass(frozen=True, slots=True)
class EmbedFailed:
    """A batch was not embedded."""

    batch: int
    error: SteadlithError


@dataclass(frozen=True, slots=True)
class Kept:
    """A batch's vectors are durable."""

    batch: int


@dataclass(frozen=True, slots=True)
class KeepFailed:
    """A batch's vectors could not be kept."""

    batch: int
    error: SteadlithError


@dataclass(frozen=True, slots=True)
class Waited:
    """The time is over, or the run was hurried."""

    batch: int | None


@dataclass(frozen=True, slots=True)
class CommitDone:
    """Rows and head are visible."""

    head: Head


@dataclass(frozen=True, slots=True)
class CommitUnknown:
    """A commit was sent and no answer came."""

    error: SteadlithError


@dataclass(frozen=True, slots=True)
class Remembered:
    """The next plan need not read what did not change."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An effect failed for good."""

    error: SteadlithError


@dataclass(frozen=True, slots=True)
class Released:
    """The lock is free."""


@dataclass(frozen=True, slots=True)
class StopRequested:
    """Somebody wants the run to stop at the next safe point. May be fed at any time."""


Outcome: TypeAlias = (
    Locked
    | HeadRead
    | Recomputed
    | Resolved
    | Probed
    | Embedded
    | EmbedFailed
    | Kept
    | KeepFailed
    | Waited
    | CommitDone
    | CommitUnknown
    | Remembered
    | Failed
    | Released
    | StopRequested
)

BatchOutcome: TypeAlias = Embedded | EmbedFailed | Kept | KeepFailed | Waited
"""What can happen to a batch."""

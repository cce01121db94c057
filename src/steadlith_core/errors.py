"""Every error that Steadlith raises on purpose, split by who must act and by what is known.

1. One base class; each class owns one exit code (docs/errors.md lists them all).
2. A message shows the offending value and the way out.
3. `OutcomeUnknown` is not a failure: look at the head before trying again; running again does.
"""

from __future__ import annotations

from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class SteadlithError(Exception):
    """Base of all errors raised on purpose. `exit_code` is what the command line exits with."""

    exit_code: ClassVar[int] = 1


class UsageError(SteadlithError):
    """The call itself is wrong: an unknown option, a value out of range. You act."""

    exit_code = 64


class ConfigError(SteadlithError):
    """The configuration cannot be used; names the key, the value and the choices. You act."""


class SourceError(SteadlithError):
    """A whole source cannot be listed, so nothing can be said about what it holds. You act."""


class DocumentError(SteadlithError):
    """One document cannot be used. It becomes a finding of `kind` (a `FindingKind`) and never stops the corpus."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type[DocumentError], tuple[str, str]]:
        """How it travels to another process: by what it is made of."""
        return type(self), (self.kind, str(self))


class PlanFileError(SteadlithError):
    """A plan file is not a plan that this version can read: damaged, or of another major version."""


class PlanStale(SteadlithError):
    """The index or a planned document moved since the plan was made. Plan again."""

    exit_code = 5


class PlanRejected(SteadlithError):
    """A plan was edited, or holds a step that does not follow from the sources and the index. Nothing was written."""

    exit_code = 5


class GuardRefused(SteadlithError):
    """A guard stopped the plan: it would lose more than the configuration allows without a word from you."""

    exit_code = 3


class ApprovalMissing(SteadlithError):
    """Changes need a yes, and nobody is there to give one."""

    exit_code = 3


class LockHeld(SteadlithError):
    """Another writer holds the index."""

    exit_code = 4


class StaleHead(SteadlithError):
    """The store's head is not the expected one: another writer committed first. Plan again."""

    exit_code = 5


class Stopped(SteadlithError):
    """An apply stopped at a safe point on request; what was paid for is kept and the next run resumes."""

    exit_code = 6


class Interrupted(SteadlithError):
    """Interrupted before anything was written."""

    exit_code = 130


class AdapterError(SteadlithError):
    """An adapter broke its contract or failed; the cause is chained. Addressed to the adapter's author."""


class Failure(StrEnum):
    """What an apply may do about a call that an embedder could not answer. Closed: each is another way to go on."""

    FINAL = "final"
    """Nothing but a person helps: a key, a quota, a model or a setting is wrong, or the answer is. Not asked again."""
    TRANSIENT = "transient"
    """It may pass by itself: a timeout, a reset, 408, 429, any 5xx. Asked again after a while, all of it."""
    INPUT = "input"
    """One of the texts is refused whenever it is asked for: too long, or not allowed. The others are asked again."""


class EmbeddingError(AdapterError):
    """An embedder failed or answered with something that is not what was asked for.

    What matters to an apply is data: the `failure`; `retry_after`, the seconds that the provider asks to be left alone;
    and `inputs`, the positions of the refused texts in the call, where the provider tells. A `retry_after` that is no
    number of seconds from 0 up counts as none.
    """

    def __init__(
        self,
        message: str,
        *,
        failure: Failure = Failure.FINAL,
        retry_after: float | None = None,
        inputs: Iterable[int] = (),
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.retry_after = (
            retry_after if retry_after is not None and isfinite(retry_after) and retry_after > 0 else None
        )
        self.inputs = tuple(inputs)


class InputRefused(EmbeddingError):
    """The embedder refuses some of the texts, so the plan cannot be carried out; the message names their chunks.

    `documents` (`source:path`) hold these texts: a plan that holds them back can be carried out. None are named where
    not every text was asked for.
    """

    def __init__(self, message: str, *, documents: Iterable[str] = ()) -> None:
        super().__init__(message, failure=Failure.INPUT)
        self.documents = tuple(documents)


class OutcomeUnknown(AdapterError):
    """A commit was sent and no answer came: it may or may not have happened. Running again finds out."""

    exit_code = 6


class StoreCorrupt(SteadlithError):
    """A file of ours is damaged or half-made. Stop; the message says how to rebuild it, `fault` only what is wrong."""

    def __init__(self, message: str, fault: str | None = None) -> None:
        super().__init__(message)
        self.fault = fault or message


class ForeignFile(SteadlithError):
    """A file at our place belongs to another program or to another major version of this one."""


class ProofError(SteadlithError):
    """Bytes are not a proof that this version reads: damaged, cut short, or of another version. They prove nothing."""


class ProofRejected(ProofError):
    """A proof does not lead from the claim to the root: it belongs to another root or claim, or somebody changed it."""


class ManifestError(SteadlithError):
    """Bytes are not a manifest that this version reads: damaged, cut short, of another version, or with roots that do
    not follow from its documents.
    """


class CacheFileError(SteadlithError):
    """Bytes are not a cache file that this version reads: damaged, cut short, of another version, or with a vector that
    has no direction.
    """


class ImportFileError(SteadlithError):
    """A file to be imported from is not what it was said to be: another program's, another version's, or damaged."""


class ImportRefused(SteadlithError):
    """Nothing can be imported into this index as it is, or as the files are now. The message says what to do first."""


class RollbackRefused(SteadlithError):
    """A generation cannot be gone back to; the message names what is missing. Nothing was written."""


class ChangeUnfinished(SteadlithError):
    """A rollback or a migration is committed and its configuration is not in place, or an index is on its way to
    another store; its `--resume` ends it.
    """

    exit_code = 6


class ChecksFailed(SteadlithError):
    """What a migration built is not good enough to take the place of what is there. Nothing was swapped."""

    exit_code = 3


class GenerationGone(SteadlithError):
    """The asked-for generation is not kept (never existed, or was compacted away)."""

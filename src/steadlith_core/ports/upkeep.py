"""What a store tells of its upkeep: what compacting would remove, what it removed, and what is left of a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId


@dataclass(frozen=True, slots=True)
class Removable:
    """What no kept generation would show: how many of each, and about how many bytes of files they and what is free
    already take.
    """

    generations: int = 0
    versions: int = 0
    occurrences: int = 0
    entries: int = 0
    texts: int = 0
    vectors: int = 0
    bytes: int = 0

    @property
    def is_nothing(self) -> bool:
        """Whether compacting would neither remove anything nor give space back."""
        return self == Removable()


@dataclass(frozen=True, slots=True)
class Compaction:
    """What a compaction did. `removed.bytes` was expected; `bytes_before` and `bytes_after` are what the files take.

    Without `given_back` a reader held the old pages: what was removed is removed for good, and the space is given back
    by a later compaction.
    """

    keep_from: int
    removed: Removable
    bytes_before: int
    bytes_after: int
    given_back: bool


@dataclass(frozen=True, slots=True)
class Traces:
    """What is left of some documents in kept generations: those that any of them shows, and the keys of vectors that
    were made for them and that nothing in the head uses.
    """

    documents: frozenset[DocumentId]
    vector_keys: frozenset[Digest]

"""What adapters tell of upkeep: what compacting removes, what is left of a document, what is wrong around a file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId, DriftKind


@dataclass(frozen=True, slots=True)
class Removable:
    """What no kept generation would show: how many of each, and about how many bytes of files they and what is free
    already take.

    A version is a document as one or more generations in a row show it: under one root and source, with the same
    occurrences. Vectors are counted in every space.
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


class Ailment(StrEnum):
    """What can be wrong with a set-up besides drift. Closed; docs/maintenance.md says what each is and what helps."""

    CONFIGURATION = "configuration"
    SOURCE = "source"
    DOCUMENT = "document"
    EXTENSION = "extension"
    NETWORK = "network"
    INDEX_FOREIGN = "index_foreign"
    INDEX_UNUSABLE = "index_unusable"
    CACHE_FOREIGN = "cache_foreign"
    CACHE_DAMAGED = "cache_damaged"
    CACHE_UNUSABLE = "cache_unusable"
    CACHE_ENTRY = "cache_entry"
    CACHE_CONTRADICTS = "cache_contradicts"
    FINGERPRINTS = "fingerprints"
    LOG_LEFT = "log_left"
    LOCK_LEFT = "lock_left"
    OLDER_FORMAT = "older_format"
    SET_ASIDE = "set_aside"
    DISK_SPACE = "disk_space"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that is wrong, where, in a sentence; and the way out, empty where the message says it.

    What is not `grave` stands in nobody's way: it is worth knowing. What is `mendable` a repair sets right.
    """

    kind: Ailment | DriftKind
    place: str
    message: str
    way_out: str = ""
    grave: bool = True
    mendable: bool = False

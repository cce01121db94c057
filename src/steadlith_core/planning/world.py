"""The world: everything that a plan is a function of, gathered before planning starts.

1. A frozen picture: nothing here is read later or twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.records import DocumentId, Finding, Head, Recipe
    from steadlith_core.rows import EntryRow, RecordedChunk, RecordedDocument


@dataclass(frozen=True, slots=True)
class World:
    """The three states, as far as they differ.

    `recorded` are all documents of the head; `chunks` those of the changed and the vanished ones, with `entries`
    for what they use. `wanted` holds new and changed documents only; whatever is recorded and neither wanted nor
    vanished stays. `available` are the vector keys that the cache or the store would answer.
    """

    head: Head
    recipe: Recipe
    config_digest: Digest
    recorded: Mapping[DocumentId, RecordedDocument]
    chunks: Mapping[DocumentId, tuple[RecordedChunk, ...]]
    entries: Mapping[Digest, EntryRow]
    wanted: Mapping[DocumentId, WantedDocument]
    vanished: frozenset[DocumentId]
    available: frozenset[Digest]
    findings: tuple[Finding, ...]

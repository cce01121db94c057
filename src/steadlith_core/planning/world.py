"""The world: everything that a plan is a function of, gathered before planning starts.

1. A frozen picture: nothing here is read later or twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steadlith_core.records import Level

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.digest import Digest
    from steadlith_core.planning.plan import Brought, Drift
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.records import DocumentId, Finding, Head, Recipe
    from steadlith_core.rows import EntryRow, RecordedChunk, RecordedDocument
    from steadlith_core.state.moving import Moved


@dataclass(frozen=True, slots=True)
class World:
    """The three states, as far as they differ; what is recorded and neither wanted nor vanished stays.

    `recorded` holds the changed and the vanished documents, with their `chunks` and the `entries` that these use;
    `wanted` the new and the changed ones. `documents` and `total_chunks` count all that is recorded, `folders` the
    documents directly in each folder, by (source, folder). `available` are the vector keys that the cache or the store
    would answer. Of what is settled (settled.py) neither entries nor keys need be there. `moved` is the corpus trie on
    its way from the recorded documents to the wanted ones.

    `left_out` are vanished documents whose file stands where it was and that the settings leave out now; `replaced` are
    sources whose root is another one than it was. `mended` are wanted documents that are written anew whatever their
    steps, because of `drift`, which was looked for at `level`; with `mend` the write believes nothing that is
    kept, and with `repair_only` nothing is wanted but for that. `moves` are the configured moves (moves.py). `held`
    are documents that stay as they are recorded because somebody said so. With `rollback_to` what is wanted is what
    that generation held, and its chunks say which occurrences they were. `configuration` is the one
    that is put in place with it; none if the file stays.
    """

    head: Head
    recipe: Recipe
    config_digest: Digest
    documents: int
    total_chunks: int
    folders: Mapping[tuple[str, str], int]
    recorded: Mapping[DocumentId, RecordedDocument]
    chunks: Mapping[DocumentId, tuple[RecordedChunk, ...]]
    entries: Mapping[Digest, EntryRow]
    wanted: Mapping[DocumentId, WantedDocument]
    vanished: frozenset[DocumentId]
    available: frozenset[Digest]
    moved: Moved
    findings: tuple[Finding, ...]
    left_out: frozenset[DocumentId] = frozenset()
    replaced: frozenset[str] = frozenset()
    level: Level = Level.HEAD
    drift: tuple[Drift, ...] = ()
    mended: frozenset[DocumentId] = frozenset()
    mend: bool = False
    repair_only: bool = False
    scope: tuple[str, ...] = ()
    preview: bool = False
    store: Mapping[str, str | int | tuple[str, ...]] = field(default_factory=dict)
    moves: tuple[tuple[str, str], ...] = ()
    held: tuple[DocumentId, ...] = ()
    rollback_to: int | None = None
    configuration: Brought | None = None

"""Matching: which recorded occurrence each wanted one continues.

1. Within a document: the sequence diff over text hashes (equal text under a new identity is still the same text).
2. Across documents only where one vanished or appeared: equal roots pair first, in id order; then what is still
   unmatched, by most shared occurrences, ties by (old id, new id), in source order within a pair.
3. Between two surviving documents the same text is an addition here and a deletion there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from steadlith_core.planning.diff import diff

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import WantedDocument
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import RecordedChunk, RecordedDocument


Recorded: TypeAlias = "Mapping[DocumentId, tuple[RecordedDocument, tuple[RecordedChunk, ...]]]"


@dataclass(frozen=True, slots=True)
class Match:
    """The recorded occurrence that a wanted one continues; `moved` if it left its document or its order."""

    origin: DocumentId
    old_position: int
    moved: bool


@dataclass(frozen=True, slots=True)
class Matching:
    """For each wanted document one match or none per chunk; for each recorded one the positions left over."""

    matches: Mapping[DocumentId, tuple[Match | None, ...]]
    gone: Mapping[DocumentId, tuple[int, ...]]


def match(
    recorded: Recorded,
    wanted: Mapping[DocumentId, WantedDocument],
) -> Matching:
    """Match changed, vanished and new documents; `recorded` holds the changed and the vanished ones."""
    matches: dict[DocumentId, list[Match | None]] = {
        id_: [None] * len(document.chunks) for id_, document in wanted.items()
    }
    gone: dict[DocumentId, list[int]] = {}
    for id_ in sorted(recorded):
        old = [chunk.text_hash for chunk in recorded[id_][1]]
        gone[id_] = list(range(len(old)))
        if id_ in wanted:
            result = diff(old, [chunk.text.text_hash for chunk in wanted[id_].chunks])
            for old_position, position in result.kept:
                matches[id_][position] = Match(id_, old_position, moved=False)
            for old_position, position in result.moved:
                matches[id_][position] = Match(id_, old_position, moved=True)
            gone[id_] = list(result.gone)

    _relocate_whole(recorded, wanted, matches, gone)
    _relocate_parts(recorded, wanted, matches, gone)
    return Matching(
        {id_: tuple(found) for id_, found in matches.items()},
        {id_: tuple(positions) for id_, positions in gone.items()},
    )


def _relocate_whole(
    recorded: Recorded,
    wanted: Mapping[DocumentId, WantedDocument],
    matches: dict[DocumentId, list[Match | None]],
    gone: dict[DocumentId, list[int]],
) -> None:
    appeared: defaultdict[Digest, list[DocumentId]] = defaultdict(list)
    for id_ in sorted(set(wanted) - set(recorded), reverse=True):
        appeared[wanted[id_].root].append(id_)
    for old_id in sorted(set(recorded) - set(wanted)):
        candidates = appeared.get(recorded[old_id][0].root)
        if candidates and gone[old_id]:
            new_id = candidates.pop()
            matches[new_id] = [Match(old_id, position, moved=True) for position in gone[old_id]]
            gone[old_id] = []


def _relocate_parts(
    recorded: Recorded,
    wanted: Mapping[DocumentId, WantedDocument],
    matches: dict[DocumentId, list[Match | None]],
    gone: dict[DocumentId, list[int]],
) -> None:
    for old_id, new_id in _pairs_by_sharing(recorded, wanted, matches, gone):
        waiting: defaultdict[Digest, list[int]] = defaultdict(list)
        for position in reversed(gone[old_id]):
            waiting[recorded[old_id][1][position].text_hash].append(position)
        for position, chunk in enumerate(wanted[new_id].chunks):
            if matches[new_id][position] is None and waiting.get(chunk.text.text_hash):
                old_position = waiting[chunk.text.text_hash].pop()
                matches[new_id][position] = Match(old_id, old_position, moved=True)
                gone[old_id].remove(old_position)


def _pairs_by_sharing(
    recorded: Recorded,
    wanted: Mapping[DocumentId, WantedDocument],
    matches: Mapping[DocumentId, list[Match | None]],
    gone: Mapping[DocumentId, list[int]],
) -> list[tuple[DocumentId, DocumentId]]:
    """(old, new) documents that share unmatched texts and of which one vanished or appeared, most shared first."""
    old_texts = {
        id_: Counter(recorded[id_][1][position].text_hash for position in positions) for id_, positions in gone.items()
    }
    new_texts = {
        id_: Counter(
            chunk.text.text_hash for chunk, found in zip(document.chunks, matches[id_], strict=True) if found is None
        )
        for id_, document in wanted.items()
    }
    holders: defaultdict[Digest, list[DocumentId]] = defaultdict(list)
    for old_id, texts in old_texts.items():
        for text_hash in texts:
            holders[text_hash].append(old_id)
    shared: Counter[tuple[DocumentId, DocumentId]] = Counter()
    for new_id, texts in new_texts.items():
        for text_hash, count in texts.items():
            for old_id in holders.get(text_hash, ()):
                if old_id not in wanted or new_id not in recorded:
                    shared[old_id, new_id] += min(count, old_texts[old_id][text_hash])
    return sorted(shared, key=lambda pair: (-shared[pair], pair))

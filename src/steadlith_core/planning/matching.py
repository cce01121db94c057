"""Matching: which recorded occurrence each wanted one continues.

1. Within a document: the sequence diff over text hashes (equal text under a new identity is still the same text).
   What is embedded and what is not are never the same, whatever their text: one is found and the other is not.
2. Documents that the configuration says were moved are matched next, by the same diff.
3. Otherwise across documents only where one vanished or appeared: equal roots pair first, in id order; then what is
   still unmatched, by most shared occurrences, ties by (old id, new id), in source order within a pair.
4. A text that too many documents share decides no pair; what is left of it is matched in id order, vanished first.
5. Between two surviving documents the same text is an addition here and a deletion there.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from steadlith_core.planning.diff import diff
from steadlith_core.planning.moves import pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.planning.wanted import WantedChunk, WantedDocument
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import RecordedChunk, RecordedDocument


Recorded: TypeAlias = "Mapping[DocumentId, tuple[RecordedDocument, tuple[RecordedChunk, ...]]]"

Pair: TypeAlias = "tuple[WantedChunk, Match, RecordedChunk] | tuple[WantedChunk, None, None]"

Key: TypeAlias = "tuple[Digest, bool]"
"""What must be equal for one occurrence to continue another: the text, and whether it is embedded."""

Places: TypeAlias = "dict[Key, deque[int]]"
"""Unmatched positions of each key in one document, ascending."""

MAX_PAIRS = 400
"""Most pairs of documents that one text may speak for: boilerplate in a thousand files says nothing about any two."""


@dataclass(frozen=True, slots=True)
class Match:
    """The recorded occurrence that a wanted one continues; `moved` if it left its document or its order."""

    origin: DocumentId
    old_position: int
    moved: bool


@dataclass(frozen=True, slots=True)
class Matching:
    """For each wanted document one match or none per chunk; for each recorded one the positions left over.

    `named` has the old document of each new one that a configured move speaks of.
    """

    matches: Mapping[DocumentId, tuple[Match | None, ...]]
    gone: Mapping[DocumentId, tuple[int, ...]]
    named: Mapping[DocumentId, DocumentId]

    def pairs(self, recorded: Recorded, document: WantedDocument) -> Iterator[Pair]:
        """The chunks of a document in order, each with the match and the recorded chunk that it continues, if any."""
        origin: DocumentId | None = None
        rows: Sequence[RecordedChunk] = ()
        for chunk, found in zip(document.chunks, self.matches[document.id], strict=True):
            if found is None:
                yield chunk, None, None
                continue
            if found.origin is not origin:  # neighbours share theirs, and a name takes longer to look up than the rest
                origin, rows = found.origin, recorded[found.origin][1]
            yield chunk, found, rows[found.old_position]


def match(
    recorded: Recorded,
    wanted: Mapping[DocumentId, WantedDocument],
    moves: Sequence[tuple[str, str]] = (),
) -> Matching:
    """Match changed, vanished and new documents; `recorded` holds the changed and the vanished ones."""
    matches: dict[DocumentId, list[Match | None]] = {
        id_: [None] * len(document.chunks) for id_, document in wanted.items()
    }
    gone: dict[DocumentId, list[int]] = {}
    for id_ in sorted(recorded):
        old = [_old_key(chunk) for chunk in recorded[id_][1]]
        gone[id_] = list(range(len(old)))
        if id_ in wanted:
            result = diff(old, [_new_key(chunk) for chunk in wanted[id_].chunks])
            found = matches[id_]
            for old_position, position in result.kept:
                found[position] = Match(id_, old_position, moved=False)
            for old_position, position in result.moved:
                found[position] = Match(id_, old_position, moved=True)
            gone[id_] = list(result.gone)

    if not any(gone.values()):
        # Nothing is left over that could go on anywhere: a first plan, or one of additions alone.
        return Matching({id_: tuple(found) for id_, found in matches.items()}, dict.fromkeys(gone, ()), {})
    named = pairs(moves, recorded.keys() - wanted.keys(), wanted.keys() - recorded.keys())
    for old_id, new_id in named:
        _relocate_named(old_id, new_id, recorded, wanted, matches, gone)
    _relocate_whole(recorded, wanted, matches, gone)
    _relocate_parts(recorded, wanted, matches, gone)
    return Matching(
        {id_: tuple(found) for id_, found in matches.items()},
        {id_: tuple(positions) for id_, positions in gone.items()},
        # Of several that became one document, it is the first that goes on.
        {new_id: old_id for old_id, new_id in reversed(named)},
    )


def _relocate_named(
    old_id: DocumentId,
    new_id: DocumentId,
    recorded: Recorded,
    wanted: Mapping[DocumentId, WantedDocument],
    matches: dict[DocumentId, list[Match | None]],
    gone: dict[DocumentId, list[int]],
) -> None:
    """Match what is unmatched in two documents of which the one became the other."""
    rows, chunks = recorded[old_id][1], wanted[new_id].chunks
    places = [position for position, found in enumerate(matches[new_id]) if found is None]
    result = diff([_old_key(rows[at]) for at in gone[old_id]], [_new_key(chunks[at]) for at in places])
    for old_at, at in (*result.kept, *result.moved):
        matches[new_id][places[at]] = Match(old_id, gone[old_id][old_at], moved=True)
    gone[old_id] = [gone[old_id][at] for at in result.gone]


def _relocate_whole(
    recorded: Recorded,
    wanted: Mapping[DocumentId, WantedDocument],
    matches: dict[DocumentId, list[Match | None]],
    gone: dict[DocumentId, list[int]],
) -> None:
    appeared: defaultdict[Digest, list[DocumentId]] = defaultdict(list)
    for id_ in sorted(set(wanted) - set(recorded), reverse=True):
        if not any(matches[id_]):  # what a configured move gave away stays given
            appeared[wanted[id_].root].append(id_)
    for old_id in sorted(set(recorded) - set(wanted)):
        candidates = appeared.get(recorded[old_id][0].root)
        if candidates and len(gone[old_id]) == len(recorded[old_id][1]) > 0:
            new_id = candidates.pop()
            matches[new_id] = [Match(old_id, position, moved=True) for position in gone[old_id]]
            gone[old_id] = []


def _relocate_parts(
    recorded: Recorded,
    wanted: Mapping[DocumentId, WantedDocument],
    matches: dict[DocumentId, list[Match | None]],
    gone: dict[DocumentId, list[int]],
) -> None:
    old_places = {
        id_: _places((position, _old_key(recorded[id_][1][position])) for position in positions)
        for id_, positions in gone.items()
    }
    new_places = {
        id_: _places(
            (position, _new_key(chunk))
            for position, (chunk, found) in enumerate(zip(document.chunks, matches[id_], strict=True))
            if found is None
        )
        for id_, document in wanted.items()
    }
    for old_id, new_id in _pairs_by_sharing(recorded, wanted, old_places, new_places):
        olds, news = old_places[old_id], new_places[new_id]
        for key in olds.keys() & news.keys():
            while olds[key] and news[key]:
                place = news[key].popleft()
                matches[new_id][place] = Match(old_id, olds[key].popleft(), moved=True)
    _relocate_common(recorded, wanted, matches, old_places, new_places)
    for id_, places in old_places.items():
        gone[id_] = sorted(position for positions in places.values() for position in positions)


def _old_key(chunk: RecordedChunk) -> Key:
    return chunk.text_hash, chunk.embed


def _new_key(chunk: WantedChunk) -> Key:
    return chunk.text.text_hash, chunk.entry.embed


def _places(rows: Iterable[tuple[int, Key]]) -> Places:
    places: Places = {}
    for position, key in rows:
        places.setdefault(key, deque()).append(position)
    return places


def _pairs_by_sharing(
    recorded: Recorded,
    wanted: Mapping[DocumentId, WantedDocument],
    old_places: Mapping[DocumentId, Places],
    new_places: Mapping[DocumentId, Places],
) -> list[tuple[DocumentId, DocumentId]]:
    """(old, new) documents that share unmatched texts and of which one vanished or appeared, most shared first."""
    shared: Counter[tuple[DocumentId, DocumentId]] = Counter()
    old_holders, new_holders = _holders(old_places), _holders(new_places)
    for key in old_holders.keys() & new_holders.keys():
        olds, news = old_holders[key], new_holders[key]
        if len(olds) * len(news) > MAX_PAIRS:
            continue
        for old_id in olds:
            for new_id in news:
                if old_id not in wanted or new_id not in recorded:
                    count = min(len(old_places[old_id][key]), len(new_places[new_id][key]))
                    shared[old_id, new_id] += count
    return sorted(shared, key=lambda pair: (-shared[pair], pair))


def _holders(places: Mapping[DocumentId, Places]) -> dict[Key, list[DocumentId]]:
    """Which documents have an unmatched place for each key, in id order."""
    holders: defaultdict[Key, list[DocumentId]] = defaultdict(list)
    for id_ in sorted(places):
        for key, positions in places[id_].items():
            if positions:
                holders[key].append(id_)
    return holders


def _relocate_common(
    recorded: Recorded,
    wanted: Mapping[DocumentId, WantedDocument],
    matches: dict[DocumentId, list[Match | None]],
    old_places: Mapping[DocumentId, Places],
    new_places: Mapping[DocumentId, Places],
) -> None:
    """Rule 4: texts that too many documents share, in id order on both sides; O(occurrences)."""
    old_holders, new_holders = _holders(old_places), _holders(new_places)
    for key in old_holders.keys() & new_holders.keys():
        vanished = deque(id_ for id_ in old_holders[key] if id_ not in wanted)
        surviving = deque(id_ for id_ in old_holders[key] if id_ in wanted)
        for new_id in new_holders[key]:
            for place in list(new_places[new_id][key]):
                source = vanished or (surviving if new_id not in recorded else None)
                if not source:
                    break
                positions = old_places[source[0]][key]
                matches[new_id][place] = Match(source[0], positions.popleft(), moved=True)
                if not positions:
                    source.popleft()

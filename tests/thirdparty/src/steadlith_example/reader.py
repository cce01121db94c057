"""A reader: one generation, frozen. What is committed later is another state, so nothing here can change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.arguments import check_limit, check_query
from steadlith_core import vectors
from steadlith_core.errors import GenerationGone, UsageError
from steadlith_core.rows import ArmHit, OccurrenceHit, RecordedChunk, RecordedDocument
from steadlith_example import checks, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId, Head, Space
    from steadlith_core.rows import DocumentVersion, EntryRow, Problem, TrieNode, TrieRow
    from steadlith_core.vectors import Vector
    from steadlith_example.state import State

MAX_LIMIT = 1000


class ExampleReader:
    """`head` is the store's when the snapshot was taken, `state` the generation that is shown, `kept` gives the others
    by number, or raises `GenerationGone`.
    """

    def __init__(self, state: State, head: Head, kept: Callable[[int], State]) -> None:
        self.head = head
        self.generation = state.head.generation
        self._state = state
        self._kept = kept
        self._closed = False

    def documents(self) -> Iterator[RecordedDocument]:
        """See the port, as of every method here."""
        return (_recorded(version) for _, version in sorted(self._shown().documents.items()))

    def find(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, RecordedDocument]:
        documents = self._shown().documents
        return {id_: _recorded(documents[id_]) for id_ in ids if id_ in documents}

    def nodes(self, prefixes: Sequence[str]) -> Mapping[str, TrieNode]:
        kept = self._searched("the nodes of the corpus trie").nodes
        return {prefix: kept[prefix] for prefix in prefixes if prefix in kept}

    def rows(self, prefix: str) -> Sequence[TrieRow]:
        return [row for row in self._shown().trie_rows() if row.key.hex().startswith(prefix)]

    def chunks(self, id: DocumentId) -> tuple[RecordedChunk, ...]:
        state = self._shown()
        version = state.documents.get(id)
        found = []
        for each in version.placements if version else ():
            entry = state.rows.entries[each.entry_hash]
            number = each.occurrence or 0  # never 0: the write numbered them
            names = each.chunk_hash, entry.text_hash, each.entry_hash
            found.append(RecordedChunk(number, *names, each.span, each.parent, entry.embed))
        return tuple(found)

    def entries(self, entry_hashes: Sequence[Digest]) -> Mapping[Digest, EntryRow]:
        kept = self._shown().rows.entries
        return {key: kept[key] for key in entry_hashes if key in kept}

    def texts(self, text_hashes: Sequence[Digest]) -> Mapping[Digest, str]:
        kept = self._shown().rows.texts
        return {key: kept[key] for key in text_hashes if key in kept}

    def vectors(self, space: Space, vector_keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
        wanted = frozenset(vector_keys)
        rows = (row for (held, _), row in self._shown().rows.vectors.items() if held == space)
        return {row.vector_key: row.vector for row in rows if row.vector_key in wanted}

    def held(self, space: Space, vector_keys: Sequence[Digest]) -> frozenset[Digest]:
        return frozenset(self.vectors(space, vector_keys))

    def problems(self, *, full: bool, workers: int = 1) -> Iterator[Problem]:
        return checks.problems(self._shown(), full=full)

    def changed_since(self, generation: int) -> Sequence[DocumentId]:
        now, then = self._shown().documents, self._kept(generation).documents
        if generation > self.generation:
            message = f"generation {generation} came after {self.generation}, which this reader shows"
            raise GenerationGone(message)
        return sorted(id_ for id_ in now.keys() | then.keys() if now.get(id_) != then.get(id_))

    def within(self, ids: Sequence[DocumentId]) -> tuple[int, ...]:
        state = self._shown()
        versions = [state.documents[id_] for id_ in ids if id_ in state.documents]
        placed = {each.entry_hash for version in versions for each in version.placements}
        return tuple(sorted(state.numbers[entry] for entry in placed if state.rows.entries[entry].embed))

    def dense(
        self, space: Space, query: Vector, limit: int, among: Sequence[int] | None = None, *, exact: bool = False
    ) -> tuple[ArmHit, ...]:
        # Never anything but exact. The filter comes first: what is cut off after it is what was asked for.
        check_limit(limit, MAX_LIMIT)
        check_query(space, query)
        state = self._searched("dense search")
        return _best(self.cosines(space, query, _searchable(state, among)), limit)

    def lexical(self, terms: Sequence[str], limit: int, among: Sequence[int] | None = None) -> tuple[ArmHit, ...]:
        check_limit(limit, MAX_LIMIT)
        state = self._searched("lexical search")
        texts = {}
        for key in state.live():
            entry = state.rows.entries[key]
            whole = "\n".join((entry.title, *entry.headings, state.rows.texts[entry.text_hash]))
            texts[state.numbers[key]] = words.words(whole)
        found = words.scores(texts, terms)  # of the whole index, whatever is asked for
        return _best({entry: found[entry] for entry in _searchable(state, among) if entry in found}, limit)

    def cosines(self, space: Space, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:
        check_query(space, query)
        state = self._searched("cosines")
        held = {state.numbers[key]: row.vector for (kept, key), row in state.rows.vectors.items() if kept == space}
        # One by one: a product of matrices may round a row's sum in another way when other rows stand beside it.
        return {entry: vectors.cosines([held[entry]], query)[0] for entry in entries if entry in held}

    def occurrences(
        self, entries: Sequence[int], most: int, ids: Sequence[DocumentId] | None = None
    ) -> tuple[OccurrenceHit, ...]:
        state = self._shown()
        left = dict.fromkeys(entries, most)
        chosen = (
            state.documents if ids is None else {id_: state.documents[id_] for id_ in ids if id_ in state.documents}
        )
        hits = []
        for id_, version in sorted(chosen.items()):
            for position, each in enumerate(version.placements):
                number = state.numbers[each.entry_hash]
                if left.get(number, 0) > 0:
                    left[number] -= 1
                    hits.append(_hit(state, id_, version, position))
        return tuple(hits)

    def close(self) -> None:
        self._closed = True

    def _shown(self) -> State:
        if self._closed:
            message = "this reader is closed; take another snapshot"
            raise UsageError(message)
        return self._state

    def _searched(self, what: str) -> State:
        """The state, if it is the head's: the arms of older generations are not kept."""
        state = self._shown()
        if self.generation != self.head.generation:
            message = (
                f"{what} at generation {self.generation}: only the head is searched, generation {self.head.generation}"
            )
            raise GenerationGone(message)
        return state


def _recorded(version: DocumentVersion) -> RecordedDocument:
    return RecordedDocument(version.id, version.root, version.metadata, version.source_digest, len(version.placements))


def _searchable(state: State, among: Sequence[int] | None) -> list[int]:
    live = {state.numbers[entry] for entry in state.live()}
    return sorted(live if among is None else live.intersection(among))


def _best(found: Mapping[int, float], limit: int) -> tuple[ArmHit, ...]:
    ranked = sorted(found.items(), key=lambda each: (-each[1], each[0]))
    return tuple(ArmHit(entry, score) for entry, score in ranked[:limit])


def _hit(state: State, id_: DocumentId, version: DocumentVersion, position: int) -> OccurrenceHit:
    placed = version.placements[position]
    entry = state.rows.entries[placed.entry_hash]
    return OccurrenceHit(
        entry=state.numbers[placed.entry_hash],
        occurrence=placed.occurrence or 0,
        position=position,
        parent=placed.parent,
        id=id_,
        metadata=version.metadata,
        source_digest=version.source_digest,
        span=placed.span,
        chunk_hash=placed.chunk_hash,
        title=entry.title,
        headings=entry.headings,
        text=state.rows.texts[entry.text_hash],
    )

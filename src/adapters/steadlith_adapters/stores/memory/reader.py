"""A snapshot in memory: the obvious answer to every question of the port."""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from steadlith_adapters.stores.arguments import check_limit, check_query
from steadlith_adapters.stores.memory import bm25, checks
from steadlith_core import vectors
from steadlith_core.errors import GenerationGone, UsageError
from steadlith_core.rows import ArmHit, OccurrenceHit, RecordedChunk, RecordedDocument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_adapters.stores.memory.state import State
    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId, Head, Space
    from steadlith_core.rows import DocumentVersion, EntryRow, Problem, TrieNode, TrieRow
    from steadlith_core.vectors import Vector

MAX_LIMIT = 1000


class MemoryReader:
    """One state; what is committed later is another one."""

    __slots__ = ("_closed", "_head", "_kept", "_rows", "_state")

    def __init__(self, state: State, head: Head, kept: Mapping[int, State]) -> None:
        self._state = state
        self._head = head
        self._kept = kept
        self._rows: list[TrieRow] | None = None
        self._closed = False

    @property
    def head(self) -> Head:
        """See `Reader.head`."""
        return self._head

    @property
    def generation(self) -> int:
        """See `Reader.generation`."""
        return self._state.head.generation

    def documents(self) -> Iterator[RecordedDocument]:
        """See `Reader.documents`."""
        return (_recorded(version) for _, version in sorted(self._open().documents.items()))

    def find(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, RecordedDocument]:
        """See `Reader.find`."""
        documents = self._open().documents
        return {id_: _recorded(documents[id_]) for id_ in ids if id_ in documents}

    def nodes(self, prefixes: Sequence[str]) -> Mapping[str, TrieNode]:
        """See `Reader.nodes`."""
        kept = self._at_head().nodes
        return {prefix: kept[prefix] for prefix in prefixes if prefix in kept}

    def rows(self, prefix: str) -> Sequence[TrieRow]:
        """See `Reader.rows`. Sorted once: a write asks for the rows below many prefixes."""
        state = self._open()
        if self._rows is None:
            self._rows = state.trie_rows()
        start = bisect_left(self._rows, prefix, key=_digits)
        return list(takewhile(lambda row: _digits(row).startswith(prefix), islice(self._rows, start, None)))

    def chunks(self, id: DocumentId) -> tuple[RecordedChunk, ...]:  # noqa: A002
        """See `Reader.chunks`."""
        state = self._open()
        version = state.documents.get(id)
        return tuple(
            RecordedChunk(
                occurrence=placement.occurrence,
                chunk_hash=placement.chunk_hash,
                text_hash=state.entries[placement.entry_hash].text_hash,
                entry_hash=placement.entry_hash,
                span=placement.span,
                parent=placement.parent,
                embed=state.entries[placement.entry_hash].embed,
            )
            for placement in (version.placements if version else ())
            if placement.occurrence is not None  # always: the transaction numbered them
        )

    def entries(self, entry_hashes: Sequence[Digest]) -> Mapping[Digest, EntryRow]:
        """See `Reader.entries`."""
        kept = self._open().entries
        return {key: kept[key] for key in entry_hashes if key in kept}

    def texts(self, text_hashes: Sequence[Digest]) -> Mapping[Digest, str]:
        """See `Reader.texts`."""
        kept = self._open().texts
        return {key: kept[key] for key in text_hashes if key in kept}

    def held(self, space: Space, vector_keys: Sequence[Digest]) -> frozenset[Digest]:
        """See `Reader.held`."""
        return frozenset(self.vectors(space, vector_keys))

    def vectors(self, space: Space, vector_keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
        """See `Reader.vectors`."""
        wanted = set(vector_keys)
        rows = self._open().vectors.get(space, {}).values()
        return {row.vector_key: row.vector for row in rows if row.vector_key in wanted and row.is_intact}

    def changed_since(self, generation: int) -> Sequence[DocumentId]:
        """See `Reader.changed_since`."""
        now = self._open().documents
        if generation not in self._kept or generation > self.generation:
            message = f"generation {generation} is not kept, or later than {self.generation}"
            raise GenerationGone(message)
        then = self._kept[generation].documents
        return sorted(id_ for id_ in now.keys() | then.keys() if now.get(id_) != then.get(id_))

    def within(self, ids: Sequence[DocumentId]) -> tuple[int, ...]:
        """See `Reader.within`."""
        state = self._open()
        versions = (state.documents[id_] for id_ in ids if id_ in state.documents)
        used = {placement.entry_hash for version in versions for placement in version.placements}
        return tuple(sorted(state.numbers[key] for key in used if state.entries[key].embed))

    def dense(
        self, space: Space, query: Vector, limit: int, among: Sequence[int] | None = None, *, exact: bool = False
    ) -> tuple[ArmHit, ...]:
        """See `Reader.dense`. It is always exact."""
        del exact
        state = self._open()
        check_limit(limit, MAX_LIMIT)
        check_query(space, query)
        return _ranked(self.cosines(space, query, [state.numbers[key] for key in state.live()]), limit, among)

    def lexical(self, terms: Sequence[str], limit: int, among: Sequence[int] | None = None) -> tuple[ArmHit, ...]:
        """See `Reader.lexical`."""
        state = self._open()
        check_limit(limit, MAX_LIMIT)
        documents = {
            state.numbers[key]: bm25.words("\n".join((entry.title, *entry.headings, state.texts[entry.text_hash])))
            for key, entry in ((key, state.entries[key]) for key in state.live())
        }
        return _ranked(bm25.scores(documents, terms), limit, among)

    def cosines(self, space: Space, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:
        """See `Reader.cosines`."""
        state = self._open()
        check_query(space, query)
        rows = {state.numbers[key]: row.vector for key, row in state.vectors.get(space, {}).items()}
        # One product each: slow, and the same number wherever an entry stands in the batch.
        return {entry: vectors.cosines([rows[entry]], query)[0] for entry in entries if entry in rows}

    def occurrences(
        self, entries: Sequence[int], most: int, ids: Sequence[DocumentId] | None = None
    ) -> tuple[OccurrenceHit, ...]:
        """See `Reader.occurrences`."""
        state = self._open()
        passing = state.documents.keys() if ids is None else state.documents.keys() & set(ids)
        left = dict.fromkeys(entries, most)
        hits = []
        for id in sorted(passing):  # noqa: A001
            version = state.documents[id]
            for position, placement in enumerate(version.placements):
                number = state.numbers[placement.entry_hash]
                if left.get(number, 0) < 1 or placement.occurrence is None:
                    continue
                left[number] -= 1
                entry = state.entries[placement.entry_hash]
                hits.append(
                    OccurrenceHit(
                        entry=number,
                        occurrence=placement.occurrence,
                        position=position,
                        parent=placement.parent,
                        id=id,
                        metadata=version.metadata,
                        source_digest=version.source_digest,
                        span=placement.span,
                        chunk_hash=placement.chunk_hash,
                        title=entry.title,
                        headings=entry.headings,
                        text=state.texts[entry.text_hash],
                    )
                )
        return tuple(hits)

    def problems(self, *, full: bool, workers: int = 1) -> Iterator[Problem]:  # noqa: ARG002
        """See `Reader.problems`."""
        return checks.problems(self._open(), full=full)

    def close(self) -> None:
        """See `Reader.close`."""
        self._closed = True

    def _open(self) -> State:
        if self._closed:
            message = "this reader is closed; take another snapshot"
            raise UsageError(message)
        return self._state

    def _at_head(self) -> State:
        state = self._open()
        if state.head.generation != self._head.generation:
            message = (
                f"the nodes of the corpus trie at generation {state.head.generation}: this store keeps those of its "
                f"head only, which is generation {self._head.generation}"
            )
            raise GenerationGone(message)
        return state


def _digits(row: TrieRow) -> str:
    return row.key.hex()


def _recorded(version: DocumentVersion) -> RecordedDocument:
    chunks = len(version.placements)
    return RecordedDocument(version.id, version.root, version.metadata, version.source_digest, chunks)


def _ranked(scores: Mapping[int, float], limit: int, among: Sequence[int] | None) -> tuple[ArmHit, ...]:
    passing = scores if among is None else {entry: scores[entry] for entry in among if entry in scores}
    best = sorted(passing.items(), key=lambda item: (-item[1], item[0]))
    return tuple(ArmHit(entry, score) for entry, score in best[:limit])

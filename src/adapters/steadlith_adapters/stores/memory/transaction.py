"""A write in memory: a private copy of the head's state, swapped in at commit if the head is still the same.

A write that mends replaces what it puts; everything else is derived from the documents anyway.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_adapters.stores.arguments import check_embedded, check_parents, check_root, check_space, check_vector
from steadlith_adapters.stores.memory.reader import MemoryReader
from steadlith_adapters.stores.memory.state import sealed
from steadlith_core.errors import AdapterError, StaleHead, UsageError
from steadlith_core.retrieval.quantization import QUANTIZATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from steadlith_adapters.stores.memory.state import State
    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId, Generation, Head, Space, Span
    from steadlith_core.rows import DocumentVersion, EntryRow, TextRow, TrieNode, VectorRow

QUANTIZATION = frozenset(QUANTIZATIONS)
"""All of them: only full vectors are kept, and whatever the form, the answers are those of the full vectors."""


class MemoryTransaction:
    """Optimistic: others may write meanwhile, and the first to commit wins."""

    __slots__ = ("_base", "_ended", "_history", "_mend", "_next", "_state", "_touched")

    def __init__(self, history: list[State], *, mend: bool) -> None:
        self._history = history
        self._mend = mend
        self._base = history[-1]
        self._state = self._base.copy()
        self._next = max(self._base.used, default=0) + 1
        self._touched: set[DocumentId] = set()
        self._ended = False

    @property
    def is_open(self) -> bool:
        """Whether it may still commit."""
        return not self._ended

    def put_texts(self, rows: Iterable[TextRow]) -> None:
        """See `Transaction.put_texts`."""
        with self._writing() as state:
            for row in rows:
                if self._mend or row.text_hash not in state.texts:
                    state.texts[row.text_hash] = row.text

    def put_entries(self, rows: Iterable[EntryRow]) -> None:
        """See `Transaction.put_entries`."""
        with self._writing() as state:
            for row in rows:
                if row.text_hash not in state.texts:
                    message = f"entry {row.entry_hash.short} is of text {row.text_hash.short}, which was never put"
                    raise AdapterError(message)
                if self._mend or row.entry_hash not in state.entries:
                    state.entries[row.entry_hash] = row
                state.numbers.setdefault(row.entry_hash, len(state.numbers) + 1)

    def put_vectors(self, space: Space, rows: Iterable[VectorRow]) -> None:
        """See `Transaction.put_vectors`."""
        with self._writing() as state:
            check_space(space, QUANTIZATION)
            for row in rows:
                check_vector(space, row)
                if row.entry_hash not in state.entries:
                    message = f"a vector for entry {row.entry_hash.short}, which was never put"
                    raise AdapterError(message)
                check_embedded(row.entry_hash, embed=state.entries[row.entry_hash].embed)
                state.vectors.setdefault(space, {})[row.entry_hash] = sealed(row)

    def put_document(self, version: DocumentVersion) -> None:
        """See `Transaction.put_document`."""
        with self._writing() as state:
            self._touch(version.id)
            check_parents(version)
            placements = []
            for placement in version.placements:
                if placement.occurrence is None:
                    placements.append(replace(placement, occurrence=self._next))
                    self._next += 1
                elif placement.occurrence in self._base.used:
                    placements.append(placement)
                else:
                    message = f"occurrence {placement.occurrence} does not exist; new ones are placed with none"
                    raise AdapterError(message)
            state.documents[version.id] = replace(version, placements=tuple(placements))

    def close_document(self, id: DocumentId) -> None:  # noqa: A002
        """See `Transaction.close_document`."""
        with self._writing() as state:
            self._touch(id)
            if id not in state.documents:
                message = f"{id} is not in the index, so it cannot be closed"
                raise AdapterError(message)
            del state.documents[id]

    def respan(self, id: DocumentId, source_digest: Digest, spans: Sequence[Span]) -> None:  # noqa: A002
        """See `Transaction.respan`."""
        with self._writing() as state:
            self._touch(id)
            version = state.documents.get(id)
            if version is None or len(version.placements) != len(spans):
                held = len(version.placements) if version else "no"
                message = f"{id} has {held} chunks, got {len(spans)} spans"
                raise AdapterError(message)
            placements = tuple(
                replace(placement, span=span) for placement, span in zip(version.placements, spans, strict=True)
            )
            state.documents[id] = replace(version, source_digest=source_digest, placements=placements)

    def put_nodes(self, nodes: Mapping[str, TrieNode], dropped: Iterable[str]) -> None:
        """See `Transaction.put_nodes`."""
        with self._writing() as state:
            for prefix in tuple(state.nodes) if self._mend else dropped:
                state.nodes.pop(prefix, None)
            state.nodes.update(nodes)

    def commit(self, generation: Generation, check: Callable[[Reader], None] | None = None) -> Head:
        """See `Transaction.commit`."""
        with self._writing() as state:
            ids = [placement.occurrence for version in state.documents.values() for placement in version.placements]
            _refuse_shared(ids)
            missing = state.placed() - state.entries.keys()
            if missing:
                message = f"an occurrence is placed with entry {min(missing).short}, which was never put"
                raise AdapterError(message)
            base = self._base.head
            expected = (base.generation + 1, base.generation, len(state.documents), len(ids))
            given = (generation.number, generation.parent, generation.documents, generation.chunks)
            if expected != given or base.lineage not in {None, generation.lineage}:
                message = (
                    f"the generation does not fit: (number, parent, documents, chunks) are {given} of lineage "
                    f"{generation.lineage}, the store has {expected} of {base.lineage}; nothing was committed"
                )
                raise AdapterError(message)
            check_root(state.nodes.get(""), generation)
            if self._history[-1] is not self._base:
                message = f"the head moved from generation {base.generation} during this write; plan again"
                raise StaleHead(message)
            head = generation.head
            used = frozenset(range(1, self._next))
            made = replace(state, head=head, generation=generation, used=used)
            if check:
                with closing(MemoryReader(made, head, {head.generation: made})) as reader:
                    check(reader)
            self._history.append(made)
        self._ended = True
        return head

    def abort(self) -> None:
        """See `Transaction.abort`."""
        self._ended = True

    @contextmanager
    def _writing(self) -> Iterator[State]:
        if self._ended:
            message = "this write has ended (committed, aborted or failed); begin another one"
            raise UsageError(message)
        try:
            yield self._state
        except BaseException:
            self._ended = True
            raise

    def _touch(self, id: DocumentId) -> None:  # noqa: A002
        if id in self._touched:
            message = f"{id} is put, closed or respanned twice in one write"
            raise AdapterError(message)
        self._touched.add(id)


def _refuse_shared(ids: Sequence[int | None]) -> None:
    seen: set[int | None] = set()
    for each in ids:
        if each in seen:
            message = f"occurrence {each} is placed twice"
            raise AdapterError(message)
        seen.add(each)

"""A reader with something round its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.wrappers.calls import Call, begun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_adapters.wrappers.calls import Around
    from steadlith_core.digest import Digest
    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId, Head, Space
    from steadlith_core.rows import (
        ArmHit,
        EntryRow,
        OccurrenceHit,
        Problem,
        RecordedChunk,
        RecordedDocument,
        TrieNode,
        TrieRow,
    )
    from steadlith_core.vectors import Vector

PORT = "reader"


class WrappedReader:
    """The methods of `ports.Reader`."""

    __slots__ = ("_around", "_inner")

    def __init__(self, inner: Reader, around: Around) -> None:
        self._inner = inner
        self._around = around

    @property
    def head(self) -> Head:
        """See `Recorded.head`."""
        return self._inner.head

    @property
    def generation(self) -> int:
        """See `Recorded.generation`."""
        return self._inner.generation

    def documents(self) -> Iterator[RecordedDocument]:
        """See `Recorded.documents`."""
        return self._around(Call(PORT, "documents", {}), lambda: begun(self._inner.documents()))

    def find(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, RecordedDocument]:
        """See `Recorded.find`."""
        return self._around(Call(PORT, "find", {"ids": ids}), lambda: self._inner.find(ids))

    def nodes(self, prefixes: Sequence[str]) -> Mapping[str, TrieNode]:
        """See `Recorded.nodes`."""
        return self._around(Call(PORT, "nodes", {"prefixes": prefixes}), lambda: self._inner.nodes(prefixes))

    def rows(self, prefix: str) -> Sequence[TrieRow]:
        """See `Recorded.rows`."""
        return self._around(Call(PORT, "rows", {"prefix": prefix}), lambda: self._inner.rows(prefix))

    def chunks(self, id: DocumentId) -> tuple[RecordedChunk, ...]:  # noqa: A002
        """See `Recorded.chunks`."""
        return self._around(Call(PORT, "chunks", {"id": id}), lambda: self._inner.chunks(id))

    def entries(self, entry_hashes: Sequence[Digest]) -> Mapping[Digest, EntryRow]:
        """See `Recorded.entries`."""
        call = Call(PORT, "entries", {"entry_hashes": entry_hashes})
        return self._around(call, lambda: self._inner.entries(entry_hashes))

    def texts(self, text_hashes: Sequence[Digest]) -> Mapping[Digest, str]:
        """See `Recorded.texts`."""
        return self._around(Call(PORT, "texts", {"text_hashes": text_hashes}), lambda: self._inner.texts(text_hashes))

    def held(self, space: Space, vector_keys: Sequence[Digest]) -> frozenset[Digest]:
        """See `Recorded.held`."""
        call = Call(PORT, "held", {"space": space, "vector_keys": vector_keys})
        return self._around(call, lambda: self._inner.held(space, vector_keys))

    def problems(self, *, full: bool, workers: int = 1) -> Iterator[Problem]:
        """See `Recorded.problems`."""
        call = Call(PORT, "problems", {"full": full, "workers": workers})
        return self._around(call, lambda: begun(self._inner.problems(full=full, workers=workers)))

    def vectors(self, space: Space, vector_keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
        """See `Reader.vectors`."""
        call = Call(PORT, "vectors", {"space": space, "vector_keys": vector_keys})
        return self._around(call, lambda: self._inner.vectors(space, vector_keys))

    def changed_since(self, generation: int) -> Sequence[DocumentId]:
        """See `Reader.changed_since`."""
        call = Call(PORT, "changed_since", {"generation": generation})
        return self._around(call, lambda: self._inner.changed_since(generation))

    def within(self, ids: Sequence[DocumentId]) -> tuple[int, ...]:
        """See `Reader.within`."""
        return self._around(Call(PORT, "within", {"ids": ids}), lambda: self._inner.within(ids))

    def dense(
        self, space: Space, query: Vector, limit: int, among: Sequence[int] | None = None, *, exact: bool = False
    ) -> tuple[ArmHit, ...]:
        """See `Reader.dense`."""
        arguments = {"space": space, "query": query, "limit": limit, "among": among, "exact": exact}
        call = Call(PORT, "dense", arguments)
        return self._around(call, lambda: self._inner.dense(space, query, limit, among, exact=exact))

    def lexical(self, terms: Sequence[str], limit: int, among: Sequence[int] | None = None) -> tuple[ArmHit, ...]:
        """See `Reader.lexical`."""
        call = Call(PORT, "lexical", {"terms": terms, "limit": limit, "among": among})
        return self._around(call, lambda: self._inner.lexical(terms, limit, among))

    def cosines(self, space: Space, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:
        """See `Reader.cosines`."""
        call = Call(PORT, "cosines", {"space": space, "query": query, "entries": entries})
        return self._around(call, lambda: self._inner.cosines(space, query, entries))

    def occurrences(
        self, entries: Sequence[int], most: int, ids: Sequence[DocumentId] | None = None
    ) -> tuple[OccurrenceHit, ...]:
        """See `Reader.occurrences`."""
        call = Call(PORT, "occurrences", {"entries": entries, "most": most, "ids": ids})
        return self._around(call, lambda: self._inner.occurrences(entries, most, ids))

    def close(self) -> None:
        """See `Reader.close`."""
        return self._around(Call(PORT, "close", {}), self._inner.close)

"""A store with something round its calls, and round those of its readers and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.wrappers.calls import Call, Counted
from steadlith_adapters.wrappers.reading import WrappedReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from steadlith_adapters.wrappers.calls import Around
    from steadlith_core.digest import Digest
    from steadlith_core.ports import Capabilities, Compaction, Reader, Removable, Store, Traces, Transaction
    from steadlith_core.records import DocumentId, Generation, Head, Space, Span
    from steadlith_core.rows import DocumentVersion, EntryRow, TextRow, TrieNode, VectorRow

PORT = "store"
WRITE = "transaction"


class WrappedStore:
    """The methods of `ports.Store`. Its readers, its writes and its copies are wrapped as it is."""

    __slots__ = ("_around", "_inner")

    def __init__(self, inner: Store, around: Around) -> None:
        self._inner = inner
        self._around = around

    @property
    def capabilities(self) -> Capabilities:
        """See `Store.capabilities`."""
        return self._inner.capabilities

    def head(self) -> Head:
        """See `Store.head`."""
        return self._around(Call(PORT, "head", {}), self._inner.head)

    def snapshot(self, generation: int | None = None) -> WrappedReader:
        """See `Store.snapshot`."""
        call = Call(PORT, "snapshot", {"generation": generation})
        return WrappedReader(self._around(call, lambda: self._inner.snapshot(generation)), self._around)

    def begin(self, expected: Head, *, mend: bool = False) -> WrappedTransaction:
        """See `Store.begin`."""
        call = Call(PORT, "begin", {"expected": expected, "mend": mend})
        return WrappedTransaction(self._around(call, lambda: self._inner.begin(expected, mend=mend)), self._around)

    def history(self) -> tuple[Generation, ...]:
        """See `Store.history`."""
        return self._around(Call(PORT, "history", {}), self._inner.history)

    def tags(self) -> Mapping[str, int]:
        """See `Store.tags`."""
        return self._around(Call(PORT, "tags", {}), self._inner.tags)

    def tag(self, name: str, generation: int | None) -> None:
        """See `Store.tag`."""
        call = Call(PORT, "tag", {"name": name, "generation": generation})
        return self._around(call, lambda: self._inner.tag(name, generation))

    def removable(self, keep_from: int) -> Removable:
        """See `Store.removable`."""
        return self._around(Call(PORT, "removable", {"keep_from": keep_from}), lambda: self._inner.removable(keep_from))

    def traces(self, ids: Sequence[DocumentId]) -> Traces:
        """See `Store.traces`."""
        return self._around(Call(PORT, "traces", {"ids": ids}), lambda: self._inner.traces(ids))

    def compact(self, expected: Head, keep_from: int, *, scrub: bool = False) -> Compaction:
        """See `Store.compact`."""
        call = Call(PORT, "compact", {"expected": expected, "keep_from": keep_from, "scrub": scrub})
        return self._around(call, lambda: self._inner.compact(expected, keep_from, scrub=scrub))

    def backup(self, path: str) -> WrappedStore:
        """See `Store.backup`."""
        call = Call(PORT, "backup", {"path": path})
        return WrappedStore(self._around(call, lambda: self._inner.backup(path)), self._around)

    def close(self) -> None:
        """See `Store.close`."""
        return self._around(Call(PORT, "close", {}), self._inner.close)


class WrappedTransaction:
    """The methods of `ports.Transaction`."""

    __slots__ = ("_around", "_inner")

    def __init__(self, inner: Transaction, around: Around) -> None:
        self._inner = inner
        self._around = around

    def put_texts(self, rows: Iterable[TextRow]) -> None:
        """See `Transaction.put_texts`."""
        counted = Counted(rows)
        return self._around(Call(WRITE, "put_texts", {"rows": counted}), lambda: self._inner.put_texts(counted))

    def put_entries(self, rows: Iterable[EntryRow]) -> None:
        """See `Transaction.put_entries`."""
        counted = Counted(rows)
        return self._around(Call(WRITE, "put_entries", {"rows": counted}), lambda: self._inner.put_entries(counted))

    def put_vectors(self, space: Space, rows: Iterable[VectorRow]) -> None:
        """See `Transaction.put_vectors`."""
        counted = Counted(rows)
        call = Call(WRITE, "put_vectors", {"space": space, "rows": counted})
        return self._around(call, lambda: self._inner.put_vectors(space, counted))

    def put_document(self, version: DocumentVersion) -> None:
        """See `Transaction.put_document`."""
        return self._around(
            Call(WRITE, "put_document", {"version": version}), lambda: self._inner.put_document(version)
        )

    def close_document(self, id: DocumentId) -> None:  # noqa: A002
        """See `Transaction.close_document`."""
        return self._around(Call(WRITE, "close_document", {"id": id}), lambda: self._inner.close_document(id))

    def respan(self, id: DocumentId, source_digest: Digest, spans: Sequence[Span]) -> None:  # noqa: A002
        """See `Transaction.respan`."""
        call = Call(WRITE, "respan", {"id": id, "source_digest": source_digest, "spans": spans})
        return self._around(call, lambda: self._inner.respan(id, source_digest, spans))

    def put_nodes(self, nodes: Mapping[str, TrieNode], dropped: Iterable[str]) -> None:
        """See `Transaction.put_nodes`."""
        counted = Counted(dropped)
        call = Call(WRITE, "put_nodes", {"nodes": nodes, "dropped": counted})
        return self._around(call, lambda: self._inner.put_nodes(nodes, counted))

    def commit(self, generation: Generation, check: Callable[[Reader], None] | None = None) -> Head:
        """See `Transaction.commit`. Whoever checks is given the store's own reader."""
        call = Call(WRITE, "commit", {"generation": generation, "check": check})
        return self._around(call, lambda: self._inner.commit(generation, check))

    def abort(self) -> None:
        """See `Transaction.abort`."""
        return self._around(Call(WRITE, "abort", {}), self._inner.abort)

"""Where an index is kept: its generations, its one writer, its lock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.ports.reading import Capabilities, Reader
    from steadlith_core.ports.settings import Settings
    from steadlith_core.ports.upkeep import Compaction, Removable, Traces, Trouble
    from steadlith_core.records import DocumentId, Generation, Head, Space, Span
    from steadlith_core.rows import DocumentVersion, EntryRow, TextRow, TrieNode, VectorRow


class Transaction(Protocol):
    """One write, all or nothing: puts in any order, then one `commit`. Usable once, by one thread.

    Texts and entries that are already kept are skipped; a placement may name an entry put in this write or before.
    A call that raises, also from inside the caller's iterator, ends the write as `abort` does.
    """

    def put_texts(self, rows: Iterable[TextRow]) -> None:
        """Add texts by hash."""

    def put_entries(self, rows: Iterable[EntryRow]) -> None:
        """Add entries by hash; their texts are there already.

        Each gets a number of the store's own, which it has as long as it is kept, also when a write mends it.
        """

    def put_vectors(self, space: Space, rows: Iterable[VectorRow]) -> None:
        """Add or replace one unit vector per entry, put before; the full one, also of a quantized space.

        Raises `AdapterError` for a space that the store cannot keep, on wrong dimensions, non-finite numbers or another
        length than 1, and for an entry that is not to be embedded.
        """

    def put_document(self, version: DocumentVersion) -> None:
        """Open a new version of a document, closing its open one. Put, close or respan a document once in a write.

        A placement without an id gets a new one, that was never given out before, not even to what is removed by now.
        A placement may claim an id that this document, or one replaced or closed in this write, holds now, or that
        nobody holds any more (a rollback); any other claim is an `AdapterError`, here or at commit. So is a parent that
        does not stand before its part.
        """

    def close_document(self, id: DocumentId) -> None:  # noqa: A002
        """Close a document's open version. Raises `AdapterError` if there is none, here or at commit."""

    def respan(self, id: DocumentId, source_digest: Digest, spans: Sequence[Span]) -> None:  # noqa: A002
        """Same open version, other source bytes: new spans in the same order."""

    def put_nodes(self, nodes: Mapping[str, TrieNode], dropped: Iterable[str]) -> None:
        """Add or replace nodes of the corpus trie by prefix, and drop others; usually once in a write.

        In a write that mends, `nodes` are all there are: every other one is dropped.
        """

    def commit(self, generation: Generation, check: Callable[[Reader], None] | None = None) -> Head:
        """Make all of it visible together with the new head, durably.

        Closes the occurrences that no open version holds any more, opens the new ones, and makes entries live or not.
        An entry is live if an open occurrence uses it, unless it is not to be embedded.
        Checks that every placement has its entry, that the store then holds `generation.documents` documents and
        `generation.chunks` chunks, that the topmost node leads to `generation.corpus_root`, that number and parent
        follow the head, and that the lineage is the head's, if it has one; raises `AdapterError` if not.
        Raises `StaleHead` if the head moved, `OutcomeUnknown` if it cannot tell whether the commit happened.

        With `check` it is called once everything else is settled, with a reader of what would be the head, which nobody
        else sees yet: what it raises ends the write, and nothing is committed. The reader is closed after it.
        """
        ...

    def abort(self) -> None:
        """Leave no trace; generation numbers of aborted writes may be used by the next. Harmless after commit."""


class Store(Protocol):
    """One logical index."""

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""
        ...

    def head(self) -> Head:
        """The last committed head as it is now, whoever committed it; generation 0 when there is none.

        Never creates anything.
        """
        ...

    def snapshot(self, generation: int | None = None) -> Reader:
        """A reader of the head, or of a kept older generation; raises `GenerationGone`."""
        ...

    def begin(self, expected: Head, *, mend: bool = False) -> Transaction:
        """Start a write on top of `expected`, creating the store if need be. Raises `StaleHead` or `LockHeld`.

        An index without a commit is at generation 0 whatever the roots of `expected`: these depend on configured
        versions there.
        With `mend` nothing that is kept is believed: a text, an entry, a lexical row or a vector that is put replaces
        what is kept under its name, a document may be put whatever is left of it, documents and chunks are counted by
        their rows, and liveness, lexical rows and tombstones are set right for all entries; that may cost a scan.
        Closed rows stay as they are. Raises `StoreCorrupt` where only a new index mends the damage.
        """
        ...

    def history(self) -> tuple[Generation, ...]:
        """Kept generations, oldest first."""
        ...

    def tags(self) -> Mapping[str, int]:
        """The names that generations were given, in code point order, with their numbers."""
        ...

    def tag(self, name: str, generation: int | None) -> None:
        """Give a kept generation a name, moving the name if it is in use, or take the name away. Durable, and no
        generation of its own; a second time it changes nothing.

        Called under the writer's lock. Raises `GenerationGone` for a generation that is not kept, `UsageError` while
        a write of this store is in progress.
        """

    def removable(self, keep_from: int) -> Removable:
        """What `compact` would remove. Changes nothing. Raises `GenerationGone` for a generation that is not kept.

        An absent index keeps generation 0 alone, and nothing of it is removable.
        """
        ...

    def traces(self, ids: Sequence[DocumentId]) -> Traces:
        """What kept generations still hold of documents, whether or not the head does. O(their versions)."""
        ...

    def compact(self, expected: Head, keep_from: int, *, scrub: bool = False) -> Compaction:
        """Remove for good what no generation from `keep_from` on shows, and give its space back. All or nothing.

        The head, its roots and lineage stay, and so do those of every kept generation; an older one is gone, with the
        names that it had. Open readers go on seeing what they saw; while one is open the space may not be given back,
        and a later call does that. With `scrub` nothing that was removed, now or before, is left to be read in the
        store's files once the space is given back. Compacting twice is harmless; an absent index stays absent.
        Raises `GenerationGone` for a generation that is not kept, `StaleHead`, `LockHeld` while another one writes, and
        `UsageError` while a write of this store is in progress. Where another's write may run meanwhile (`writers` is
        "cas"), that one loses at its commit (`StaleHead`): the rows that it counted on may be gone.
        """
        ...

    def backup(self, path: str) -> Store:
        """Copy all that is committed into a new file, durably, while others read and write; the copy, open for reading.

        Raises `UsageError` without an index, or for a store that is not one file. A copy that fails leaves no file.
        """
        ...

    def close(self) -> None:
        """Release everything; open readers and an open write end. Closing twice is harmless; any later call raises
        `UsageError`.
        """


class StoreFactory(Protocol):
    """Makes stores from configuration."""

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """Absolute paths of the store's own files and side files, never to be taken for documents.

        A folder stands for all that is in it. The first is the index itself.
        """
        ...

    def open(self, settings: Settings, *, root: str, readonly: bool) -> Store:
        """Open it. With `readonly` nothing is created or changed and an absent index is generation 0.

        Raises `StoreCorrupt` or `ForeignFile` for a file that is not a whole index of ours.
        """
        ...

    def set_aside(self, settings: Settings, *, root: str) -> str:
        """Move a damaged index with its side files out of the way, deleting nothing; the new path of the index itself.

        Called under the lock, whose own file stays. Raises `ForeignFile` for what is not ours.
        """
        ...

    def troubles(self, settings: Settings, *, root: str) -> Sequence[Trouble]:
        """What can be seen to be wrong around the index, without opening it and without changing anything."""
        ...

    def lock(self, settings: Settings, *, root: str, timeout: float, holder: str) -> Lock:
        """The writer's lock, not yet taken. `holder` says what this process does; the next one to ask is told.

        It can be taken before there is an index.
        """
        ...


class Lock(Protocol):
    """At most one holder among all processes of this machine; the kernel frees it when the holder dies."""

    def acquire(self) -> None:
        """Take it within the timeout (seconds), or raise `LockHeld` naming the holder."""

    def release(self) -> None:
        """Give it back. Harmless when not held."""

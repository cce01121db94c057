"""The ports: what the engine asks of a source, an embedder, a cache, a store and a chunker.

Every method says how often it is called, in what order, and what a second call means. An adapter is named by an
entry point that leads to a *factory*; a factory's `describe` must be cheap: no network, no credential, no weights.
Adapters raise the typed errors of `errors.py`; anything else that escapes them is translated at one border.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.records import (
        Content,
        DocumentId,
        Format,
        Generation,
        Head,
        KnownFolder,
        Listed,
        Space,
        Span,
        Stamp,
    )
    from steadlith_core.rows import (
        ArmHit,
        DocumentVersion,
        EntryRow,
        OccurrenceHit,
        Problem,
        RecordedChunk,
        RecordedDocument,
        TextRow,
        TrieNode,
        TrieRow,
        VectorRow,
    )
    from steadlith_core.vectors import Vector

Settings: TypeAlias = "Mapping[str, Any]"
"""An adapter's own table of the configuration, as TOML gave it, without `type`."""


# ---------------------------------------------------------------------------------------------- sources


Known: TypeAlias = "Callable[[str], KnownFolder | None]"
"""What an earlier look kept of a folder, none if nothing. Asked at most once a folder; a source need not ask."""


def nothing_known(_folder: str) -> KnownFolder | None:
    """Of no folder anything is known: everything is listed."""
    return None


class Source(Protocol):
    """Documents below one root. Never writes."""

    def list(self, known: Known = nothing_known) -> Iterator[Listed]:
        """Everything in scope, each folder that holds documents once, in any order, as parts that need little memory.

        Called first, once a run, and read to its end: only then is what was not listed known to be gone. What cannot be
        known goes to `unread`. Raises `SourceError`, at any part, if the root itself cannot be listed, so that nothing
        is taken for deleted.
        """
        ...

    def read(self, path: str) -> Content:
        """One listed document, consistent over the read. May be called again.

        Raises `DocumentError` with `.kind` (a `FindingKind`) when it vanished, changed or cannot be read.
        """
        ...

    def stamp(self, path: str) -> Stamp | None:
        """The document's stamp as it is now, none if that cannot be told. Asked after a read: a stamp that is not the
        listing's says that the bytes may be newer than it. Never raises for a document that is gone.
        """
        ...

    def leaves_out(self, path: str) -> bool:
        """Whether something stands at `path` that the settings leave out. Asked of documents that are not listed."""
        ...

    def place(self) -> bytes | None:
        """What tells this root from another one at the same path (an unmounted disk), if there is such a thing."""
        ...


FormatRule: TypeAlias = "Callable[[str], Format | None]"
"""The format of the document that a path names, none where it never names a document. Asked once a path; pure."""


class SourceFactory(Protocol):
    """Makes sources from configuration."""

    def build(self, name: str, settings: Settings, *, root: str, private: Sequence[str]) -> Source:
        """A source over `settings`, relative to the folder `root`; `private` are our own files, never documents.

        Raises `ConfigError` naming key, value and choices.
        """
        ...

    def formats(self, settings: Settings) -> FormatRule:
        """The rule by which a source over `settings` tells documents and their formats, as far as names tell.

        For documents that no source lists now: an older commit's, a file somebody names. Opens nothing, needs no
        folder. Raises `ConfigError`.
        """
        ...


# -------------------------------------------------------------------------------------------- embedders


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Who makes the vectors and how, known without building the model.

    `model_id` names provider, model and revision. `document_params` holds what else changes a document's vector
    (dimensions, pooling, normalisation, prefix, truncation). `max_tokens` is the longest input, if there is one.
    `max_bytes` is the longest in UTF-8 bytes; `embed_documents` refuses a longer one, so planning keeps it out.
    `local` says that no one charges for it.
    """

    model_id: str
    dimensions: int
    document_params: Mapping[str, str | int | bool | None]
    max_tokens: int | None = None
    max_bytes: int | None = None
    local: bool = False


class Embedder(Protocol):
    """Turns texts into vectors. Documents and queries may be treated differently. Must be thread-safe."""

    def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One vector per text, in order, each 4 x dimensions bytes (`vectors.pack`). Never called with no text.

        Raises `EmbeddingError`. Calling twice with the same text may cost twice; the engine does not.
        """
        ...

    def embed_query(self, text: str) -> Vector:
        """The vector of one query."""
        ...


class EmbedderFactory(Protocol):
    """Makes embedders from configuration."""

    def describe(self, settings: Settings) -> EmbedderIdentity:
        """Identity from settings and installed files alone. Raises `ConfigError`, also when an extra is missing."""
        ...

    def build(self, settings: Settings) -> Embedder:
        """Load the model or open the client; called only when something must be embedded or searched."""
        ...


# ------------------------------------------------------------------------------------------------ caches


class Cache(Protocol):
    """Vectors by what the model was really given. Content-addressed: losing it costs money, never truth."""

    def contains(self, keys: Sequence[Digest]) -> frozenset[Digest]:
        """Which of `keys` would `get` answer. Changes nothing, on disk or in recency."""
        ...

    def get(self, keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
        """The vectors that are there and intact; a damaged one counts as absent."""
        ...

    def put(self, vectors: Mapping[Digest, Vector]) -> None:
        """Keep all of `vectors` durably, in one transaction. Putting a key again is harmless."""

    def probe(self, model_id: str, params_hash: Digest) -> tuple[Vector, ...] | None:
        """The vectors of the probe texts that the first run recorded under this model, if any."""
        ...

    def put_probe(self, model_id: str, params_hash: Digest, vectors: Sequence[Vector]) -> None:
        """Record the probe's vectors; a second call for the same model changes nothing."""

    def close(self) -> None:
        """Release the file. Closing twice is harmless; any other call afterwards raises `UsageError`."""


class CacheFactory(Protocol):
    """Makes caches from configuration."""

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """Absolute paths of the cache's own files and side files, never to be taken for documents."""
        ...

    def open(self, settings: Settings, *, root: str, readonly: bool) -> Cache:
        """Open it. With `readonly` nothing is created or changed: an absent file is an empty cache."""
        ...


# ------------------------------------------------------------------------------------------------ stores


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store can do, as values. A lie here fails the conformance kit."""

    commit: str  # "atomic"
    cas: str  # "transactional"
    isolation: str  # "snapshot"
    durability: str  # "fsync" | "process"
    dense: frozenset[str]  # {"exact"}
    lexical: str  # "bm25" | "none"
    quantization: frozenset[str]  # {"float32"}
    time_travel: str  # "manifest": documents and chunks at any kept generation, arms at the head only
    max_limit: int  # most hits an arm returns


class Recorded(Protocol):
    """What planning reads of a generation: of an index, or of a manifest that was exported from one."""

    @property
    def head(self) -> Head:
        """The head as it was when the snapshot was taken (also in a snapshot of an older generation)."""
        ...

    @property
    def generation(self) -> int:
        """The generation that this reader shows."""
        ...

    def documents(self) -> Iterator[RecordedDocument]:
        """All documents, ordered by (source, path). O(documents)."""
        ...

    def find(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, RecordedDocument]:
        """The documents among `ids` that are there. O(ids)."""
        ...

    def nodes(self, prefixes: Sequence[str]) -> Mapping[str, TrieNode]:
        """Nodes of the head's corpus trie by prefix (hexadecimal digits of the key), as they were put; leaves too.

        The empty trie has none. O(prefixes). Raises `GenerationGone` off the head.
        """
        ...

    def rows(self, prefix: str) -> Sequence[TrieRow]:
        """The documents whose key begins with these hexadecimal digits, in key order. O(answer)."""
        ...

    def chunks(self, id: DocumentId) -> tuple[RecordedChunk, ...]:  # noqa: A002
        """The document's occurrences in source order; empty for a document that is not there. O(chunks)."""
        ...

    def entries(self, entry_hashes: Sequence[Digest]) -> Mapping[Digest, EntryRow]:
        """The entries that are kept, live or not."""
        ...

    def texts(self, text_hashes: Sequence[Digest]) -> Mapping[Digest, str]:
        """The texts that are kept, exactly as they were put."""
        ...

    def held(self, space: Space, vector_keys: Sequence[Digest]) -> frozenset[Digest]:
        """Which vector keys `vectors` would answer: held and intact."""
        ...

    def problems(self, *, full: bool) -> Iterator[Problem]:
        """What the store itself can see is wrong. `full` compares every checksum and lexical row.

        Without it only the head and what it vouches for is looked at, in a time that does not grow with the index.
        """
        ...


class Reader(Recorded, Protocol):
    """One generation, frozen: nothing that commits later is seen. Close it soon; readers hold back compaction."""

    def vectors(self, space: Space, vector_keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
        """The space's unit vectors by vector key, checked against their checksums; damaged ones are left out."""
        ...

    def dense(self, space: Space, query: Vector, limit: int) -> tuple[ArmHit, ...]:
        """Live entries by cosine with the unit `query`, best first, ties by entry; exact. 1 <= limit <= max_limit.

        Raises `UsageError` for a limit out of range or a query of other dimensions, `GenerationGone` off the head.
        """
        ...

    def lexical(self, terms: Sequence[str], limit: int) -> tuple[ArmHit, ...]:
        """Live entries by BM25 over title, headings and body, terms joined by OR; best first, ties by entry.

        `terms` are what `text.query.terms` made; no terms, no hits. Of a large index a store may leave out terms that
        most of it holds, unless nothing else is asked for. Raises as `dense` does.
        """
        ...

    def cosines(self, space: Space, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine of these entries (the store's numbers) with the unit `query`; who has none is left out."""
        ...

    def occurrences(self, entries: Sequence[int], most: int) -> tuple[OccurrenceHit, ...]:
        """Visible occurrences of these entries, at most `most` of each, ordered by (source, path, position).

        Of an entry that has more, the first ones in that order. Costs what it answers and a scan of the entries' rows.
        """
        ...

    def close(self) -> None:
        """End the snapshot. Closing twice is harmless."""


class Transaction(Protocol):
    """One write, all or nothing: puts in any order, then one `commit`. Usable once, by one thread.

    Texts and entries that are already kept are skipped; a placement may name an entry put in this write or before.
    A call that raises, also from inside the caller's iterator, ends the write as `abort` does.
    """

    def put_texts(self, rows: Iterable[TextRow]) -> None:
        """Add texts by hash."""

    def put_entries(self, rows: Iterable[EntryRow]) -> None:
        """Add entries by hash; their texts are there already."""

    def put_vectors(self, space: Space, rows: Iterable[VectorRow]) -> None:
        """Add or replace one unit vector per entry, put before.

        Raises `AdapterError` on wrong dimensions, non-finite numbers or another length than 1, and for an entry that is
        not to be embedded.
        """

    def put_document(self, version: DocumentVersion) -> None:
        """Open a new version of a document, closing its open one. Put, close or respan a document once in a write.

        A placement may claim an id that this document, or one replaced or closed in this write, holds now, or that
        nobody holds any more (a rollback); any other claim is an `AdapterError`, here or at commit. So is a parent that
        does not stand before its part.
        """

    def close_document(self, id: DocumentId) -> None:  # noqa: A002
        """Close a document's open version. Raises `AdapterError` if there is none."""

    def respan(self, id: DocumentId, source_digest: Digest, spans: Sequence[Span]) -> None:  # noqa: A002
        """Same open version, other source bytes: new spans in the same order."""

    def put_nodes(self, nodes: Mapping[str, TrieNode], dropped: Iterable[str]) -> None:
        """Add or replace nodes of the corpus trie by prefix, and drop others; usually once in a write.

        In a write that mends, `nodes` are all there are: every other one is dropped.
        """

    def commit(self, generation: Generation) -> Head:
        """Make all of it visible together with the new head, durably.

        Closes the occurrences that no open version holds any more, opens the new ones, and makes entries live or not.
        An entry is live if an open occurrence uses it, unless it is not to be embedded.
        Checks that the store then holds `generation.documents` documents and `generation.chunks` chunks, and that the
        topmost node leads to `generation.corpus_root`; raises `AdapterError` if not.
        Raises `StaleHead` if the head moved, `OutcomeUnknown` if it cannot tell whether the commit happened.
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
        """The last committed head; generation 0 when there is none. Never creates anything."""
        ...

    def snapshot(self, generation: int | None = None) -> Reader:
        """A reader of the head, or of a kept older generation; raises `GenerationGone`."""
        ...

    def begin(self, expected: Head, *, mend: bool = False) -> Transaction:
        """Start a write on top of `expected`, creating the store if need be. Raises `StaleHead` or `LockHeld`.

        With `mend` nothing that is kept is believed: a text, an entry, a lexical row or a vector that is put replaces
        what is kept under its name, a document may be put whatever is left of it, documents and chunks are counted by
        their rows, and liveness, lexical rows and tombstones are set right for all entries; that may cost a scan.
        Closed rows stay as they are. Raises `StoreCorrupt` where only a new index mends the damage.
        """
        ...

    def history(self) -> tuple[Generation, ...]:
        """Kept generations, oldest first."""
        ...

    def close(self) -> None:
        """Release everything; open readers end. Closing twice is harmless; any later call raises `UsageError`."""


class StoreFactory(Protocol):
    """Makes stores from configuration."""

    def files(self, settings: Settings, *, root: str) -> Sequence[str]:
        """Absolute paths of the store's own files and side files, never to be taken for documents."""
        ...

    def open(self, settings: Settings, *, root: str, readonly: bool) -> Store:
        """Open it. With `readonly` nothing is created or changed and an absent index is generation 0.

        Raises `StoreCorrupt` or `ForeignFile` for a file that is not a whole index of ours.
        """
        ...

    def set_aside(self, settings: Settings, *, root: str) -> str:
        """Move a damaged index with its side files out of the way, deleting nothing; the new path of the index itself.

        Called under the lock. Raises `ForeignFile` for what is not ours.
        """
        ...

    def lock(self, settings: Settings, *, root: str, timeout: float, holder: str) -> Lock:
        """The writer's lock, not yet taken. `holder` is what the next one to ask will be told."""
        ...


class Lock(Protocol):
    """At most one holder among all processes of this machine; the kernel frees it when the holder dies."""

    def acquire(self) -> None:
        """Take it within the timeout (seconds), or raise `LockHeld` naming the holder."""

    def release(self) -> None:
        """Give it back. Harmless when not held."""

"""Reading one generation: what planning asks of it, and what searching asks besides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
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


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store can do, as values. A lie here fails the conformance kit."""

    commit: str  # "atomic"
    cas: str  # "transactional"
    isolation: str  # "snapshot"
    durability: str  # "fsync" | "process"
    dense: frozenset[str]  # "exact", always; besides "rescored", if quantized spaces are searched by their codes
    lexical: str  # "bm25" | "none"
    quantization: frozenset[str]  # of retrieval.quantization.QUANTIZATIONS; "float32", always
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
        """The space's unit vectors by vector key, checked against their checksums; damaged ones are left out.

        They are the full ones, as they were put, in a quantized space too.
        """
        ...

    def dense(self, space: Space, query: Vector, limit: int) -> tuple[ArmHit, ...]:
        """Live entries by cosine with the unit `query`, best first, ties by entry. 1 <= limit <= max_limit.

        Exact in a float32 space, and everywhere in a store that is not "rescored". Otherwise a quantized space answers
        with the best by their full vectors among candidates taken by their codes: scores are exact, an entry may be
        missed, and nothing but the live entries' vectors and the query decides which.

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

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
    writers: str  # "serialized": a second write is refused at its begin, or waits; "cas": it runs, and loses at commit
    isolation: str  # "snapshot"
    durability: str  # "fsync" | "process"
    dense: frozenset[str]  # "exact", always; "rescored", if codes of quantized spaces choose; "hnsw", if a graph does
    prefilter: str  # "exact": a filter loses nothing; "iterative": all hits there are, better ones may be missed
    lexical: str  # "bm25" | "ts_rank" | "none"
    lexical_stats: str  # "head": how rare a term is counts, over live entries alone; "none": it does not count
    quantization: frozenset[str]  # of retrieval.quantization.QUANTIZATIONS; "float32", always
    time_travel: str  # of kept generations, "manifest": documents and chunks, arms at the head only; "search": all
    max_limit: int  # most hits an arm returns
    reclaims_space: bool  # whether compacting makes what the store takes smaller
    remote: bool  # whether it is reached over a network


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
        """The texts that are kept, exactly as they were put. A damaged one is answered as it is: whoever needs to know
        compares it with its hash.
        """
        ...

    def held(self, space: Space, vector_keys: Sequence[Digest]) -> frozenset[Digest]:
        """Which vector keys `vectors` would answer: held and intact."""
        ...

    def problems(self, *, full: bool, workers: int = 1) -> Iterator[Problem]:
        """What the store itself can see is wrong. `full` compares every checksum and lexical row.

        Without it only the head and what it vouches for is looked at, in a time that does not grow with the index.
        `workers` is how many processes may look, this one among them: they may begin at once, what is found is the
        same, in the same order, and a store may do with one.
        Kinds are those of docs/drift.md; a text or an entry that no document of the head uses is `HISTORY`.
        """
        ...


class Reader(Recorded, Protocol):
    """One generation, frozen: nothing that commits later is seen. Close it soon; readers hold back compaction.

    The arms (`dense`, `lexical`, `cosines`) search the head. At an older generation a store of time travel "search"
    answers as it did when that one was the head: "live" are the entries that an occurrence of then uses, and scores
    and statistics are over these. It is exact there, codes and graphs or not, and may cost a look at all that the
    generation holds. A store of time travel "manifest" raises `GenerationGone`.
    """

    def vectors(self, space: Space, vector_keys: Sequence[Digest]) -> Mapping[Digest, Vector]:
        """The space's unit vectors by vector key, checked against their checksums; damaged ones are left out.

        They are the full ones, as they were put, in a quantized space too.
        """
        ...

    def changed_since(self, generation: int) -> Sequence[DocumentId]:
        """The documents that are there at one of two generations and not, or otherwise, at the other: at this one and
        at an older, kept one. In order of (source, path).

        Whatever differs counts: root, metadata, chunks, occurrences, spans, source digest. Documents that changed in
        between and changed back may be among them. Loads no document that did not change. Raises `GenerationGone`
        for a generation that is newer than this one, or not kept.
        """
        ...

    def within(self, ids: Sequence[DocumentId]) -> tuple[int, ...]:
        """Entries (the store's numbers, ascending) that an arm may find in these documents at this generation.

        They are those that a visible occurrence of them uses and that are to be embedded. O(their chunks).
        """
        ...

    def dense(
        self, space: Space, query: Vector, limit: int, among: Sequence[int] | None = None, *, exact: bool = False
    ) -> tuple[ArmHit, ...]:
        """Live entries by cosine with the unit `query`, best first, ties by entry. 1 <= limit <= max_limit.

        With `among` only these entries are looked at, before anything is cut off: the answer is the best `limit` of
        them, or all. What of them is not live or not there is passed over.

        Exact with `exact`; without it too in a float32 space, unless the store is "hnsw", and everywhere in a store
        that is not "rescored". Otherwise candidates are taken by codes or by a graph, and the best of them by their
        full vectors are answered: scores are exact, an entry may be missed. With codes nothing but the live entries'
        vectors and the query decides which; with a graph, how it grew does too.

        Raises `UsageError` for a limit out of range or a query of other dimensions, `GenerationGone` off the head (see
        the class).
        """
        ...

    def lexical(self, terms: Sequence[str], limit: int, among: Sequence[int] | None = None) -> tuple[ArmHit, ...]:
        """Live entries by title, headings and body, terms joined by OR; best first, ties by entry.

        How they are ranked, `Capabilities.lexical` says. `terms` are what `text.query.terms` made of a query, and what
        is searched is what `text.query.index_text` makes of a text; any other string finds what it finds and never
        raises. No terms, no hits.
        `among` is as in `dense`; scores are those of the whole index. Of a large index a store may leave out terms
        that most of it holds, unless nothing else is asked for. Raises as `dense` does.
        """
        ...

    def cosines(self, space: Space, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine of these entries (the store's numbers) with the unit `query`; who has none is left out.

        The same numbers as `dense` scores them with, whatever stands beside them; an entry that is not live any more
        may have one. Raises as `dense` does.
        """
        ...

    def occurrences(
        self, entries: Sequence[int], most: int, ids: Sequence[DocumentId] | None = None
    ) -> tuple[OccurrenceHit, ...]:
        """Visible occurrences of these entries, at most `most` of each, ordered by (source, path, position).

        With `ids` those in these documents alone. Of an entry that has more, the first ones in that order.
        Costs what it answers and a scan of the entries' rows.
        """
        ...

    def close(self) -> None:
        """End the snapshot. Closing twice is harmless."""

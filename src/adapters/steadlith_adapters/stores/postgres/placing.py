"""The documents of a write: gathered, packed, and staged many at a time.

1. A document is named at most once.
2. New occurrences are numbered here, from the head's next one on: if anybody else gave out the same numbers meanwhile,
   the head has moved, and this write is lost.
3. What the index holds of a document is not asked before the commit: what is wrong is found there.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from steadlith_adapters.stores import packing
from steadlith_adapters.stores.arguments import check_parents
from steadlith_adapters.stores.postgres import staging
from steadlith_core import canon
from steadlith_core.errors import AdapterError
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId, Span
    from steadlith_core.rows import DocumentVersion

SIZE = 1000
"""Placements and versions that are sent together."""


class Placing:
    """What was put, closed and respanned of documents; `next_occurrence` is the first number not given out."""

    __slots__ = ("_at", "_first_new", "_gathered", "_session", "_touched", "next_occurrence")

    def __init__(self, session: Session, first_new: int) -> None:
        self._session = session
        self._at = count(1)
        self._first_new = first_new
        self._touched: set[DocumentId] = set()
        self._gathered: dict[str, list[tuple[object, ...]]] = {table: [] for table in staging.OF_DOCUMENTS}
        self.next_occurrence = first_new

    def put(self, version: DocumentVersion) -> None:
        """Open a new version."""
        self._touch(version.id)
        check_parents(version)
        at = next(self._at)
        ids = [self._occurrence(placement.occurrence) for placement in version.placements]
        entries = [placement.entry_hash for placement in version.placements]
        packed = packing.pack_ids(ids)
        positions = packing.pack_spans(placement.span for placement in version.placements)
        row = (
            at,
            document_key(version.id),
            staging.utf8(version.id.source),
            staging.utf8(version.id.path),
            version.root,
            packing.seal(packed, packing.pack_digests(entries)),
            canon.encode(version.metadata),
            packed,
            packing.pack_digests(placement.chunk_hash for placement in version.placements),
            packing.pack_parents([placement.parent for placement in version.placements]),
            version.source_digest,
            packing.seal(version.source_digest, positions),
            positions,
        )
        self._gathered["staged_version"].append(row)
        claims = self._gathered["staged_claim"]
        claims += [(occurrence, at, entry) for occurrence, entry in zip(ids, entries, strict=True)]
        self._send_if_many()

    def close(self, id: DocumentId) -> None:  # noqa: A002
        """Close the open version."""
        self._touch(id)
        self._gathered["staged_close"].append((document_key(id), _shown(id)))
        self._send_if_many()

    def respan(self, id: DocumentId, source_digest: Digest, spans: Sequence[Span]) -> None:  # noqa: A002
        """Give the open version other spans."""
        self._touch(id)
        positions = packing.pack_spans(spans)
        seal = packing.seal(source_digest, positions)
        row = (document_key(id), _shown(id), len(spans), source_digest, seal, positions)
        self._gathered["staged_respan"].append(row)
        self._send_if_many()

    def send(self) -> None:
        """Stage what was gathered."""
        for table, rows in self._gathered.items():
            staging.put(self._session, table, rows)
            rows.clear()

    def _send_if_many(self) -> None:
        if sum(map(len, self._gathered.values())) > SIZE:
            self.send()

    def _touch(self, id: DocumentId) -> None:  # noqa: A002
        if id in self._touched:
            message = f"{id} is put, closed or respanned twice in one write"
            raise AdapterError(message)
        self._touched.add(id)

    def _occurrence(self, claimed: int | None) -> int:
        if claimed is None:
            self.next_occurrence += 1
            return self.next_occurrence - 1
        if claimed >= self._first_new:
            message = f"occurrence {claimed} does not exist; new ones are placed with none, and get their id here"
            raise AdapterError(message)
        return claimed


def _shown(id: DocumentId) -> str:  # noqa: A002
    """A name for messages, as a column of text can hold it."""
    return str(id).replace("\0", " ").encode("utf-8", "replace").decode()

"""The index that is not there: what planning reads in place of one that is too damaged to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.state.roots import empty_head

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId, Head, Space
    from steadlith_core.rows import EntryRow, Problem, RecordedChunk, RecordedDocument, TrieNode, TrieRow


class AbsentIndex:
    """Generation 0, as `Recorded`: nothing is there to be found."""

    generation = 0

    @property
    def head(self) -> Head:
        """The empty head."""
        return empty_head()

    def documents(self) -> Iterator[RecordedDocument]:
        """None."""
        return iter(())

    def find(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, RecordedDocument]:  # noqa: ARG002
        """None of them."""
        return {}

    def nodes(self, prefixes: Sequence[str]) -> Mapping[str, TrieNode]:  # noqa: ARG002
        """None of them."""
        return {}

    def rows(self, prefix: str) -> Sequence[TrieRow]:  # noqa: ARG002
        """None."""
        return ()

    def chunks(self, id: DocumentId) -> tuple[RecordedChunk, ...]:  # noqa: A002, ARG002
        """None."""
        return ()

    def entries(self, entry_hashes: Sequence[Digest]) -> Mapping[Digest, EntryRow]:  # noqa: ARG002
        """None of them."""
        return {}

    def texts(self, text_hashes: Sequence[Digest]) -> Mapping[Digest, str]:  # noqa: ARG002
        """None of them."""
        return {}

    def held(self, space: Space, vector_keys: Sequence[Digest]) -> frozenset[Digest]:  # noqa: ARG002
        """None of them."""
        return frozenset()

    def problems(self, *, full: bool, workers: int = 1) -> Iterator[Problem]:  # noqa: ARG002
        """None."""
        return iter(())

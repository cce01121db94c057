"""After much was written and deleted, what is live is found, compacted or not."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import SPACE, Piece, doc, pieces, vector, write
from steadlith_conformance.stores.compaction import at, problems

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Store


class ChurnRules:
    """Field case 25, and what tombstones must not do."""

    def test_every_live_record_is_found_by_its_own_vector_after_churn_and_compaction(
        self, make_store: MakeStore
    ) -> None:
        """Field case 25, small: its own size is for the slow run."""
        _churn_and_look(make_store(), documents=40, chunks=5)

    @pytest.mark.slow
    def test_field_case_25_every_live_record_is_found_by_its_own_vector_after_churn_and_compaction(
        self, make_store: MakeStore
    ) -> None:
        """At a size where a graph or a list of codes loses members: rebuild what deletions have torn."""
        _churn_and_look(make_store(), documents=400, chunks=10)

    @pytest.mark.parametrize("limit", [1, 3])
    def test_dead_vectors_nearer_than_live_ones_hide_none(self, make_store: MakeStore, limit: int) -> None:
        """An index of neighbours with dead rows in it answers with fewer hits than were asked for. Filter before the
        cut, or go on until `limit` live ones are found.
        """
        store = make_store()
        query = vector("query")
        near = [Piece("query", title=f"copy {number}") for number in range(20)]
        live = pieces("far one", "far two", "far three")
        write(store, {doc("near.md"): near, doc("live.md"): live})
        assert {hit.text for hit in at(store, query, limit)} == {"query"}
        write(store, {doc("near.md"): None})
        for keep_from in (None, 1, 2):
            if keep_from:
                store.compact(store.head(), keep_from)
            assert len(at(store, query, limit)) == limit
            assert {hit.text for hit in at(store, query, 9)} == {part.text for part in live}


def _churn_and_look(store: Store, *, documents: int, chunks: int) -> None:
    """Add, delete half, change a third of the rest; then each live text is its own vector's best answer."""
    held_now = {
        doc(f"{number}.md"): pieces(*(f"text {number} {step}" for step in range(chunks))) for number in range(documents)
    }
    write(store, held_now)
    gone = list(held_now)[::2]
    write(store, dict.fromkeys(gone))
    changed = {each: [Piece(f"changed {part.text}") for part in held_now[each]] for each in list(held_now)[1::6]}
    write(store, changed)
    texts = [part.text for each, parts in {**held_now, **changed}.items() if each not in gone for part in parts]
    for keep_from in (None, 3):
        if keep_from:
            store.compact(store.head(), keep_from)
        with closing(store.snapshot()) as reader:
            for text in texts:
                best = reader.dense(SPACE, vector(text), 1)
                assert [hit.text for hit in reader.occurrences([best[0].entry], 1)] == [text]
    assert problems(store) == []

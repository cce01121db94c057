"""Opening, reading before anything was written, reopening, closing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import SPACE, doc, pieces, stage_rows, vector, write
from steadlith_core.errors import GenerationGone, UsageError

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore


class LifecycleRules:
    """Rules 1 to 6 of the storage specification."""

    def test_an_absent_index_is_generation_0(self, make_store: MakeStore) -> None:
        store = make_store()
        head = store.head()
        assert (head.generation, head.lineage, head.documents, head.chunks) == (0, None, 0, 0)
        assert store.history() == ()
        reader = store.snapshot()
        assert reader.generation == 0
        assert list(reader.documents()) == []
        assert reader.chunks(doc("a.md")) == ()
        assert reader.dense(SPACE, vector("q"), 5) == ()
        assert reader.lexical(["word"], 5) == ()
        assert reader.occurrences([1, 2], 100) == ()
        assert list(reader.problems(full=True)) == []

    def test_reading_an_absent_index_creates_nothing(self, make_store: MakeStore) -> None:
        readonly = make_store(readonly=True)
        readonly.snapshot().close()
        assert readonly.head().generation == 0
        readonly.close()
        assert make_store().head().generation == 0

    def test_a_reader_opened_before_the_first_commit_sees_it_afterwards(self, make_store: MakeStore) -> None:
        readonly = make_store(readonly=True)
        assert readonly.head().generation == 0
        head = write(make_store(), {doc("a.md"): pieces("one")})
        assert readonly.head() == head

    def test_a_commit_is_there_after_reopening(self, make_store: MakeStore) -> None:
        store = make_store()
        head = write(store, {doc("a.md"): pieces("one", "two")})
        history, reader = store.history(), store.snapshot()
        documents, chunks = list(reader.documents()), reader.chunks(doc("a.md"))
        store.close()
        again = make_store()
        assert again.head() == head
        assert again.history() == history
        reader = again.snapshot()
        assert list(reader.documents()) == documents
        assert reader.chunks(doc("a.md")) == chunks

    def test_opening_an_index_again_changes_nothing(self, make_store: MakeStore) -> None:
        head = write(make_store(), {doc("a.md"): pieces("one")})
        for readonly in (False, True, False):
            assert make_store(readonly=readonly).head() == head

    def test_two_indexes_do_not_see_each_other(self, make_store: MakeStore) -> None:
        write(make_store("left"), {doc("a.md"): pieces("one")})
        right = make_store("right")
        assert right.head().generation == 0
        assert list(right.snapshot().documents()) == []

    def test_a_closed_store_refuses_every_call(self, make_store: MakeStore) -> None:
        store = make_store()
        head = write(store, {doc("a.md"): pieces("one")})
        store.close()
        store.close()
        for call in (store.head, store.snapshot, store.history, lambda: store.begin(head)):
            with pytest.raises(UsageError):
                call()

    def test_a_closed_reader_refuses_every_call(self, make_store: MakeStore) -> None:
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        reader = store.snapshot()
        reader.close()
        reader.close()
        for call in (
            lambda: list(reader.documents()),
            lambda: reader.chunks(doc("a.md")),
            lambda: reader.dense(SPACE, vector("q"), 1),
            lambda: reader.lexical(["one"], 1),
            lambda: reader.occurrences([1], 100),
        ):
            with pytest.raises(UsageError):
                call()

    def test_closing_the_store_ends_its_readers_and_its_write(self, make_store: MakeStore) -> None:
        store = make_store()
        head = write(store, {doc("a.md"): pieces("one")})
        reader = store.snapshot()
        transaction = store.begin(head)
        store.close()
        with pytest.raises(UsageError):
            reader.chunks(doc("a.md"))
        with pytest.raises(UsageError):
            stage_rows(transaction, {doc("b.md"): pieces("two")})
        assert make_store().head() == head

    def test_a_store_opened_for_reading_refuses_to_write(self, make_store: MakeStore) -> None:
        write(make_store(), {doc("a.md"): pieces("one")})
        readonly = make_store(readonly=True)
        with pytest.raises(UsageError):
            readonly.begin(readonly.head())

    def test_a_generation_that_never_was_is_gone(self, make_store: MakeStore) -> None:
        store = make_store()
        with pytest.raises(GenerationGone):
            store.snapshot(1)
        write(store, {doc("a.md"): pieces("one")})
        for number in (-1, 2, 99):
            with pytest.raises(GenerationGone, match=str(number)):
                store.snapshot(number)

    def test_capabilities_are_values_that_the_port_names(self, make_store: MakeStore) -> None:
        can = make_store().capabilities
        assert can.commit == "atomic"
        assert can.cas == "transactional"
        assert can.isolation == "snapshot"
        assert can.durability in {"fsync", "process"}
        assert "exact" in can.dense
        assert can.lexical in {"bm25", "ts_rank", "none"}
        assert "float32" in can.quantization
        assert can.time_travel == "manifest"
        assert can.max_limit >= 1

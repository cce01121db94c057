"""Opening, reading before anything was written, reopening, closing."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import SPACE, doc, pieces, stage_rows, vector, write
from steadlith_core.errors import GenerationGone, LockHeld, UsageError

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore


class LifecycleRules:
    """Rules 1 to 6 of the storage specification."""

    def test_an_absent_index_is_generation_0(self, make_store: MakeStore) -> None:
        """A first plan reads an index that is not there. Answer with the empty head and with nothing, and create
        nothing.
        """
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
        """`plan` in a fresh folder leaves it as it was. Create the place in the first `begin`, never at opening."""
        readonly = make_store(readonly=True)
        readonly.snapshot().close()
        assert readonly.head().generation == 0
        readonly.close()
        assert make_store().head().generation == 0

    def test_a_reader_opened_before_the_first_commit_sees_it_afterwards(self, make_store: MakeStore) -> None:
        """A service may start before the first index is there. Look again at each call whether there is one now."""
        readonly = make_store(readonly=True)
        assert readonly.head().generation == 0
        head = write(make_store(), {doc("a.md"): pieces("one")})
        assert readonly.head() == head

    def test_a_commit_is_there_after_reopening(self, make_store: MakeStore) -> None:
        """What `commit` answered for is what the next process finds. Write it where another opening looks, before
        `commit` returns.
        """
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
        """Opening is no write: no lineage, no generation and no counter may come of it."""
        head = write(make_store(), {doc("a.md"): pieces("one")})
        for readonly in (False, True, False):
            assert make_store(readonly=readonly).head() == head

    def test_two_indexes_do_not_see_each_other(self, make_store: MakeStore) -> None:
        """Names that differ are indexes that differ: put the name into every path, key or schema."""
        write(make_store("left"), {doc("a.md"): pieces("one")})
        right = make_store("right")
        assert right.head().generation == 0
        assert list(right.snapshot().documents()) == []

    def test_a_closed_store_refuses_every_call(self, make_store: MakeStore) -> None:
        """Raise `UsageError`, which says whose mistake it is, instead of an error of a driver. Closing twice is
        harmless.
        """
        store = make_store()
        head = write(store, {doc("a.md"): pieces("one")})
        store.close()
        store.close()
        for call in (store.head, store.snapshot, store.history, lambda: store.begin(head)):
            with pytest.raises(UsageError):
                call()

    def test_a_closed_reader_refuses_every_call(self, make_store: MakeStore) -> None:
        """A reader that answers after its end answers from no generation. Raise `UsageError`; closing twice is
        harmless.
        """
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
        """What was staged is gone with its store, as after `abort`; a reader that outlives its store would hold its
        files.
        """
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

    def test_closing_the_store_ends_every_write(self, make_store: MakeStore) -> None:
        """A store may let several writes run (`writers`), or refuse the second. It forgets none of them: closing ends
        all, and nothing is compacted under any.
        """
        store = make_store()
        head = write(store, {doc("a.md"): pieces("one")})
        transactions = [store.begin(head)]
        with suppress(UsageError, LockHeld):
            transactions.append(store.begin(head))
        transactions[-1].abort()
        if len(transactions) > 1:
            with pytest.raises(UsageError):
                store.compact(head, 1)
        store.close()
        for each in transactions:
            with pytest.raises(UsageError):
                stage_rows(each, {doc("b.md"): pieces("two")})
        assert make_store().head() == head

    def test_a_store_opened_for_reading_refuses_to_write(self, make_store: MakeStore) -> None:
        """`readonly` is what planning and searching open with, so nothing can be written by mistake. Raise `UsageError`
        at `begin`.
        """
        write(make_store(), {doc("a.md"): pieces("one")})
        readonly = make_store(readonly=True)
        with pytest.raises(UsageError):
            readonly.begin(readonly.head())

    def test_a_generation_that_never_was_is_gone(self, make_store: MakeStore) -> None:
        """Raise `GenerationGone` with the number, for negative ones and those to come as well."""
        store = make_store()
        with pytest.raises(GenerationGone):
            store.snapshot(1)
        write(store, {doc("a.md"): pieces("one")})
        for number in (-1, 2, 99):
            with pytest.raises(GenerationGone, match=str(number)):
                store.snapshot(number)

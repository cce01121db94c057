"""A commit may be checked by whoever asked for it, before anybody else sees it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import SPACE, doc, pieces, stage, vector, word_hits, write
from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Reader
    from steadlith_core.records import Head


class CheckedRules:
    """What the port says of the `check` of a commit."""

    def test_a_check_sees_what_would_be_the_head(self, make_store: MakeStore) -> None:
        """Call it with a reader of the write itself, after everything is settled: the new head, documents, texts, both
        arms, and nothing that is wrong. A snapshot of the store shows what was.
        """
        store, other = make_store(), make_store()
        write(store, {doc("a.md"): pieces("one"), doc("b.md"): pieces("two")})
        before = store.head()
        transaction = store.begin(before)
        many = pieces(*(f"one of many, number {number}, {'and so on ' * 40}" for number in range(200)))
        changes = {doc("a.md"): pieces("one", "three"), doc("b.md"): None, doc("many.md"): many}
        with closing(store.snapshot()) as reader:
            given = stage(transaction, reader, changes)
        seen: list[Head] = []

        def check(reader: Reader) -> None:
            seen.append(reader.head)
            assert reader.generation == 2
            assert [each.id for each in reader.documents()] == [doc("a.md"), doc("many.md")]
            assert [row.text_hash for row in reader.chunks(doc("a.md"))] == [
                p.text_hash for p in pieces("one", "three")
            ]
            best = reader.dense(SPACE, vector("three"), 1)
            (hit,) = reader.occurrences([each.entry for each in best], 1)
            assert hit.text == "three"
            assert word_hits(store, reader, "three")[0].entry == best[0].entry
            named = reader.occurrences([found.entry for found in word_hits(store, reader, "two")], 1)
            assert "two" not in [each.text for each in named]
            assert list(reader.problems(full=True)) == []
            with closing(other.snapshot()) as another:
                assert another.head == before
                assert [each.id for each in another.documents()] == [doc("a.md"), doc("b.md")]

        committed = transaction.commit(given, check)
        assert seen == [committed] == [store.head()]

    def test_a_check_that_raises_commits_nothing(self, make_store: MakeStore) -> None:
        """Let it through, and end the write as `abort` does: the index is as it was, and the next write goes on."""
        store = make_store()
        before = write(store, {doc("a.md"): pieces("one")})
        transaction = store.begin(before)
        with closing(store.snapshot()) as reader:
            given = stage(transaction, reader, {doc("a.md"): pieces("two")})

        def check(reader: Reader) -> None:
            assert reader.head.generation == 2
            message = "not good enough"
            raise RuntimeError(message)

        with pytest.raises(RuntimeError, match="not good enough"):
            transaction.commit(given, check)
        with pytest.raises(UsageError):
            transaction.commit(given)
        assert make_store().head() == store.head() == before
        assert [kept.number for kept in store.history()] == [1]
        with closing(store.snapshot()) as reader:
            (hit,) = reader.occurrences([each.entry for each in reader.dense(SPACE, vector("one"), 1)], 1)
            assert hit.text == "one"
        assert write(store, {doc("b.md"): pieces("two")}).generation == 2

    def test_the_reader_of_a_check_ends_with_it(self, make_store: MakeStore) -> None:
        """Close it once the check has returned: what it showed is the head now, and a snapshot shows that."""
        store = make_store()
        transaction = store.begin(store.head())
        with closing(store.snapshot()) as reader:
            given = stage(transaction, reader, {doc("a.md"): pieces("one")})
        lent: list[Reader] = []
        transaction.commit(given, lent.append)
        with pytest.raises(UsageError):
            lent[0].chunks(doc("a.md"))

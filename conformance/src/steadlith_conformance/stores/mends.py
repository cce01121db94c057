"""A write that mends replaces what is kept under a name; what was put wrongly is named, and whose it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    entry_row,
    generation,
    held,
    mend,
    pieces,
    stage_rows,
    text_row,
    trie_row,
    vector,
    vector_row,
    version,
    write,
)
from steadlith_core.digest import hash_fields
from steadlith_core.errors import AdapterError
from steadlith_core.records import DriftKind
from steadlith_core.rows import TextRow
from steadlith_core.state.moving import build

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Store, Transaction

ONE, TWO = Piece("one"), Piece("two")


def _again(store: Store, put: Callable[[Transaction], object]) -> None:
    """A write that mends and leaves the documents as they are."""
    reader = store.snapshot()
    trie = build(reader.rows(""))
    transaction = store.begin(reader.head, mend=True)
    put(transaction)
    transaction.put_nodes(trie.put, ())
    transaction.commit(generation(reader.head, trie.after, reader.head.chunks))


def _kinds(store: Store) -> set[DriftKind]:
    assert list(store.snapshot().problems(full=False)) == []
    return {problem.kind for problem in store.snapshot().problems(full=True)}


class MendRules:
    """What the port says of `begin` with `mend`, and of `problems`."""

    def test_mending_what_is_whole_changes_nothing_that_it_shows(self, make_store: MakeStore) -> None:
        """A repair may be run on suspicion. Ids, entries and answers stay what they were."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two"), doc("b.md"): pieces("three")})
        before = store.snapshot()
        kept = {
            doc("a.md"): [held(before, doc("a.md"), text=text) for text in ("one", "two")],
            doc("b.md"): [held(before, doc("b.md"), text="three")],
        }
        assert mend(store, kept).generation == 2
        after = store.snapshot()
        assert list(after.documents()) == list(before.documents())
        for id in kept:  # noqa: A001
            assert after.chunks(id) == before.chunks(id)
        assert after.dense(SPACE, vector("q"), 9) == before.dense(SPACE, vector("q"), 9)
        assert after.lexical(["one"], 9) == before.lexical(["one"], 9)
        assert _kinds(store) == set()

    def test_a_document_may_be_mended_with_new_occurrences(self, make_store: MakeStore) -> None:
        """Whatever is left of a document, it can be put anew. Its old rows are closed, not removed: old generations
        show them.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two"), doc("b.md"): pieces("three")})
        old = {chunk.occurrence for chunk in store.snapshot().chunks(doc("a.md"))}
        mend(store, {doc("a.md"): pieces("one"), doc("b.md"): None})
        (chunk,) = store.snapshot().chunks(doc("a.md"))
        assert chunk.occurrence not in old
        assert len(store.snapshot().dense(SPACE, vector("q"), 9)) == 1
        assert [len(store.snapshot(1).chunks(doc(name))) for name in ("a.md", "b.md")] == [2, 1]
        assert _kinds(store) == set()

    def test_a_first_write_may_mend(self, make_store: MakeStore) -> None:
        """Nothing is kept, so nothing has to be believed."""
        store = make_store()
        assert mend(store, {doc("a.md"): pieces("one")}).generation == 1
        assert len(store.snapshot().lexical(["one"], 5)) == 1
        assert _kinds(store) == set()

    def test_a_text_is_replaced_and_found_by_its_words(self, make_store: MakeStore) -> None:
        """A damaged text is put again under its hash: replace the bytes, and the words that it is found by."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        _again(store, lambda to: to.put_texts([TextRow(ONE.text_hash, "wrong")]))
        assert store.snapshot().texts([ONE.text_hash]) == {ONE.text_hash: "wrong"}
        (problem,) = store.snapshot().problems(full=True)
        assert (problem.kind, problem.text) == (DriftKind.TEXT, ONE.text_hash)
        _again(store, lambda to: to.put_texts([text_row(ONE)]))
        assert store.snapshot().texts([ONE.text_hash]) == {ONE.text_hash: "one"}
        assert len(store.snapshot().lexical(["one"], 5)) == 1
        assert store.snapshot().lexical(["wrong"], 5) == ()
        assert _kinds(store) == set()

    def test_an_entry_is_replaced_and_keeps_its_number(self, make_store: MakeStore) -> None:
        """Occurrences name the entry by its number, so that stays. Its title, headings and words are replaced."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        number = store.snapshot().lexical(["one"], 5)[0].entry
        _again(store, lambda to: to.put_entries([replace(entry_row(ONE), title="Wrong")]))
        assert store.snapshot().entries([ONE.entry_hash])[ONE.entry_hash].title == "Wrong"
        (problem,) = store.snapshot().problems(full=True)
        assert (problem.kind, problem.entry) == (DriftKind.ENTRY, ONE.entry_hash)
        _again(store, lambda to: to.put_entries([entry_row(ONE)]))
        assert store.snapshot().entries([ONE.entry_hash]) == {ONE.entry_hash: entry_row(ONE)}
        assert [hit.entry for hit in store.snapshot().lexical(["one"], 5)] == [number]
        assert _kinds(store) == set()

    def test_a_vector_is_replaced(self, make_store: MakeStore) -> None:
        """Replace what is searched, what is given out, and the checksum."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        row = replace(vector_row(ONE), vector=vector("elsewhere"))
        _again(store, lambda to: to.put_vectors(SPACE, [row]))
        reader = store.snapshot()
        assert reader.vectors(SPACE, [row.vector_key]) == {row.vector_key: row.vector}
        (best,) = reader.dense(SPACE, vector("elsewhere"), 1)
        assert [hit.text for hit in reader.occurrences([best.entry], 5)] == ["one"]
        assert _kinds(store) == set()

    def test_what_only_older_generations_show_is_history(self, make_store: MakeStore) -> None:
        """Damage that the head does not show needs no repair that costs. Report it as `history`."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        write(store, {doc("a.md"): pieces("two")})
        _again(store, lambda to: to.put_texts([TextRow(ONE.text_hash, "wrong")]))
        _again(store, lambda to: to.put_entries([replace(entry_row(ONE), title="Wrong")]))
        assert _kinds(store) == {DriftKind.HISTORY}

    def test_a_root_that_does_not_follow_is_named_with_its_document(self, make_store: MakeStore) -> None:
        """`problems(full=True)` computes the root again from chunks, metadata and parents, and says whose it is."""
        store = make_store()
        wrong = replace(version(doc("a.md"), [ONE]), root=hash_fields("sample-root"))
        trie = build([trie_row(wrong)])
        head = store.head()
        transaction = store.begin(head)
        stage_rows(transaction, {})
        transaction.put_texts([text_row(ONE)])
        transaction.put_entries([entry_row(ONE)])
        transaction.put_vectors(SPACE, [vector_row(ONE)])
        transaction.put_document(wrong)
        transaction.put_nodes(trie.put, ())
        transaction.commit(generation(head, trie.after, 1))
        (problem,) = store.snapshot().problems(full=True)
        assert (problem.kind, problem.document) == (DriftKind.DOCUMENT, doc("a.md"))
        mend(store, {doc("a.md"): [ONE]})
        assert _kinds(store) <= {DriftKind.HISTORY}

    def test_nodes_that_are_too_many_are_named_and_dropped_by_mending(self, make_store: MakeStore) -> None:
        """A node that no document leads to would be believed by the next move of the trie. In a mend the nodes that are
        put are all.
        """
        store = make_store()
        write(store, {doc("a.md"): [ONE]})
        reader = store.snapshot()
        top = reader.nodes([""])[""]
        transaction = store.begin(reader.head)
        transaction.put_nodes({"0": top}, ())
        transaction.commit(generation(reader.head, top, 1))
        assert _kinds(store) == {DriftKind.NODES}
        _again(store, lambda to: to.put_texts([]))
        assert store.snapshot().nodes(["", "0"]) == {"": top}
        assert _kinds(store) == set()

    def test_mending_counts_the_rows(self, make_store: MakeStore) -> None:
        """A mend does not believe the head's counts. It counts documents and chunks by what is open after the write."""
        store = make_store()
        write(store, {doc("a.md"): [ONE], doc("b.md"): [TWO]})
        head = store.head()
        with pytest.raises(AdapterError):
            mend(store, {doc("a.md"): [ONE]})  # b.md is not said to be closed
        assert store.head() == head
        mend(store, {doc("a.md"): [ONE], doc("b.md"): None})
        assert (store.head().documents, store.head().chunks) == (1, 1)

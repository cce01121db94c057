"""Parts and what they are parts of: parents come back, and what is not embedded is kept and never found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    entry_row,
    held,
    pieces,
    vector,
    vector_row,
    version,
    write,
)
from steadlith_core.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Reader, Store

WHOLE = Piece("red apple and green pear", embed=False)
FAMILY = (WHOLE, Piece("red apple", parent=0), Piece("green pear", parent=0))


def _tree(reader: Reader, path: str) -> list[tuple[int, bool]]:
    return [(chunk.parent, chunk.embed) for chunk in reader.chunks(doc(path))]


def _found(reader: Reader) -> list[tuple[str, str, int]]:
    """Path, text and parent of whatever each arm finds; both must agree."""
    arms = (reader.dense(SPACE, vector("any"), 100), reader.lexical(["apple", "pear"], 100))
    dense, lexical = ([hit.entry for hit in arm] for arm in arms)
    assert sorted(dense) == sorted(lexical)
    return [(hit.id.path, hit.text, hit.parent) for hit in reader.occurrences(dense, 100)]


def _problems(store: Store) -> Sequence[str]:
    return [problem.message for problem in store.snapshot().problems(full=True)]


class ParentRules:
    """What the port says of `Placement.parent` and of entries without a context."""

    def test_parents_come_back_and_only_parts_are_found(self, make_store: MakeStore) -> None:
        """A hit shows the section around it: keep the parent of each placement, and never answer with what is not to be
        embedded.
        """
        store = make_store()
        write(store, {doc("a.md"): FAMILY, doc("b.md"): pieces("green pear")})
        store.close()
        store = make_store()
        reader = store.snapshot()
        assert _tree(reader, "a.md") == [(-1, False), (0, True), (0, True)]
        assert _tree(reader, "b.md") == [(-1, True)]
        assert _found(reader) == [("a.md", "red apple", 0), ("a.md", "green pear", 0), ("b.md", "green pear", -1)]
        assert reader.texts([WHOLE.text_hash]) == {WHOLE.text_hash: WHOLE.text}
        assert reader.entries([WHOLE.entry_hash]) == {WHOLE.entry_hash: entry_row(WHOLE)}
        assert not entry_row(WHOLE).embed
        assert _problems(store) == []

    def test_a_parent_in_one_document_is_found_where_another_has_it_as_a_chunk(self, make_store: MakeStore) -> None:
        """The same words are context here and content there, so they are two entries of one text."""
        store = make_store()
        write(store, {doc("a.md"): FAMILY, doc("b.md"): [replace(WHOLE, embed=True)]})
        reader = store.snapshot()
        assert [hit for hit in _found(reader) if hit[1] == WHOLE.text] == [("b.md", WHOLE.text, -1)]
        write(store, {doc("b.md"): None})
        reader = store.snapshot()
        assert [hit for hit in _found(reader) if hit[1] == WHOLE.text] == []
        assert _tree(reader, "a.md") == [(-1, False), (0, True), (0, True)]
        assert _problems(store) == []

    def test_parents_may_have_parents_and_change_from_version_to_version(self, make_store: MakeStore) -> None:
        """Parents belong to a version of the document, not to the occurrence."""
        store = make_store()
        deep = [WHOLE, Piece("red apple", parent=0, embed=False), Piece("apple", parent=1), Piece("pear")]
        write(store, {doc("a.md"): deep})
        again = [held(store.snapshot(), doc("a.md"), text=part.text) for part in deep]
        write(store, {doc("a.md"): [replace(part, parent=-1) for part in again]})
        assert _tree(store.snapshot(1), "a.md") == [(-1, False), (0, False), (1, True), (-1, True)]
        assert _tree(store.snapshot(), "a.md") == [(-1, False), (-1, False), (-1, True), (-1, True)]
        kept = [chunk.occurrence for chunk in store.snapshot().chunks(doc("a.md"))]
        assert kept == [part.occurrence for part in again]
        assert _problems(store) == []

    def test_an_occurrence_that_turns_into_context_is_found_no_more(self, make_store: MakeStore) -> None:
        """It keeps its id and leaves every arm; when it turns back, it is found again."""
        store = make_store()
        write(store, {doc("a.md"): pieces("red apple", "green pear")})
        apple = held(store.snapshot(), doc("a.md"), text="red apple")
        write(store, {doc("a.md"): [replace(apple, embed=False), Piece("green pear", parent=0)]})
        assert _found(store.snapshot()) == [("a.md", "green pear", 0)]
        write(store, {doc("a.md"): [apple, Piece("green pear")]})
        assert _found(store.snapshot()) == [("a.md", "red apple", -1), ("a.md", "green pear", -1)]
        assert _problems(store) == []

    def test_a_vector_for_what_is_not_embedded_is_refused(self, make_store: MakeStore) -> None:
        """An entry without a context is never searched, so a vector for it was paid for by mistake. Raise
        `AdapterError`.
        """
        store = make_store()
        head = write(store, {doc("a.md"): FAMILY})
        row = replace(vector_row(replace(WHOLE, embed=True)), entry_hash=WHOLE.entry_hash)
        transaction = store.begin(head)
        with pytest.raises(AdapterError, match="not to be embedded"):
            transaction.put_vectors(SPACE, [row])
        assert store.head() == head
        assert store.snapshot().held(SPACE, [row.vector_key]) == frozenset()

    def test_a_parent_that_does_not_stand_before_its_part_is_refused(self, make_store: MakeStore) -> None:
        """`Placement.parent` is a position before its own, or -1. So there is no cycle, and one pass keeps them."""
        store = make_store()
        for parent in (1, 2, 9, -2):
            wrong = version(doc("a.md"), [Piece("one"), Piece("two", parent=parent)])
            transaction = store.begin(store.head())
            with pytest.raises(AdapterError, match=rf"docs:a\.md: chunk 1 has the parent {parent}"):
                transaction.put_document(wrong)
        assert store.head().generation == 0

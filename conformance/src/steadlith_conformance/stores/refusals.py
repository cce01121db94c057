"""What a write must refuse: rows without what they stand on, impossible claims, counts that do not fit, bad vectors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    entry_row,
    follow,
    held,
    pieces,
    space,
    stage_rows,
    text_row,
    vector,
    vector_row,
    version,
    versions,
    write,
)
from steadlith_core import vectors
from steadlith_core.errors import AdapterError
from steadlith_core.records import Space

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadlith_conformance.samples import Changes
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Store, Transaction


def _refused(
    store: Store, put: Callable[[Transaction], object], changes: Changes | None = None, /, **wrong: object
) -> None:
    """The write is refused by an `AdapterError` at its put or at its commit, and leaves everything as it was.

    Its nodes and its generation are those that `changes` lead to, but for what is `wrong` in the generation.
    """
    reader = store.snapshot()
    transaction = store.begin(reader.head)
    with pytest.raises(AdapterError):
        put(transaction)
        given = follow(transaction, reader, versions(changes or {}))
        transaction.commit(replace(given, **wrong))  # type: ignore[arg-type]
    transaction.abort()
    assert store.head() == reader.head
    assert list(store.snapshot().documents()) == list(reader.documents())


def _respanning(path: str, parts: Sequence[Piece]) -> Callable[[Transaction], object]:
    """Gives the document spans of these parts."""
    other = version(doc(path), parts)
    spans = [placement.span for placement in other.placements]
    return lambda to: to.respan(doc(path), other.source_digest, spans)


class RefusalRules:
    """Rules 15, 29, 30 and 42 of the storage specification, and the preconditions of the port."""

    def test_counts_that_do_not_fit_are_refused(self, make_store: MakeStore) -> None:
        """The last line of defence against lost and doubled rows: count documents and chunks in the write, and compare
        them at commit.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        changes = {doc("b.md"): pieces("three")}
        for documents, chunks in ((1, 3), (2, 2), (3, 3), (2, 4)):
            _refused(store, lambda to: stage_rows(to, changes), changes, documents=documents, chunks=chunks)

    def test_a_generation_that_does_not_follow_the_head_is_refused(self, make_store: MakeStore) -> None:
        """Number, parent and lineage follow from the head that the write began on. Compare them at commit."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        for column, wrong in (("number", 3), ("parent", 0), ("lineage", "another")):
            _refused(store, lambda to: to.put_texts([]), {}, **{column: wrong})

    def test_an_entry_without_its_text_is_refused(self, make_store: MakeStore) -> None:
        """Texts come first, so an entry that names an unknown one was put by mistake."""
        _refused(make_store(), lambda to: to.put_entries([entry_row(Piece("never put"))]))

    def test_a_vector_without_its_entry_is_refused(self, make_store: MakeStore) -> None:
        """A vector that belongs to nothing is found by a search and shows nothing."""
        _refused(make_store(), lambda to: to.put_vectors(SPACE, [vector_row(Piece("never put"))]))

    def test_a_placement_without_its_entry_is_refused(self, make_store: MakeStore) -> None:
        """A document that points at nothing cannot be shown. Refuse it at `put_document` or at commit."""
        store = make_store()
        wanted = version(doc("a.md"), pieces("never put"))
        _refused(store, lambda to: to.put_document(wanted), {wanted.id: pieces("never put")})

    def test_a_document_is_named_at_most_once_in_a_write(self, make_store: MakeStore) -> None:
        """Put, closed or moved: what a document is after the write must not depend on which call came last."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        same = version(doc("a.md"), pieces("one"))
        spans = [placement.span for placement in same.placements]
        put: Callable[[Transaction], object] = lambda to: to.put_document(same)  # noqa: E731
        close: Callable[[Transaction], object] = lambda to: to.close_document(doc("a.md"))  # noqa: E731
        respan: Callable[[Transaction], object] = lambda to: to.respan(doc("a.md"), same.source_digest, spans)  # noqa: E731
        for first, second in ((put, put), (put, close), (close, close), (put, respan)):
            _refused(store, lambda to, first=first, second=second: (first(to), second(to)))  # type: ignore[misc]

    def test_closing_a_document_that_is_not_there_is_refused(self, make_store: MakeStore) -> None:
        """A plan that closes what is closed was made for another head. Raise `AdapterError` instead of counting no
        rows.
        """
        store = make_store()
        _refused(store, lambda to: to.close_document(doc("a.md")))
        write(store, {doc("a.md"): pieces("one")})
        write(store, {doc("a.md"): None})
        _refused(store, lambda to: to.close_document(doc("a.md")))

    def test_a_respan_of_another_number_of_chunks_is_refused(self, make_store: MakeStore) -> None:
        """Spans are matched by position: one more or less would move all that follow."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        for parts in (pieces("one"), pieces("one", "two", "three")):
            _refused(store, _respanning("a.md", parts))
            _refused(store, _respanning("gone.md", parts))

    def test_an_occurrence_that_never_was_is_refused(self, make_store: MakeStore) -> None:
        """Ids are given out by the store. One that it never gave is a caller's invention."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        changes = {doc("a.md"): [Piece("one", 999)]}
        _refused(store, lambda to: stage_rows(to, changes), changes)

    def test_an_occurrence_that_another_document_keeps_is_refused(self, make_store: MakeStore) -> None:
        """An id moves only from a document that is replaced or closed in the same write."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        changes = {doc("b.md"): [held(store.snapshot(), doc("a.md"), text="one")]}
        _refused(store, lambda to: stage_rows(to, changes), changes)

    def test_an_occurrence_placed_twice_is_refused(self, make_store: MakeStore) -> None:
        """An id is one place at a time. Look over the whole write, not document by document."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        kept = held(store.snapshot(), doc("a.md"), text="one")
        for changes in ({doc("a.md"): [kept, kept]}, {doc("a.md"): [kept], doc("b.md"): [kept]}):
            _refused(store, lambda to, changes=changes: stage_rows(to, changes), changes)  # type: ignore[misc]

    def test_vectors_that_would_poison_a_space_are_refused(self, make_store: MakeStore) -> None:
        """One NaN makes every comparison with it NaN, and sorts anywhere. Judge each vector with
        `steadlith_core.vectors.problems` before it is kept; wrong lengths too.
        """
        store = make_store()
        part = Piece("one")
        bad = (
            vectors.pack([float("nan")] + [0.0] * 7),
            vectors.pack([float("inf")] + [0.0] * 7),
            vectors.pack([0.0] * 8),
            vectors.pack([1.0] * 8),  # not of unit length
            vector("one", 4),
            vector("one")[:-1],
            b"",
        )

        def put(to: Transaction, given: bytes) -> None:
            to.put_texts([text_row(part)])
            to.put_entries([entry_row(part)])
            to.put_vectors(SPACE, [replace(vector_row(part), vector=given)])

        for given in bad:
            _refused(store, lambda to, given=given: put(to, given))  # type: ignore[misc]

    def test_a_quantization_that_is_not_offered_is_refused(self, make_store: MakeStore) -> None:
        """A form that nobody knows would be kept in a way that nobody can search. Raise `AdapterError` with it."""
        store = make_store()
        odd = Space("m", space().params_hash, 8, "no-such-quantization")
        part = Piece("one")

        def put(to: Transaction) -> None:
            to.put_texts([text_row(part)])
            to.put_entries([entry_row(part)])
            to.put_vectors(odd, [vector_row(part)])

        _refused(store, put)

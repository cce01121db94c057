"""Quantized spaces answer with the vectors that were put, and find them by fewer bits.

1. Whatever the form, vectors, keys and cosines are those of the float32 space.
2. A store that is not "rescored" is exact in every form. One that is finds at least what the rule of
   `retrieval.quantization` finds: the best of all whose code is as near as that of the last candidate.
3. What may be found depends on vectors alone: not on the order in which they were put, and not on what is dead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import (
    Piece,
    doc,
    entry_row,
    generation,
    pieces,
    space,
    text_row,
    texts_of,
    vector,
    vector_row,
    write,
    write_vectors,
)
from steadlith_conformance.stores.topics import DIMENSIONS, LIMIT, best, queries, sample
from steadlith_core import vectors
from steadlith_core.errors import AdapterError
from steadlith_core.retrieval.quantization import BINARY, CODECS, FLOAT32, INT8, OVERSAMPLE, QUANTIZATIONS
from steadlith_core.state.moving import build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Store
    from steadlith_core.records import Space
    from steadlith_core.vectors import Vector

FLOORS: Mapping[str, float] = {INT8: 1.0, BINARY: 0.95}
"""What the rule finds of the true ten in the sample, over all its queries. Of other vectors it may be less."""


def _in(form: str, dimensions: int = DIMENSIONS) -> Space:
    return space(dimensions, quantization=form)


def _offered(store: Store) -> list[str]:
    return [form for form in CODECS if form in store.capabilities.quantization]


def _distances(form: str, given: Sequence[Vector], query: Vector) -> NDArray[np.int64]:
    """How far each code is from the query's: bits that differ, or the square of the distance between levels."""
    import numpy as np

    rows = CODECS[form].encode(vectors.matrix([query, *given], DIMENSIONS))
    if form == BINARY:
        found: NDArray[np.int64] = np.unpackbits(rows[1:] ^ rows[0], axis=1).sum(axis=1, dtype=np.int64)
        return found
    apart = rows[1:].astype(np.int64) - rows[0].astype(np.int64)
    squares: NDArray[np.int64] = (apart * apart).sum(axis=1)
    return squares


def _ruled(form: str, given: Mapping[str, Vector], query: Vector) -> list[str]:
    """The texts that the rule finds, best first."""
    import numpy as np

    near = _distances(form, list(given.values()), query)
    edge = np.sort(near)[min(LIMIT * OVERSAMPLE[form], len(near)) - 1]
    candidates = [text for text, distance in zip(given, near.tolist(), strict=True) if distance <= edge]
    return best({text: given[text] for text in candidates}, query)


class QuantizedRules:
    """Rules 42 to 46 of the storage specification, for spaces that are not float32."""

    def test_what_is_offered_can_be_kept_and_nothing_else(self, make_store: MakeStore) -> None:
        """`quantization` names the forms that `put_vectors` takes. Refuse every other with `AdapterError`, before
        anything is kept.
        """
        assert make_store().capabilities.quantization <= frozenset(QUANTIZATIONS)
        for form in QUANTIZATIONS:
            store = make_store(form)
            if form in store.capabilities.quantization:
                write_vectors(store, {"one": vector("one")}, _in(form, 8))
                assert len(store.snapshot().dense(_in(form, 8), vector("q"), 5)) == 1
                continue
            with pytest.raises(AdapterError, match=form):
                write_vectors(store, {"one": vector("one")}, _in(form, 8))
            assert store.head().generation == 0

    def test_dimensions_that_a_form_cannot_have_are_refused(self, make_store: MakeStore) -> None:
        """Bits fill bytes, so a binary space has a multiple of eight dimensions. Ask `retrieval.quantization` what a
        form can have.
        """
        for form in _offered(make_store()):
            store = make_store(form)
            for dimensions in (7, 12):
                where = _in(form, dimensions)
                if form == BINARY:
                    with pytest.raises(AdapterError, match=f"multiple of 8, got {dimensions}"):
                        write_vectors(store, {"one": vector("one", dimensions)}, where)
                    assert store.head().generation == 0
                    assert store.snapshot().dense(where, vector("one", dimensions), 1) == ()
                else:
                    write_vectors(store, {"one": vector("one", dimensions)}, where, path=f"{dimensions}.md")
                    assert len(store.snapshot().dense(where, vector("one", dimensions), 1)) == 1

    def test_vectors_keys_and_cosines_are_those_that_were_put(self, make_store: MakeStore) -> None:
        """A form decides what is read first. What is given out is the full vector, bit for bit: it was paid for."""
        given = {f"text {number}": vector(f"v{number}") for number in range(40)}
        for form in _offered(make_store()):
            store, plain, where = make_store(form), _in(FLOAT32, 8), _in(form, 8)
            write_vectors(store, given, plain, where)
            reader = store.snapshot()
            keys = [vector_row(Piece(text), where).vector_key for text in given]
            assert reader.vectors(where, keys) == dict(zip(keys, given.values(), strict=True))
            assert reader.held(where, keys) == frozenset(keys)
            entries = [hit.entry for hit in reader.dense(plain, vector("q"), 40)]
            assert reader.cosines(where, vector("q"), entries) == reader.cosines(plain, vector("q"), entries)
            assert list(reader.problems(full=True)) == []

    def test_where_all_are_candidates_the_answer_is_the_exact_one(self, make_store: MakeStore) -> None:
        """Where oversampling reaches everything, codes decide nothing."""
        given = {f"text {number}": vector(f"v{number % 70}", DIMENSIONS) for number in range(100)}
        for form in _offered(make_store()):
            store = make_store(form)
            write_vectors(store, given, _in(FLOAT32), _in(form))
            reader = store.snapshot()
            for limit in (25, 99, 100, 500):
                for label in ("q", "v3"):
                    query = vector(label, DIMENSIONS)
                    assert reader.dense(_in(form), query, limit) == reader.dense(_in(FLOAT32), query, limit)

    def test_candidates_are_found_by_their_codes_and_ordered_by_their_vectors(self, make_store: MakeStore) -> None:
        """Take `OVERSAMPLE` times as many candidates by their codes, all that tie with the last one included, and order
        them by their full vectors.
        """
        given = sample()
        for form in _offered(make_store()):
            store, by_rule = make_store(form), 0
            write_vectors(store, given, _in(form))
            reader = store.snapshot()
            exact = "rescored" not in store.capabilities.dense
            for query in queries():
                hits = reader.dense(_in(form), query, LIMIT)
                found, true = texts_of(reader, hits), best(given, query)
                ruled = true if exact else _ruled(form, given, query)
                assert len(set(found) & set(true)) >= len(set(ruled) & set(true))
                assert found == best({text: given[text] for text in found}, query)
                scores = vectors.cosines([given[text] for text in found], query)
                assert [hit.score for hit in hits] == pytest.approx(scores, abs=1e-12)
                by_rule += len(set(ruled) & set(true))
            assert by_rule >= FLOORS[form] * LIMIT * len(queries())

    def test_what_is_found_does_not_depend_on_the_order_of_writing(self, make_store: MakeStore) -> None:
        """Many vectors share a code. All that tie with the last candidate are candidates."""
        given = {f"text {number}": _flat(number) for number in range(1100)}
        for form in _offered(make_store()):
            found = []
            for name, order in (("forward", given), ("backward", dict(reversed(given.items())))):
                store = make_store(f"{form}-{name}")
                write_vectors(store, order, _in(form))
                reader = store.snapshot()
                hits = reader.dense(_in(form), _flat(7), 5)
                found.append([(text, hit.score) for text, hit in zip(texts_of(reader, hits), hits, strict=True)])
            assert found[0] == found[1]
            assert found[0][0][0] == "text 7"

    def test_the_dead_never_hide_the_living(self, make_store: MakeStore) -> None:
        """Codes of dead entries must not take the places of candidates."""
        given = {f"near {number}": vector("q", DIMENSIONS) for number in range(1200)}
        for form in _offered(make_store()):
            store = make_store(form)
            write_vectors(store, given, _in(form), path="dead.md")
            write_vectors(store, {"far": vector("other", DIMENSIONS)}, _in(form), path="live.md")
            write(store, {doc("dead.md"): None}, spaces=[_in(form)])
            reader = store.snapshot()
            assert texts_of(reader, reader.dense(_in(form), vector("q", DIMENSIONS), 3)) == ["far"]
            assert list(reader.problems(full=True)) == []

    def test_spaces_of_one_model_stand_side_by_side(self, make_store: MakeStore) -> None:
        """While an index moves to another form both are kept, and each is live by itself."""
        for form in _offered(make_store()):
            store, spaces = make_store(form), (_in(FLOAT32, 8), _in(form, 8))
            write(store, {doc("a.md"): pieces("one", "two")}, spaces=spaces)
            write(store, {doc("b.md"): pieces("three")}, spaces=spaces[1:])
            write(store, {doc("a.md"): pieces("two")}, spaces=spaces[1:])
            reader = store.snapshot()
            for where, wanted in ((spaces[0], ["two"]), (spaces[1], ["three", "two"])):
                hits = reader.dense(where, vector("q"), 5)
                assert sorted(texts_of(reader, hits)) == wanted
            write(store, {doc("a.md"): pieces("one", "two")}, spaces=())
            reader = store.snapshot()
            for where, wanted in ((spaces[0], ["one", "two"]), (spaces[1], ["one", "three", "two"])):
                assert sorted(texts_of(reader, reader.dense(where, vector("q"), 5))) == wanted

    def test_a_vector_that_is_put_again_is_found_where_it_is_now(self, make_store: MakeStore) -> None:
        """Code and vector are replaced together, or the code finds what is no longer there."""
        given = {f"text {number}": vector(f"v{number}", DIMENSIONS) for number in range(1100)}
        moved = vector("elsewhere", DIMENSIONS)
        for form in _offered(make_store()):
            for mend in (False, True):
                store, where = make_store(f"{form}-{mend}"), _in(form)
                write_vectors(store, given, where)
                row = replace(vector_row(Piece("text 5"), where), vector=moved)
                reader = store.snapshot()
                transaction = store.begin(reader.head, mend=mend)
                transaction.put_texts([text_row(Piece("text 5"))])
                transaction.put_entries([entry_row(Piece("text 5"))])
                transaction.put_vectors(where, [row])
                trie = build(reader.rows(""))
                transaction.put_nodes(trie.put, ())
                transaction.commit(generation(reader.head, trie.after, len(given), spaces=[where]))
                reader = store.snapshot()
                (hit,) = reader.dense(where, moved, 1)
                assert texts_of(reader, [hit]) == ["text 5"]
                assert hit.score == pytest.approx(1, abs=1e-6)
                assert reader.vectors(where, [row.vector_key]) == {row.vector_key: moved}
                assert list(reader.problems(full=True)) == []


def _flat(number: int) -> Vector:
    """One of many vectors whose components are nearly the same: no two are equal, and their codes are few."""
    return vectors.unit((1 + vectors.unpack(vector(f"v{number}", DIMENSIONS)) / 4).tobytes())

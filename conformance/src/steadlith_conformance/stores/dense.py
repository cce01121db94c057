"""The dense arm is exact, ordered by (cosine, entry), and refuses what has no answer."""

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
    pieces,
    space,
    text_row,
    texts_of,
    vector,
    vector_row,
    write,
    write_vectors,
)
from steadlith_core import vectors
from steadlith_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Reader
    from steadlith_core.vectors import Vector


def _oracle(reader: Reader, given: Mapping[str, Vector], query: Vector, limit: int) -> list[tuple[int, float]]:
    import numpy as np

    number = {hit.text: hit.entry for hit in reader.occurrences(range(1, 3 * len(given)), 100)}
    right = np.frombuffer(query, dtype="<f4").astype(np.float64)
    scores = {
        number[text]: float(np.frombuffer(each, dtype="<f4").astype(np.float64) @ right) for text, each in given.items()
    }
    # Rounded, so that equal vectors tie whatever order the products were summed in.
    return sorted(scores.items(), key=lambda item: (-round(item[1], 9), item[0]))[:limit]


class DenseRules:
    """Rules 38, 39, 42, 45 and 46 of the storage specification."""

    @pytest.mark.parametrize("dimensions", [1, 8, 384, 1500])
    def test_the_best_are_those_of_a_full_comparison(self, make_store: MakeStore, dimensions: int) -> None:
        """Scores are cosines of unit vectors in at least float32, and every live entry is compared. Short answers mean
        that there are no more.
        """
        store, where = make_store(), space(dimensions)
        given = {f"text {number}": vector(f"v{number}", dimensions) for number in range(120)}
        write_vectors(store, given, where)
        reader = store.snapshot()
        for label in ("q1", "q2", "v7"):
            query = vector(label, dimensions)
            for limit in (1, 10, 119, 120, 500):
                hits = reader.dense(where, query, limit, exact=True)
                wanted = _oracle(reader, given, query, limit)
                assert [hit.entry for hit in hits] == [entry for entry, _ in wanted]
                assert [hit.score for hit in hits] == pytest.approx([score for _, score in wanted], abs=1e-5)

    def test_ties_are_ordered_by_entry_and_cut_there(self, make_store: MakeStore) -> None:
        """Copies of one text tie, and a page of hits must not change from call to call. Order by score, then by the
        entry's number, before the cut.
        """
        store = make_store()
        given = {f"text {number}": vector("near" if number % 3 else "far") for number in range(300)}
        write_vectors(store, given, SPACE)
        reader = store.snapshot()
        everything = reader.dense(SPACE, vector("near"), 300, exact=True)
        assert len(everything) == 300
        assert list(everything) == sorted(everything, key=lambda hit: (-hit.score, hit.entry))
        assert len({hit.score for hit in everything}) == 2
        for limit in (1, 7, 199, 200, 201, 299):
            assert reader.dense(SPACE, vector("near"), limit, exact=True) == everything[:limit]

    def test_limits_out_of_range_are_refused(self, make_store: MakeStore) -> None:
        """Raise `UsageError` with the number, for none, for less, and for more than `max_limit`; at
        `max_limit` answer.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        reader, most = store.snapshot(), store.capabilities.max_limit
        assert len(reader.dense(SPACE, vector("q"), most)) == 2
        for limit in (0, -1, most + 1):
            with pytest.raises(UsageError, match=str(limit)):
                reader.dense(SPACE, vector("q"), limit)

    def test_queries_without_a_direction_are_refused(self, make_store: MakeStore) -> None:
        """A query of zeros or NaN has no neighbours, and one that is not of length 1 has other scores. Raise
        `UsageError`, also where only cosines are asked for.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        reader = store.snapshot()
        bad = (vector("q", 4), b"", vectors.pack([0.0] * 8), vectors.pack([float("nan")] * 8), vectors.pack([2.0] * 8))
        for query in bad:
            with pytest.raises(UsageError):
                reader.dense(SPACE, query, 1)
            with pytest.raises(UsageError):
                reader.cosines(SPACE, query, [1])

    def test_spaces_do_not_mix(self, make_store: MakeStore) -> None:
        """One entry has a vector in each space. Name the space by model, parameters, dimensions and form in every look-
        up; of an unknown one the answer is nothing.
        """
        store, other = make_store(), space(8, "another-model")
        write(store, {doc("a.md"): pieces("one", "two")}, spaces=(SPACE, other))
        transaction = store.begin(store.head())
        moved = replace(vector_row(Piece("one"), other), vector=vector("elsewhere"))
        transaction.put_vectors(other, [moved])
        transaction.commit(follow(transaction, store.snapshot(), {}, (SPACE, other)))
        reader = store.snapshot()
        assert texts_of(reader, reader.dense(SPACE, vector("one"), 1)) == ["one"]
        assert reader.dense(SPACE, vector("one"), 1)[0].score == pytest.approx(1, abs=1e-6)
        assert reader.dense(other, vector("elsewhere"), 1)[0].score == pytest.approx(1, abs=1e-6)
        assert reader.dense(SPACE, vector("elsewhere"), 1)[0].score < 0.999
        assert reader.held(other, [vector_row(Piece("one"), SPACE).vector_key]) == frozenset()
        assert reader.dense(space(8, "never-used"), vector("one"), 5) == ()
        assert reader.vectors(space(8, "never-used"), [moved.vector_key]) == {}
        assert reader.cosines(space(8, "never-used"), vector("one"), [1]) == {}

    def test_results_do_not_depend_on_insertion_order(self, make_store: MakeStore) -> None:
        """Two machines that index in another order must answer alike. Nothing but the vectors decides, and of equal
        ones the texts that were first.
        """
        given = {f"text {number}": vector(f"v{number}") for number in range(60)}
        write_vectors(make_store("forward"), given, SPACE)
        write_vectors(make_store("backward"), dict(reversed(given.items())), SPACE)
        found = []
        for name in ("forward", "backward"):
            reader = make_store(name).snapshot()
            hits = reader.dense(SPACE, vector("q"), 20, exact=True)
            found.append((texts_of(reader, hits), [hit.score for hit in hits]))
        assert found[0] == found[1]

    def test_cosines_are_those_of_the_arm(self, make_store: MakeStore) -> None:
        """Fusion asks for the scores of entries that the other arm found. Compute them in the same way, to the last
        bit.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces(*(f"text {number}" for number in range(30)))})
        reader = store.snapshot()
        hits = reader.dense(SPACE, vector("q"), 30)
        asked = [hit.entry for hit in reversed(hits)]
        assert reader.cosines(SPACE, vector("q"), [*asked, 10**9]) == {hit.entry: hit.score for hit in hits}
        assert reader.cosines(SPACE, vector("q"), []) == {}

    def test_a_dead_entry_is_never_a_hit_however_near(self, make_store: MakeStore) -> None:
        """The nearest forty are dead and the answer is the forty-first. Look at live entries alone, before anything is
        cut off.
        """
        store = make_store()
        near = {f"near {number}": vector("q") for number in range(40)}
        write_vectors(store, near | {"far": vector("other")}, SPACE)
        write(store, {doc("a.md"): pieces("far")})
        reader = store.snapshot()
        assert texts_of(reader, reader.dense(SPACE, vector("q"), 3)) == ["far"]

    def test_entries_put_without_an_occurrence_are_not_found(self, make_store: MakeStore) -> None:
        """A vector may be kept ahead of its document. It is found once an occurrence uses it, and not before."""
        store = make_store()
        transaction = store.begin(write(store, {doc("a.md"): pieces("one")}))
        transaction.put_texts([text_row(Piece("ready"))])
        transaction.put_entries([entry_row(Piece("ready"))])
        transaction.put_vectors(SPACE, [vector_row(Piece("ready"))])
        transaction.commit(follow(transaction, store.snapshot(), {}))
        reader = store.snapshot()
        assert len(reader.dense(SPACE, vector("ready"), 5)) == 1
        assert reader.lexical(["ready"], 5) == ()
        write(store, {doc("b.md"): pieces("ready")})
        assert len(store.snapshot().dense(SPACE, vector("ready"), 5)) == 2

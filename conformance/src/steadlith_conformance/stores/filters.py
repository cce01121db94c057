"""A filter is applied before an arm cuts anything off, and it passes occurrences, not entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    pieces,
    space,
    texts_of,
    vector,
    write,
)
from steadlith_core.errors import GenerationGone, UsageError

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Reader, Store

MANY = 1200
"""More live entries than any arm answers with, so that a filter applied afterwards finds next to nothing."""


def _filled(store: Store) -> Reader:
    """A thousand texts that say the same words, and twelve among them that stand in a folder of their own."""
    crowd = {
        doc(f"crowd/{lot}.md"): pieces(*(f"shared word number {lot * 100 + each}" for each in range(100)))
        for lot in range(MANY // 100)
    }
    few = {doc(f"few/{each}.md"): pieces(f"shared word of the few {each}") for each in range(12)}
    write(store, crowd | few)
    return store.snapshot()


class FilterRules:
    """Rules 40 and 41 of the storage specification."""

    def test_a_filter_is_applied_before_the_best_are_taken(self, make_store: MakeStore) -> None:
        """Filtering afterwards finds next to nothing where few pass. Restrict the candidates first, and cut off
        afterwards.
        """
        reader = _filled(make_store())
        few = [doc(f"few/{each}.md") for each in range(12)]
        among = reader.within(few)
        assert len(among) == 12
        for limit in (1, 5, 12, 50):
            dense = reader.dense(SPACE, vector("q"), limit, among)
            lexical = reader.lexical(["shared"], limit, among)
            assert len(dense) == len(lexical) == min(limit, 12), (
                f"{limit} hits were asked for among 12 entries that all pass, and the arms answered {len(dense)} and "
                f"{len(lexical)}: restrict the candidates first, and cut off afterwards"
            )
            assert {hit.entry for hit in (*dense, *lexical)} <= set(among)

    def test_a_filtered_arm_answers_the_best_that_pass(self, make_store: MakeStore) -> None:
        """`exact=True` compares all that pass. Without it too, unless the store says `prefilter = "iterative"`."""
        store = make_store()
        reader = _filled(store)
        every = [doc(f"crowd/{lot}.md") for lot in range(0, MANY // 100, 2)]
        for ids in (every[:1], every[:3], every):
            among = reader.within(ids)
            scores = reader.cosines(SPACE, vector("q"), among)
            wanted = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:20]
            hits = reader.dense(SPACE, vector("q"), 20, among, exact=True)
            assert [(hit.entry, hit.score) for hit in hits] == wanted
            if store.capabilities.prefilter == "exact":
                assert reader.dense(SPACE, vector("q"), 20, among) == hits

    def test_the_order_and_repeats_of_a_filter_do_not_matter(self, make_store: MakeStore) -> None:
        """A filter is a set, whatever it comes as."""
        reader = _filled(make_store())
        among = reader.within([doc("crowd/1.md"), doc("few/3.md")])
        shuffled = [*reversed(among), *among[:7]]
        assert reader.dense(SPACE, vector("q"), 30, shuffled) == reader.dense(SPACE, vector("q"), 30, among)
        assert reader.lexical(["shared"], 30, shuffled) == reader.lexical(["shared"], 30, among)

    def test_a_filter_does_not_change_a_score(self, make_store: MakeStore) -> None:
        """Scores are those of the whole index, so that filtered answers can be compared with others. Compute statistics
        over all live entries.
        """
        reader = _filled(make_store())
        among = reader.within([doc("crowd/1.md")])
        whole = {hit.entry: hit.score for hit in reader.lexical(["number", "100"], 1000)}
        for hit in reader.lexical(["number", "100"], 1000, among):
            assert whole.get(hit.entry, hit.score) == hit.score

    def test_nothing_passes_an_empty_filter(self, make_store: MakeStore) -> None:
        """An empty list is a filter that nothing passes. Only none is no filter: test with `is None`."""
        reader = _filled(make_store())
        assert reader.dense(SPACE, vector("q"), 5, []) == ()
        assert reader.lexical(["shared"], 5, []) == ()
        assert reader.within([]) == ()
        assert reader.within([doc("nowhere.md")]) == ()

    def test_a_filter_takes_any_path(self, make_store: MakeStore) -> None:
        """Paths are what people name files. Pass them as parameters, compare them by bytes, and split lists that are
        too long for a statement.
        """
        store = make_store()
        odd = [
            doc(path)
            for path in ("it's.md", 'a "b".md', "100%_[x].md", "a\\b.md", "\u5206\u5757.md", "x;DROP TABLE.md")
        ]
        write(store, {each: pieces(f"shared {number}") for number, each in enumerate(odd)})
        reader = store.snapshot()
        for number, each in enumerate(odd):
            among = reader.within([each])
            assert texts_of(reader, reader.dense(SPACE, vector("q"), 9, among)) == [f"shared {number}"]
            assert [hit.id for hit in reader.occurrences(among, 9, [each])] == [each]
        assert reader.within([doc("a\0b.md"), doc("it''s.md"), doc("%")]) == ()
        assert len(reader.within([*odd, *(doc(f"absent {number}.md") for number in range(3000))])) == len(odd)

    def test_what_is_dead_or_unknown_passes_no_filter(self, make_store: MakeStore) -> None:
        """A filter narrows what is live. It makes nothing searchable that is not."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two"), doc("b.md"): pieces("three")})
        gone = store.snapshot().within([doc("a.md")])
        write(store, {doc("a.md"): None})
        reader = store.snapshot()
        assert reader.dense(SPACE, vector("one"), 5, [*gone, 10**9, 0]) == ()
        assert reader.lexical(["one", "two"], 5, [*gone, 10**9, 0]) == ()
        left = reader.within([doc("a.md"), doc("b.md")])
        assert texts_of(reader, reader.dense(SPACE, vector("one"), 5, [*gone, *left])) == ["three"]

    def test_what_is_within_documents_is_what_they_have_to_find(self, make_store: MakeStore) -> None:
        """Numbers of embedded entries that visible occurrences use, each once, ascending, at the reader's own
        generation.
        """
        store = make_store()
        context = Piece("context only", embed=False)
        write(store, {doc("a.md"): [context, *pieces("one", "shared", "one")], doc("b.md"): pieces("shared", "two")})
        reader = store.snapshot()
        left, right = reader.within([doc("a.md")]), reader.within([doc("b.md")])
        assert list(left) == sorted(set(left))
        assert {hit.text for hit in reader.occurrences(left, 9)} == {"one", "shared"}
        assert {hit.text for hit in reader.occurrences(right, 9)} == {"shared", "two"}
        assert set(reader.within([doc("a.md"), doc("b.md"), doc("a.md")])) == {*left, *right}
        write(store, {doc("a.md"): pieces("three")})
        old, new = store.snapshot(1), store.snapshot()
        assert old.within([doc("a.md")]) == left
        assert {hit.text for hit in new.occurrences(new.within([doc("a.md")]), 9)} == {"three"}

    def test_occurrences_outside_the_documents_are_not_answered(self, make_store: MakeStore) -> None:
        """An entry that passes stands in other documents as well, which a user may not see. Filter occurrences, not
        entries alone.
        """
        store = make_store()
        ids = [doc(f"{number}.md") for number in range(8)]
        write(store, {each: pieces("boilerplate", f"of {each.path}", "boilerplate") for each in ids})
        reader = store.snapshot()
        (best, *_) = reader.lexical(["boilerplate"], 1)
        for some in (ids[6:], ids[3:4], [], [doc("nowhere.md")]):
            hits = reader.occurrences([best.entry], 100, some)
            assert [(hit.id, hit.position) for hit in hits] == [
                (each, position) for each in some if each in ids for position in (0, 2)
            ]
        assert [hit.id for hit in reader.occurrences([best.entry], 1, ids[5:])] == [ids[5]]
        assert len(reader.occurrences([best.entry], 3, ids)) == 3

    def test_a_filter_lifts_no_other_rule(self, make_store: MakeStore) -> None:
        """Limits, generations and spaces are judged before the filter is looked at."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        write(store, {doc("b.md"): pieces("two")})
        reader, most = store.snapshot(), store.capabilities.max_limit
        for limit in (0, most + 1):
            with pytest.raises(UsageError):
                reader.dense(SPACE, vector("q"), limit, [1])
            with pytest.raises(UsageError):
                reader.lexical(["one"], limit, [1])
        if store.capabilities.time_travel == "manifest":
            with pytest.raises(GenerationGone):
                store.snapshot(1).dense(SPACE, vector("q"), 1, [1])
        assert reader.dense(space(8, "never-used"), vector("q"), 5, [1, 2]) == ()
        assert reader.lexical([], 5, [1, 2]) == ()

"""Documents and chunks at any kept generation; the arms there too, or at the head only."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    follow,
    held,
    pieces,
    source_digest,
    space,
    spans,
    texts_of,
    vector,
    versions,
    write,
    write_vectors,
)
from steadlith_conformance.stores.topics import DIMENSIONS, LIMIT, best, queries, sample
from steadlith_conformance.suite import inapplicable
from steadlith_core.errors import GenerationGone, UsageError

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import RecordedChunk, RecordedDocument

    Manifest = list[tuple[RecordedDocument, tuple[RecordedChunk, ...]]]

NAMES = ("a.md", "b.md", "c.md")


def manifest(reader: Reader) -> Manifest:
    """All that a generation holds, in order."""
    return [(each, reader.chunks(each.id)) for each in reader.documents()]


class HistoryRules:
    """Rule 31 of the storage specification, and what `time_travel` says."""

    def test_every_kept_generation_reads_as_it_was_committed(self, make_store: MakeStore) -> None:
        """Rows are closed, never changed: visible from the generation that put them until the one that closed them."""
        store, recorded = make_store(), {}

        def keep(changes: dict[DocumentId, list[Piece] | None]) -> None:
            head = write(store, changes)
            recorded[head.generation] = manifest(store.snapshot())

        keep({doc("a.md"): pieces("one", "two"), doc("b.md"): pieces("three")})
        one = held(store.snapshot(), doc("a.md"), text="one")
        keep({doc("a.md"): [Piece("new"), one], doc("c.md"): pieces("one")})
        keep({doc("b.md"): None})
        keep({doc("a.md"): None, doc("c.md"): [one, Piece("two")]})
        keep({doc("b.md"): pieces("three"), doc("a.md"): []})
        store.close()
        store = make_store()
        for number, wanted in recorded.items():
            reader = store.snapshot(number)
            assert (reader.generation, reader.head.generation) == (number, 5)
            assert manifest(reader) == wanted
            reader.close()
        assert [kept.number for kept in store.history()] == list(recorded)

    def test_an_old_generation_knows_where_its_occurrences_stood(self, make_store: MakeStore) -> None:
        """An occurrence that moved stood elsewhere before. Keep a row for each stay, with the generations from and to
        which it is valid.
        """
        store = make_store()
        write(store, {doc("a.md"): pieces("one", "two")})
        (entry,) = (hit.entry for hit in store.snapshot().lexical(["two"], 5))
        two = held(store.snapshot(), doc("a.md"), text="two")
        write(store, {doc("a.md"): None, doc("b.md"): [two]})
        old, new = store.snapshot(1), store.snapshot()
        assert [(hit.id, hit.position, hit.occurrence) for hit in old.occurrences([entry], 100)] == [
            (doc("a.md"), 1, two.occurrence)
        ]
        assert [(hit.id, hit.position, hit.occurrence) for hit in new.occurrences([entry], 100)] == [
            (doc("b.md"), 0, two.occurrence)
        ]

    def test_the_arms_of_an_old_generation_are_refused(self, make_store: MakeStore) -> None:
        """`time_travel = "manifest"`: arms know the head alone. Raise `GenerationGone`, instead of answering with what
        is live today. A store whose arms do answer for a generation as it was says `"search"`.
        """
        store = make_store()
        if store.capabilities.time_travel != "manifest":
            inapplicable("the store says that it searches older generations")
        write(store, {doc("a.md"): pieces("one")})
        write(store, {doc("b.md"): pieces("two")})
        reader = store.snapshot(1)
        for call in (
            lambda: reader.dense(SPACE, vector("q"), 1),
            lambda: reader.lexical(["one"], 1),
            lambda: reader.cosines(SPACE, vector("q"), [1]),
        ):
            with pytest.raises(GenerationGone, match="generation 1"):
                call()

    def test_an_old_generation_is_searched_as_it_was(self, make_store: MakeStore) -> None:
        """`time_travel = "search"`: what was found when a generation was the head is found in it later, with the same
        scores. What is live, how rare a word is and how long texts are is that of then. Say `"manifest"` otherwise.
        """
        store = make_store()
        if store.capabilities.time_travel != "search":
            inapplicable("the store says that it searches its head only")
        forms = sorted(store.capabilities.quantization)
        every = tuple(space(quantization=form) for form in forms)
        part = Piece("a part of it", parent=0)
        changes: list[dict[DocumentId, list[Piece] | None]] = [
            {doc("a.md"): pieces("one apple", "two pears", "three"), doc("b.md"): pieces("one pear and one plum")},
            {doc("a.md"): pieces("one apple", "four plums"), doc("c.md"): [Piece("whole pear", embed=False), part]},
            {doc("b.md"): None, doc("c.md"): [Piece("whole pear"), Piece("two pears", title="Plums")]},
            {doc(f"{each}.md"): pieces(f"one more {each}") for each in range(9)},
            {doc("a.md"): None, doc("c.md"): None},
        ]
        answers: dict[int, object] = {}

        def asked(reader: Reader) -> object:
            some = reader.within([doc("a.md"), doc("c.md"), doc("3.md")])
            dense = [
                (each, query, limit, reader.dense(each, vector(query), limit, among, exact=True))
                for each in every
                for query in ("one apple", "elsewhere")
                for limit, among in ((2, None), (50, None), (50, some), (2, some[::-1]), (5, []))
            ]
            words = [
                (terms, [(hit.entry, round(hit.score, 9)) for hit in reader.lexical(terms, limit, among)])
                for terms in (["one"], ["pear", "pears"], ["plums", "two"], ["whole"], ["part"], ["nowhere"], [])
                for limit, among in ((50, None), (1, None), (50, some), (5, []))
            ]
            found = [hit.entry for *_, hits in dense for hit in hits]
            return dense, words, [sorted(reader.cosines(each, vector("q"), found).items()) for each in every]

        for each in changes:
            head = write(store, each, spaces=every)
            with closing(store.snapshot()) as reader:
                answers[head.generation] = asked(reader)
        for number, wanted in answers.items():
            with closing(store.snapshot(number)) as reader:
                assert asked(reader) == wanted, f"generation {number}"
                assert len(reader.dense(every[0], vector("q"), 50)) > 0, f"generation {number}, not exact"
                for limit in (0, store.capabilities.max_limit + 1):
                    with pytest.raises(UsageError):
                        reader.dense(SPACE, vector("q"), limit)
                    with pytest.raises(UsageError):
                        reader.lexical(["one"], limit)
        store.compact(store.head(), 2)
        for number in range(2, len(changes) + 1):
            with closing(store.snapshot(number)) as reader:
                assert asked(reader) == answers[number], f"generation {number}, after a compaction"

    def test_a_large_old_generation_is_searched_as_it_was(self, make_store: MakeStore) -> None:
        """What a store does in another way where there is much, it does for an older generation too: nothing near is
        missed, and common words count for as little as they did.
        """
        store = make_store()
        if store.capabilities.time_travel != "search":
            inapplicable("the store says that it searches its head only")
        given, where = sample(), space(DIMENSIONS)
        write_vectors(store, given, where)
        terms = ["text", "7", "1234"]

        def asked(reader: Reader) -> object:
            dense = [reader.dense(where, query, LIMIT, exact=True) for query in queries()[:5]]
            return dense, [(hit.entry, round(hit.score, 9)) for hit in reader.lexical(terms, LIMIT)]

        with closing(store.snapshot()) as reader:
            wanted = asked(reader)
        left = {text: each for text, each in given.items() if text.endswith("3")}
        write_vectors(store, left, where)
        with closing(store.snapshot(1)) as reader:
            assert asked(reader) == wanted
            hits = reader.dense(where, queries()[0], LIMIT)
            assert texts_of(reader, hits) == best(given, queries()[0])

    def test_the_head_by_number_is_the_head(self, make_store: MakeStore) -> None:
        """A reader of the head's number is a reader of the head, arms included."""
        store = make_store()
        head = write(store, {doc("a.md"): pieces("one")})
        reader = store.snapshot(head.generation)
        assert len(reader.dense(SPACE, vector("one"), 5)) == 1
        assert manifest(reader) == manifest(store.snapshot())

    def test_what_changed_since_a_generation_is_named(self, make_store: MakeStore) -> None:
        """A rollback reads what differs and nothing else. Look for rows that began or ended since: of versions, and of
        spans, which change without them. A generation that is newer than this one, or not kept, is `GenerationGone`.
        """
        store = make_store()
        one = Piece("one")
        changes: list[dict[DocumentId, list[Piece] | None]] = [
            {doc("a.md"): [one], doc("b.md"): pieces("two"), doc("c.md"): pieces("three"), doc("same.md"): pieces("4")},
            {doc("a.md"): pieces("one", "more")},
            {doc("c.md"): None, doc("d.md"): pieces("five")},
            {doc("d.md"): None, doc("a.md"): [one]},
        ]
        for each in changes:
            write(store, each)
        shifted = Piece("two", shift=3)
        respan = store.begin(store.head())
        respan.respan(doc("b.md"), source_digest(doc("b.md"), [shifted]), spans([shifted]))
        respan.commit(follow(respan, store.snapshot(), versions({doc("b.md"): [shifted]})))
        touched: list[frozenset[DocumentId]] = [*map(frozenset, changes), frozenset([doc("b.md")])]
        nothing: frozenset[DocumentId] = frozenset()

        def there(number: int) -> dict[DocumentId, object]:
            with closing(store.snapshot(number)) as reader:
                return {each.id: (each, reader.chunks(each.id)) for each in reader.documents()}

        for at in range(1, 6):
            with closing(store.snapshot(at)) as reader:
                for since in range(1, at + 1):
                    then, now = there(since), there(at)
                    differ = {each for each in then.keys() | now.keys() if then.get(each) != now.get(each)}
                    named = list(reader.changed_since(since))
                    assert named == sorted(named)
                    assert differ <= set(named) <= nothing.union(*touched[since:at])
                for wrong in (at + 1, 9, -1):
                    with pytest.raises(GenerationGone):
                        reader.changed_since(wrong)
        store.compact(store.head(), 4)
        with closing(store.snapshot()) as reader:
            assert list(reader.changed_since(4)) == [doc("b.md")]
            with pytest.raises(GenerationGone):
                reader.changed_since(3)

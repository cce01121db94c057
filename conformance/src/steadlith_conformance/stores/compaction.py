"""Compaction: what no kept generation shows goes for good, and nothing else moves."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    held,
    mend,
    pieces,
    space,
    vector,
    vector_row,
    write,
)
from steadlith_conformance.stores.histories import manifest
from steadlith_core.errors import GenerationGone, StaleHead, UsageError
from steadlith_core.state.moving import build
from steadlith_core.state.roots import corpus_root

if TYPE_CHECKING:
    from steadlith_conformance.stores.histories import Manifest
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Store
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import OccurrenceHit
    from steadlith_core.vectors import Vector

CHURN: tuple[dict[DocumentId, list[Piece] | None], ...] = (
    {doc("a.md"): pieces("one", "two"), doc("b.md"): pieces("three", "shared")},
    {doc("a.md"): pieces("two", "four"), doc("c.md"): pieces("shared")},
    {doc("b.md"): None},
    {doc("a.md"): pieces("five"), doc("d.md"): pieces("two", "six")},
    {doc("c.md"): None, doc("e.md"): pieces("seven")},
)


def churned(store: Store) -> None:
    """Five generations: texts that come, go, come back and are shared."""
    for changes in CHURN:
        write(store, changes)


def problems(store: Store) -> list[str]:
    """All that the store sees is wrong, in full."""
    with closing(store.snapshot()) as reader:
        return [problem.message for problem in reader.problems(full=True)]


class CompactionRules:
    """Rules 34 to 37 of the storage specification."""

    def test_a_compacted_generation_is_gone_and_every_other_reads_as_it_was_committed(
        self, make_store: MakeStore
    ) -> None:
        """Remove rows that no kept generation shows, and no other: a row is still needed while the range of generations
        in which it is visible reaches a kept one.
        """
        store = make_store()
        churned(store)
        wanted = {each.number: _manifest(store, each.number) for each in store.history()}
        for keep_from in (2, 4, 5):
            head = store.head()
            done = store.compact(head, keep_from)
            assert done.keep_from == keep_from
            assert store.head() == head
            assert [each.number for each in store.history()] == list(range(keep_from, 6))
            for number in range(1, 6):
                if number < keep_from:
                    with pytest.raises(GenerationGone, match=str(number)):
                        store.snapshot(number)
                else:
                    assert _manifest(store, number) == wanted[number]
            assert problems(store) == []
        store.close()
        assert problems(make_store()) == []

    def test_the_root_of_every_kept_generation_follows_from_what_is_left(self, make_store: MakeStore) -> None:
        """A proof against an old head must still be possible. Rows of documents stay as long as a generation that shows
        them.
        """
        store = make_store()
        churned(store)
        before = store.history()
        store.compact(store.head(), 3)
        for each in before[2:]:
            with closing(store.snapshot(each.number)) as reader:
                top = build(reader.rows("")).after
            assert corpus_root(top.count, top.digest, normalizer_id=each.recipe.normalizer_id) == each.corpus_root
        assert store.history() == before[2:]

    def test_what_only_older_generations_use_goes_and_what_is_shared_stays(self, make_store: MakeStore) -> None:
        """Count users over kept generations alone, and content once for all of them."""
        store = make_store()
        churned(store)
        store.compact(store.head(), 5)
        assert _held(store, pieces("one", "three", "four", "shared")) == (0, 0, 0)
        assert _held(store, pieces("two", "five", "six", "seven")) == (4, 4, 4)

    def test_what_would_go_is_told_before_and_after_and_then_nothing_is_left_to_go(self, make_store: MakeStore) -> None:
        """`removable` is what a user agrees to. It counts what `compact` then removes, and afterwards there is
        nothing.
        """
        store = make_store()
        churned(store)
        head = store.head()
        told = store.removable(4)
        assert (told.generations, told.entries, told.texts, told.vectors) == (3, 3, 3, 3)  # one, three and four
        assert store.head() == head
        assert len(store.history()) == 5
        done = store.compact(head, 4)
        assert done.removed == told
        left = store.removable(4)
        assert (left.generations, left.versions, left.occurrences, left.entries, left.vectors) == (0, 0, 0, 0, 0)

    def test_keeping_everything_removes_nothing(self, make_store: MakeStore) -> None:
        """The oldest generation that is kept is where to begin: from there on all rows are visible."""
        store = make_store()
        churned(store)
        wanted = {each.number: _manifest(store, each.number) for each in store.history()}
        assert store.compact(store.head(), 1).removed.generations == 0
        assert {each.number: _manifest(store, each.number) for each in store.history()} == wanted
        assert problems(store) == []

    def test_compacting_twice_is_compacting_once(self, make_store: MakeStore) -> None:
        """A job that runs every night mostly finds nothing to do. Nothing is an answer."""
        store = make_store()
        churned(store)
        store.compact(store.head(), 3)
        wanted = _manifest(store, 3), _manifest(store)
        again = store.compact(store.head(), 3)
        assert (again.removed.generations, again.removed.entries) == (0, 0)
        assert (_manifest(store, 3), _manifest(store)) == wanted
        assert problems(store) == []

    def test_a_reader_goes_on_seeing_what_it_saw(self, make_store: MakeStore) -> None:
        """A search that is running must end as it began, also in another process. Keep old pages or rows until the last
        reader of them closes.
        """
        for name, readonly in (("own", False), ("other", True)):
            store = make_store(name)
            churned(store)
            watching = make_store(name, readonly=True) if readonly else store
            old, new = watching.snapshot(1), watching.snapshot()
            wanted = manifest(old), manifest(new), new.dense(SPACE, vector("two"), 9), new.lexical(["two"], 9)
            store.compact(store.head(), 5)
            seen = manifest(old), manifest(new), new.dense(SPACE, vector("two"), 9), new.lexical(["two"], 9)
            assert seen == wanted
            with pytest.raises(GenerationGone):
                watching.snapshot(1)
            old.close()
            new.close()

    def test_writing_goes_on_from_a_compacted_index(self, make_store: MakeStore) -> None:
        """The next commit builds on what is left: ids go on counting, and an id that was removed is never given out
        again.
        """
        store = make_store()
        churned(store)
        known = {hit.occurrence for hit in _all(store)}
        store.compact(store.head(), 5)
        with closing(store.snapshot()) as reader:
            two = held(reader, doc("d.md"), text="two")
        head = write(store, {doc("d.md"): None, doc("f.md"): [two, Piece("one"), Piece("eight")]})
        assert head.generation == 6
        occurrences = {hit.text: hit.occurrence for hit in _all(store)}
        assert occurrences["two"] in known
        assert not {occurrences["one"], occurrences["eight"]} & known
        assert [hit.text for hit in _found(store, "one")] == ["one"]
        assert problems(store) == []

    def test_an_index_that_was_mended_can_be_compacted_and_one_that_was_compacted_mended(
        self, make_store: MakeStore
    ) -> None:
        """Both touch liveness and closed rows. What one leaves must be whole for the other."""
        store = make_store()
        churned(store)
        now: dict[DocumentId, list[Piece]] = {
            doc("a.md"): pieces("five"),
            doc("d.md"): pieces("two", "six"),
            doc("e.md"): pieces("seven"),
        }
        mend(store, now)
        store.compact(store.head(), 6)
        assert problems(store) == []
        mend(store, now)
        assert [each.number for each in store.history()] == [6, 7]
        assert problems(store) == []

    def test_a_space_that_no_kept_generation_names_goes(self, make_store: MakeStore) -> None:
        """After a move to another model the old vectors are the largest part of an index, and nothing can reach them.
        Remove the vectors of every space that no kept recipe names, though their entries stay, and count them.
        """
        store, other = make_store(), space(6, "another-model/1")
        (part,) = parts = pieces("one")
        write(store, {doc("a.md"): parts})
        write(store, {doc("a.md"): parts}, spaces=(other,))
        assert _held(store, parts) == (1, 1, 1)
        assert store.compact(store.head(), 2).removed.vectors == 1
        assert _held(store, parts) == (1, 1, 0)
        with closing(store.snapshot()) as reader:
            assert len(reader.vectors(other, [vector_row(part, other).vector_key])) == 1
        assert problems(store) == []

    def test_traces_are_what_any_kept_generation_shows(self, make_store: MakeStore) -> None:
        """An erasure asks what is left of a document, in the head or before it. Leave out vectors that other documents
        of the head use.
        """
        store = make_store()
        churned(store)
        found = store.traces([doc("b.md"), doc("c.md"), doc("never.md")])
        assert found.documents == {doc("b.md"), doc("c.md")}
        assert found.vector_keys == {vector_row(part).vector_key for part in pieces("three", "shared")}
        assert store.traces([doc("a.md")]).vector_keys == {
            vector_row(part).vector_key
            for part in pieces("one", "four")  # "two" is in the head, and "five" its own
        }
        store.compact(store.head(), 5)
        assert store.traces([doc("b.md"), doc("c.md")]).documents == frozenset()

    def test_scrubbing_removes_what_compacting_does(self, make_store: MakeStore) -> None:
        """`scrub` is about bytes that were deleted. It removes no more and no less than a compaction without it."""
        store = make_store()
        churned(store)
        wanted = _manifest(store), store.removable(5)
        done = store.compact(store.head(), 5, scrub=True)
        assert (_manifest(store), done.removed) == wanted
        assert problems(store) == []
        write(store, {doc("f.md"): pieces("eight")})
        assert [hit.text for hit in _found(store, "eight")] == ["eight"]
        assert problems(store) == []

    def test_a_generation_that_is_not_kept_cannot_be_compacted_to(self, make_store: MakeStore) -> None:
        """Raise `GenerationGone` with the number before anything is removed."""
        store = make_store()
        churned(store)
        for number in (-1, 0, 6, 99):
            with pytest.raises(GenerationGone, match=str(number)):
                store.compact(store.head(), number)
            with pytest.raises(GenerationGone, match=str(number)):
                store.removable(number)
        assert len(store.history()) == 5

    def test_a_head_that_moved_is_refused(self, make_store: MakeStore) -> None:
        """What may go was decided for another head. Raise `StaleHead`, and remove nothing."""
        store = make_store()
        churned(store)
        old = store.head()
        write(store, {doc("f.md"): pieces("eight")})
        with pytest.raises(StaleHead):
            store.compact(old, 5)
        assert len(store.history()) == 6

    def test_a_store_opened_for_reading_refuses_to_compact(self, make_store: MakeStore) -> None:
        """Raise `UsageError`; `removable` may still be asked."""
        churned(make_store())
        readonly = make_store(readonly=True)
        with pytest.raises(UsageError):
            readonly.compact(readonly.head(), 5)
        assert readonly.removable(5).generations == 4

    def test_an_absent_index_stays_absent(self, make_store: MakeStore) -> None:
        """Upkeep runs everywhere, also where nothing was indexed yet. Remove nothing, and create nothing."""
        store = make_store()
        assert store.removable(0).is_nothing
        assert store.compact(store.head(), 0).removed.is_nothing
        assert store.head().generation == 0
        assert make_store(readonly=True).history() == ()

    def test_searching_goes_on_while_an_index_is_compacted(self, make_store: MakeStore) -> None:
        """A service does not stop for upkeep. Hold no lock that a reader waits for, and swap what is searched in one
        step.
        """
        store = make_store()
        churned(store)
        wanted = {hit.text for hit in _all(store)}
        done, seen = threading.Event(), []

        def watch() -> None:
            watching = make_store(readonly=True)
            while not done.is_set():
                seen.append({hit.text for hit in _all(watching)})

        threads = [threading.Thread(target=watch) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for keep_from in (2, 3, 4, 5, 5):
                store.compact(store.head(), keep_from)
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert seen
        assert [each for each in seen if each != wanted] == []


def _manifest(store: Store, number: int | None = None) -> Manifest:
    with closing(store.snapshot(number)) as reader:
        return manifest(reader)


def _held(store: Store, parts: list[Piece]) -> tuple[int, int, int]:
    """How many of the pieces' texts, entries and vectors are kept."""
    with closing(store.snapshot()) as reader:
        return (
            len(reader.texts([part.text_hash for part in parts])),
            len(reader.entries([part.entry_hash for part in parts])),
            len(reader.vectors(SPACE, [vector_row(part).vector_key for part in parts])),
        )


def _found(store: Store, word: str) -> list[OccurrenceHit]:
    with closing(store.snapshot()) as reader:
        return list(reader.occurrences([hit.entry for hit in reader.lexical([word], 50)], 50))


def at(store: Store, query: Vector, limit: int) -> list[OccurrenceHit]:
    """What the dense arm finds, each entry at one place."""
    with closing(store.snapshot()) as reader:
        return list(reader.occurrences([hit.entry for hit in reader.dense(SPACE, query, limit)], 1))


def _all(store: Store) -> list[OccurrenceHit]:
    return at(store, vector("query"), 50)

"""A store does what it says of itself, and says what it does."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import Piece, doc, pieces, space, stage, write, write_vectors
from steadlith_conformance.stores.honesty import problems
from steadlith_conformance.stores.topics import DIMENSIONS, LIMIT, best, queries, sample
from steadlith_conformance.suite import inapplicable
from steadlith_core.errors import LockHeld, StaleHead, UsageError
from steadlith_core.ports import Capabilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Reader, Store
    from steadlith_core.records import Space
    from steadlith_core.vectors import Vector

RECALL = 0.9
"""What a graph must find of the true best, over all queries of the sample."""

SOON = 2.0
"""Seconds after which a second writer that has neither begun nor been refused is taken to wait."""

LONG = 60.0
"""Seconds after which a store is taken to hang."""


class CapabilityRules:
    """What `ports.Capabilities` says of each value (`honesty.VALUES`)."""

    def test_capabilities_are_values_that_the_port_names(
        self, make_store: MakeStore, record_property: Callable[[str, object], None]
    ) -> None:
        """What a store says of itself decides what the engine asks of it, so only the port's own values are of use."""
        said = make_store().capabilities
        assert isinstance(said, Capabilities), "return a `steadlith_core.ports.Capabilities`"
        assert {field.name for field in fields(said)} == {field.name for field in fields(Capabilities)}
        table = asdict(said)
        record_property(
            "capabilities",
            {name: sorted(each) if isinstance(each, frozenset) else each for name, each in table.items()},
        )
        assert problems(table) == []

    def test_capabilities_are_the_same_at_every_opening(self, make_store: MakeStore) -> None:
        """They are read before anything is written, and believed afterwards. They depend on no content."""
        said = make_store().capabilities
        write(make_store(), {doc("a.md"): pieces("one")})
        for readonly in (False, True):
            assert make_store(readonly=readonly).capabilities == said
        assert make_store("another").capabilities == said

    def test_a_second_write_does_as_the_store_says(self, make_store: MakeStore) -> None:
        """`writers = "serialized"`: while a write is open, `begin` waits or raises `LockHeld`. `"cas"`: it begins, and
        the commit that comes second raises `StaleHead`. Say which of the two yours does, or take a lock in `begin`.
        """
        left, right = make_store(), make_store()
        head = write(left, {doc("a.md"): pieces("one")})
        with closing(left.snapshot()) as reader:
            first = left.begin(head)
            staged = stage(first, reader, {doc("b.md"): pieces("two")})
            ended, refused = _begin_another(right)
            began = ended.wait(SOON) and not refused
            first.commit(staged)
        assert ended.wait(LONG), "a second write is still waiting after the first has ended"
        said = left.capabilities.writers
        assert began == (said == "cas"), (
            f"it says writers = {said!r}, and a second write "
            f"{'began' if began else 'was refused or kept waiting'} while the first was open: "
            f"say {'cas' if began else 'serialized'!r}"
        )
        assert [each.id.path for each in right.snapshot().documents()] == ["a.md", "b.md"]

    def test_exact_means_exact(self, make_store: MakeStore) -> None:
        """`exact=True` is what a user asks for who must not miss anything: compare every live vector, in every form."""
        given = sample()
        for form in sorted(make_store().capabilities.quantization):
            store, where = make_store(form), space(DIMENSIONS, quantization=form)
            write_vectors(store, given, where)
            with closing(store.snapshot()) as reader:
                for query in queries()[:6]:
                    assert _texts(reader, where, query, exact=True) == best(given, query), form

    def test_a_graph_finds_nine_of_ten(self, make_store: MakeStore) -> None:
        """A graph that misses more than one of ten is no search. Raise what it keeps in view while it walks, or let it
        go on until it has `limit` hits that are live.
        """
        store = make_store()
        if "hnsw" not in store.capabilities.dense:
            inapplicable("the store searches no graph")
        assert _found(store) >= RECALL

    def test_without_a_graph_nothing_is_missed(self, make_store: MakeStore) -> None:
        """Who says nothing of a graph is believed to be exact. Compare every vector, or say `"hnsw"` in `dense`."""
        store = make_store()
        if "hnsw" in store.capabilities.dense:
            inapplicable("the store says that it searches a graph")
        assert _found(store) == 1

    def test_scores_count_how_rare_a_term_is_if_the_store_says_so(self, make_store: MakeStore) -> None:
        """`lexical_stats = "head"`: a term that more live entries hold is worth less. `"none"`: how many hold it does
        not count. Fusion looks at ranks alone, but whoever compares scores must know which they are.
        """
        store = make_store()
        said = store.capabilities.lexical_stats
        write(store, {doc("a.md"): pieces(*(f"filler number{each:02}" for each in range(20)), "needle here")})
        (before,) = store.snapshot().lexical(["needle"], 5)
        write(store, {doc("b.md"): pieces(*(f"needle number{each:02}" for each in range(10)))})
        after = {hit.entry: hit.score for hit in store.snapshot().lexical(["needle"], 20)}
        assert len(after) == 11
        counted = after[before.entry] != pytest.approx(before.score, rel=1e-6)
        assert counted == (said == "head"), (
            f"it says lexical_stats = {said!r}, and when ten more entries hold a term, its score "
            f"{'moves' if counted else 'stays'}: say {'head' if counted else 'none'!r}"
        )

    def test_bm25_weighs_rarity_repetition_and_length(self, make_store: MakeStore) -> None:
        """What BM25 is known for: the rarer term, the shorter text and the repeated word win, each with measure.

        A ranking without all of these is no BM25; say which one it is.
        """
        store = make_store()
        if store.capabilities.lexical != "bm25":
            inapplicable("the store does not say that it ranks by BM25")
        filler = [f"common text number{each:02} of many" for each in range(30)]
        texts = ("common word aa bb cc", "scarce word aa bb cc", "short topic", f"long topic {'padding ' * 30}")
        more = ("echo echo echo echo echo", "echo one two three four")
        write(store, {doc("a.md"): pieces(*filler, *texts, *more)})
        reader = store.snapshot()

        def score(term: str, text: str) -> float:
            hits = reader.lexical([term], 50)
            (entry,) = (hit.entry for hit in reader.occurrences([hit.entry for hit in hits], 1) if hit.text == text)
            return next(hit.score for hit in hits if hit.entry == entry)

        assert score("scarce", texts[1]) > score("common", texts[0])
        assert score("topic", texts[2]) > score("topic", texts[3])
        assert score("echo", more[1]) < score("echo", more[0]) < 5 * score("echo", more[1])

    def test_without_a_lexical_arm_nothing_is_found(self, make_store: MakeStore) -> None:
        """A search in both arms asks both. Who says `lexical = "none"` answers every question with nothing, and refuses
        what the port refuses.
        """
        store = make_store()
        if store.capabilities.lexical != "none":
            inapplicable("the store says that it has a lexical arm")
        write(store, {doc("a.md"): pieces("one", "two")})
        reader = store.snapshot()
        assert reader.lexical(["one"], 5) == ()
        assert reader.lexical(["one"], 5, reader.within([doc("a.md")])) == ()
        for limit in (0, store.capabilities.max_limit + 1):
            with pytest.raises(UsageError):
                reader.lexical(["one"], limit)

    def test_compacting_gives_back_what_the_store_says(self, make_store: MakeStore) -> None:
        """`reclaims_space`: after most of an index is gone and compacted away, what it takes is less. Without it a user
        is told that erasing frees no disk. Bytes are those of `Compaction`: of files, or of tables.
        """
        store = make_store()
        write(store, {doc(f"{each}.md"): [Piece(f"{each} {'body ' * 800}")] for each in range(200)})
        write(store, {doc(f"{each}.md"): None for each in range(1, 200)})
        done = store.compact(store.head(), 2)
        assert done.removed.texts == 199
        assert done.given_back
        smaller = done.bytes_after < done.bytes_before
        assert smaller == store.capabilities.reclaims_space, (
            f"it says reclaims_space = {store.capabilities.reclaims_space}, and took {done.bytes_before} bytes before "
            f"compacting and {done.bytes_after} afterwards"
        )
        assert store.compact(store.head(), 2).bytes_after <= done.bytes_after


def _begin_another(store: Store) -> tuple[threading.Event, list[Exception]]:
    """Begin a write on the head of now in another thread; whether that has come to an end, and how it was refused."""
    head, ended = store.head(), threading.Event()
    refused: list[Exception] = []

    def begin() -> None:
        try:
            second = store.begin(head)
        except (LockHeld, StaleHead) as error:
            refused.append(error)
        else:
            second.abort()
        finally:
            ended.set()

    threading.Thread(target=begin, daemon=True).start()
    return ended, refused


def _texts(reader: Reader, where: Space, query: Vector, *, exact: bool) -> list[str]:
    hits = reader.dense(where, query, LIMIT, exact=exact)
    return [reader.occurrences([hit.entry], 1)[0].text for hit in hits]


def _found(store: Store) -> float:
    """Which part of the true ten best is found without asking for exactness, over all queries."""
    given, where = sample(), space(DIMENSIONS)
    write_vectors(store, given, where)
    with closing(store.snapshot()) as reader:
        found = [len({*_texts(reader, where, query, exact=False)} & {*best(given, query)}) for query in queries()]
    return sum(found) / (LIMIT * len(found))

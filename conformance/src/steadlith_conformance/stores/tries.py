"""The corpus trie as a store keeps it: documents by id, nodes by prefix, rows by key, and a root that follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steadlith_conformance.samples import (
    doc,
    generation,
    moved,
    pieces,
    stage,
    stage_rows,
    trie_row,
    version,
    versions,
    write,
)
from steadlith_core.errors import AdapterError, GenerationGone
from steadlith_core.state.moving import DIGITS, EMPTY, build
from steadlith_core.state.roots import corpus_root
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_conformance.samples import Changes, Piece
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Reader
    from steadlith_core.records import DocumentId
    from steadlith_core.rows import TrieNode, TrieRow

MANY = 40
"""More documents than a leaf holds."""


def _many(count: int = MANY) -> Changes:
    return {doc(f"{number}.md"): pieces(f"text {number}") for number in range(count)}


def _rows(changes: Changes) -> list[TrieRow]:
    return sorted(
        (trie_row(version(each, parts)) for each, parts in changes.items() if parts is not None),
        key=lambda row: row.key,
    )


def _all_nodes(reader: Reader) -> dict[str, TrieNode]:
    """Every node that can be reached, and those right below a leaf, where there must be none."""
    found: dict[str, TrieNode] = {}
    prefixes = [""]
    while prefixes:
        level = reader.nodes(prefixes)
        found |= level
        prefixes = [prefix + digit for prefix in level for digit in DIGITS]
    return found


class TrieRules:
    """What the port says of `find`, `nodes`, `rows` and `put_nodes`."""

    def test_documents_are_found_by_their_ids(self, make_store: MakeStore) -> None:
        """Planning looks up what changed among millions. Use an index over source and path, and leave out what is not
        there.
        """
        store = make_store()
        assert store.snapshot().find([doc("0.md")]) == {}
        write(store, _many())
        write(store, {doc("1.md"): None, doc("2.md"): pieces("other")})
        reader = store.snapshot()
        recorded = {found.id: found for found in reader.documents()}
        assert reader.find([doc("2.md"), doc("0.md")]) == {doc("2.md"): recorded[doc("2.md")]} | {
            doc("0.md"): recorded[doc("0.md")]
        }
        assert reader.find([doc("1.md"), doc("absent.md"), doc("0.md", "elsewhere")]) == {}
        assert reader.find([]) == {}
        assert set(store.snapshot(1).find([doc("1.md")])) == {doc("1.md")}

    def test_many_documents_are_found_at_once(self, make_store: MakeStore) -> None:
        """Split what a statement cannot take at once; the answer is one."""
        store = make_store()
        changes: Changes = {doc(f"{number}.md"): [] for number in range(1200)}
        write(store, changes)
        absent = [doc(f"absent-{number}.md") for number in range(1200)]
        assert store.snapshot().find([*absent, *changes, *changes]).keys() == changes.keys()

    def test_nodes_come_back_as_they_were_put(self, make_store: MakeStore) -> None:
        """Prefix, count, digest and the digest of the sources; leaves too. Unknown prefixes are left out."""
        store = make_store()
        assert store.snapshot().nodes(["", "0"]) == {}
        write(store, _many())
        made = build(_rows(_many())).put
        assert len(made) > 1
        assert _all_nodes(store.snapshot()) == made
        assert store.snapshot().nodes([]) == {}
        assert store.snapshot().nodes(["", "ffffffff"]) == {"": made[""]}

    def test_nodes_are_replaced_and_dropped_with_the_documents_below_them(self, make_store: MakeStore) -> None:
        """Put what is given and drop what is named: a node that stays too long is believed."""
        store = make_store()
        write(store, _many())
        few = {doc(f"{number}.md"): pieces("new") for number in range(3)}
        write(store, {**dict.fromkeys(_many()), **few})
        assert _all_nodes(store.snapshot()) == build(_rows(few)).put
        assert store.snapshot().nodes([""])[""].count == 3
        write(store, dict.fromkeys(few))
        assert _all_nodes(store.snapshot()) == {}
        assert store.head().corpus_root == corpus_root(0, EMPTY.digest, normalizer_id="text/1")

    def test_nodes_of_an_aborted_write_leave_no_trace(self, make_store: MakeStore) -> None:
        """Nodes are part of the write, as rows are."""
        store = make_store()
        write(store, _many())
        before = _all_nodes(store.snapshot())
        transaction = store.begin(store.head())
        stage(transaction, store.snapshot(), {doc("0.md"): None, doc("new.md"): pieces("new")})
        transaction.abort()
        assert _all_nodes(store.snapshot()) == before

    def test_a_reader_sees_the_nodes_of_its_own_commit(self, make_store: MakeStore) -> None:
        """Nodes are replaced in place by the next commit, and a reader must not notice. They live in the same snapshot
        as the rows.
        """
        store = make_store()
        write(store, _many())
        reader = store.snapshot()
        before, rows = _all_nodes(reader), reader.rows("")
        write(store, {doc("0.md"): None, doc("new.md"): pieces("new")})
        assert _all_nodes(reader) == before
        assert list(reader.rows("")) == list(rows)
        assert _all_nodes(store.snapshot()) != before

    def test_nodes_are_those_of_the_head_only(self, make_store: MakeStore) -> None:
        """Older nodes are not kept. Raise `GenerationGone` instead of answering with the head's."""
        store = make_store()
        write(store, _many(3))
        write(store, {doc("0.md"): None})
        with pytest.raises(GenerationGone, match="generation 1"):
            store.snapshot(1).nodes([""])

    def test_rows_are_those_of_a_prefix_in_key_order(self, make_store: MakeStore) -> None:
        """Keys are ordered by their bytes. A prefix may have an odd number of digits, which is half a byte."""
        store = make_store()
        changes = _many()
        write(store, changes)
        reader, every = store.snapshot(), _rows(changes)
        assert list(reader.rows("")) == every
        digits = document_key(doc("7.md")).hex()
        for length in range(len(digits) + 1):
            prefix = digits[:length]
            assert list(reader.rows(prefix)) == [row for row in every if row.key.hex().startswith(prefix)]
        beside = digits[:-1] + DIGITS[DIGITS.index(digits[-1]) - 1]
        assert list(reader.rows(beside)) == []

    def test_rows_are_those_of_the_generation(self, make_store: MakeStore) -> None:
        """Unlike nodes, rows are kept for every generation that is."""
        store = make_store()
        first: Changes = {doc("a.md"): pieces("one"), doc("b.md"): pieces("two")}
        write(store, first)
        write(store, {doc("a.md"): None, doc("b.md"): pieces("three")})
        assert list(store.snapshot().rows("")) == _rows({doc("b.md"): pieces("three")})
        assert list(store.snapshot(1).rows("")) == _rows(first)
        key = document_key(doc("a.md")).hex()
        assert list(store.snapshot().rows(key)) == []
        assert list(store.snapshot(1).rows(key)) == _rows({doc("a.md"): pieces("one")})

    def test_a_root_that_the_nodes_do_not_lead_to_is_refused(self, make_store: MakeStore) -> None:
        """The head's root is what proofs lead to. At commit compute it from the topmost node, and refuse another."""
        store = make_store()
        head = write(store, _many(3))
        before = store.snapshot().nodes([""])
        changes: Changes = {doc("new.md"): pieces("new")}
        right = moved(store.snapshot(), versions(changes))
        other = moved(store.snapshot(), versions({doc("other.md"): pieces("new")}))
        nothing: Mapping[str, TrieNode] = {}
        for nodes, dropped in ((nothing, ()), (nothing, [""]), (other.put, ()), (before, ())):
            transaction = store.begin(head)
            stage_rows(transaction, changes)
            transaction.put_nodes(nodes, dropped)
            with pytest.raises(AdapterError):
                transaction.commit(generation(head, right.after, head.chunks + 1))
            transaction.abort()
            assert store.head() == head
            assert store.snapshot().nodes([""]) == before

    def test_moving_the_trie_is_building_it_from_nothing(self, make_store: MakeStore) -> None:
        """Whatever is added and closed, the kept nodes are those that the documents make."""
        names = st.sets(st.integers(0, 150), max_size=90)
        many = st.sets(st.integers(0, 150), min_size=60)  # more than a leaf holds, or there is nothing below the top
        steps = st.builds(
            lambda first, rest: [(first, set[int]()), *rest],
            many,
            st.lists(st.tuples(names, names), min_size=1, max_size=3),
        )
        used = iter(range(10**6))

        @settings(
            max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
        )
        @given(steps)
        def check(steps: list[tuple[set[int], set[int]]]) -> None:
            store, there = make_store(f"moving-{next(used)}"), set[int]()
            for add, close in steps:
                gone = (there & close) - add
                # Without chunks: only the trie is of interest.
                changes: dict[DocumentId, list[Piece] | None] = {doc(f"{each}.md"): [] for each in add}
                write(store, changes | {doc(f"{each}.md"): None for each in gone})
                there = (there | add) - gone
                wanted = build(_rows({doc(f"{each}.md"): [] for each in there}))
                reader = store.snapshot()
                assert _all_nodes(reader) == wanted.put
                assert reader.head.documents == wanted.after.count
                reader.close()
            assert list(store.snapshot().problems(full=True)) == []
            store.close()

        check()

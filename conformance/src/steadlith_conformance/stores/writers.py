"""Of several writers one wins, and the others learn it before they change anything."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import doc, generation, moved, pieces, stage, stage_rows, versions, write
from steadlith_core.errors import LockHeld, StaleHead

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Store


class WriterRules:
    """Rules 10 to 13 of the storage specification."""

    def test_begin_refuses_a_head_that_moved(self, make_store: MakeStore) -> None:
        """The plan was made for another head. Compare lineage, generation and state root, and raise `StaleHead`."""
        store = make_store()
        old = store.head()
        first = write(store, {doc("a.md"): pieces("one")})
        with pytest.raises(StaleHead):
            store.begin(old)
        write(store, {doc("b.md"): pieces("two")})
        with pytest.raises(StaleHead):
            store.begin(first)
        last = store.head()
        for other in (replace(last, lineage="another"), replace(last, state_root=first.state_root)):
            with pytest.raises(StaleHead):  # as many generations, and another index
                store.begin(other)

    def test_of_two_open_writes_one_wins(self, make_store: MakeStore) -> None:
        """Whoever was overtaken learns it at `begin` (`LockHeld`) or at `commit` (`StaleHead`), and leaves no row."""
        left, right = make_store(), make_store()
        head = write(left, {doc("a.md"): pieces("one")})
        reader = left.snapshot()
        winner = left.begin(head)
        first = stage(winner, reader, {doc("b.md"): pieces("two")})
        # A store may refuse the second write at once, or let it run until its commit.
        loser = second = None
        try:
            loser = right.begin(head)
            second = stage(loser, reader, {doc("c.md"): pieces("three")})
        except LockHeld:
            assert loser is None
        winner.commit(first)
        if loser and second:
            with pytest.raises(StaleHead):
                loser.commit(second)
        with pytest.raises(StaleHead):
            right.begin(head)
        assert [each.id.path for each in right.snapshot().documents()] == ["a.md", "b.md"]

    def test_of_racing_writers_exactly_one_wins(self, make_store: MakeStore) -> None:
        """Two hosts apply at once, and the second would undo the first. Compare the head in the transaction that moves
        it, not before.
        """
        head = write(make_store(), {doc("a.md"): pieces("one")})
        stores = [make_store() for _ in range(4)]
        every = [{doc(f"racer-{number}.md"): pieces(f"racer {number}")} for number in range(len(stores))]
        reader = make_store().snapshot()
        tries = [moved(reader, versions(changes)) for changes in every]
        barrier, won = threading.Barrier(len(stores)), []

        def race(number: int, store: Store) -> None:
            barrier.wait()
            try:
                transaction = store.begin(head)
                stage_rows(transaction, every[number])
                transaction.put_nodes(tries[number].put, tries[number].dropped)
                transaction.commit(generation(head, tries[number].after, 2))
            except (StaleHead, LockHeld):
                return
            won.append(number)

        threads = [threading.Thread(target=race, args=each) for each in enumerate(stores)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1
        found = [each.id.path for each in make_store().snapshot().documents()]
        assert found == ["a.md", f"racer-{won[0]}.md"]

    def test_the_same_write_twice_is_stale_not_doubled(self, make_store: MakeStore) -> None:
        """A command that is run again after a lost answer must not add its rows once more. The old head is refused."""
        store = make_store()
        head = store.head()
        changes = {doc("a.md"): pieces("one", "two")}
        write(store, changes)
        with pytest.raises(StaleHead):
            store.begin(head)
        assert len(store.snapshot().chunks(doc("a.md"))) == 2

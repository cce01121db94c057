"""Compacting and writing at once: neither takes the ground from under the other unnoticed."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import SPACE, doc, pieces, stage, vector, write
from steadlith_core.errors import LockHeld, StaleHead, UsageError

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore


class OvertakenRules:
    """What the port says of `compact` beside a write."""

    def test_a_write_that_a_compaction_overtook_commits_a_whole_index_or_is_stale(self, make_store: MakeStore) -> None:
        """A write skips what is kept already, and a compaction removes what nothing shows: together they commit an
        entry without its rows. Refuse the compaction (`LockHeld`), or let the write lose at its commit (`StaleHead`):
        the head alone does not tell, since a compaction leaves it as it is.
        """
        writer, other = make_store(), make_store()
        write(writer, {doc("a.md"): pieces("one", "two")})
        head = write(writer, {doc("a.md"): pieces("two")})
        with closing(writer.snapshot()) as reader:
            transaction = writer.begin(head)
            given = stage(transaction, reader, {doc("b.md"): pieces("one")})  # kept, and no document's
        with suppress(LockHeld):
            other.compact(other.head(), 2)
        committed = True
        try:
            transaction.commit(given)
        except StaleHead:
            committed = False
        store = make_store()
        assert store.head().generation == (3 if committed else 2)
        with closing(store.snapshot()) as reader:
            assert list(reader.problems(full=True)) == []
            hits = reader.dense(SPACE, vector("one"), 5)
            found = {hit.text for hit in reader.occurrences([hit.entry for hit in hits], 5)}
        assert found == ({"one", "two"} if committed else {"two"})

    def test_a_store_compacts_nothing_under_its_own_write(self, make_store: MakeStore) -> None:
        """Whoever asks for that has lost the thread: `UsageError`, and the write goes on unharmed."""
        store = make_store()
        write(store, {doc("a.md"): pieces("one")})
        head = write(store, {doc("a.md"): pieces("two")})
        with closing(store.snapshot()) as reader:
            transaction = store.begin(head)
            given = stage(transaction, reader, {doc("b.md"): pieces("one")})
        with pytest.raises(UsageError):
            store.compact(head, 2)
        assert transaction.commit(given).generation == 3
        assert [each.number for each in store.history()] == [1, 2, 3]
        assert store.compact(store.head(), 3).removed.generations == 2  # ended writes are in nobody's way

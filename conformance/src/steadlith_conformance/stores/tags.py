"""A generation says why it was made and under which configuration, and may be given names."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.samples import doc, pieces, stage, write
from steadlith_core.errors import GenerationGone, UsageError

if TYPE_CHECKING:
    from steadlith_conformance.stores.opening import MakeStore
    from steadlith_core.ports import Store
    from steadlith_core.records import Generation

CONFIGURATION = '# "quoted", 事务\n[sources.docs]\npath = "docs"\n'


def _made(store: Store, path: str, *, why: str, configuration: str | None) -> Generation:
    with closing(store.snapshot()) as reader:
        write = store.begin(reader.head)
        given = stage(write, reader, {doc(path): pieces(f"text of {path}")})
    told = replace(given, why=why, configuration=configuration)
    write.commit(told)
    return told


class TagRules:
    """What history tells beyond what the storage specification asks for."""

    def test_a_generation_comes_back_as_it_was_committed(self, make_store: MakeStore) -> None:
        """History is how a rollback finds its way, and a configuration is what it brings back. Keep every field of a
        generation as it is, none apart from empty.
        """
        store = make_store()
        made = [
            _made(store, "a.md", why="apply", configuration=CONFIGURATION),
            _made(store, "b.md", why="rollback to 1", configuration=CONFIGURATION),
            _made(store, "c.md", why="", configuration=None),
            _made(store, "d.md", why="migrate 'x'; --", configuration=""),
        ]
        assert list(store.history()) == made
        store.close()
        again = make_store()
        assert list(again.history()) == made
        assert list(again.snapshot().problems(full=True)) == []

    def test_a_name_leads_to_its_generation_until_it_is_moved_or_taken_away(self, make_store: MakeStore) -> None:
        """A name is no commit: the head stays. One name, one generation; give it again to move it, and order names by
        code points.
        """
        store = make_store()
        assert store.tags() == {}
        for path in ("a.md", "b.md", "c.md"):
            write(store, {doc(path): pieces(path)})
        head = store.head()
        store.tag("good", 1)
        store.tag("事务 release/1.0", 2)
        store.tag("also", 2)
        assert list(store.tags().items()) == [("also", 2), ("good", 1), ("事务 release/1.0", 2)]
        for _ in range(2):
            store.tag("good", 3)
            store.tag("also", None)
        store.tag("never given", None)
        store.close()
        again = make_store()
        assert again.tags() == {"good": 3, "事务 release/1.0": 2}
        assert again.head() == head
        assert list(again.snapshot().problems(full=True)) == []
        write(again, {doc("d.md"): pieces("more")})
        assert again.tags() == {"good": 3, "事务 release/1.0": 2}

    def test_only_a_kept_generation_is_given_a_name(self, make_store: MakeStore) -> None:
        """A name that leads nowhere breaks the rollback that trusts it. Raise `GenerationGone` with the number, and
        `UsageError` where nothing may be written.
        """
        store = make_store()
        store.tag("nothing there", None)
        with pytest.raises(GenerationGone):
            store.tag("early", 1)
        write(store, {doc("a.md"): pieces("one")})
        with pytest.raises(GenerationGone, match="2"):
            store.tag("late", 2)
        with pytest.raises(UsageError):
            make_store(readonly=True).tag("mine", 1)
        transaction = store.begin(store.head())
        if store.capabilities.writers == "serialized":
            with pytest.raises(UsageError):
                store.tag("meanwhile", 1)
        transaction.abort()
        assert store.tags() == {}

    def test_names_of_generations_that_are_compacted_away_go_with_them(self, make_store: MakeStore) -> None:
        """Remove the names, reasons and configurations of a generation with its row, and leave those of every other."""
        store = make_store()
        made = [
            _made(store, f"{number}.md", why=f"number {number}", configuration=f"number = {number}")
            for number in range(1, 4)
        ]
        store.tag("old", 1)
        store.tag("kept", 2)
        store.compact(store.head(), 2)
        assert store.tags() == {"kept": 2}
        assert list(store.history()) == made[1:]
        assert list(store.snapshot().problems(full=True)) == []

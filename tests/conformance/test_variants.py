"""Honest stores that can do less than ours, or do it otherwise: the kit takes them as they are, by what they say."""

from dataclasses import replace

import pytest

from steadlith_adapters.stores.memory import MemoryStore
from steadlith_conformance.stores import StoreSuite
from steadlith_core.errors import UsageError
from steadlith_core.rows import ArmHit


class Over:
    """Everything of what it stands over, but for what a subclass does otherwise."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


class Wordless(Over):
    """A reader without a lexical arm."""

    def lexical(self, terms, limit, among=None):
        self.inner.lexical(terms, limit, among)  # refuses what the port refuses
        return ()


class Ranked(Over):
    """A reader that ranks as `ts_rank` does: by how often the terms stand in an entry, whatever others hold."""

    def lexical(self, terms, limit, among=None):
        if not 1 <= limit <= 1000:
            raise UsageError(f"limit = {limit}: 1 to 1000 hits can be asked for")
        found = {hit.entry: 0.0 for hit in self.inner.lexical(terms, 1000, among)}
        for hit in self.inner.occurrences(list(found), 1):
            counts = [hit.text.lower().count(term.lower()) for term in set(terms)]
            found[hit.entry] = sum(count / (1 + count) for count in counts)
        best = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return tuple(ArmHit(entry, score) for entry, score in best[:limit])


class Store(Over):
    """A memory store whose readers are others, and which says so."""

    def __init__(self, inner, reader, **said):
        super().__init__(inner)
        self.reader = reader
        self.capabilities = replace(inner.capabilities, **said)

    def snapshot(self, generation=None):
        return self.reader(self.inner.snapshot(generation))


class Variant(StoreSuite):
    @pytest.fixture
    def make_store(self):
        histories, opened = {}, []

        def open_store(name="index", *, readonly=False):
            opened.append(self.over(MemoryStore(histories.setdefault(name, []), readonly=readonly)))
            return opened[-1]

        yield open_store
        for store in opened:
            store.close()


class TestWithoutWords(Variant):
    def over(self, store):
        return Store(store, Wordless, lexical="none", lexical_stats="none")


class TestRankedByTheEntryAlone(Variant):
    def over(self, store):
        return Store(store, Ranked, lexical="ts_rank", lexical_stats="none")

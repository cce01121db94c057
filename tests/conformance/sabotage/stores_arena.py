"""Stores to sabotage: the memory store, wrapped."""

from collections import defaultdict

import pytest
from sabotage.saboteurs import STORES as TABLE
from sabotage.saboteurs import Wrapped
from sabotage.stores import committing, compacting, mending, opening, reading, refusing, searching  # noqa: F401 -- fills the table

from steadlith_adapters.stores.memory import MemoryStore
from steadlith_conformance.stores import StoreSuite


class Arena(StoreSuite):
    """The whole suite over one saboteur."""

    @pytest.fixture
    def make_store(self):
        histories, kept, opened = {}, {}, []
        saboteur = self.saboteur
        named = saboteur.faults.get("index.name", lambda name: name)

        def open_store(name="index", *, readonly=False):
            name = named(name)
            store = MemoryStore(histories.setdefault(name, []), readonly=readonly)
            wrapped = Wrapped(store, "store", saboteur, kept.setdefault(name, defaultdict(dict)))
            saboteur.faults.get("store.opened", lambda store: None)(wrapped)
            opened.append(wrapped)
            return wrapped

        yield open_store
        for store in opened:
            store.inner.close()

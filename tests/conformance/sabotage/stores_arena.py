"""Stores to sabotage: the memory store, wrapped."""

import pickle
from collections import defaultdict
from dataclasses import replace

import pytest
from sabotage.saboteurs import STORES, Wrapped
from sabotage.stores import claiming, committing, compacting, mending, naming, opening, reading, refusing, searching  # noqa: F401 -- they fill the table

from steadlith_adapters.stores.memory import MemoryStore
from steadlith_conformance.stores import StoreSuite
from steadlith_conformance.stores.opening import Part
from steadlith_core.digest import Digest

TABLE = STORES


class Arena(StoreSuite):
    """The whole suite over one saboteur."""

    @pytest.fixture
    def places(self):
        """States, and what the saboteur keeps, by the index's name."""
        return defaultdict(lambda: ([], defaultdict(dict)))

    @pytest.fixture
    def make_store(self, places):
        opened = []
        saboteur = self.saboteur
        named = saboteur.faults.get("index.name", lambda name: name)

        def open_store(name="index", *, readonly=False):
            states, kept = places[named(name)]
            wrapped = Wrapped(MemoryStore(states, readonly=readonly), "store", saboteur, kept)
            saboteur.faults.get("store.opened", lambda store: None)(wrapped)
            opened.append(wrapped)
            return wrapped

        yield open_store
        for store in opened:
            store.inner.close()

    @pytest.fixture
    def raw_read(self, places):
        def read(name="index"):
            states, kept = places[name]
            data = pickle.dumps(states) if any(state.generation for state in states) else b""
            return self.saboteur.faults.get("outside.read", lambda _, data: data)(kept, data)

        return read

    @pytest.fixture
    def raw_write(self, places):
        def change(part, old, new, name="index"):
            states, _ = places[name]
            state = states[-1]
            match part:
                case Part.TEXT:
                    (key,) = (key for key, text in state.texts.items() if text.encode() == old)
                    state.texts[key] = new.decode()
                case Part.VECTOR:
                    for rows in state.vectors.values():
                        rows.update({key: replace(row, vector=new) for key, row in rows.items() if row.vector == old})
                case Part.DOCUMENT_ROOT:
                    (made,) = (each for each in state.documents.values() if each.root == old)
                    state.documents[made.id] = replace(made, root=Digest(new))
                case Part.HEAD_ROOT:
                    states[-1] = replace(state, head=replace(state.head, corpus_root=Digest(new)))

        return change

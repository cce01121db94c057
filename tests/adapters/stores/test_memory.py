import pickle
from dataclasses import replace

import pytest

from steadlith_adapters.stores.memory import FACTORY, MemoryStore
from steadlith_conformance.samples import doc, pieces, write
from steadlith_conformance.stores import StoreFactorySuite, StoreSuite
from steadlith_conformance.stores.opening import Part
from steadlith_core.digest import Digest
from steadlith_core.errors import ConfigError, LockHeld


class TestMemoryStore(StoreSuite):
    @pytest.fixture
    def histories(self):
        """The states of each index by name."""
        return {}

    @pytest.fixture
    def make_store(self, histories):
        opened = []

        def open_store(name="index", *, readonly=False):
            store = MemoryStore(histories.setdefault(name, []), readonly=readonly)
            opened.append(store)
            return store

        yield open_store
        for store in opened:
            store.close()

    @pytest.fixture
    def raw_read(self, histories):
        def read(name="index"):
            states = histories.get(name, [])
            return pickle.dumps(states) if any(state.generation for state in states) else b""

        return read

    @pytest.fixture
    def raw_write(self, histories):
        def change(part, old, new, name="index"):
            state = histories[name][-1]
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
                    histories[name][-1] = replace(state, head=replace(state.head, corpus_root=Digest(new)))

        return change


class TestMemoryFactory(StoreFactorySuite):
    @pytest.fixture
    def factory(self):
        return FACTORY


def test_every_open_gives_a_fresh_store():
    store = FACTORY.open({}, root="/x", readonly=False)
    write(store, {doc("a.md"): pieces("one")})
    assert FACTORY.open({}, root="/x", readonly=False).head().generation == 0


def test_it_has_no_files_and_no_settings():
    assert FACTORY.files({}, root="/x") == ()
    with pytest.raises(ConfigError, match=r"store 'memory'.*'path'"):
        FACTORY.open({"path": "x"}, root="/x", readonly=False)


def test_its_lock_has_one_holder_for_each_root():
    first = FACTORY.lock({}, root="/x", timeout=0, holder="apply 1")
    second = FACTORY.lock({}, root="/x", timeout=0.01, holder="apply 2")
    first.acquire()
    with pytest.raises(LockHeld, match="apply 1"):
        second.acquire()
    FACTORY.lock({}, root="/y", timeout=0, holder="elsewhere").acquire()
    second.release()
    first.release()
    second.acquire()
    second.release()
    second.release()

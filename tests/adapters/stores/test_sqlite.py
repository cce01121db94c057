import pytest

from steadlith_adapters.stores.sqlite import FACTORY
from steadlith_conformance.stores import StoreSuite


class TestSqliteStore(StoreSuite):
    @pytest.fixture
    def make_store(self, tmp_path):
        opened = []

        def open_store(name="index", *, readonly=False):
            store = FACTORY.open({"path": f"{name}/index.sqlite3"}, root=str(tmp_path), readonly=readonly)
            opened.append(store)
            return store

        yield open_store
        for store in opened:
            store.close()

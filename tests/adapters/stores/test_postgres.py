import pytest

from steadlith_adapters.stores.postgres import FACTORY
from steadlith_conformance.stores import StoreSuite


class TestPostgresStore(StoreSuite):
    @pytest.fixture
    def make_store(self, postgres_settings, tmp_path):
        opened, settings = [], {}

        def open_store(name="index", *, readonly=False):
            if name not in settings:
                settings[name] = postgres_settings(name)
            store = FACTORY.open(settings[name], root=str(tmp_path), readonly=readonly)
            opened.append(store)
            return store

        yield open_store
        for store in opened:
            store.close()

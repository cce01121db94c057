import pytest

from steadlith_adapters.stores.sqlite import FACTORY
from steadlith_conformance.stores import StoreFactorySuite, StoreSuite


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

    @pytest.fixture
    def raw_read(self, tmp_path):
        def read(name="index"):
            files = (tmp_path / name / f"index.sqlite3{end}" for end in ("", "-wal"))
            return b"".join(path.read_bytes() for path in files if path.exists())

        return read

    @pytest.fixture
    def raw_write(self, tmp_path):
        def change(part, old, new, name="index"):
            path = tmp_path / name / "index.sqlite3"
            content = path.read_bytes()
            assert old in content, part
            path.write_bytes(content.replace(old, new))

        return change


class TestSqliteFactory(StoreFactorySuite):
    @pytest.fixture
    def factory(self):
        return FACTORY

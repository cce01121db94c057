"""With nothing to do, wrappers are not there: each wrapped adapter keeps every rule of the kit."""

from pathlib import Path

import apsw
import pytest

from steadlith_adapters.caches.sqlite import FACTORY as CACHES
from steadlith_adapters.embedders.hash import FACTORY as HASH
from steadlith_adapters.sources.filesystem import FACTORY as FILES
from steadlith_adapters.stores.memory import MemoryStore
from steadlith_adapters.stores.sqlite import FACTORY as STORES
from steadlith_adapters.wrappers.dry_run import DryRun, DryRunEmbedders, by_backup
from steadlith_adapters.wrappers.factories import WrappedCaches, WrappedEmbedders, WrappedSources, WrappedStores
from steadlith_adapters.wrappers.faults import Faults
from steadlith_adapters.wrappers.latency import Latency
from steadlith_adapters.wrappers.recording import Recorder
from steadlith_adapters.wrappers.retry import Retry
from steadlith_adapters.wrappers.stores import WrappedStore
from steadlith_conformance.caches import CacheSuite
from steadlith_conformance.cachesamples import TODAY
from steadlith_conformance.embedders import EmbedderSuite
from steadlith_conformance.sources import SourceSuite
from steadlith_conformance.stores import StoreSuite


def never(_seconds):
    pytest.fail("nothing failed, and it waited")


def idle():
    """Something round calls that does nothing, of each kind, by name."""
    return {
        "faults": Faults(),
        "latency": Latency({}, never),
        "recording": Recorder(),
        "retry": Retry(60, never, lambda: 0.0),
    }


def nested(wrap, inner, arounds):
    for around in arounds:
        inner = wrap(inner, around)
    return inner


class TestMemoryStoreWrapped(StoreSuite):
    @pytest.fixture
    def make_store(self):
        histories, opened = {}, []

        def open_store(name="index", *, readonly=False):
            store = MemoryStore(histories.setdefault(name, []), readonly=readonly)
            opened.append(nested(WrappedStore, store, idle().values()))
            return opened[-1]

        yield open_store
        for store in opened:
            store.close()


class SqliteFiles:
    """The hooks round a store over SQLite; `kept` is the file of an index by its name."""

    @pytest.fixture
    def raw_read(self, kept):
        def read(name="index"):
            files = (Path(f"{kept(name)}{end}") for end in ("", "-wal"))
            return b"".join(path.read_bytes() for path in files if path.exists())

        return read

    @pytest.fixture
    def raw_write(self, kept):
        def change(_part, old, new, name="index"):
            content = kept(name).read_bytes()
            assert old in content
            kept(name).write_bytes(content.replace(old, new))

        return change


@pytest.mark.slow
class TestSqliteStoreWrapped(SqliteFiles, StoreSuite):
    @pytest.fixture
    def kept(self, tmp_path):
        return lambda name: tmp_path / name / "index.sqlite3"

    @pytest.fixture
    def make_store(self, tmp_path):
        factory, opened = nested(WrappedStores, STORES, idle().values()), []

        def open_store(name="index", *, readonly=False):
            opened.append(factory.open({"path": f"{name}/index.sqlite3"}, root=str(tmp_path), readonly=readonly))
            return opened[-1]

        yield open_store
        for store in opened:
            store.close()


@pytest.mark.slow
class TestDryRunOfMemoryStore(StoreSuite):
    @pytest.fixture
    def make_store(self):
        runs, opened = {}, []

        def copy(store):
            history = store.copied()
            return lambda readonly: MemoryStore(history, readonly=readonly)

        def open_store(name="index", *, readonly=False):
            run = runs.setdefault(name, DryRun(lambda: MemoryStore(readonly=True), copy))
            opened.append(run.open(readonly=readonly))
            return opened[-1]

        yield open_store
        for store in opened:
            store.close()


class TestDryRunOfSqliteStore(SqliteFiles, StoreSuite):
    @pytest.fixture
    def kept(self, tmp_path):
        return lambda name: tmp_path / "thrown away" / name / "index"

    @pytest.fixture
    def make_store(self, tmp_path, kept):
        runs, opened = {}, []

        def begin(name):
            kept(name).parent.mkdir(parents=True)
            return DryRun(
                lambda: STORES.open({"path": name}, root=str(tmp_path / "real"), readonly=True),
                by_backup(STORES, str(kept(name).parent)),
            )

        def open_store(name="index", *, readonly=False):
            if name not in runs:
                runs[name] = begin(name)
            opened.append(runs[name].open(readonly=readonly))
            return opened[-1]

        yield open_store
        for store in opened:
            store.close()
        assert not (tmp_path / "real").exists()


class TestSqliteCacheWrapped(CacheSuite):
    @pytest.fixture
    def open_cache(self, tmp_path):
        factory = nested(WrappedCaches, CACHES, idle().values())

        def open_cache(*, readonly=False, today=TODAY):
            return factory.open({}, root=str(tmp_path), readonly=readonly, today=today)

        return open_cache

    @pytest.fixture
    def damage(self, tmp_path):
        def change_one_byte(which):
            connection = apsw.Connection(CACHES.files({}, root=str(tmp_path))[0])
            (old,) = next(connection.execute("select vector from embedding where key = ?", (which,)))
            new = bytes([old[0] ^ 1]) + old[1:]
            connection.execute("update embedding set vector = ? where key = ?", (new, which))
            connection.close()

        return change_one_byte


class TestHashWrapped(EmbedderSuite):
    @pytest.fixture
    def factory(self):
        return nested(WrappedEmbedders, HASH, idle().values())


class TestDryRunOfHash(EmbedderSuite):
    @pytest.fixture
    def factory(self):
        return DryRunEmbedders(HASH)


class TestFilesystemWrapped(SourceSuite):
    @pytest.fixture
    def folder(self, tmp_path):
        return tmp_path / "docs"

    @pytest.fixture
    def put(self, folder):
        def put(documents):
            for path, body in documents.items():
                file = folder / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(body)

        return put

    @pytest.fixture
    def remove(self, folder):
        return lambda path: (folder / path).unlink()

    @pytest.fixture
    def make_source(self, folder, put):
        factory = nested(WrappedSources, FILES, idle().values())

        def make(documents):
            folder.mkdir(exist_ok=True)
            put(documents)
            return factory.build("docs", {"path": "docs"}, root=str(folder.parent), private=())

        return make

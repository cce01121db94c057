"""A dry run answers as the real thing would, and changes nothing that lasts."""

from contextlib import closing
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steadlith_adapters.caches.sqlite import FACTORY as CACHES
from steadlith_adapters.embedders.hash import FACTORY as HASH
from steadlith_adapters.stores.memory import MemoryStore
from steadlith_adapters.stores.sqlite import FACTORY as STORES
from steadlith_adapters.wrappers.dry_run import DryRun, DryRunCache, DryRunEmbedders, by_backup
from steadlith_conformance.cachesamples import TODAY, WIDE, key, samples, vector
from steadlith_conformance.samples import SPACE, doc, pieces, write
from steadlith_conformance.samples import vector as unit_vector
from steadlith_conformance.stores.histories import manifest
from steadlith_core.errors import AdapterError, EmbeddingError, Failure, GenerationGone, StaleHead, UsageError
from steadlith_core.ports import EmbedderIdentity, PruneRule

BEFORE = (
    {doc("a.md"): pieces("one", "two"), doc("b.md"): pieces("three")},
    {doc("a.md"): pieces("two", "four"), doc("c.md"): pieces("shared")},
)
DURING = (
    {doc("b.md"): None, doc("d.md"): pieces("five", "one")},
    {doc("a.md"): pieces("two"), doc("e.md"): pieces("shared")},
)


def contents(folder):
    """Every byte that lasts: not SQLite's shared memory, where readers leave marks too."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith("-shm"))
    return {str(path): path.read_bytes() for path in files}


def shown(store):
    """All that a store shows: every generation, and its arms."""
    found = [store.head(), store.history()]
    for generation in store.history():
        with closing(store.snapshot(generation.number)) as reader:
            found.append(manifest(reader))
    with closing(store.snapshot()) as reader:
        found += [reader.dense(SPACE, unit_vector("q"), 50), reader.lexical(["one", "shared"], 50)]
        found += [list(reader.problems(full=True)), reader.nodes([""]), reader.within([doc("a.md"), doc("d.md")])]
    return found


@pytest.fixture
def kept(tmp_path):
    """A folder with an index of two generations, and one with a copy that the real writes may go to."""
    for name in ("index", "real"):
        (tmp_path / name).mkdir()
        with closing(opened(tmp_path / name)) as store:
            for changes in BEFORE:
                write(store, changes)
    return tmp_path / "index", tmp_path / "real"


def opened(folder, *, readonly=False):
    return STORES.open({"path": "index.sqlite3"}, root=str(folder), readonly=readonly)


@pytest.fixture
def dry(kept, tmp_path):
    (tmp_path / "copy").mkdir()
    return DryRun(lambda: opened(kept[0], readonly=True), by_backup(STORES, str(tmp_path / "copy")))


def test_what_a_dry_run_shows_is_what_the_real_writes_lead_to_and_the_index_is_untouched(kept, dry):
    before = contents(kept[0])
    with closing(opened(kept[1])) as real, closing(dry.open()) as store:
        assert shown(store) == shown(real)
        assert dry.copied is None
        for changes in DURING:
            assert write(store, changes) == write(real, changes)
            assert shown(store) == shown(real)
        assert store.compact(store.head(), 3).removed.generations == real.compact(real.head(), 3).removed.generations
        assert shown(store) == shown(real)
    assert contents(kept[0]) == before
    with closing(opened(kept[0], readonly=True)) as index:
        assert index.head().generation == 2


def test_stores_of_one_dry_run_see_one_another_and_open_readers_stay(dry):
    with closing(dry.open(readonly=True)) as watching, closing(dry.open()) as store:
        reader = watching.snapshot()
        write(store, DURING[0])
        assert watching.head().generation == 3
        assert reader.head.generation == 2
        assert [each.id for each in reader.documents()] == [doc("a.md"), doc("b.md"), doc("c.md")]
        with closing(dry.open(readonly=True)) as third:
            assert shown(third) == shown(store)


def test_another_dry_run_begins_anew(kept, dry, tmp_path):
    with closing(dry.open()) as store:
        write(store, DURING[0])
    (tmp_path / "second").mkdir()
    again = DryRun(lambda: opened(kept[0], readonly=True), by_backup(STORES, str(tmp_path / "second")))
    with closing(again.open()) as store:
        assert store.head().generation == 2


def test_a_write_is_checked_as_a_real_one_is(dry):
    with closing(dry.open()) as store:
        head = store.head()
        with pytest.raises(StaleHead):
            store.begin(replace(head, generation=1))
        transaction = store.begin(head)
        with pytest.raises(AdapterError, match="absent"):
            transaction.close_document(doc("absent.md"))
        with pytest.raises(GenerationGone):
            store.compact(head, 9)
        assert store.head() == head


def test_a_dry_run_opened_for_reading_copies_nothing(dry):
    with closing(dry.open(readonly=True)) as store:
        for use in (lambda: store.begin(store.head()), lambda: store.compact(store.head(), 1)):
            with pytest.raises(UsageError):
                use()
    assert dry.copied is None


def test_a_memory_store_is_copied_by_its_own_method():
    index = MemoryStore()
    write(index, BEFORE[0])

    def copy(store):
        history = store.copied()
        return lambda readonly: MemoryStore(history, readonly=readonly)

    store = DryRun(lambda: index, copy).open()
    write(store, BEFORE[1])
    assert (store.head().generation, index.head().generation) == (2, 1)


class TestCache:
    """Whatever is put, added and dropped, it answers as a cache that was really written, and its file stays."""

    NUMBERS = st.lists(st.integers(0, 7), max_size=4)
    STEPS = st.lists(st.tuples(st.sampled_from(["put", "add", "drop"]), NUMBERS), max_size=8)

    @staticmethod
    def seen(cache):
        asked = [key(number) for number in range(9)]
        stats = cache.stats()
        return (
            cache.get(asked, WIDE),
            cache.contains(asked, WIDE),
            list(cache.entries()),
            (stats.entries, stats.vector_bytes, stats.widths),
        )

    def test_it_answers_as_one_that_was_really_written(self, tmp_path_factory):
        @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(self.STEPS)
        def holds(steps):
            folder = tmp_path_factory.mktemp("cache")
            caches = []
            for name in ("dry", "real"):
                (folder / name).mkdir()
                cache = CACHES.open({"path": "c"}, root=str(folder / name), readonly=False, today=TODAY)
                cache.put({**samples(4), key(8): bytes(16)})
                caches.append(cache)
            before = contents(folder / "dry")
            caches[0] = DryRunCache(caches[0])
            for turn, (step, numbers) in enumerate(steps):
                made = {key(number): vector(number + turn) for number in numbers}
                answers = [getattr(cache, step)(made if step != "drop" else list(made)) for cache in caches]
                assert answers[0] == answers[1]
                assert self.seen(caches[0]) == self.seen(caches[1])
            assert contents(folder / "dry") == before
            for cache in caches:
                cache.close()

        holds()

    @pytest.fixture
    def cache(self, tmp_path):
        inner = CACHES.open({"path": "c"}, root=str(tmp_path), readonly=False, today=TODAY)
        inner.put(samples(4))
        inner.put_probe("model", key(0), [vector(1)])
        with closing(DryRunCache(inner)) as cache:
            yield cache

    def test_probes_are_kept_and_the_first_stays(self, cache):
        cache.put_probe("model", key(0), [vector(2)])
        cache.put_probe("other", key(0), [vector(3)])
        cache.put_probe("other", key(0), [vector(4)])
        assert cache.probe("model", key(0)) == (vector(1),)
        assert cache.probe("other", key(0)) == (vector(3),)

    def test_what_is_no_vector_is_refused_with_its_batch(self, cache):
        for refuse, bad in ((cache.put, b"12345"), (cache.put, b""), (cache.add, bytes(16)), (cache.add, b"12")):
            with pytest.raises(AdapterError):
                refuse({key(7): vector(7), key(8): bad})
        assert cache.contains([key(7), key(8)], WIDE) == frozenset()

    def test_a_vector_without_a_direction_is_absent(self, cache):
        cache.put({key(1): bytes(16)})
        assert cache.get([key(0), key(1)], WIDE) == {key(0): vector(0)}
        assert [kept.key for kept in cache.entries() if kept.problem] == [key(1)]

    def test_pruning_tells_what_would_go_and_removes_nothing(self, cache):
        cache.touch([key(1)])
        rule = PruneRule(unused_before=TODAY + 1)
        assert cache.prunable(rule).entries == cache.prune(rule).entries == 4
        assert len(cache.get(list(samples(4)), WIDE)) == 4
        done = cache.reclaim()
        assert (done.before, done.held_back) == (done.after, "a dry run removes nothing")

    def test_closing_ends_every_use(self, cache):
        cache.close()
        cache.close()
        for use in (
            lambda: cache.get([key(0)], WIDE),
            lambda: cache.put(samples(1)),
            lambda: cache.touch([key(0)]),
            lambda: cache.drop([key(0)]),
            lambda: cache.probe("model", key(0)),
            lambda: next(cache.entries()),
            cache.stats,
        ):
            with pytest.raises(UsageError):
                use()


class Hosted:
    """A factory that must not build."""

    def describe(self, settings):
        del settings
        return EmbedderIdentity("hosted/large", 8, {"dimensions": 8}, max_bytes=5)

    def build(self, settings):
        pytest.fail(f"a dry run built the embedder with {settings}")


class TestEmbedder:
    def test_nobody_is_called_and_the_vectors_bear_another_name(self):
        factory = DryRunEmbedders(Hosted())
        identity = factory.describe({})
        assert (identity.model_id, identity.local) == ("dry-run/hosted/large", True)
        assert (identity.dimensions, identity.max_bytes) == (8, 5)
        one, two = factory.build({}).embed_documents(["one", "two"])
        assert one != two
        assert factory.build({}).embed_query("one") == one

    def test_it_refuses_what_the_real_one_would(self):
        with pytest.raises(EmbeddingError) as told:
            DryRunEmbedders(Hosted()).build({}).embed_documents(["short", "long text"])
        assert (told.value.failure, told.value.inputs) == (Failure.INPUT, (1,))

    def test_an_unknown_setting_is_the_inner_factory_s_to_refuse(self):
        with pytest.raises(Exception, match="no_such"):
            DryRunEmbedders(HASH).build({"no_such": 1})

"""The embedding cache through the whole: shared, carried, pruned, and what becomes of entries that are not right."""

import tracemalloc

import apsw
import pytest

from steadlith import caching, clock
from steadlith_adapters.embedders import hash as hash_embedder
from steadlith_conformance.cachesamples import key, vector
from steadlith_core import vectors
from steadlith_core.cachefile import entry_checksum, pack
from steadlith_core.errors import ApprovalMissing, CacheFileError, PlanStale, UsageError
from steadlith_core.planning.steps import Add

ROOMY = 256
"""Dimensions of an entry of a kilobyte."""


def cache_file(site):
    return site.root / ".steadlith" / "cache.sqlite3"


def statement(site, sql, *bindings):
    connection = apsw.Connection(str(cache_file(site)))
    rows = connection.execute(sql, *bindings).fetchall()
    connection.close()
    return rows


def forget_the_index(site):
    for path in (site.root / ".steadlith").glob("index*"):
        path.unlink()


def filled(site, count):
    """Put `count` entries of a kilobyte, no text of anybody's."""
    with caching.opened(site.open()._assembly, readonly=False) as cache:
        for start in range(0, count, 500):
            cache.put({key(number): vector(number, ROOMY) for number in range(start, min(count, start + 500))})


def replace_vectors(site, make):
    """Have `make(vector)` in the place of every vector, under a checksum that is right: what a poisoner would do."""
    connection = apsw.Connection(str(cache_file(site)))
    for id_, key_, old in connection.execute("select id, key, vector from embedding").fetchall():
        new = make(old)
        row = (new, entry_checksum(key_ + new), id_)
        connection.execute("update embedding set vector = ?, checksum = ? where id = ?", row)
    connection.close()


def reversed_numbers(old):
    return vectors.pack(list(reversed(vectors.unpack(old))))


class TestSharing:
    def test_two_projects_with_one_cache_pay_once(self, make_site, article):
        settings = '[cache]\npath = "../shared.sqlite3"'
        one, two = make_site("one", rest=settings), make_site("two", rest=settings)
        for site in (one, two):
            site.write("a.md", article("same"))
        two.write("b.md", article("other"))
        first = one.apply()
        assert first.embedded == first.head.chunks
        planned = two.plan()
        second = two.apply(planned)
        assert second.embedded == planned.cost.embeddings == second.head.chunks - first.head.chunks
        assert (one.root.parent / "shared.sqlite3").exists()
        assert not cache_file(one).exists()
        assert not cache_file(two).exists()

    def test_another_model_finds_nothing_of_it(self, make_site, article):
        settings = '[cache]\npath = "../shared.sqlite3"'
        one, two = make_site("one", rest=settings), make_site("two", rest=settings)
        two.configure(rest=settings)
        text = (two.root / "steadlith.toml").read_text("utf-8").replace("dimensions = 32", "dimensions = 48")
        (two.root / "steadlith.toml").write_text(text, "utf-8")
        for site in (one, two):
            site.write("a.md", article("same"))
            done = site.apply()
            assert done.embedded == done.head.chunks
        assert two.open().cache.stats().widths == {32: done.head.chunks, 48: done.head.chunks}

    def test_what_one_machine_exports_another_imports_and_embeds_nothing(self, settled, make_site, tmp_path):
        file = tmp_path / "team.cache"
        exported = settled.open().cache.export(file)
        assert exported.entries == settled.open().head().chunks
        assert exported.size == file.stat().st_size
        there = make_site("there")
        for path in settled.docs.iterdir():
            there.write(path.name, path.read_bytes())
        imported = there.open().cache.load(file, trust=True)
        assert (imported.entries, imported.added, imported.digest) == (
            exported.entries,
            exported.entries,
            exported.digest,
        )
        planned = there.plan()
        assert planned.cost.embeddings == 0
        done = there.apply(planned)
        assert (done.embedded, done.head.state_root) == (0, settled.open().head().state_root)
        assert there.hits() == settled.hits()
        again = tmp_path / "again.cache"
        there.open().cache.export(again)
        assert again.read_bytes() == file.read_bytes()

    def test_entries_of_whoever_was_there_first_stay(self, settled, make_site, tmp_path):
        file = tmp_path / "team.cache"
        settled.open().cache.export(file)
        chunks = settled.open().head().chunks
        replace_vectors(settled, reversed_numbers)
        mine = statement(settled, "select key, vector from embedding")
        imported = settled.open().cache.load(file, trust=True)
        assert (imported.entries, imported.added) == (chunks, 0)
        assert statement(settled, "select key, vector from embedding") == mine


class TestTrust:
    def test_nothing_is_imported_without_a_word(self, settled, make_site, tmp_path):
        file = tmp_path / "team.cache"
        settled.open().cache.export(file)
        there = make_site("there")
        with pytest.raises(ApprovalMissing, match="--trust"):
            there.open().cache.load(file, trust=False)
        assert not (there.root / ".steadlith").exists()

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
    @pytest.mark.parametrize("harm", ["changed", "cut short"])
    def test_nothing_is_kept_of_a_file_that_is_not_sound_to_its_end(self, settled, make_site, tmp_path, share, harm):
        file = tmp_path / "team.cache"
        settled.open().cache.export(file)
        data = bytearray(file.read_bytes())
        at = int((len(data) - 1) * share)
        data[at] ^= 1
        file.write_bytes(data if harm == "changed" else data[:at])
        there = make_site("there")
        with pytest.raises(CacheFileError, match=r"team\.cache: not a cache file"):
            there.open().cache.load(file, trust=True)
        assert not (there.root / ".steadlith").exists()

    def test_a_file_that_changes_between_its_two_readings_is_told(self, settled, make_site, tmp_path, monkeypatch):
        file, other = tmp_path / "team.cache", tmp_path / "other.cache"
        settled.open().cache.export(file)
        other.write_bytes(b"".join(pack([(key(1), vector(1, 32))])))
        there = make_site("there")
        read, readings = caching._read, []

        def reading(which):
            readings.append(which)
            if len(readings) == 2:
                other.replace(file)
            return read(which)

        monkeypatch.setattr(caching, "_read", reading)
        with pytest.raises(CacheFileError, match="changed while it was read"):
            there.open().cache.load(file, trust=True)

    def test_what_was_imported_can_be_told_apart_and_taken_back(self, settled, article, tmp_path):
        file = tmp_path / "team.cache"
        file.write_bytes(b"".join(pack(sorted((key(number), vector(number, 32)) for number in range(5)))))
        own = settled.open().cache.stats().entries
        settled.open().cache.load(file, trust=True)
        found = settled.open().cache.stats()
        assert (found.entries, found.imported) == (own + 5, 5)
        settled.open().cache.prune(caching.rule(unused_days=None, max_bytes=None, imported=True), do=True)
        assert settled.open().cache.stats().entries == own

    @pytest.mark.parametrize("place", ["index.sqlite3", "cache.sqlite3", "steadlith.fingerprints"])
    def test_an_export_never_replaces_a_file_of_the_index(self, settled, place):
        file = settled.root / ".steadlith" / place
        before = file.read_bytes()
        with pytest.raises(UsageError, match="name another"):
            settled.open().cache.export(file)
        assert file.read_bytes() == before


class TestEntriesThatAreNotRight:
    def test_a_damaged_one_counts_as_absent_is_named_and_is_paid_for_once(self, settled):
        chunks = settled.open().head().chunks
        statement(settled, "update embedding set vector = zeroblob(length(vector)) where id <= 2")
        forget_the_index(settled)
        planned = settled.plan()
        assert planned.cost.embeddings == 2  # the plan knows it before anything is paid
        found = settled.open().cache.check()
        assert (found.entries, len(found.damaged)) == (chunks, 2)
        assert {kept.problem for kept in found.damaged} == {"does not match its checksum"}
        assert settled.apply(planned).embedded == 2
        assert settled.open().cache.check().damaged == ()
        assert settled.open().verify().ok

    def test_one_of_other_dimensions_is_never_used(self, settled):
        before = settled.hits()
        replace_vectors(settled, lambda old: old[: len(old) // 2])
        forget_the_index(settled)
        done = settled.apply()
        assert done.embedded == done.head.chunks
        assert settled.hits() == before
        assert settled.open().cache.stats().widths == {32: done.head.chunks}

    def test_one_that_was_replaced_with_its_checksum_is_believed_until_the_model_is_asked(self, settled):
        """No bytes show it: that is said, and there is a way to find it and to be rid of it."""
        before = settled.hits("alpha two 3")
        chunks = settled.open().head().chunks
        replace_vectors(settled, reversed_numbers)
        forget_the_index(settled)
        assert settled.apply().embedded == 0
        index = settled.open()
        assert index.verify().ok
        assert index.cache.check().damaged == ()
        assert settled.hits("alpha two 3") != before

        with index.reader() as reader:
            sample = index.cache.draw(reader, chunks + 99)
            assert len(sample.asked) == sample.cost.embeddings == chunks
            found = index.cache.compare(reader, sample)
        assert (found.sampled, found.held) == (chunks, chunks)
        assert len(found.cache) == len(found.index) == chunks
        assert min(astray.distance for astray in (*found.cache, *found.index)) > 0.01

        assert index.cache.drop([astray.asked.key for astray in found.cache]) == chunks
        forget_the_index(settled)
        assert settled.apply().embedded == chunks
        assert settled.hits("alpha two 3") == before

    def test_a_sample_of_a_sound_cache_finds_nothing_astray(self, settled):
        index = settled.open()
        with index.reader() as reader:
            sample = index.cache.draw(reader, 4)
            assert sample == index.cache.draw(reader, 4)  # the same one all day
            found = index.cache.compare(reader, sample)
        assert (found.sampled, found.held, found.cache, found.index) == (4, 4, (), ())

    def test_a_sample_needs_no_cache_to_judge_the_index(self, settled):
        for path in cache_file(settled).parent.glob("cache*"):
            path.unlink()
        index = settled.open()
        with index.reader() as reader:
            found = index.cache.compare(reader, index.cache.draw(reader, 3))
        assert (found.sampled, found.held, found.index) == (3, 0, ())
        assert not cache_file(settled).exists()


class TestPruning:
    def test_space_is_given_back_and_reported(self, site):
        filled(site, 3000)
        before = cache_file(site).stat().st_size
        done = site.open().cache.prune(caching.rule(unused_days=None, max_bytes=100_000, imported=False), do=True)
        assert done.gone == (3000 - 100_000 // 1024, (3000 - 100_000 // 1024) * 1024)
        assert done.reclaimed.held_back is None
        assert done.reclaimed.before >= before
        assert done.reclaimed.after == cache_file(site).stat().st_size < 400_000 < before / 5
        assert not cache_file(site).with_name("cache.sqlite3-wal").exists()

    def test_a_reader_holds_back_what_is_given_back_once_it_is_gone(self, site):
        filled(site, 1500)
        reader = apsw.Connection(str(cache_file(site)))
        reader.execute("begin")
        reader.execute("select count(*) from embedding").fetchall()
        rule = caching.rule(unused_days=None, max_bytes=0, imported=False)
        done = site.open().cache.prune(rule, do=True)
        assert done.gone.entries == 1500
        assert "another process is reading" in done.reclaimed.held_back
        assert reader.execute("select count(*) from embedding").fetchall() == [(1500,)]
        reader.close()
        again = site.open().cache.prune(rule, do=True)
        assert (again.gone.entries, again.reclaimed.held_back) == (0, None)
        assert again.reclaimed.after == cache_file(site).stat().st_size < 200_000

    def test_it_is_only_counted_unless_it_is_meant(self, settled):
        before = cache_file(settled).read_bytes()
        rule = caching.rule(unused_days=None, max_bytes=0, imported=False)
        counted = settled.open().cache.prune(rule, do=False)
        assert (counted.gone.entries, counted.done, counted.reclaimed) == (settled.open().head().chunks, False, None)
        assert cache_file(settled).read_bytes() == before

    def test_where_there_is_no_cache_none_is_made(self, site):
        rule = caching.rule(unused_days=1, max_bytes=None, imported=False)
        assert site.open().cache.prune(rule, do=True).gone == (0, 0)
        assert not (site.root / ".steadlith").exists()

    def test_an_apply_notes_what_it_used_and_the_rest_grows_old(self, settled, monkeypatch):
        chunks = settled.open().head().chunks
        (settled.docs / "three.md").unlink()
        settled.apply()
        day = clock.today()
        monkeypatch.setattr(clock, "today", lambda: day + 40)
        forget_the_index(settled)
        used = settled.apply()
        assert used.embedded == 0
        rule = caching.rule(unused_days=30, max_bytes=None, imported=False)
        assert settled.open().cache.prune(rule, do=True).gone.entries == chunks - used.head.chunks
        forget_the_index(settled)
        assert settled.apply().embedded == 0

    def test_what_the_index_holds_is_not_paid_for_again(self, settled):
        settled.open().cache.prune(caching.rule(unused_days=None, max_bytes=0, imported=False), do=True)
        text = (settled.docs / "one.md").read_text("utf-8")
        (settled.docs / "one.md").write_text("An opening that is new.\n\n" + text, "utf-8")
        (settled.docs / "two.md").rename(settled.docs / "renamed.md")
        planned = settled.plan()
        added = [step for change in planned.changes for step in change.steps if isinstance(step, Add)]
        assert planned.cost.embeddings == sum(step.paid for step in added) <= 2

    def test_a_plan_that_counted_on_what_was_pruned_is_stale_before_anything_is_paid(self, settled, monkeypatch):
        forget_the_index(settled)
        planned = settled.plan()
        assert planned.cost.embeddings == 0
        settled.open().cache.prune(caching.rule(unused_days=None, max_bytes=0, imported=False), do=True)
        asked = []
        monkeypatch.setattr(hash_embedder.HashEmbedder, "embed_documents", lambda _self, texts: asked.append(texts))
        with pytest.raises(PlanStale):
            settled.apply(planned)
        assert asked == []

    def test_a_cache_that_may_not_be_written_fails_no_apply(self, settled, monkeypatch):
        """The use is not noted, and that is all."""
        touched = []

        def refusing(_cache, keys):
            touched.extend(keys)
            raise UsageError("opened for reading only")

        forget_the_index(settled)
        cache = type(settled.open()._assembly.open_cache(readonly=True))
        monkeypatch.setattr(cache, "touch", refusing)
        done = settled.apply()
        assert (done.embedded, len(touched)) == (0, done.head.chunks)


def peak(work):
    tracemalloc.start()
    try:
        work()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return most


def test_export_and_import_hold_a_few_entries_however_many_there_are(make_site, tmp_path):
    """A file of 13 MB passes through less than half of it, and three times the entries take no more."""
    held = {}
    for count in (4000, 12_000):
        here, there = make_site(f"from-{count}"), make_site(f"to-{count}")
        filled(here, count)
        file = tmp_path / f"{count}.cache"
        exporting = peak(lambda: here.open().cache.export(file))  # noqa: B023 -- called at once
        importing = peak(lambda: there.open().cache.load(file, trust=True))  # noqa: B023 -- called at once
        assert there.open().cache.stats().entries == count
        held[count] = (exporting, importing)
    for few, many in zip(held[4000], held[12_000], strict=True):
        assert many < 1.2 * few
        assert many < file.stat().st_size / 2

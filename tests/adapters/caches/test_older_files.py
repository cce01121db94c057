"""Caches of an older schema: read as they are, and migrated by the first write, whoever makes it."""

import subprocess
import sys

import apsw
import pytest

from steadlith_adapters.caches.sqlite import FACTORY, schema
from steadlith_conformance.cachesamples import TODAY, WIDE, key, samples, vector
from steadlith_core.cachefile import entry_checksum
from steadlith_core.errors import ForeignFile, StoreCorrupt
from steadlith_core.ports import PruneRule

PUT_1 = "insert into embedding(key, vector, checksum) values (?, ?, ?)"


def rows(vectors):
    return [(key, vector, entry_checksum(key + vector)) for key, vector in vectors.items()]


def opened(root, *, readonly=False, today=TODAY):
    return FACTORY.open({}, root=str(root), readonly=readonly, today=today)


@pytest.fixture
def file(tmp_path):
    return tmp_path / ".steadlith" / "cache.sqlite3"


@pytest.fixture
def old(file):
    """A connection of the version before, to a cache of ten entries."""
    file.parent.mkdir()
    connection = apsw.Connection(str(file))
    connection.execute("pragma page_size = 16384").fetchall()
    connection.execute("pragma journal_mode = wal").fetchall()
    for statement in (*schema.SCHEMA_1, "pragma user_version = 1"):
        connection.execute(statement).fetchall()
    connection.executemany(PUT_1, rows(samples(10)))
    yield connection
    connection.close()


def version(file):
    connection = apsw.Connection(str(file))
    (found,) = next(connection.execute("pragma user_version"))
    connection.close()
    return found


def test_it_is_read_as_it_is(tmp_path, file, old):
    old.close()
    before = file.read_bytes()
    cache = opened(tmp_path, readonly=True)
    assert cache.get(list(samples(11)), WIDE) == samples(10)
    assert len(list(cache.entries())) == 10
    found = cache.stats()
    assert (found.entries, found.imported, found.widths) == (10, 0, {WIDE: 10})
    assert (found.oldest_use, found.latest_use) == (None, None)
    assert cache.prunable(PruneRule(unused_before=TODAY + 9**9)) == (0, 0)
    assert cache.prunable(PruneRule(max_bytes=4 * 4 * WIDE)).entries == 6
    cache.close()
    assert file.read_bytes() == before


def test_it_is_read_where_nothing_may_be_written(public_path, as_nobody):
    file = public_path / ".steadlith" / "cache.sqlite3"
    file.parent.mkdir()
    connection = apsw.Connection(str(file))
    for statement in (*schema.SCHEMA_1, "pragma user_version = 1"):
        connection.execute(statement).fetchall()
    connection.executemany(PUT_1, rows(samples(10)))
    connection.close()
    script = """
import numpy
from steadlith_adapters.caches.sqlite import FACTORY, cache  # as all imports, before the rights are dropped
from steadlith_conformance.cachesamples import samples
drop()
cache = FACTORY.open({}, root=arguments[0], readonly=True, today=1)
answer([len(cache.get(list(samples(9)), 4)), cache.stats().entries])
cache.close()
"""
    assert as_nobody(script, str(public_path)) == [9, 10]


def test_opening_it_for_writing_migrates_nothing_yet(tmp_path, file, old):
    opened(tmp_path).close()
    assert version(file) == 1


@pytest.mark.parametrize(
    "write",
    [
        lambda cache: cache.put({key(99): vector(99)}),
        lambda cache: cache.touch([key(1)]),
        lambda cache: cache.add({key(99): vector(99)}),
        lambda cache: cache.put_probe("model", key(0), [vector(1)]),
        lambda cache: cache.prune(PruneRule(imported=True)),
        lambda cache: cache.drop([key(99)]),
        lambda cache: cache.reclaim(),
    ],
    ids=["put", "touch", "add", "put_probe", "prune", "drop", "reclaim"],
)
def test_the_first_write_migrates_it_and_what_is_there_counts_as_used_that_day(tmp_path, file, old, write):
    cache = opened(tmp_path, today=TODAY + 5)
    write(cache)
    assert version(file) == schema.SCHEMA_VERSION
    assert cache.stats().oldest_use == TODAY + 5
    assert cache.prunable(PruneRule(unused_before=TODAY + 5)) == (0, 0)
    assert cache.get(list(samples(10)), WIDE) == samples(10)
    cache.close()


def test_a_touch_of_nothing_migrates_nothing(tmp_path, file, old):
    cache = opened(tmp_path)
    cache.touch([])
    cache.close()
    assert version(file) == 1


def test_a_process_of_the_version_before_may_still_be_writing(tmp_path, old):
    cache = opened(tmp_path, today=TODAY)
    cache.put({key(50): vector(50)})
    with old:
        old.executemany(PUT_1, rows({key(60): vector(60)}))
    cache.put({key(51): vector(51)})
    assert cache.get([key(60)], WIDE) == {key(60): vector(60)}
    cache.close()
    cache = opened(tmp_path, today=TODAY + 3)
    assert cache.prune(PruneRule(unused_before=TODAY + 1)).entries == 12
    assert [kept.key for kept in cache.entries()] == [key(60)]
    assert (cache.stats().entries, cache.stats().oldest_use) == (1, TODAY + 3)
    cache.close()


def test_two_that_write_at_once_migrate_it_once(tmp_path, old):
    script = """
import sys
from steadlith_adapters.caches.sqlite import FACTORY
from steadlith_conformance.cachesamples import key, vector
start = int(sys.argv[2])
cache = FACTORY.open({}, root=sys.argv[1], readonly=False, today=20000)
for number in range(start, start + 10):
    cache.put({key(number): vector(number)})
cache.close()
"""
    both = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path), str(start)]) for start in (1000, 2000)]
    assert [child.wait(timeout=60) for child in both] == [0, 0]
    cache = opened(tmp_path, readonly=True)
    assert cache.stats().entries == len(list(cache.entries())) == 30
    cache.close()


@pytest.mark.parametrize(("number", "error"), [(schema.SCHEMA_VERSION + 1, ForeignFile), (0, StoreCorrupt)])
def test_a_newer_one_is_refused_and_so_is_a_half_made_one(tmp_path, file, old, number, error):
    old.execute(f"pragma user_version = {number}").fetchall()
    old.close()
    before = file.read_bytes()
    for readonly in (True, False):
        with pytest.raises(error, match=r"this one reads 1 to 2|half-made"):
            opened(tmp_path, readonly=readonly)
    assert file.read_bytes() == before

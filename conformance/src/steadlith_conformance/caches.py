"""What every cache must do, as a class to inherit: override the two fixtures, keep the rules.

1. A rule is one inherited method; its name is what it demands.
2. `open_cache` opens the same place each time, so that a suite can look at what a first opening left behind.
3. `damage` goes round the adapter: a cache cannot vouch for itself.
"""

from __future__ import annotations

import struct
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.cachesamples import WIDE, OpenCache, key, samples, vector
from steadlith_conformance.cacheupkeep import UpkeepRules
from steadlith_conformance.suite import Suite
from steadlith_core.errors import AdapterError, UsageError
from steadlith_core.ports import PruneRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Cache

__all__ = ["CacheSuite", "OpenCache", "key", "samples", "vector"]


class CacheSuite(UpkeepRules, Suite, port="cache"):
    """The rules of `ports.Cache` and `ports.CacheFactory.open`."""

    @pytest.fixture
    def open_cache(self) -> OpenCache:
        raise NotImplementedError("override `open_cache`: a function that opens the cache at one fresh place")

    @pytest.fixture
    def damage(self) -> Callable[[Digest], None]:
        raise NotImplementedError("override `damage`: a function that changes one byte of a kept vector on the disk")

    def test_a_new_cache_knows_nothing(self, open_cache: OpenCache) -> None:
        """An empty cache answers every question with nothing."""
        cache = open_cache()
        assert cache.contains([key(1)], WIDE) == frozenset()
        assert cache.get([key(1)], WIDE) == {}
        assert cache.probe("model", key(0)) is None
        cache.close()

    def test_what_was_put_is_answered_exactly(self, open_cache: OpenCache) -> None:
        """The same bytes under the same key, whatever the order of the question."""
        cache = open_cache()
        cache.put(samples(9))
        for asked in ([key(2), key(77), key(0), key(2)], [*samples(9)], [*reversed(samples(9))]):
            wanted = {each: samples(9)[each] for each in asked if each != key(77)}
            assert cache.contains(asked, WIDE) == wanted.keys()
            assert cache.get(asked, WIDE) == wanted
        cache.close()

    def test_no_keys_get_no_answer(self, open_cache: OpenCache) -> None:
        """A run without changes asks for nothing and puts nothing."""
        cache = open_cache()
        cache.put({})
        assert cache.contains([], WIDE) == frozenset()
        assert cache.get([], WIDE) == {}
        cache.close()

    def test_thousands_of_keys_are_one_question(self, open_cache: OpenCache) -> None:
        """Split what a statement cannot take at once; the answer is one."""
        cache = open_cache()
        cache.put(samples(2500))
        assert cache.get([key(number) for number in range(3000)], WIDE) == samples(2500)
        assert len(cache.contains([key(number) for number in range(3000)], WIDE)) == 2500
        cache.close()

    def test_vectors_of_different_widths_live_together_and_only_the_asked_for_is_there(
        self, open_cache: OpenCache
    ) -> None:
        """A vector of other dimensions under a key is no answer: it counts as absent."""
        cache = open_cache()
        both = {key(1): vector(1, 3), key(2): vector(2, 512)}
        cache.put(both)
        for number, dimensions in ((1, 3), (2, 512)):
            assert cache.get(list(both), dimensions) == {key(number): vector(number, dimensions)}
            assert cache.contains(list(both), dimensions) == {key(number)}
        assert cache.get(list(both), 4) == {}
        cache.close()

    def test_a_vector_without_a_direction_is_absent_and_can_be_put_again(self, open_cache: OpenCache) -> None:
        """Zeros and NaN can be kept and must not be given out: a provider once answered with them."""
        cache = open_cache()
        for number in (float("nan"), float("inf"), 0.0):
            useless = struct.pack("<4f", number, *([0.0] * 3))
            cache.put({key(0): useless, key(1): vector(1)})
            assert cache.get([key(0), key(1)], WIDE) == {key(1): vector(1)}
            assert cache.contains([key(0), key(1)], WIDE) == {key(1)}
        cache.put(samples(1))
        assert cache.get([key(0)], WIDE) == samples(1)
        cache.close()

    def test_field_case_22_what_is_put_twice_is_there_once(self, open_cache: OpenCache) -> None:
        """Putting again is harmless: insert or replace by key."""
        cache = open_cache()
        cache.put(samples(2))
        cache.put(samples(3))
        assert cache.stats().entries == len(list(cache.entries())) == 3
        assert cache.get([key(0), key(1), key(2)], WIDE) == samples(3)
        cache.close()

    def test_a_vector_that_is_no_vector_is_refused_with_its_batch(self, open_cache: OpenCache) -> None:
        """A batch is kept whole or not at all. Judge all of it before the first is written."""
        cache = open_cache()
        for bad in (b"", b"12345"):
            with pytest.raises(AdapterError):
                cache.put({key(1): vector(1), key(2): bad})
        assert cache.contains([key(1), key(2)], WIDE) == frozenset()
        cache.close()

    def test_the_next_opening_finds_everything(self, open_cache: OpenCache) -> None:
        """What `put` answered for was paid for. Write it durably before you return."""
        cache = open_cache()
        cache.put(samples(2))
        cache.put_probe("model", key(0), [vector(1), vector(2)])
        cache.close()
        for readonly in (False, True):
            again = open_cache(readonly=readonly)
            assert again.get([key(0), key(1)], WIDE) == samples(2)
            assert again.probe("model", key(0)) == (vector(1), vector(2))
            again.close()

    def test_another_opening_sees_a_put_at_once(self, open_cache: OpenCache) -> None:
        """Two processes share a cache so that each pays once. Read committed state at every call, and keep no copy."""
        writer, reader = open_cache(), open_cache()
        writer.put(samples(1))
        assert reader.contains([key(0)], WIDE) == {key(0)}
        reader.put({key(1): vector(1)})
        assert writer.get([key(0), key(1)], WIDE) == samples(2)
        writer.close()
        reader.close()

    def test_the_first_probe_stays(self, open_cache: OpenCache) -> None:
        """The probe tells whether a model is still the one that it was. A second recording would hide that it
        changed.
        """
        cache = open_cache()
        cache.put_probe("model", key(0), [vector(1)])
        cache.put_probe("model", key(0), [vector(2)])
        cache.put_probe("model", key(1), [vector(3)])
        cache.put_probe("other", key(0), [vector(4)])
        assert cache.probe("model", key(0)) == (vector(1),)
        assert cache.probe("model", key(1)) == (vector(3),)
        assert cache.probe("other", key(0)) == (vector(4),)
        assert cache.probe("other", key(1)) is None
        cache.close()

    def test_a_damaged_entry_is_absent_and_can_be_put_again(
        self, open_cache: OpenCache, damage: Callable[[Digest], None]
    ) -> None:
        """A damaged vector would be indexed, and nobody would see it. Keep a checksum, compare it at every read, and
        let a new vector take its place.
        """
        cache = open_cache()
        cache.put(samples(3))
        cache.close()
        damage(key(1))
        again = open_cache()
        asked = [key(0), key(1), key(2)]
        assert again.get(asked, WIDE) == {key(0): vector(0), key(2): vector(2)}
        assert again.contains(asked, WIDE) == {key(0), key(2)}
        again.put({key(1): vector(1)})
        assert again.get(asked, WIDE) == samples(3)
        again.close()

    def test_what_is_dropped_is_absent_and_all_else_stays(self, open_cache: OpenCache) -> None:
        """An erasure names keys. Count those that were there, and touch no other."""
        cache = open_cache()
        cache.put(samples(4))
        assert cache.drop([key(1), key(3), key(9)]) == 2
        assert cache.get([key(number) for number in range(10)], WIDE) == {key(0): vector(0), key(2): vector(2)}
        assert cache.drop([key(1)]) == 0
        assert cache.reclaim().held_back is None
        assert cache.get([key(0), key(1), key(2)], WIDE) == {key(0): vector(0), key(2): vector(2)}
        cache.close()

    def test_every_entry_is_listed_once_in_order_and_a_damaged_one_with_its_problem(
        self, open_cache: OpenCache, damage: Callable[[Digest], None]
    ) -> None:
        """An export and a check read everything. Order by key, page by page, and name what is damaged instead of
        leaving it out.
        """
        cache = open_cache()
        cache.put(samples(1200))
        cache.close()
        damage(key(7))
        again = open_cache(readonly=True)
        found = list(again.entries())
        assert [each.key for each in found] == sorted(samples(1200))
        assert [each.key for each in found if each.problem] == [key(7)]
        again.close()

    def test_an_absent_cache_opened_for_reading_is_empty(self, open_cache: OpenCache) -> None:
        """A first plan has no cache yet. Answer with nothing, and create nothing."""
        cache = open_cache(readonly=True)
        assert cache.contains([key(0)], WIDE) == frozenset()
        assert cache.get([key(0)], WIDE) == {}
        assert cache.probe("model", key(0)) is None
        cache.close()

    def test_a_cache_opened_for_reading_refuses_to_be_written(self, open_cache: OpenCache) -> None:
        """Planning looks into a cache that may be somebody else's. Raise `UsageError`, also where no cache is there."""
        for make_first in (False, True):
            if make_first:
                open_cache().close()
            cache = open_cache(readonly=True)
            for write in _writes(cache):
                with pytest.raises(UsageError):
                    write()
            cache.close()

    def test_closing_twice_is_harmless_and_ends_every_use(self, open_cache: OpenCache) -> None:
        """Raise `UsageError` afterwards, also from iterators."""
        for readonly in (True, False):
            cache = open_cache(readonly=readonly)
            cache.close()
            cache.close()
            uses: tuple[Callable[[], object], ...] = (
                partial(cache.contains, [key(0)], WIDE),
                partial(cache.get, [key(0)], WIDE),
                partial(cache.probe, "model", key(0)),
                cache.stats,
                partial(_first_entry, cache),
                partial(cache.prunable, PruneRule(imported=True)),
                *_writes(cache),
            )
            for use in uses:
                with pytest.raises(UsageError):
                    use()

    def test_threads_may_share_it(self, open_cache: OpenCache) -> None:
        """Batches come back on several threads. Guard the connection, or have one for each."""
        cache = open_cache()

        def work(worker: int) -> None:
            for number in range(20):
                own = 100 * worker + number
                cache.put({key(own): vector(own)})
                assert cache.get([key(own)], WIDE) == {key(own): vector(own)}

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        own = [key(100 * worker + number) for worker in range(4) for number in range(20)]
        assert cache.contains(own, WIDE) == set(own)
        cache.close()


def _first_entry(cache: Cache) -> object:
    return next(cache.entries())


def _writes(cache: Cache) -> tuple[Callable[[], object], ...]:
    """Every method that changes something."""
    return (
        partial(cache.put, samples(1)),
        partial(cache.touch, [key(0)]),
        partial(cache.put_probe, "model", key(0), [vector(0)]),
        partial(cache.add, samples(1)),
        partial(cache.prune, PruneRule(imported=True)),
        partial(cache.drop, [key(0)]),
        cache.reclaim,
    )

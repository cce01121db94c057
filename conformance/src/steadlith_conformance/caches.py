"""What every cache must do, as a class to inherit: override the two fixtures, keep the rules.

1. A rule is one inherited method; its name is what it demands.
2. `open_cache` opens the same place each time, so that a suite can look at what a first opening left behind.
3. `damage` goes round the adapter: a cache cannot vouch for itself.
"""

from __future__ import annotations

import struct
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import pytest

from steadlith_core.digest import hash_fields
from steadlith_core.errors import AdapterError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Cache
    from steadlith_core.vectors import Vector


OpenCache: TypeAlias = "Callable[..., Cache]"
"""Opens the cache at one place, again and again: `open_cache(readonly=True)`."""


def key(number: int) -> Digest:
    """The key of sample entry `number`."""
    return hash_fields("conformance", number)


def vector(number: int, dimensions: int = 4) -> Vector:
    """The vector of sample entry `number`."""
    return struct.pack(f"<{dimensions}f", *(number + place + 1 for place in range(dimensions)))


def samples(count: int) -> dict[Digest, Vector]:
    """The first `count` sample entries."""
    return {key(number): vector(number) for number in range(count)}


class CacheSuite:
    """The rules of `ports.Cache` and `ports.CacheFactory.open`."""

    @pytest.fixture
    def open_cache(self) -> OpenCache:
        raise NotImplementedError("override `open_cache`: a function that opens the cache at one fresh place")

    @pytest.fixture
    def damage(self) -> Callable[[Digest], None]:
        raise NotImplementedError("override `damage`: a function that changes one byte of a kept vector on the disk")

    def test_a_new_cache_knows_nothing(self, open_cache: OpenCache) -> None:
        cache = open_cache()
        assert cache.contains([key(1)]) == frozenset()
        assert cache.get([key(1)]) == {}
        assert cache.probe("model", key(0)) is None
        cache.close()

    def test_what_was_put_is_answered_exactly(self, open_cache: OpenCache) -> None:
        cache = open_cache()
        cache.put(samples(3))
        asked = [key(2), key(7), key(0), key(2)]
        assert cache.contains(asked) == {key(2), key(0)}
        assert cache.get(asked) == {key(2): vector(2), key(0): vector(0)}
        cache.close()

    def test_no_keys_get_no_answer(self, open_cache: OpenCache) -> None:
        cache = open_cache()
        cache.put({})
        assert cache.contains([]) == frozenset()
        assert cache.get([]) == {}
        cache.close()

    def test_thousands_of_keys_are_one_question(self, open_cache: OpenCache) -> None:
        cache = open_cache()
        cache.put(samples(2500))
        assert cache.get([key(number) for number in range(3000)]) == samples(2500)
        assert len(cache.contains([key(number) for number in range(3000)])) == 2500
        cache.close()

    def test_vectors_of_different_lengths_live_together(self, open_cache: OpenCache) -> None:
        cache = open_cache()
        both = {key(1): vector(1, 3), key(2): vector(2, 512)}
        cache.put(both)
        assert cache.get(list(both)) == both
        cache.close()

    def test_putting_twice_is_harmless(self, open_cache: OpenCache) -> None:
        cache = open_cache()
        cache.put(samples(2))
        cache.put(samples(3))
        assert cache.get([key(0), key(1), key(2)]) == samples(3)
        cache.close()

    def test_a_vector_that_is_no_vector_is_refused_with_its_batch(self, open_cache: OpenCache) -> None:
        cache = open_cache()
        for bad in (b"", b"12345"):
            with pytest.raises(AdapterError):
                cache.put({key(1): vector(1), key(2): bad})
        assert cache.contains([key(1), key(2)]) == frozenset()
        cache.close()

    def test_the_next_opening_finds_everything(self, open_cache: OpenCache) -> None:
        cache = open_cache()
        cache.put(samples(2))
        cache.put_probe("model", key(0), [vector(1), vector(2)])
        cache.close()
        for readonly in (False, True):
            again = open_cache(readonly=readonly)
            assert again.get([key(0), key(1)]) == samples(2)
            assert again.probe("model", key(0)) == (vector(1), vector(2))
            again.close()

    def test_another_opening_sees_a_put_at_once(self, open_cache: OpenCache) -> None:
        writer, reader = open_cache(), open_cache()
        writer.put(samples(1))
        assert reader.contains([key(0)]) == {key(0)}
        reader.put({key(1): vector(1)})
        assert writer.get([key(0), key(1)]) == samples(2)
        writer.close()
        reader.close()

    def test_the_first_probe_stays(self, open_cache: OpenCache) -> None:
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
        cache = open_cache()
        cache.put(samples(3))
        cache.close()
        damage(key(1))
        again = open_cache()
        asked = [key(0), key(1), key(2)]
        assert again.get(asked) == {key(0): vector(0), key(2): vector(2)}
        assert again.contains(asked) == {key(0), key(2)}
        again.put({key(1): vector(1)})
        assert again.get(asked) == samples(3)
        again.close()

    def test_what_is_dropped_is_absent_and_all_else_stays(self, open_cache: OpenCache) -> None:
        cache = open_cache()
        cache.put(samples(4))
        assert cache.drop([key(1), key(3), key(9)]) == 2
        assert cache.get([key(number) for number in range(10)]) == {key(0): vector(0), key(2): vector(2)}
        assert cache.drop([key(1)]) == 0
        assert cache.reclaim().held_back is None
        assert cache.get([key(0), key(1), key(2)]) == {key(0): vector(0), key(2): vector(2)}
        cache.close()

    def test_every_entry_is_listed_once_in_order_and_a_damaged_one_with_its_problem(
        self, open_cache: OpenCache, damage: Callable[[Digest], None]
    ) -> None:
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
        cache = open_cache(readonly=True)
        assert cache.contains([key(0)]) == frozenset()
        assert cache.get([key(0)]) == {}
        assert cache.probe("model", key(0)) is None
        cache.close()

    def test_a_cache_opened_for_reading_refuses_to_be_written(self, open_cache: OpenCache) -> None:
        for make_first in (False, True):
            if make_first:
                open_cache().close()
            cache = open_cache(readonly=True)
            with pytest.raises(UsageError):
                cache.put(samples(1))
            with pytest.raises(UsageError):
                cache.put_probe("model", key(0), [vector(0)])
            cache.close()

    def test_closing_twice_is_harmless_and_ends_every_use(self, open_cache: OpenCache) -> None:
        for readonly in (True, False):
            cache = open_cache(readonly=readonly)
            cache.close()
            cache.close()
            uses: tuple[Callable[[], object], ...] = (
                partial(cache.contains, [key(0)]),
                partial(cache.get, [key(0)]),
                partial(cache.put, samples(1)),
                partial(cache.probe, "model", key(0)),
                partial(cache.put_probe, "model", key(0), [vector(0)]),
            )
            for use in uses:
                with pytest.raises(UsageError):
                    use()

    def test_threads_may_share_it(self, open_cache: OpenCache) -> None:
        cache = open_cache()

        def work(worker: int) -> None:
            for number in range(20):
                own = 100 * worker + number
                cache.put({key(own): vector(own)})
                assert cache.get([key(own)]) == {key(own): vector(own)}

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        assert len(cache.contains([key(100 * worker + number) for worker in range(4) for number in range(20)])) == 80
        cache.close()

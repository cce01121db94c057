"""The rules of a cache's upkeep: counts, uses, pruning, dropping, and entries that came from elsewhere."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from steadlith_conformance.cachesamples import TODAY, WIDE, OpenCache, key, samples, vector
from steadlith_core.errors import AdapterError
from steadlith_core.ports import PruneRule, Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith_core.digest import Digest
    from steadlith_core.ports import Cache

SIZE = 4 * WIDE


def _kept(cache: Cache) -> set[int]:
    """Numbers of the first hundred sample entries that are there."""
    there = cache.contains([key(number) for number in range(100)], WIDE)
    return {number for number in range(100) if key(number) in there}


class UpkeepRules:
    """The rules of `ports.Cache` for its keeper."""

    def test_stats_count_what_is_there(self, open_cache: OpenCache) -> None:
        """Count by widths, imports and days without reading a vector."""
        cache = open_cache()
        assert (cache.stats().entries, cache.stats().widths, cache.stats().oldest_use) == (0, {}, None)
        cache.put(samples(3) | {key(9): vector(9, 512)})
        cache.add({key(4): vector(4)})
        found = cache.stats()
        assert (found.entries, found.imported, found.widths) == (5, 1, {WIDE: 4, 512: 1})
        assert found.vector_bytes == 4 * SIZE + 2048 < found.file_bytes
        assert (found.oldest_use, found.latest_use) == (TODAY, TODAY)
        cache.close()

    def test_entries_come_in_the_order_of_their_keys_however_they_were_put(self, open_cache: OpenCache) -> None:
        """An exported file is in the order of its keys, so that equal caches are equal files."""
        cache = open_cache()
        for number in (5, 2, 900, 1):
            cache.put({key(number): vector(number)})
        given = samples(1300)
        cache.put(given)
        found = list(cache.entries())
        assert [kept.key for kept in found] == sorted(given)
        assert all(kept.vector == given[kept.key] and kept.problem is None for kept in found)
        cache.close()

    def test_an_entry_that_counts_as_absent_says_why(
        self, open_cache: OpenCache, damage: Callable[[Digest], None]
    ) -> None:
        """`entries` is how a user finds out why something was paid for again."""
        cache = open_cache()
        cache.put(samples(3) | {key(3): bytes(16), key(4): struct.pack("<4f", 1, 2, 3, float("nan"))})
        cache.close()
        damage(key(1))
        again = open_cache(readonly=True)
        problems = {kept.key: kept.problem for kept in again.entries()}
        again.close()
        assert problems[key(0)] is problems[key(2)] is None
        assert all(problems[key(number)] for number in (1, 3, 4))

    def test_what_was_put_or_touched_counts_as_used_on_that_day(self, open_cache: OpenCache) -> None:
        """The day is the one that the cache was opened with; no clock is read."""
        open_cache(today=TODAY).close()
        first = open_cache(today=TODAY)
        first.put(samples(4))
        first.close()
        second = open_cache(today=TODAY + 10)
        second.touch([key(1), key(77)])
        second.put({key(7): vector(7)})
        second.close()
        cache = open_cache(today=TODAY + 20)
        assert (cache.stats().oldest_use, cache.stats().latest_use) == (TODAY, TODAY + 10)
        assert cache.prunable(PruneRule(unused_before=TODAY + 1)) == (3, 3 * SIZE)
        assert cache.prunable(PruneRule(unused_before=TODAY)) == (0, 0)
        cache.prune(PruneRule(unused_before=TODAY + 10))
        assert _kept(cache) == {1, 7}
        cache.close()

    def test_a_clock_that_goes_back_makes_no_use_older(self, open_cache: OpenCache) -> None:
        """A machine with a wrong clock must not make entries old that others use. Keep the later day."""
        cache = open_cache(today=TODAY)
        cache.put(samples(1))
        cache.close()
        cache = open_cache(today=TODAY - 100)
        cache.touch([key(0)])
        assert cache.stats().oldest_use == TODAY
        cache.close()

    def test_reading_notes_no_use(self, open_cache: OpenCache) -> None:
        """Reading must be possible where nothing may be written. Use is noted by `touch` and `put` alone."""
        cache = open_cache(today=TODAY)
        cache.put(samples(2))
        cache.close()
        cache = open_cache(today=TODAY + 1)
        cache.get(list(samples(2)), WIDE)
        cache.contains(list(samples(2)), WIDE)
        list(cache.entries())
        assert cache.stats().latest_use == TODAY
        cache.close()

    def test_too_many_bytes_go_by_least_recent_use_and_then_by_the_order_of_writing(
        self, open_cache: OpenCache
    ) -> None:
        """Days tie often. Of one day the earliest written goes first, and no more go than are needed."""
        for day, number in ((TODAY, 3), (TODAY, 1), (TODAY + 1, 2), (TODAY + 1, 0)):
            cache = open_cache(today=day)
            cache.put({key(number): vector(number)})
            cache.close()
        cache = open_cache(today=TODAY + 2)
        cache.touch([key(3)])
        for most, left in ((4 * SIZE, {0, 1, 2, 3}), (3 * SIZE, {0, 2, 3}), (3 * SIZE - 1, {0, 3}), (0, set())):
            named = cache.prunable(PruneRule(max_bytes=most))
            before = len(_kept(cache))
            assert cache.prune(PruneRule(max_bytes=most)) == named == Tally(before - len(left), named.vector_bytes)
            assert _kept(cache) == left
        assert cache.stats().entries == 0
        cache.close()

    def test_what_is_named_otherwise_does_not_count_towards_the_bytes(self, open_cache: OpenCache) -> None:
        """The bytes that are left are counted after the other rules, so that none goes in vain."""
        cache = open_cache()
        cache.put(samples(2))
        cache.add({key(5): vector(5), key(6): vector(6)})
        rule = PruneRule(max_bytes=2 * SIZE, imported=True)
        assert cache.prunable(rule) == (2, 2 * SIZE)
        cache.prune(rule)
        assert _kept(cache) == {0, 1}
        cache.close()

    def test_a_rule_beyond_all_bounds_is_a_rule(self, open_cache: OpenCache) -> None:
        """Numbers may be larger than a column. Compare them before they reach the engine."""
        cache = open_cache()
        cache.put(samples(2))
        assert cache.prunable(PruneRule()) == (0, 0)
        assert cache.prunable(PruneRule(unused_before=0, max_bytes=2**62)) == (0, 0)
        assert cache.prunable(PruneRule(unused_before=2**62)) == (2, 2 * SIZE)
        cache.close()

    def test_imported_entries_are_marked_and_never_replace_an_intact_one(
        self, open_cache: OpenCache, damage: Callable[[Digest], None]
    ) -> None:
        """What one's own model made is believed before what a file says. Only a damaged entry is replaced."""
        cache = open_cache()
        cache.put(samples(3))
        cache.close()
        damage(key(1))
        cache = open_cache()
        foreign = {key(number): vector(number + 50) for number in range(5)}
        assert cache.add(foreign) == 3
        assert cache.get(list(foreign), WIDE) == foreign | {key(0): vector(0), key(2): vector(2)}
        assert cache.add(foreign) == 0
        assert cache.stats().imported == 3
        cache.prune(PruneRule(imported=True))
        assert _kept(cache) == {0, 2}
        cache.close()

    def test_an_imported_entry_that_is_paid_for_anew_is_ones_own(self, open_cache: OpenCache) -> None:
        """A mark of where it came from must not outlive what it was about."""
        cache = open_cache()
        cache.add({key(0): vector(50)})
        cache.put(samples(1))
        assert (cache.stats().imported, cache.get([key(0)], WIDE)) == (0, samples(1))
        cache.close()

    def test_the_same_vector_put_again_is_used_on_that_day_and_ones_own(self, open_cache: OpenCache) -> None:
        """Putting what is there is a use of it, and makes an imported one one's own."""
        cache = open_cache(today=TODAY)
        cache.add(samples(3))
        cache.close()
        for today in (TODAY + 5, TODAY - 5):  # a clock that goes back makes no use older
            cache = open_cache(today=today)
            cache.put(samples(2))
            cache.close()
        cache = open_cache(today=TODAY + 9)
        assert (cache.stats().entries, cache.stats().imported) == (3, 1)
        assert cache.prunable(PruneRule(unused_before=TODAY + 5)).entries == 1
        assert cache.prunable(PruneRule(unused_before=TODAY + 6)).entries == 3
        cache.close()

    def test_a_vector_without_a_direction_is_not_imported_and_neither_is_its_batch(self, open_cache: OpenCache) -> None:
        """What comes from elsewhere is judged before any of it is kept."""
        cache = open_cache()
        for bad in (b"", b"12345", bytes(16), struct.pack("<4f", 1, 1, 1, float("inf"))):
            with pytest.raises(AdapterError):
                cache.add({key(0): vector(0), key(1): bad})
        assert cache.stats().entries == 0
        cache.close()

    def test_what_is_dropped_is_gone_damaged_or_not(
        self, open_cache: OpenCache, damage: Callable[[Digest], None]
    ) -> None:
        """An erasure does not ask whether an entry is whole."""
        cache = open_cache()
        cache.put(samples(4))
        cache.close()
        damage(key(2))
        cache = open_cache()
        assert cache.drop([key(1), key(2), key(2), key(9)]) == 2
        assert cache.drop([key(1)]) == 0
        assert [kept.key for kept in cache.entries()] == sorted([key(0), key(3)])
        assert cache.stats().entries == 2
        cache.close()

    def test_space_is_given_back_and_nothing_that_stays_is_touched(self, open_cache: OpenCache) -> None:
        """What was removed leaves the files, and every other entry is as it was."""
        cache = open_cache(today=TODAY)
        cache.put({key(number): vector(number, 256) for number in range(2000)})
        cache.close()
        cache = open_cache(today=TODAY + 1)
        stay = {key(number): vector(number, 256) for number in range(0, 2000, 50)}
        cache.touch(list(stay))
        cache.prune(PruneRule(unused_before=TODAY + 1))
        done = cache.reclaim()
        assert done.held_back is None
        assert done.after == cache.stats().file_bytes < done.before / 4
        assert cache.get(list(stay), 256) == stay
        assert cache.reclaim().after == done.after
        cache.close()

"""Caches to sabotage: the cache file, wrapped."""

import struct
import time
from dataclasses import replace

import apsw
import pytest
from sabotage.saboteurs import CACHES as TABLE
from sabotage.saboteurs import Wrapped

from steadlith_adapters.caches.sqlite import FACTORY
from steadlith_conformance.caches import CacheSuite
from steadlith_conformance.cachesamples import TODAY, vector
from steadlith_core.errors import AdapterError, UsageError
from steadlith_core.ports import PruneRule, Reclaimed, Tally

breaks, also = TABLE.breaks, TABLE.also


class Arena(CacheSuite):
    """The whole suite over one saboteur."""

    @pytest.fixture
    def open_cache(self, tmp_path):
        kept, opened = {"places": {}}, []

        def open_one(*, readonly=False, today=TODAY):
            cache = FACTORY.open({}, root=str(tmp_path), readonly=readonly, today=today)
            wrapped = Wrapped(cache, "cache", self.saboteur, kept)
            self.saboteur.faults.get("cache.opened", lambda cache: None)(wrapped)
            opened.append(wrapped)
            return wrapped

        yield open_one
        for each in opened:
            each.inner.close()

    @pytest.fixture
    def damage(self, tmp_path):
        def change_one_byte(key):
            connection = apsw.Connection(str(tmp_path / ".steadlith" / "cache.sqlite3"))
            (old,) = next(connection.execute("select vector from embedding where key = ?", (key,)))
            connection.execute("update embedding set vector = ? where key = ?", (bytes([old[0] ^ 1]) + old[1:], key))
            connection.close()

        return change_one_byte


def _rows(it, sql, *values):
    return it.inner._connection.execute(sql, values).fetchall() if it.inner._connection else []


def _unchecked(it, keys):
    """Vectors as they are kept, whatever is wrong with them."""
    return {key: row[0] for key in keys for row in _rows(it, "select vector from embedding where key = ?", key)}


@breaks("cache.contains", "test_a_new_cache_knows_nothing", "test_what_was_put_is_answered_exactly")
def promises_everything(it, keys, dimensions):
    """It says that it has what it has not: the plan calls it free, and the apply pays."""
    del dimensions
    it.inner.get([], 1)
    return frozenset(keys)


@breaks("cache.get", "test_what_was_put_is_answered_exactly")
def answers_out_of_order(it, keys, dimensions):
    """Vectors are handed out in the order of the file under keys in the order of the question."""
    found = it.inner.get(keys, dimensions)
    return dict(zip([key for key in keys if key in found], [found[key] for key in sorted(found)], strict=False))


@breaks("cache.get", "test_no_keys_get_no_answer")
def no_keys_are_all(it, keys, dimensions):
    """A question without keys is answered with everything."""
    return it.inner.get(keys or [bytes(32)], dimensions) or ({} if keys else {None: b""})


@breaks("cache.get", "test_thousands_of_keys_are_one_question")
def a_thousand_keys(it, keys, dimensions):
    """Of many keys the first thousand are looked up."""
    return it.inner.get(list(keys)[:1000], dimensions)


@breaks("cache.get", "test_vectors_of_different_widths_live_together_and_only_the_asked_for_is_there")
def any_width_will_do(it, keys, dimensions):
    """A vector of other dimensions is answered."""
    return it.inner.get(keys, dimensions) or {
        key: each for key, each in _unchecked(it, keys).items() if len(each) == 12
    }


@breaks("cache.get", "test_a_vector_without_a_direction_is_absent_and_can_be_put_again")
def answers_nan(it, keys, dimensions):
    """What has no direction is answered."""
    found = it.inner.get(keys, dimensions)
    bad = struct.pack("<f", float("nan")), struct.pack("<f", float("inf")), bytes(4)
    return found | {key: each for key, each in _unchecked(it, keys).items() if each[:4] in bad}


@breaks("cache.stats", "test_field_case_22_what_is_put_twice_is_there_once")
def counts_puts(it):
    """What is put twice counts twice."""
    found = it.inner.stats()
    return replace(found, entries=found.entries + it.kept.get("again", 0))


@also(counts_puts, "cache.put")
def _(it, given):
    it.kept["again"] = it.kept.get("again", 0) + len(_unchecked(it, given))
    it.inner.put(given)


@breaks("cache.put", "test_a_vector_that_is_no_vector_is_refused_with_its_batch")
def keeps_the_good_ones(it, given):
    """A batch with a bad vector is kept without it."""
    it.inner.put({key: each for key, each in given.items() if each and len(each) % 4 == 0})


@breaks("cache.put", "test_the_next_opening_finds_everything")
def put_is_not_durable(it, given):
    """What is put is lost when the cache is closed."""
    it.inner.put(given)
    it.kept.setdefault("fresh", []).extend(given)


@also(put_is_not_durable, "cache.close")
def _(it):
    if it.kept.get("fresh") and it.inner._connection and not it.inner._readonly:
        it.inner.drop(it.kept.pop("fresh"))
    it.inner.close()


@breaks("cache.opened", "test_another_opening_sees_a_put_at_once")
def knows_what_was_there(it):
    """An opening answers from what was there when it was opened, and what it put itself."""
    it.there = {row[0] for row in _rows(it, "select key from embedding")}


@also(knows_what_was_there, "cache.get")
def _(it, keys, dimensions):
    return it.inner.get([key for key in keys if key in it.there], dimensions)


@also(knows_what_was_there, "cache.contains")
def _(it, keys, dimensions):
    return it.inner.contains([key for key in keys if key in it.there], dimensions)


@also(knows_what_was_there, "cache.put")
def _(it, given):
    it.inner.put(given)
    it.there.update(given)


@breaks("cache.put_probe", "test_the_first_probe_stays")
def the_last_probe_stays(it, model_id, params_hash, vectors):
    """A probe is recorded anew each time: a model that changes is never noticed."""
    _rows(it, "delete from probe where model_id = ? and params_hash = ?", model_id, params_hash)
    it.inner.put_probe(model_id, params_hash, vectors)


@breaks("cache.get", "test_a_damaged_entry_is_absent_and_can_be_put_again")
def answers_what_is_damaged(it, keys, dimensions):
    """No checksum is looked at."""
    it.inner.get(keys, dimensions)
    return {key: each for key, each in _unchecked(it, keys).items() if len(each) == 4 * dimensions}


@breaks(
    "cache.drop", "test_what_is_dropped_is_absent_and_all_else_stays", "test_what_is_dropped_is_gone_damaged_or_not"
)
def no_op_drop(it, keys):
    """What is dropped stays."""
    it.inner.drop([])
    return len(_unchecked(it, keys))


@breaks("cache.drop", "test_what_is_dropped_is_gone_damaged_or_not")
def drops_the_intact(it, keys):
    """What is damaged cannot be dropped."""
    return it.inner.drop(sorted(it.inner.get(keys, 4)))


@breaks(
    "cache.entries",
    "test_every_entry_is_listed_once_in_order_and_a_damaged_one_with_its_problem",
    "test_an_entry_that_counts_as_absent_says_why",
)
def nothing_is_damaged(it):
    """Entries are listed without a look at their checksums."""
    return (each._replace(problem=None) for each in it.inner.entries())


@breaks("cache.entries", "test_entries_come_in_the_order_of_their_keys_however_they_were_put")
def entries_as_they_were_put(it):
    """Entries are listed in the order of the file."""
    order = [row[0] for row in _rows(it, "select key from embedding order by id")]
    found = {each.key: each for each in it.inner.entries()}
    return (found[key] for key in order)


@breaks("cache.opened", "test_an_absent_cache_opened_for_reading_is_empty")
def needs_a_file(it):
    """An absent file cannot be opened for reading."""
    if it.inner._connection is None:
        raise AdapterError("there is no such cache")


@breaks("cache.put", "test_a_cache_opened_for_reading_refuses_to_be_written")
def readonly_put_is_lost(it, given):
    """A put into a cache that was opened for reading is thrown away, without a word."""
    try:
        it.inner.put(given)
    except UsageError as error:
        if "reading" not in str(error):
            raise


@breaks("cache.close", "test_closing_twice_is_harmless_and_ends_every_use")
def closing_does_nothing(it):
    """A closed cache goes on answering."""


@breaks("cache.put", "test_threads_may_share_it")
def one_batch_at_a_time(it, given):
    """Threads put each other's batch."""
    it.batch = given
    time.sleep(0.0005)
    it.inner.put(it.batch)


@breaks("cache.stats", "test_stats_count_what_is_there")
def counts_its_own_alone(it):
    """Imported entries are not counted."""
    found = it.inner.stats()
    return replace(found, entries=found.entries - found.imported)


@breaks("cache.touch", "test_what_was_put_or_touched_counts_as_used_on_that_day")
def touch_lost(it, keys):
    """No use is noted."""
    it.inner.touch(list(keys)[:0])


@breaks("cache.touch", "test_a_clock_that_goes_back_makes_no_use_older")
def the_clock_is_right(it, keys):
    """A use is noted under today, also where a later day stands."""
    it.inner.touch(keys)
    for key in keys:
        _rows(it, "update note set day = ? where id = (select id from embedding where key = ?)", it.inner._today, key)


@breaks("cache.get", "test_reading_notes_no_use")
def reading_is_a_use(it, keys, dimensions):
    """Whoever looks at an entry uses it."""
    found = it.inner.get(keys, dimensions)
    if it.inner._connection and not it.inner._readonly:
        it.inner.touch(list(found))
    return found


@breaks("cache.prune", "test_too_many_bytes_go_by_least_recent_use_and_then_by_the_order_of_writing")
def prune_takes_the_newest(it, rule):
    """What was used last goes first."""
    if rule.max_bytes is None or rule.imported:
        return it.inner.prune(rule)
    named = it.inner.prunable(rule)
    keys = _rows(it, "select key from embedding join note using (id) order by day desc, id desc limit ?", named.entries)
    it.inner.drop([row[0] for row in keys])
    return named


@breaks("cache.prunable", "test_what_is_named_otherwise_does_not_count_towards_the_bytes")
def imported_count_twice(it, rule):
    """What goes for another reason counts towards the bytes that may stay."""
    both = rule.imported and rule.max_bytes is not None
    taken = it.inner.prunable(PruneRule(imported=True)).vector_bytes if both else 0
    return it.inner.prunable(replace(rule, max_bytes=rule.max_bytes - taken) if both else rule)


@breaks("cache.prunable", "test_a_rule_beyond_all_bounds_is_a_rule")
def days_are_small(it, rule):
    """A day beyond what it holds is an error."""
    if (rule.unused_before or 0) > 2**31:
        raise OverflowError("day out of range")
    return it.inner.prunable(rule)


@breaks("cache.add", "test_imported_entries_are_marked_and_never_replace_an_intact_one")
def imports_replace(it, given):
    """What is imported replaces what is there."""
    there = it.inner.get(list(given), 4)
    it.inner.drop(list(there))
    it.inner.add(given)
    return len(given) - len(there)


@breaks(
    "cache.put",
    "test_an_imported_entry_that_is_paid_for_anew_is_ones_own",
    "test_the_same_vector_put_again_is_used_on_that_day_and_ones_own",
)
def imported_stays_imported(it, given):
    """What was imported stays so, though it was paid for since."""
    marked = [row[0] for row in _rows(it, "select id from note where imported")]
    it.inner.put(given)
    for number in marked:
        _rows(it, "update note set imported = 1 where id = ?", number)


@breaks("cache.put", "test_the_same_vector_put_again_is_used_on_that_day_and_ones_own")
def what_is_there_is_not_put(it, given):
    """A put of what is there changes nothing, not even the day of its use."""
    there = _unchecked(it, given)
    it.inner.put({key: each for key, each in given.items() if there.get(key) != each})


@breaks("cache.add", "test_a_vector_without_a_direction_is_not_imported_and_neither_is_its_batch")
def imports_the_good_ones(it, given):
    """What has no direction is left out of an import, without a word."""
    good = {}
    for key, each in given.items():
        try:
            good[key] = each if len(each) % 4 == 0 and it.inner.add({key: each}) >= 0 else None
        except AdapterError:
            continue
    return len(good)


@breaks("cache.reclaim", "test_space_is_given_back_and_nothing_that_stays_is_touched")
def gives_nothing_back(it):
    """The file stays as large as it was."""
    size = it.inner.stats().file_bytes
    return Reclaimed(size, size, None)


@breaks(
    "cache.prune",
    "test_imported_entries_are_marked_and_never_replace_an_intact_one",
    "test_what_was_put_or_touched_counts_as_used_on_that_day",
)
def prune_removes_nothing(it, rule):
    """What a rule names is told and stays."""
    return Tally(*it.inner.prunable(rule))


@breaks("cache.get", "test_the_next_opening_finds_everything")
def wrong_vector_after_reopening(it, keys, dimensions):
    """What another opening put is answered with another vector."""
    found = it.inner.get(keys, dimensions)
    return {key: vector(99, dimensions) for key in found} if it.inner._readonly else found

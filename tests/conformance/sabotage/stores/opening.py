"""Stores that open, close or name themselves wrongly."""

from dataclasses import replace

from sabotage.saboteurs import STORES

from steadlith_adapters.stores.memory.state import State
from steadlith_core.errors import GenerationGone

breaks, also = STORES.breaks, STORES.also


@breaks("store.snapshot", "test_an_absent_index_is_generation_0")
def absent_index_refused(it, generation=None):
    """There is nothing to read before the first commit."""
    if it.inner.head().generation == 0:
        raise GenerationGone("there is no index yet")
    return it.inner.snapshot(generation)


@breaks("store.snapshot", "test_reading_an_absent_index_creates_nothing")
def reading_creates(it, generation=None):
    """Whoever reads an absent index makes one."""
    found = it.inner.snapshot(generation)
    if it.inner._readonly and found.head.generation == 0:
        it.kept["made"]["generation"] = 1
    return found


@also(reading_creates, "store.head")
def _(it):
    found = it.inner.head()
    return replace(found, generation=found.generation or it.kept["made"].get("generation", 0))


@breaks("store.head", "test_a_reader_opened_before_the_first_commit_sees_it_afterwards")
def stale_head(it):
    """A store opened for reading asks for the head once."""
    if not it.inner._readonly:
        return it.inner.head()
    it.__dict__.setdefault("first", it.inner.head())
    return it.first


@breaks("store.close", "test_a_commit_is_there_after_reopening", "test_ids_are_never_used_twice")
def lost_on_close(it):
    """What was committed is gone with the store."""
    it.inner._history[:] = [State()]
    it.inner.close()


@breaks("store.opened", "test_opening_an_index_again_changes_nothing")
def opening_writes(it):
    """Opening an index commits something."""
    last = it.inner._history[-1]
    if last.generation:
        it.inner._history[-1] = replace(last, head=replace(last.head, plan_digest=last.head.corpus_root))


@breaks("index.name", "test_two_indexes_do_not_see_each_other")
def one_place_for_all(name):
    """Every index is the same one."""
    del name
    return "index"


@breaks("store.close", "test_a_closed_store_refuses_every_call")
def never_closes(it):
    """Closing a store does nothing."""


@breaks("reader.close", "test_a_closed_reader_refuses_every_call")
def reader_never_closes(it):
    """Closing a reader does nothing."""


@breaks("store.close", "test_closing_the_store_ends_its_readers_and_its_write")
def closes_itself_alone(it):
    """What was opened from the store stays open."""
    it.inner._closed = True


@breaks("store.close", "test_closing_the_store_ends_every_write")
def remembers_its_last_write_alone(it):
    """Of several open writes the last one is ended."""
    it.inner._writes = it.inner._writes[-1:]
    it.inner.close()


@breaks("store.begin", "test_a_store_opened_for_reading_refuses_to_write")
def readonly_writes(it, expected, *, mend=False):
    """A store opened for reading writes."""
    it.inner._readonly = False
    return it.inner.begin(expected, mend=mend)


@breaks("store.compact", "test_a_store_opened_for_reading_refuses_to_compact")
def readonly_compacts(it, expected, keep_from, *, scrub=False):
    """A store opened for reading compacts."""
    it.inner._readonly = False
    return it.inner.compact(expected, keep_from, scrub=scrub)


@breaks("store.snapshot", "test_a_generation_that_never_was_is_gone")
def any_number_is_the_head(it, generation=None):
    """A generation that is not kept is answered with the head."""
    try:
        return it.inner.snapshot(generation)
    except GenerationGone:
        return it.inner.snapshot()


@breaks("store.capabilities", "test_capabilities_are_values_that_the_port_names")
def says_eventually(it):
    """A capability has a value that the port does not name."""
    return replace(it.inner.capabilities, commit="eventual")


@breaks("store.capabilities", "test_what_is_offered_can_be_kept_and_nothing_else")
def offers_less_than_it_keeps(it):
    """It keeps what it says that it cannot."""
    found = it.inner.capabilities
    return replace(found, quantization=found.quantization - {"int8"})


@breaks("store.capabilities", "test_limits_out_of_range_are_refused")
def claims_a_larger_limit(it):
    """It says that it answers with more hits than it does."""
    return replace(it.inner.capabilities, max_limit=it.inner.capabilities.max_limit * 2)

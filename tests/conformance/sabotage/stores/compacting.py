"""Stores that compact too much, too little, or what they were not asked to."""

import time
from dataclasses import replace

from sabotage.saboteurs import STORES

from steadlith_core.errors import GenerationGone, StaleHead
from steadlith_core.ports import Traces

breaks, also = STORES.breaks, STORES.also


@breaks("store.compact", "test_a_compacted_generation_is_gone_and_every_other_reads_as_it_was_committed")
def wrong_generation_read_after_compaction(it, expected, keep_from, *, scrub=False):
    """The oldest generation that stays reads as the head does."""
    done = it.inner.compact(expected, keep_from, scrub=scrub)
    history = it.inner._history
    if len(history) > 1:
        history[0] = replace(history[-1], head=history[0].head, generation=history[0].generation)
    return done


@breaks("store.compact", "test_the_root_of_every_kept_generation_follows_from_what_is_left")
def compacting_drops_documents(it, expected, keep_from, *, scrub=False):
    """A document that the head does not have leaves the older generations too."""
    done = it.inner.compact(expected, keep_from, scrub=scrub)
    history = it.inner._history
    there = history[-1].documents
    history[:] = [
        replace(state, documents={id_: each for id_, each in state.documents.items() if id_ in there})
        for state in history
    ]
    return done


@breaks("store.compact", "test_what_only_older_generations_use_goes_and_what_is_shared_stays")
def compacting_keeps_contents(it, expected, keep_from, *, scrub=False):
    """Generations go, and what only they used stays."""
    before = it.inner._history[-1]
    done = it.inner.compact(expected, keep_from, scrub=scrub)
    after = it.inner._history[-1]
    it.inner._history[-1] = replace(after, texts=before.texts, entries=before.entries, vectors=before.vectors)
    return done


@breaks("store.removable", "test_what_would_go_is_told_before_and_after_and_then_nothing_is_left_to_go")
def tells_too_little(it, keep_from):
    """What would go is told without its entries."""
    return replace(it.inner.removable(keep_from), entries=0)


@breaks("store.compact", "test_keeping_everything_removes_nothing")
def compacting_takes_one_more(it, expected, keep_from, *, scrub=False):
    """The first generation that is to stay goes too."""
    most = it.inner.head().generation
    done = it.inner.compact(expected, min(keep_from + 1, most) if keep_from else keep_from, scrub=scrub)
    return replace(done, keep_from=keep_from)


@breaks("store.compact", "test_compacting_twice_is_compacting_once")
def compacting_again_is_refused(it, expected, keep_from, *, scrub=False):
    """Where nothing is left to go, compacting is refused."""
    if it.inner._history[0].head.generation == keep_from and keep_from > 1:
        raise StaleHead("there is nothing to compact")
    return it.inner.compact(expected, keep_from, scrub=scrub)


@breaks("store.compact", "test_a_reader_goes_on_seeing_what_it_saw")
def compacting_ends_readers(it, expected, keep_from, *, scrub=False):
    """Readers that are open see nothing any more."""
    done = it.inner.compact(expected, keep_from, scrub=scrub)
    for reader in it.inner._readers:
        reader._state = replace(reader._state, documents={})
    return done


@breaks("store.compact", "test_searching_goes_on_while_an_index_is_compacted")
def emptied_while_compacting(it, expected, keep_from, *, scrub=False):
    """While it is compacted, an index finds nothing."""
    history = it.inner._history
    whole = history[-1]
    history[-1] = replace(whole, documents={})
    time.sleep(0.005)
    history[-1] = whole
    return it.inner.compact(expected, keep_from, scrub=scrub)


@breaks("store.compact", "test_an_index_that_was_mended_can_be_compacted_and_one_that_was_compacted_mended")
def compacting_forgets_nodes(it, expected, keep_from, *, scrub=False):
    """The trie goes with the generations."""
    done = it.inner.compact(expected, keep_from, scrub=scrub)
    history = it.inner._history
    history[-1] = replace(
        history[-1], nodes={"": history[-1].nodes[""]} | {"0": history[-1].nodes[""]} if history[-1].nodes else {}
    )
    return done


@breaks("store.compact", "test_every_live_record_is_found_by_its_own_vector_after_churn_and_compaction")
def compacting_loses_vectors(it, expected, keep_from, *, scrub=False):
    """One vector in fifty is lost."""
    done = it.inner.compact(expected, keep_from, scrub=scrub)
    state = it.inner._history[-1]
    kept = {
        space: {key: row for place, (key, row) in enumerate(sorted(rows.items()), 1) if place % 50}
        for space, rows in state.vectors.items()
    }
    it.inner._history[-1] = replace(state, vectors=kept)
    return done


@breaks("store.compact", "test_a_space_that_no_kept_generation_names_goes")
def compacting_keeps_spaces(it, expected, keep_from, *, scrub=False):
    """A space that nothing names any more stays."""
    before = it.inner._history[-1]
    done = it.inner.compact(expected, keep_from, scrub=scrub)
    after = it.inner._history[-1]
    left = {
        space: {key: row for key, row in rows.items() if key in after.entries} for space, rows in before.vectors.items()
    }
    it.inner._history[-1] = replace(after, vectors=left | after.vectors)
    return done


@breaks("store.traces", "test_traces_are_what_any_kept_generation_shows")
def traces_of_the_head(it, ids):
    """What only older generations hold of a document leaves no trace."""
    there = it.inner._history[-1].documents
    found = it.inner.traces([id_ for id_ in ids if id_ in there])
    return Traces(found.documents, found.vector_keys)


@breaks("store.compact", "test_scrubbing_removes_what_compacting_does")
def scrubbing_alone(it, expected, keep_from, *, scrub=False):
    """Scrubbing removes nothing more."""
    if scrub:
        keep_from_all = it.inner.history()[0].number if it.inner.history() else keep_from
        return it.inner.compact(expected, keep_from_all, scrub=True)
    return it.inner.compact(expected, keep_from)


@breaks("store.compact", "test_a_generation_that_is_not_kept_cannot_be_compacted_to")
def compacts_to_the_nearest(it, expected, keep_from, *, scrub=False):
    """A generation that is not kept is taken for the nearest one."""
    try:
        return it.inner.compact(expected, keep_from, scrub=scrub)
    except GenerationGone:
        return it.inner.compact(expected, it.inner.head().generation, scrub=scrub)


@breaks("store.compact", "test_a_head_that_moved_is_refused")
def compacts_any_head(it, expected, keep_from, *, scrub=False):
    """Whatever head is expected, it is compacted."""
    del expected
    return it.inner.compact(it.inner.head(), keep_from, scrub=scrub)


@breaks("store.removable", "test_an_absent_index_stays_absent")
def something_to_remove_of_nothing(it, keep_from):
    """An absent index has something to remove."""
    found = it.inner.removable(keep_from)
    return replace(found, bytes=1) if it.inner.head().generation == 0 else found


@breaks("store.compact", "test_a_compacted_generation_is_gone_and_every_other_reads_as_it_was_committed")
def resurrected_tombstone(it, expected, keep_from, *, scrub=False):
    """A document that was closed stands in the head again when its old generations are gone."""
    closed = {id_: each for state in it.inner._history for id_, each in state.documents.items()}
    done = it.inner.compact(expected, keep_from, scrub=scrub)
    head = it.inner._history[-1]
    back = {id_: each for id_, each in closed.items() if {p.entry_hash for p in each.placements} <= head.entries.keys()}
    it.inner._history[-1] = replace(head, documents={**back, **head.documents})
    return done


@breaks("store.compact", "test_a_store_compacts_nothing_under_its_own_write")
def compacts_under_its_own_write(it, expected, keep_from, *, scrub=False):
    """A store compacts though it has begun a write itself."""
    it.inner._writes.clear()
    return it.inner.compact(expected, keep_from, scrub=scrub)


@breaks("write.commit", "test_a_write_that_a_compaction_overtook_commits_a_whole_index_or_is_stale")
def commits_what_was_compacted_away(it, generation, check=None):
    """A write that a compaction overtook commits, without the vectors that it skipped and that are gone since."""
    write, history = it.inner, it.inner._history
    now = history[-1]
    if now is write._base or now.head != write._base.head:
        return write.commit(generation, check)
    write._history = [write._base]
    head = write.commit(generation, check)
    made, write._history = write._history[-1], history
    left = {space: {key: rows[key] for key in rows if key in now.entries} for space, rows in made.vectors.items()}
    history.append(replace(made, vectors=left))
    return head

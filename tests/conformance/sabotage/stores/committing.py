"""Stores that commit wrongly: in part, twice, over another's commit, under a wrong number."""

import time
from contextlib import closing
from dataclasses import replace

from sabotage.saboteurs import STORES

from steadlith_core.errors import AdapterError

breaks, also = STORES.breaks, STORES.also


@breaks("store.history", "test_the_first_commit_makes_generation_1")
def history_without_summaries(it):
    """What a commit was about is not kept."""
    return tuple(replace(each, summary={}) for each in it.inner.history())


@breaks("store.history", "test_generations_strictly_increase")
def history_newest_first(it):
    """The history begins at its end."""
    return it.inner.history()[::-1]


@breaks("write.put_document", "test_puts_may_come_in_any_order")
def wants_entries_first(it, version):
    """A document is refused whose entries come later in the same write."""
    missing = {each.entry_hash for each in version.placements} - it.inner._state.entries.keys()
    if missing:
        raise AdapterError("its entries were not put yet")
    it.inner.put_document(version)


@breaks("write.put_entries", "test_what_is_kept_already_is_skipped")
def entry_numbered_anew(it, rows):
    """An entry that is put again gets another number."""
    rows = list(rows)
    it.inner.put_entries(rows)
    numbers = it.inner._state.numbers
    for row in rows:
        numbers[row.entry_hash] = max(numbers.values()) + 1


@breaks("write.abort", "test_abort_leaves_no_trace")
def abort_keeps_texts(it):
    """What was put before an abort stays."""
    it.inner._history[-1].texts.update(it.inner._state.texts)
    it.inner.abort()


@breaks("write.abort", "test_abort_of_the_first_write_leaves_generation_0")
def abort_uses_up_its_number(it):
    """The number of an aborted write is the head's afterwards."""
    if not it.inner._ended:
        last = it.inner._history[-1]
        it.inner._history[-1] = replace(last, head=replace(last.head, generation=last.head.generation + 1))
    it.inner.abort()


@breaks("write.abort", "test_abort_after_commit_is_harmless")
def abort_takes_the_commit_back(it):
    """An abort after the commit undoes it."""
    if len(it.inner._history) > 1 and it.inner._history[-1] is not it.inner._base:
        it.inner._history.pop()
    it.inner.abort()


@breaks("write.commit", "test_a_write_is_usable_once")
def commit_again_is_fine(it, generation, check=None):
    """A write that has ended answers a second commit as if it had happened."""
    found = it.__dict__.get("head") or it.inner.commit(generation, check)
    it.head = found
    return found


@breaks("store.begin", "test_begin_refuses_a_head_that_moved", "test_the_same_write_twice_is_stale_not_doubled")
def begins_on_any_head(it, expected, *, mend=False):
    """Whatever head is expected, a write begins."""
    del expected
    return it.inner.begin(it.inner.head(), mend=mend)


@breaks("write.commit", "test_of_two_open_writes_one_wins", "test_of_racing_writers_exactly_one_wins")
def lost_update(it, generation, check=None):
    """Who commits last wins, over whoever committed meanwhile."""
    time.sleep(0.02)  # so that all who race have begun
    write, history = it.inner, it.inner._history
    write._history = [write._base]
    try:
        head = write.commit(generation, check)
        history.append(write._history[-1])
    finally:
        write._history = history
    return head


@breaks("write.commit", "test_root_and_rows_appear_together")
def torn_commit(it, generation, check=None):
    """The head is seen before its rows."""
    write, history = it.inner, it.inner._history
    base = write._base
    head = write.commit(generation, check)
    whole = history.pop()
    history.append(replace(base, head=head, generation=generation))
    time.sleep(0.005)
    history[-1] = whole
    return head


@breaks("write.put_texts", "test_an_exception_in_a_put_iterator_ends_the_write")
def failed_put_is_forgotten(it, rows):
    """A put that fails leaves the write open."""
    it.inner.put_texts(list(rows))


@breaks("write.commit", "test_a_write_that_puts_nothing_commits")
def nothing_is_no_commit(it, generation, check=None):
    """A write without rows makes no generation."""
    if it.inner._state == it.inner._base:
        return it.inner._base.head
    return it.inner.commit(generation, check)


@breaks("write.put_document", "test_ids_are_never_used_twice", "test_writing_goes_on_from_a_compacted_index")
def numbers_of_the_dead_return(it, version):
    """New occurrences get the lowest numbers that are free now."""
    held = {each.occurrence for other in it.inner._state.documents.values() for each in other.placements}
    it.inner._next = min(set(range(1, len(held) + 2)) - held)
    it.inner.put_document(version)


@breaks(
    "write.put_document",
    "test_a_reordered_document_keeps_its_ids",
    "test_a_relocated_occurrence_keeps_its_id_and_its_entry",
)
def ids_are_given_anew(it, version):
    """Claims of occurrences are not heard."""
    it.inner.put_document(replace(version, placements=tuple(replace(p, occurrence=None) for p in version.placements)))


@breaks("write.put_document", "test_what_was_closed_returns_with_its_id_and_no_vector")
def the_closed_never_returns(it, version):
    """What was closed cannot be claimed again."""
    held = {each.occurrence for other in it.inner._base.documents.values() for each in other.placements}
    if any(each.occurrence and each.occurrence not in held for each in version.placements):
        raise AdapterError("that occurrence is closed")
    it.inner.put_document(version)


@breaks("write.put_document", "test_new_content_under_an_old_id_is_what_is_found")
def content_is_frozen(it, version):
    """An occurrence keeps the entry that it had at first."""
    old = {each.occurrence: each for other in it.inner._base.documents.values() for each in other.placements}
    frozen = tuple(replace(p, entry_hash=old.get(p.occurrence, p).entry_hash) for p in version.placements)
    it.inner.put_document(replace(version, placements=frozen))


@breaks("write.put_document", "test_only_metadata_may_change")
def same_chunks_same_document(it, version):
    """A document whose chunks are the same is not written."""
    old = it.inner._base.documents.get(version.id)
    if old and [p.chunk_hash for p in old.placements] == [p.chunk_hash for p in version.placements]:
        version = replace(version, metadata=old.metadata)
    it.inner.put_document(version)


@breaks("write.respan", "test_a_respan_changes_spans_and_source_and_nothing_else")
def respan_keeps_the_source(it, id_, source_digest, spans):
    """A respan forgets what bytes its spans refer to."""
    del source_digest
    it.inner.respan(id_, it.inner._state.documents[id_].source_digest, spans)


@breaks("write.put_vectors", "test_a_replaced_vector_is_what_is_found", "test_a_vector_is_replaced")
def first_vector_wins(it, space, rows):
    """A vector that is there is never replaced."""
    kept = it.inner._state.vectors.get(space, {})
    it.inner.put_vectors(space, [row for row in rows if row.entry_hash not in kept])


@breaks("write.put_vectors", "test_field_case_22_what_is_put_twice_is_there_once")
def double_insert(it, space, rows):
    """What is put twice is there twice."""
    rows = list(rows)
    for row in rows:
        times = it.kept["times"]
        times[space, row.entry_hash] = times.get((space, row.entry_hash), 0) + 1
    it.inner.put_vectors(space, rows)


@also(double_insert, "reader.dense")
def _(it, space, *given, **options):
    state = it.inner._state
    names = {number: key for key, number in state.numbers.items()}
    hits = it.inner.dense(space, *given, **options)
    return tuple(hit for hit in hits for _ in range(it.kept["times"].get((space, names[hit.entry]), 1)))


@breaks("write.close_document", "test_a_closed_occurrence_vanishes_from_every_arm")
def no_op_delete(it, id_):
    """What is deleted is still listed."""
    it.kept["ghosts"][id_] = [each for each in it.parent.inner.snapshot().documents() if each.id == id_]
    it.inner.close_document(id_)


@also(no_op_delete, "reader.documents")
def _(it):
    found = list(it.inner.documents())
    there = {each.id for each in found}
    ghosts = [each for id_, kept in it.kept["ghosts"].items() for each in kept if id_ not in there]
    return iter(sorted(found + ghosts, key=lambda each: each.id))


@breaks("write.put_nodes", "test_nodes_are_replaced_and_dropped_with_the_documents_below_them")
def nodes_are_never_dropped(it, nodes, dropped):
    """Nodes that nothing stands below stay."""
    kept = {prefix: it.inner._state.nodes[prefix] for prefix in dropped if prefix in it.inner._state.nodes and prefix}
    it.inner.put_nodes(nodes, dropped)
    it.inner._state.nodes.update(kept)


@breaks("write.abort", "test_nodes_of_an_aborted_write_leave_no_trace")
def abort_keeps_nodes(it):
    """Nodes that were put before an abort stay."""
    it.inner._history[-1].nodes.update(it.inner._state.nodes)
    it.inner.abort()


@breaks(
    "write.put_document",
    "test_parents_come_back_and_only_parts_are_found",
    "test_parents_may_have_parents_and_change_from_version_to_version",
)
def parents_are_lost(it, version):
    """What a chunk is a part of is not kept."""
    it.inner.put_document(replace(version, placements=tuple(replace(p, parent=-1) for p in version.placements)))


@breaks("write.put_vectors", "test_the_best_are_those_of_a_full_comparison")
def partial_batch_reported_whole(it, space, rows):
    """Of a large batch the first hundred are kept, and nobody is told."""
    it.inner.put_vectors(space, list(rows)[:100])


@breaks("write.commit", "test_abort_leaves_no_trace")
def generation_reused_after_abort(it, generation, check=None):
    """The commit after an abort takes the number of the one before it."""
    head = it.inner.commit(generation, check)
    if it.kept["aborted"].pop("write", None) and head.generation > 1:
        history = it.inner._history
        head = replace(head, generation=head.generation - 1)
        history[-2:] = [replace(history[-1], head=head, generation=replace(generation, number=head.generation))]
    return head


@also(generation_reused_after_abort, "write.abort")
def _(it):
    if not it.inner._ended:
        it.kept["aborted"]["write"] = True
    it.inner.abort()


@breaks("write.commit", "test_a_check_sees_what_would_be_the_head")
def checks_what_was(it, generation, check=None):
    """A check is shown the head that the write began on."""
    if check:
        with closing(it.parent.inner.snapshot()) as reader:
            check(reader)
    return it.inner.commit(generation)


@breaks("write.commit", "test_a_check_that_raises_commits_nothing")
def checks_after_the_commit(it, generation, check=None):
    """A check comes when all is done."""
    head = it.inner.commit(generation)
    if check:
        with closing(it.parent.inner.snapshot()) as reader:
            check(reader)
    return head


@breaks("write.commit", "test_the_reader_of_a_check_ends_with_it")
def lends_its_reader_for_ever(it, generation, check=None):
    """Whoever checked may go on reading."""

    def lend(reader):
        check(type(reader)(reader._state, reader._head, reader._kept))

    return it.inner.commit(generation, lend if check else None)

"""Stores that say of themselves what is not so, in either direction, and stores that keep something else outside."""

import pickle
from dataclasses import replace
from pathlib import Path

from sabotage.saboteurs import STORES

from steadlith_adapters.stores.memory import MemoryStore
from steadlith_core.errors import UsageError
from steadlith_core.ports import Compaction

breaks, also = STORES.breaks, STORES.also


@breaks("store.capabilities", "test_capabilities_are_the_same_at_every_opening")
def changes_its_mind(it):
    """What it says of itself depends on how it was opened."""
    return replace(it.inner.capabilities, remote=it.inner._readonly)


@breaks("store.capabilities", "test_a_second_write_does_as_the_store_says")
def says_serialized(it):
    """It says that a second write waits, and lets it begin."""
    return replace(it.inner.capabilities, writers="serialized")


@breaks("store.capabilities", "test_scores_count_how_rare_a_term_is_if_the_store_says_so")
def says_no_rarity(it):
    """It says that how rare a word is does not count, and counts it."""
    return replace(it.inner.capabilities, lexical="ts_rank", lexical_stats="none")


@breaks("store.capabilities", "test_without_a_lexical_arm_nothing_is_found")
def says_no_words(it):
    """It says that it has no lexical arm, and has one."""
    return replace(it.inner.capabilities, lexical="none", lexical_stats="none")


@breaks("store.capabilities", "test_compacting_gives_back_what_the_store_says")
def says_it_gives_back(it):
    """It says that compacting frees space, and frees none."""
    return replace(it.inner.capabilities, reclaims_space=True)


@breaks("store.compact", "test_compacting_gives_back_what_the_store_says")
def gives_back_in_silence(it, expected, keep_from, *, scrub=False):
    """It frees space, and says that it does not."""
    done = it.inner.compact(expected, keep_from, scrub=scrub)
    return Compaction(done.keep_from, done.removed, 1000, 10, given_back=True)


@breaks("reader.dense", "test_exact_means_exact")
def exact_is_not_heard(it, space, query, limit, among=None, *, exact=False):
    """Who asks for an exact answer gets that of the codes."""
    hits = it.inner.dense(space, query, limit, among)
    missed = exact and space.dimensions == 64 and among is None
    return tuple(hit for hit in it.inner.dense(space, query, 1000) if hit.entry % 9)[:limit] if missed else hits


@breaks("reader.dense", "test_a_graph_finds_nine_of_ten")
def a_graph_with_holes(it, space, query, limit, among=None, *, exact=False):
    """It says that it walks a graph, and misses one of three."""
    hits = it.inner.dense(space, query, limit, among)
    return hits if exact else tuple(hit for hit in it.inner.dense(space, query, 1000, among) if hit.entry % 3)[:limit]


@also(a_graph_with_holes, "store.capabilities")
def _(it):
    return replace(it.inner.capabilities, dense=it.inner.capabilities.dense | {"hnsw"})


@breaks("reader.dense", "test_without_a_graph_nothing_is_missed")
def a_graph_in_silence(it, space, query, limit, among=None, *, exact=False):
    """It walks a graph and says nothing of it."""
    hits = it.inner.dense(space, query, limit, among)
    if exact or len(hits) < limit:
        return hits
    return tuple(hit for hit in it.inner.dense(space, query, 1000, among) if hit.entry % 25)[:limit]


@breaks("reader.lexical", "test_bm25_weighs_rarity_repetition_and_length")
def counts_words_and_says_bm25(it, *given):
    """A score counts the terms that match, and nothing else."""
    return tuple(
        replace(hit, score=round(hit.score * 0 + 1.0, 1))
        for hit in sorted(it.inner.lexical(*given), key=lambda hit: hit.entry)
    )


@breaks("reader.within", "test_a_filter_takes_any_path")
def paths_are_patterns(it, ids):
    """A percent sign in a path stands for anything."""
    if any(id_.path == "%" for id_ in ids):
        ids = list(it.inner._state.documents)
    return it.inner.within(ids)


@breaks("store.snapshot", "test_reading_changes_not_a_byte")
def reading_leaves_a_mark(it, generation=None):
    """Whoever reads is noted in the index."""
    last = it.inner._history[-1]
    if last.generation and it.inner._readonly:
        last.texts.setdefault(last.head.plan_digest, "was read")
    return it.inner.snapshot(generation)


@breaks("store.capabilities", "test_a_commit_is_kept_outside_the_store")
def writes_behind(it):
    """It says that a commit survives a power cut, and writes it later."""
    return replace(it.inner.capabilities, durability="fsync")


@also(writes_behind, "outside.read")
def _(_kept, data):
    return data[:100]


@breaks("store.capabilities", "test_what_is_given_back_is_missing_outside")
def gives_back_on_paper(it):
    """Compacting says that space was freed, and what is kept is as large as it was."""
    return replace(it.inner.capabilities, reclaims_space=True)


@also(gives_back_on_paper, "store.compact")
def _(it, expected, keep_from, *, scrub=False):
    done = it.inner.compact(expected, keep_from, scrub=scrub)
    return Compaction(done.keep_from, done.removed, 1000, 10, given_back=True)


@also(gives_back_on_paper, "outside.read")
def _(kept, data):
    kept["outside"]["most"] = most = max(len(data), kept["outside"].get("most", 0))
    return data.ljust(most, b"\0")


@breaks("write.commit", "test_what_was_scrubbed_is_nowhere_left")
def keeps_a_log(it, generation, check=None):
    """What was written stands in a log that nobody scrubs."""
    head = it.inner.commit(generation, check)
    it.kept["log"]["all"] = it.kept["log"].get("all", b"") + pickle.dumps(it.inner._history[-1].texts)
    return head


@also(keeps_a_log, "outside.read")
def _(kept, data):
    return data + kept["log"].get("all", b"")


@breaks("reader.problems", "test_a_changed_byte_is_found_and_named")
def sees_nothing_wrong(it, *, full):
    """It looks at nothing, and finds nothing."""
    it.inner.problems(full=full)
    return iter(())


@breaks("reader.held", "test_a_damaged_vector_is_neither_held_nor_given_out")
def holds_what_is_damaged(it, space, keys):
    """Whether a vector is held is told by its row alone."""
    rows = it.inner._state.vectors.get(space, {}).values()
    return frozenset({row.vector_key for row in rows} & set(keys))


def _copied(it, path, states):
    Path(path).write_bytes(b"a copy")
    return MemoryStore(list(states), readonly=True)


@breaks("store.backup", "test_a_backup_is_what_was_committed")
def backup_of_the_head_alone(it, path):
    """A copy has the newest generation and no other."""
    if it.inner.head().generation == 0:
        raise UsageError("there is nothing to copy")
    return _copied(it, path, it.inner._history[-1:])


@breaks("store.backup", "test_an_absent_index_has_no_backup")
def backup_of_nothing(it, path):
    """An absent index has a copy."""
    return _copied(it, path, it.inner._history)

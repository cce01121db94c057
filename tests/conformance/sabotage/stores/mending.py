"""Stores that mend without mending, or see nothing wrong."""

from dataclasses import replace

from sabotage.saboteurs import STORES

from steadlith_core.records import DriftKind

breaks, also = STORES.breaks, STORES.also


@breaks(
    "store.begin", "test_a_text_is_replaced_and_found_by_its_words", "test_an_entry_is_replaced_and_keeps_its_number"
)
def mending_believes(it, expected, *, mend=False):
    """A write that mends is as any other."""
    del mend
    return it.inner.begin(expected)


@breaks("store.begin", "test_a_first_write_may_mend")
def nothing_to_mend(it, expected, *, mend=False):
    """An absent index cannot be written by a write that mends."""
    if mend and it.inner.head().generation == 0:
        return it.inner.begin(replace(expected, generation=99), mend=True)
    return it.inner.begin(expected, mend=mend)


@breaks("write.put_document", "test_mending_what_is_whole_changes_nothing_that_it_shows")
def mending_numbers_anew(it, version):
    """A write that mends gives every occurrence a new number."""
    if it.inner._mend:
        version = replace(version, placements=tuple(replace(p, occurrence=None) for p in version.placements))
    it.inner.put_document(version)


@breaks("write.put_document", "test_a_document_may_be_mended_with_new_occurrences")
def mending_takes_the_old_numbers(it, version):
    """A write that mends gives new occurrences the numbers of those that it replaces."""
    old = it.inner._base.documents.get(version.id)
    if it.inner._mend and old:
        numbers = [p.occurrence for p in old.placements] + [None] * len(version.placements)
        placements = tuple(
            replace(p, occurrence=p.occurrence or n) for p, n in zip(version.placements, numbers, strict=False)
        )
        version = replace(version, placements=placements)
    it.inner.put_document(version)


@breaks("write.put_vectors", "test_a_vector_is_replaced")
def mending_keeps_vectors(it, space, rows):
    """A write that mends keeps the vectors that there are."""
    there = it.inner._state.vectors.get(space, {}) if it.inner._mend else {}
    it.inner.put_vectors(space, [row for row in rows if row.entry_hash not in there])


@breaks("write.put_nodes", "test_nodes_that_are_too_many_are_named_and_dropped_by_mending")
def mending_keeps_nodes(it, nodes, dropped):
    """A write that mends drops no node."""
    kept = dict(it.inner._state.nodes)
    it.inner.put_nodes(nodes, dropped)
    if it.inner._mend:
        it.inner._state.nodes.update({prefix: node for prefix, node in kept.items() if prefix not in nodes})


def _without(*kinds):
    def problems(it, *, full):
        return (each for each in it.inner.problems(full=full) if each.kind not in kinds)

    return problems


@breaks("reader.problems", "test_a_root_that_does_not_follow_is_named_with_its_document")
def no_document_is_wrong(it, *, full):
    """The roots of documents are not compared with their chunks."""
    return _without(DriftKind.DOCUMENT)(it, full=full)


@breaks("reader.problems", "test_what_only_older_generations_show_is_history")
def history_is_not_looked_at(it, *, full):
    """What only older generations show is never wrong."""
    return _without(DriftKind.HISTORY)(it, full=full)


@breaks(
    "reader.problems",
    "test_a_text_is_replaced_and_found_by_its_words",
    "test_an_entry_is_replaced_and_keeps_its_number",
)
def contents_are_believed(it, *, full):
    """Texts and entries are not compared with their hashes."""
    return _without(DriftKind.TEXT, DriftKind.ENTRY)(it, full=full)

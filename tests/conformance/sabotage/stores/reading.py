"""Stores that read wrongly: cut short, out of order, of another generation, of what is gone."""

from dataclasses import replace
from itertools import islice

from sabotage.saboteurs import STORES

from steadlith_core.state.trie import document_key

breaks, also = STORES.breaks, STORES.also


@breaks("reader.documents", "test_documents_come_back_as_they_were_put")
def documents_as_they_came(it):
    """Documents are listed in the order of writing."""
    order = {id_: place for place, id_ in enumerate(it.inner._state.documents)}
    return iter(sorted(it.inner.documents(), key=lambda each: order[each.id]))


@breaks("reader.documents", "test_field_case_28_more_than_ten_thousand_documents_are_listed_found_and_deleted")
def listing_stops_at_ten_thousand(it):
    """A listing is cut off where a server cuts a page off."""
    return islice(it.inner.documents(), 10_000)


@breaks("reader.chunks", "test_field_case_28_more_than_ten_thousand_chunks_are_read_found_and_deleted")
def chunks_stop_at_ten_thousand(it, id_):
    """A document's chunks are cut off where a server cuts a page off."""
    return it.inner.chunks(id_)[:10_000]


@breaks("reader.rows", "test_field_case_28_more_than_ten_thousand_documents_are_listed_found_and_deleted")
def rows_stop_at_ten_thousand(it, prefix):
    """The rows of the trie are cut off where a server cuts a page off."""
    return it.inner.rows(prefix)[:10_000]


@breaks("reader.find", "test_many_documents_are_found_at_once")
def finds_a_thousand(it, ids):
    """More documents than a statement has parameters are not asked for."""
    return it.inner.find(list(ids)[:1000])


@breaks("reader.texts", "test_field_case_28_more_than_ten_thousand_chunks_are_read_found_and_deleted")
def texts_stop_at_ten_thousand(it, hashes):
    """Of many texts that are asked for, the first are answered."""
    return it.inner.texts(list(hashes)[:10_000])


@breaks("reader.held", "test_field_case_28_more_than_ten_thousand_chunks_are_read_found_and_deleted")
def keys_stop_at_ten_thousand(it, space, keys):
    """Of many vector keys that are asked for, the first are looked up."""
    return it.inner.held(space, list(keys)[:10_000])


@breaks("reader.within", "test_field_case_28_more_than_ten_thousand_chunks_are_read_found_and_deleted")
def within_stops_at_ten_thousand(it, ids):
    """A filter names ten thousand entries and no more."""
    return it.inner.within(ids)[:10_000]


@breaks("reader.chunks", "test_chunks_come_back_in_source_order")
def chunks_by_hash(it, id_):
    """Chunks come in the order of their hashes."""
    return tuple(sorted(it.inner.chunks(id_), key=lambda each: each.chunk_hash))


@breaks("reader.texts", "test_texts_and_entries_come_back_exactly")
def texts_are_trimmed(it, hashes):
    """Texts lose the white space round them."""
    return {key: text.strip() for key, text in it.inner.texts(hashes).items()}


@breaks("reader.documents", "test_an_empty_document_is_a_document")
def the_empty_are_not_listed(it):
    """A document without chunks is not listed."""
    return (each for each in it.inner.documents() if each.chunk_count)


@breaks("reader.texts", "test_what_is_not_live_is_still_kept")
def the_dead_are_cleared_away(it, hashes):
    """What nothing uses now is gone at once."""
    state = it.inner._state
    used = {state.entries[key].text_hash for key in state.placed()}
    return {key: text for key, text in it.inner.texts(hashes).items() if key in used}


@breaks("reader.documents", "test_a_reader_never_sees_a_later_commit")
def reads_the_newest(it):
    """A reader lists what is there now, not what was there when it was opened."""
    newest = it.parent.inner.snapshot() if it.inner._state.head == it.inner._head else it.inner
    return newest.documents()


@breaks("reader.documents", "test_every_kept_generation_reads_as_it_was_committed")
def wrong_generation_read(it):
    """Whatever generation is asked for, the documents are the head's."""
    return it.parent.inner.snapshot().documents()


@breaks("reader.occurrences", "test_an_old_generation_knows_where_its_occurrences_stood")
def occurrences_of_the_head(it, *given, **options):
    """Occurrences stand where they stand now, whatever generation is read."""
    return it.parent.inner.snapshot().occurrences(*given, **options)


@breaks("reader.occurrences", "test_of_many_occurrences_the_first_of_each_entry_are_given")
def occurrences_by_utf16(it, entries, most, *given):
    """Paths are ordered as UTF-16 orders them."""
    hits = it.inner.occurrences(entries, 10**6, *given)
    left = dict.fromkeys(entries, most)
    found = []
    for hit in sorted(hits, key=lambda hit: (hit.id.source, hit.id.path.encode("utf-16-be"), hit.position)):
        if left[hit.entry] > 0:
            left[hit.entry] -= 1
            found.append(hit)
    return tuple(found)


@breaks("reader.occurrences", "test_the_same_content_twice_is_two_occurrences_of_one_entry")
def one_occurrence_a_document(it, *given, **options):
    """Where a text stands twice in a document, it is answered once."""
    return tuple({(hit.entry, hit.id): hit for hit in it.inner.occurrences(*given, **options)}.values())


@breaks("reader.occurrences", "test_occurrences_outside_the_documents_are_not_answered")
def occurrences_everywhere(it, entries, most, ids=None):
    """Occurrences are not kept to the documents that are asked for."""
    del ids
    return it.inner.occurrences(entries, most)


@breaks("reader.within", "test_what_is_within_documents_is_what_they_have_to_find")
def context_is_within(it, ids):
    """What is not embedded passes a filter."""
    state = it.inner._state
    versions = (state.documents[id_] for id_ in ids if id_ in state.documents)
    return tuple(sorted({state.numbers[each.entry_hash] for version in versions for each in version.placements}))


@breaks("reader.find", "test_documents_are_found_by_their_ids")
def found_once_found_always(it, ids):
    """A document that was there once is found."""
    it.kept["found"].update(it.inner.find(ids))
    return {id_: it.kept["found"][id_] for id_ in ids if id_ in it.kept["found"]}


@breaks("reader.nodes", "test_nodes_come_back_as_they_were_put")
def leaves_are_not_nodes(it, prefixes):
    """Only nodes that have others below them are answered."""
    found = it.inner.nodes(prefixes)
    parents = {prefix[:-1] for prefix in it.inner._state.nodes if prefix}
    return {prefix: node for prefix, node in found.items() if prefix in parents}


@breaks("reader.nodes", "test_a_reader_sees_the_nodes_of_its_own_commit")
def nodes_of_the_newest(it, prefixes):
    """The trie is the newest one, whatever was opened."""
    return (
        it.parent.inner.snapshot().nodes(prefixes)
        if it.inner.generation == it.inner.head.generation
        else it.inner.nodes(prefixes)
    )


@breaks("reader.nodes", "test_nodes_are_those_of_the_head_only")
def nodes_of_any_generation(it, prefixes):
    """An older generation answers with the head's trie."""
    return it.parent.inner.snapshot().nodes(prefixes)


@breaks("reader.rows", "test_rows_are_those_of_a_prefix_in_key_order")
def rows_by_path(it, prefix):
    """Rows come in the order of their documents."""
    order = {document_key(id_): place for place, id_ in enumerate(sorted(it.inner._state.documents))}
    return sorted(it.inner.rows(prefix), key=lambda row: order[row.key])


@breaks("reader.rows", "test_rows_are_those_of_the_generation")
def rows_of_the_head(it, prefix):
    """The rows are the head's, whatever generation is read."""
    return it.parent.inner.snapshot().rows(prefix)


@breaks("write.put_nodes", "test_moving_the_trie_is_building_it_from_nothing")
def small_nodes_alone(it, nodes, dropped):
    """Of many nodes that are put at once, some are not replaced."""
    there = it.inner._state.nodes
    kept = {prefix: there[prefix] for prefix in sorted(nodes)[4:] if prefix in there}
    it.inner.put_nodes({**nodes, **kept}, dropped)


@breaks("reader.chunks", "test_parents_may_have_parents_and_change_from_version_to_version")
def first_parent_stays(it, id_):
    """A chunk stays a part of what it was a part of at first."""
    seen, found = it.kept["seen"], it.inner.chunks(id_)
    for each in found:
        seen.setdefault(each.occurrence, each.parent)
    return tuple(replace(each, parent=min(seen[each.occurrence], at - 1)) for at, each in enumerate(found))


@breaks("reader.chunks", "test_any_history_reads_as_the_model_and_the_memory_store_say")
def long_documents_end_in_disorder(it, id_):
    """The last two chunks of a document of four and more change places."""
    found = it.inner.chunks(id_)
    return found if len(found) < 4 else (*found[:-2], found[-1], found[-2])

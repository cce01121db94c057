"""Stores that take what they must refuse."""

from dataclasses import replace

from sabotage.saboteurs import STORES

from steadlith_core.errors import AdapterError
from steadlith_core.rows import EntryRow
from steadlith_core.state.moving import EMPTY
from steadlith_core.state.roots import corpus_root

breaks, also = STORES.breaks, STORES.also


@breaks("write.commit", "test_counts_that_do_not_fit_are_refused", "test_mending_counts_the_rows")
def counts_are_believed(it, generation, check=None):
    """What a generation says of its documents and chunks is not compared with the rows."""
    documents = it.inner._state.documents
    chunks = sum(len(each.placements) for each in documents.values())
    it.inner._state.nodes.setdefault("", EMPTY)
    top = it.inner._state.nodes[""]
    if top.count != len(documents):
        it.inner._state.nodes[""] = top = replace(top, count=len(documents))
    root = corpus_root(top.count, top.digest, normalizer_id=generation.recipe.normalizer_id)
    return it.inner.commit(replace(generation, documents=len(documents), chunks=chunks, corpus_root=root), check)


@breaks("write.commit", "test_a_generation_that_does_not_follow_the_head_is_refused")
def numbers_are_believed(it, generation, check=None):
    """A generation that does not follow the head is taken."""
    base = it.inner._base.head
    lineage = base.lineage or generation.lineage
    return it.inner.commit(
        replace(generation, number=base.generation + 1, parent=base.generation, lineage=lineage), check
    )


@breaks("write.put_entries", "test_an_entry_without_its_text_is_refused")
def entries_without_text(it, rows):
    """An entry is taken whose text was never put."""
    rows = list(rows)
    for row in rows:
        it.inner._state.texts.setdefault(row.text_hash, "")
    it.inner.put_entries(rows)


@breaks("write.put_vectors", "test_a_vector_without_its_entry_is_refused")
def vectors_without_entry(it, space, rows):
    """A vector is passed over whose entry was never put."""
    it.inner.put_vectors(space, [row for row in rows if row.entry_hash in it.inner._state.entries])


@breaks("write.commit", "test_a_placement_without_its_entry_is_refused")
def placements_without_entry(it, generation, check=None):
    """An occurrence is taken of an entry that was never put."""
    state = it.inner._state
    for key in state.placed() - state.entries.keys():
        state.texts.setdefault(key, "")
        state.entries[key] = EntryRow(key, key, "", (), None)
        state.numbers.setdefault(key, len(state.numbers) + 1)
    return it.inner.commit(generation, check)


@breaks("write.put_document", "test_a_document_is_named_at_most_once_in_a_write")
def a_document_many_times(it, version):
    """The last word on a document in a write is the one that counts."""
    it.inner._touched.clear()
    it.inner.put_document(version)


@also(a_document_many_times, "write.close_document")
def _(it, id_):
    it.inner._touched.clear()
    it.inner._state.documents.pop(id_, None)


@also(a_document_many_times, "write.respan")
def _(it, id_, source_digest, spans):
    it.inner._touched.clear()
    it.inner.respan(id_, source_digest, spans)


@breaks("write.close_document", "test_closing_a_document_that_is_not_there_is_refused")
def closing_nothing_is_fine(it, id_):
    """Closing what is not there does nothing."""
    if id_ in it.inner._state.documents:
        it.inner.close_document(id_)


@breaks("write.respan", "test_a_respan_of_another_number_of_chunks_is_refused")
def respans_what_it_can(it, id_, source_digest, spans):
    """A respan that does not fit its document is passed over."""
    version = it.inner._state.documents.get(id_)
    if version and len(version.placements) == len(spans):
        it.inner.respan(id_, source_digest, spans)


def _claims(it, version, refused):
    """The version with new occurrences in place of the claims that are refused."""
    placements = tuple(replace(p, occurrence=None) if refused(p.occurrence) else p for p in version.placements)
    it.inner.put_document(replace(version, placements=placements))


@breaks("write.put_document", "test_an_occurrence_that_never_was_is_refused")
def unknown_claims_are_new(it, version):
    """Whoever claims an occurrence that never was gets a new one."""
    _claims(it, version, lambda claimed: claimed not in it.inner._base.used)


@breaks("write.put_document", "test_an_occurrence_that_another_document_keeps_is_refused")
def steals_occurrences(it, version):
    """Whoever claims what another document holds gets a new one."""
    others = [each for id_, each in it.inner._base.documents.items() if id_ != version.id]
    held = {p.occurrence for each in others for p in each.placements}
    _claims(it, version, lambda claimed: claimed in held)


@breaks("write.put_document", "test_an_occurrence_placed_twice_is_refused")
def twice_is_once_and_a_new_one(it, version):
    """The second claim of one occurrence in a write gets a new one."""
    seen = it.__dict__.setdefault("seen", set())
    _claims(it, version, lambda claimed: claimed in seen or seen.add(claimed))


@breaks("write.put_vectors", "test_vectors_that_would_poison_a_space_are_refused")
def nan_accepted(it, space, rows):
    """Any bytes are a vector."""
    for row in rows:
        if row.entry_hash not in it.inner._state.entries:
            raise AdapterError("no such entry")
        it.inner._state.vectors.setdefault(space, {})[row.entry_hash] = row


@breaks("write.put_vectors", "test_a_quantization_that_is_not_offered_is_refused")
def any_form_is_float32(it, space, rows):
    """A space of a form that it does not know is kept as the form that it knows."""
    known = it.parent.inner.capabilities.quantization
    it.inner.put_vectors(space if space.quantization in known else replace(space, quantization="float32"), rows)


@breaks("write.put_vectors", "test_dimensions_that_a_form_cannot_have_are_refused")
def bits_of_any_number(it, space, rows):
    """Bits are kept of a number of dimensions that makes no whole bytes."""
    if space.quantization == "float32" or space.dimensions % 8 == 0:
        it.inner.put_vectors(space, rows)
        return
    it.inner._state.vectors.setdefault(space, {}).update({row.entry_hash: row for row in rows})


@breaks("write.put_vectors", "test_a_vector_for_what_is_not_embedded_is_refused")
def context_is_embedded(it, space, rows):
    """What no model may see gets a vector."""
    for row in rows:
        entry = it.inner._state.entries.get(row.entry_hash)
        if entry is None or entry.embed:
            it.inner.put_vectors(space, [row])
        else:
            it.inner._state.vectors.setdefault(space, {})[row.entry_hash] = row


@breaks("write.put_document", "test_a_parent_that_does_not_stand_before_its_part_is_refused")
def any_parent(it, version):
    """A chunk may be a part of what comes later, or of nothing that there is."""
    placements = tuple(
        replace(p, parent=p.parent if -1 <= p.parent < at else -1) for at, p in enumerate(version.placements)
    )
    it.inner.put_document(replace(version, placements=placements))


@breaks("write.commit", "test_a_root_that_the_nodes_do_not_lead_to_is_refused")
def roots_are_believed(it, generation, check=None):
    """The corpus root is taken as it is given, whatever the topmost node says."""
    top = it.inner._state.nodes.get("", EMPTY)
    root = corpus_root(top.count, top.digest, normalizer_id=generation.recipe.normalizer_id)
    if top.count == generation.documents and root == generation.corpus_root:
        return it.inner.commit(generation, check)
    it.inner._state.nodes[""] = replace(top, count=generation.documents)
    root = corpus_root(generation.documents, top.digest, normalizer_id=generation.recipe.normalizer_id)
    return it.inner.commit(replace(generation, corpus_root=root), check)

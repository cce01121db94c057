"""Chunkers to sabotage: the policy `structural`, wrapped."""

import time
from dataclasses import replace

import pytest
from sabotage.saboteurs import CHUNKERS as TABLE
from sabotage.saboteurs import Wrapped

from steadlith_conformance.chunkers import ChunkerSuite
from steadlith_core.chunking.structural import FACTORY
from steadlith_core.records import Finding, FindingKind

breaks, also = TABLE.breaks, TABLE.also
SETTINGS = {"min_tokens": 6, "max_tokens": 24, "max_bytes": 96}


class Arena(ChunkerSuite):
    """The whole suite over one saboteur."""

    most_bytes = 96

    @pytest.fixture
    def factory(self):
        return Wrapped(FACTORY, "policies", self.saboteur)

    @pytest.fixture
    def settings(self):
        return SETTINGS


def _cut(change):
    """Other chunks, of one document and of many."""

    def cut(it, text, grammar):
        chunks, findings = it.inner.cut(text, grammar)
        return tuple(change(it, text, chunks)), findings

    return cut


@breaks("chunker.id", "test_its_name_is_versioned_and_its_parameters_are_plain")
def a_name_without_a_version(it):
    """Its name has no version."""
    return it.inner.id.partition("/")[0]


@breaks("policies.build", "test_an_unknown_setting_is_refused_by_name")
def unknown_settings_are_ignored(it, settings):
    """A misspelt setting changes nothing, without a word."""
    return it.inner.build({key: value for key, value in settings.items() if key in SETTINGS})


@breaks("chunker.cut", "test_a_document_without_text_has_no_chunks")
def something_of_nothing(it, text, grammar):
    """An empty document is a finding."""
    chunks, findings = it.inner.cut(text, grammar)
    return chunks, findings if chunks else (Finding("", FindingKind.UNSPLITTABLE, "there is no text"),)


@breaks("chunker.cut", "test_chunks_are_exact_pieces_of_their_source_in_order")
def out_of_order(it, text, grammar):
    """The shortest chunks come first."""
    return _cut(lambda _it, _text, chunks: sorted(chunks, key=lambda chunk: len(chunk.text)))(it, text, grammar)


@breaks("chunker.cut", "test_chunks_are_exact_pieces_of_their_source_in_order")
def texts_are_tidied(it, text, grammar):
    """A chunk's text is tidied, and is no piece of the document any more."""
    return _cut(lambda _it, _text, chunks: [replace(chunk, text=" ".join(chunk.text.split())) for chunk in chunks])(
        it, text, grammar
    )


@breaks("chunker.cut", "test_all_text_is_in_a_chunk")
def a_gap(it, text, grammar):
    """The last chunk is left out where there are many."""
    return _cut(lambda _it, _text, chunks: chunks[:-1] if len(chunks) > 1 else chunks)(it, text, grammar)


@breaks("chunker.cut", "test_any_document_keeps_the_laws")
def a_gap_in_odd_documents(it, text, grammar):
    """A chunk with a vertical tab is left out."""
    return _cut(lambda _it, _text, chunks: [chunk for chunk in chunks if "a\vb" not in chunk.text])(it, text, grammar)


@breaks("chunker.cut", "test_hostile_documents_are_cut_in_bounds")
def overlapping_beyond_bounds(it, text, grammar):
    """Of a large document every chunk is answered five times over."""
    large = len(text.data) > 20_000
    return _cut(lambda _it, _text, chunks: [chunk for chunk in chunks for _ in range(5 if large else 1)])(
        it, text, grammar
    )


@breaks("chunker.cut", "test_hostile_documents_are_cut_in_bounds")
def gives_up_on_large_documents(it, text, grammar):
    """A large document is an error that nobody expects."""
    if len(text.data) > 100_000:
        raise RecursionError("too deep")
    return it.inner.cut(text, grammar)


@breaks("policies.build", "test_no_chunk_is_over_the_promised_size")
def over_the_cap(it, settings):
    """Chunks are larger than it promises."""
    return it.inner.build({**settings, "max_tokens": 400, "max_bytes": 4000})


@breaks("chunker.cut", "test_the_same_text_is_cut_the_same_way_every_time")
def cut_by_chance(it, text, grammar):
    """Every other time the first chunk has another heading."""
    it.kept["turn"]["now"] = turn = it.kept["turn"].get("now", 0) + 1
    return _cut(
        lambda _it, _text, chunks: [replace(chunks[0], headings=("x",) * (turn % 2)), *chunks[1:]] if chunks else []
    )(it, text, grammar)


@breaks("chunker.cut", "test_what_was_cut_before_makes_no_difference")
def remembers_the_last_document(it, text, grammar):
    """A chunk's headings begin with the last document's."""
    before = it.__dict__.get("last", "")
    found = it.inner.cut(text, grammar)
    it.last = found[0][-1].text[:5] if found[0] else ""
    if before == it.last or not found[0]:
        return found
    return (replace(found[0][0], headings=(before, *found[0][0].headings)), *found[0][1:]), found[1]


@breaks("chunker.cut", "test_threads_may_share_it")
def one_document_at_a_time(it, text, grammar):
    """Threads that cut at the same time put their chunks into one list."""
    it.chunks = []
    chunks, findings = it.inner.cut(text, grammar)
    for chunk in chunks:
        it.chunks.append(chunk)
        time.sleep(0.0005)
    return tuple(it.chunks), findings


@breaks("chunker.cut", "test_line_ends_and_composition_make_no_difference_to_the_texts")
def depends_on_the_bytes(it, text, grammar):
    """A heading says how long the source is."""
    spans = text.spans([(0, len(text.data))]) if text.data else ()
    return _cut(
        lambda _it, _text, chunks: [replace(chunk, headings=(*chunk.headings, str(spans[0].end))) for chunk in chunks]
    )(it, text, grammar)


@breaks("chunker.cut", "test_the_bytes_before_the_body_are_no_chunk_text")
def front_matter_is_text(it, text, grammar):
    """The front matter is cut with the rest."""
    return it.inner.cut(replace(text, body=0), grammar)


@breaks("chunker.cut_many", "test_many_documents_at_once_are_cut_as_one_by_one")
def together_is_not_alone(it, texts, grammar):
    """Of many documents the first is forgotten."""
    return it.inner.cut_many(list(texts)[1:] + list(texts)[:1], grammar)


@breaks("chunker.cut", "test_an_edit_leaves_distant_chunks_alone")
def depends_on_the_length(it, text, grammar):
    """Where chunks are cut depends on how long the document is."""
    policy = FACTORY.build({**SETTINGS, "max_tokens": 24 + len(text.data) % 37, "max_bytes": 300})
    return policy.cut(text, grammar) if len(text.data) > 20_000 else it.inner.cut(text, grammar)


@breaks("chunker.cut", "test_hostile_documents_are_cut_in_bounds")
def nothing_of_a_large_document(it, text, grammar):
    """A large document has no chunks, and nothing says so."""
    return ((), ()) if len(text.data) > 100_000 else it.inner.cut(text, grammar)


@breaks("chunker.cut", "test_chunks_are_exact_pieces_of_their_source_in_order")
def spans_are_a_byte_off(it, text, grammar):
    """A chunk's span begins one byte late."""
    return _cut(lambda _it, _text, chunks: [replace(c, span=replace(c.span, start=c.span.start + 1)) for c in chunks])(
        it, text, grammar
    )

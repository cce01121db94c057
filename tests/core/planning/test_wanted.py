from dataclasses import replace

import pytest

from steadlith_core.chunking.late import LateChunker
from steadlith_core.chunking.packed import FIXED
from steadlith_core.errors import DocumentError
from steadlith_core.planning.wanted import Cutter, SourceText, rewant, want, want_all
from steadlith_core.records import Content, Format
from steadlith_core.rows import RecordedChunk
from steadlith_core.state.template import TEMPLATES

GUIDE = b"# Guide\n\none two three four five six seven\n\n# Short\n\neight\n"
CHUNKER = LateChunker(child_max_words=3)


@pytest.fixture
def how(build):
    recipe = build.recipe(chunker_id=CHUNKER.id, template_id=TEMPLATES["breadcrumb"].id)
    return Cutter(recipe, CHUNKER, TEMPLATES["breadcrumb"], {}, None, None)


def wanted(how, build):
    return want(how, SourceText(build.id("guide.md"), Format.MARKDOWN, Content(GUIDE)))


def test_a_parent_has_no_key_no_input_and_no_context(how, build):
    document, _ = wanted(how, build)
    parent, *others = document.chunks
    assert (parent.vector_key, parent.model_input, parent.tokens, parent.entry.context_hash) == (None, "", 0, None)
    assert parent.text.text == "one two three four five six seven"
    assert [chunk.parent for chunk in document.chunks] == [-1, 0, 0, 0, -1]
    assert [chunk.model_input for chunk in others] == [
        "Guide\n\none two three",
        "Guide\n\nfour five six",
        "Guide\n\nseven",
        "Short\n\neight",
    ]
    assert all(chunk.vector_key and chunk.tokens for chunk in others)


def test_a_parent_may_be_larger_than_what_the_model_takes(how, build):
    longest = max(len(chunk.model_input) for chunk in wanted(how, build)[0].chunks)
    assert longest < len("one two three four five six seven")
    document, findings = wanted(replace(how, max_input_bytes=longest, max_input_tokens=8), build)
    assert (len(document.chunks), findings) == (5, ())
    with pytest.raises(DocumentError, match="the model takes at most"):
        wanted(replace(how, max_input_bytes=longest - 1), build)


def test_what_cannot_be_read_is_wanted_as_it_is_recorded(how, build):
    document, _ = wanted(how, build)
    rows = [
        (
            RecordedChunk(
                number,
                chunk.chunk_hash,
                chunk.text.text_hash,
                chunk.entry.entry_hash,
                chunk.span,
                chunk.parent,
                chunk.entry.embed,
            ),
            chunk.entry,
            chunk.text.text,
        )
        for number, chunk in enumerate(document.chunks)
    ]
    assert rewant(how, document.id, document.metadata, document.source_digest, rows) == document


def test_a_document_that_a_policy_refuses_is_its_own_error_and_stops_no_other(how, build):
    how = replace(how, chunker=FIXED.build({"max_words": 2, "max_sections": 3}))
    texts = [b"one two three", b"a b c d e f g h i j", b"\xff", b"four five"]
    sources = [SourceText(build.id(f"{n}.txt"), Format.TEXT, Content(text)) for n, text in enumerate(texts)]
    made = want_all(how, sources)
    assert [type(each) for each in made] == [tuple, DocumentError, DocumentError, tuple]
    assert [str(made[n].kind) for n in (1, 2)] == ["too_many_sections", "undecodable"]
    assert [document.id.path for document, _ in (made[0], made[3])] == ["0.txt", "3.txt"]

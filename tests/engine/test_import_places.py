"""Where chunks of others stand: found without regard to white space, overlapping or not, and exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith.foreign.places import NOWHERE, find
from steadlith_core.errors import DocumentError
from steadlith_core.records import Format

WORDS = st.text(st.sampled_from("abé中\u00a0 \t\n\r\f.#"), max_size=60)


@given(WORDS, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=5))
def test_any_piece_of_a_text_is_found_where_its_words_stand(text, cuts):
    content = text.encode()
    pieces = [text[min(cut) : max(cut)] for cut in cuts]
    for piece, span in zip(pieces, find(content, pieces).spans, strict=True):
        stands = content[span.start : span.end].decode()
        if span == NOWHERE:
            assert not piece.split()
        else:
            assert "".join(stands.split()) == "".join(piece.split())
            assert not stands[:1].isspace()
            assert not stands[-1:].isspace()


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        ("one two three", ["one two", "two three"], [(0, 7), (4, 13)]),
        ("one  two\n\nthree", ["one two three"], [(0, 15)]),
        ("a b a b", ["a b", "a b"], [(0, 3), (4, 7)]),
        ("first second", ["second", "first"], [(6, 12), (0, 5)]),
        ("\ufeffone\r\ntwo\r\n", ["one two"], [(3, 11)]),
        ("é中 x", ["中 x"], [(2, 7)]),
        ("cafe\u0301 au lait", ["café au", "lait"], [(0, 9), (10, 14)]),
        ("one", ["two", " ", "one"], [None, None, (0, 3)]),
        ("", ["one"], [None]),
    ],
)
def test_spans_are_bytes_of_the_source(text, pieces, expected):
    found = find(text.encode(), pieces).spans
    assert [None if span == NOWHERE else (span.start, span.end) for span in found] == expected


def test_lines_are_counted_from_one():
    (span,) = find(b"one\n\ntwo\nthree\n", ["two three"]).spans
    assert (span.first_line, span.last_line) == (3, 4)


def test_what_is_no_text_is_a_document_error():
    with pytest.raises(DocumentError):
        find(b"\xff", ["one"])


@pytest.mark.parametrize(
    ("text", "pieces", "missed"),
    [
        ("one two three", ["one two", "two three"], 0),
        ("one two three four", ["two"], 3),
        ("one two", ["on", "e two"], 0),
        ("one two", ["on", "two"], 1),
        ("one two", [], 2),
        ("", [], 0),
        ("---\ntitle: x\n---\nbody", ["body"], 0),
        ("---\ntitle: [x\n---\nbody", ["body"], 4),
        ("three two one", ["one", "three"], 1),
    ],
)
def test_words_in_no_chunk_are_counted(text, pieces, missed):
    assert find(text.encode(), pieces, Format.MARKDOWN).missed == missed

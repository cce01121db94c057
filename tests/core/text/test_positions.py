"""Bytes to code points, lines and columns, against a count by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_core.text.canonical import canonicalise
from steadlith_core.text.positions import Position, positions

TEXTS = st.lists(
    st.sampled_from(["a", "é", "漢", "\U0001f600", "\n", "\r", "\r\n", "\ufeff", "e\u0301", " ", "\u2028"])
).map("".join)


def by_hand(text):
    """The position before every character, and the end, one character after the other."""
    byte, line, column, found = 0, 1, 1, []
    for index, char in enumerate(text):
        found.append(Position(byte, index, line, column))
        byte += len(char.encode())
        if char == "\n" or (char == "\r" and text[index + 1 : index + 2] != "\n"):
            line, column = line + 1, 1
        elif index or char != "\ufeff":
            column += 1
    return [*found, Position(byte, len(text), line, column)]


@given(TEXTS, st.data())
def test_every_place_is_where_a_count_by_hand_puts_it(text, data):
    expected = by_hand(text)
    assert positions(text.encode(), [position.byte for position in expected]) == expected
    some = data.draw(st.lists(st.sampled_from(expected), max_size=6))
    assert positions(text.encode(), [position.byte for position in some]) == some


@given(TEXTS)
def test_lines_are_those_of_spans(text):
    content = text.encode()
    canonical = canonicalise(content)
    starts = [at for at in range(len(canonical.data)) if canonical.data[at] & 0xC0 != 0x80]
    spans = canonical.spans([(at, at + 1) for at in starts])
    assert [place.line for place in positions(content, [span.start for span in spans])] == [
        span.first_line for span in spans
    ]


@pytest.mark.parametrize("offset", [-1, 4, 2])
def test_an_offset_that_is_no_place_is_refused(offset):
    with pytest.raises(ValueError, match=f"offset {offset} is not between two code points of 3 bytes"):
        positions("aé".encode(), [offset])

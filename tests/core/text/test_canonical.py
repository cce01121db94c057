"""Invariant 7: text is lossless but for what text/1 names, and every piece leads back to its source bytes."""

import dataclasses
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steadlith_core.errors import DocumentError
from steadlith_core.records import FindingKind, Span
from steadlith_core.text import canonical as canonical_module
from steadlith_core.text.canonical import CanonicalText, canonicalise, fragment, is_boundary, trim

BOM = "\ufeff"
PIECES = (
    *("\n", "\r\n", "\r", "\n\n", BOM, "\0", "\v", "\f", " ", "  ", "\t", "\u2028", "\x85", "\xa0", "\u3000"),
    *("a", "e", "Word.", "    code", "- item", "é", "漢字", "\U0001f600", "\U0002f800"),
    *("e\u0301", "a\u0301\u0323", "\u0301", "\u0323\u0301", "\u0344", "\u1e9b\u0323", "q\u0307\u0323"),
    *("\u212b", "\u1f71", "\uf900", "\u0958", "\u0f43", "\u0fb7", "\u0f73", "\u2adc", "\U0001d15e"),
    *("\u1100", "\u1161", "\u11a8", "\uac00", "\u0b47\u0b3e", "\u3099", "か\u3099"),
    *("\u0378", "\U00010efd", "\U0001e08f", "\U000113c2", "\u0897", "\ufffe"),
)
TEXTS = st.lists(st.sampled_from(PIECES) | st.characters(codec="utf-8"), max_size=14).map("".join)


def boundaries(data):
    """Byte positions of a canonical text where a cut may fall."""
    places, at = [0], 0
    for char in data.decode():
        if at and is_boundary(char):
            places.append(at)
        at += len(char.encode())
    return [*places, at]


def characters(data):
    """Byte positions of all its characters, and its end."""
    return [at for at in range(len(data)) if data[at] & 0xC0 != 0x80] + [len(data)]


@settings(max_examples=400)
@given(TEXTS, st.data())
def test_the_fragment_of_a_span_is_the_text_of_its_piece(source, data):
    content = source.encode()
    canonical = canonicalise(content)
    cuts = st.sampled_from(boundaries(canonical.data))
    a, b = sorted((data.draw(cuts), data.draw(cuts)))
    a, b = trim(canonical.data, a, b)
    (span,) = canonical.spans([(a, b)])
    assert fragment(content[span.start : span.end]) == canonical.data[a:b].decode()


@settings(max_examples=300)
@given(TEXTS)
@example("a\u212b\u0301\r\nx")
@example("\u0f43\u0f43")
def test_every_boundary_of_a_text_keeps_the_law(source):
    content = source.encode()
    canonical = canonicalise(content)
    cuts = boundaries(canonical.data)
    pieces = [trim(canonical.data, a, b) for a in cuts for b in cuts if a <= b]
    for (a, b), span in zip(pieces, canonical.spans(pieces), strict=True):
        assert fragment(content[span.start : span.end]) == canonical.data[a:b].decode()


@settings(max_examples=300)
@given(TEXTS)
def test_canonical_text_is_canonical(source):
    text = canonicalise(source.encode()).text
    assert fragment(text.encode()) == text.strip("\n")
    again = canonicalise((BOM + text).encode())
    assert again.text == text
    assert again.offset(len(again.data)) == 3 + len(text.encode())


@settings(max_examples=300)
@given(TEXTS)
def test_the_map_is_total_and_monotone_and_stays_on_code_points(source):
    content = source.encode()
    canonical = canonicalise(content)
    offsets = [canonical.offset(at) for at in characters(canonical.data)]
    assert offsets == sorted(offsets)
    assert offsets[0] == (3 if source.startswith(BOM) else 0)
    assert content[offsets[-1] :].decode().strip(" \t\v\f") == ""
    for offset in offsets:
        content[:offset].decode()


@settings(max_examples=200)
@given(TEXTS, st.data())
def test_spans_are_the_same_one_by_one_and_in_any_order(source, data):
    canonical = canonicalise(source.encode())
    position = st.sampled_from(characters(canonical.data))
    pieces = [tuple(sorted(pair)) for pair in data.draw(st.lists(st.tuples(position, position), max_size=6))]
    assert canonical.spans(pieces) == [canonical.spans([piece])[0] for piece in pieces]


@settings(max_examples=200)
@given(TEXTS)
def test_lines_are_those_of_the_source(source):
    content = source.encode()
    canonical = canonicalise(content)
    lines = source.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert canonical.text.count("\n") == len(lines) - 1
    at = 0
    for number, line in enumerate(canonical.data.split(b"\n"), start=1):
        (span,) = canonical.spans([(at, at + len(line))])
        assert (span.first_line, span.last_line) == (number, number)
        at += len(line) + 1


@settings(max_examples=200)
@given(TEXTS, TEXTS)
def test_lines_are_normalised_alike_alone_and_together(one, other):
    together = canonicalise(f"{one}.\n{other}".encode()).text
    # A BOM in front is the one that is dropped, so that what follows it stays.
    assert together == canonicalise(f"{one}.".encode()).text + "\n" + canonicalise(f"{BOM}{other}".encode()).text


@settings(max_examples=150)
@given(TEXTS, st.integers(1, 20))
def test_a_text_read_in_stretches_is_the_same_text(source, stretch):
    content = source.encode()
    whole = canonicalise(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical_module, "_STRETCH", stretch)
        patch.setattr(canonical_module, "LONG", 0)
        assert canonicalise(content) == whole


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""),
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("a \t\v\f\r\n  b", "a\n  b"),
        (" \n\n  x  ", "\n\n  x"),
        (BOM + "a", "a"),
        (BOM + BOM + "a", BOM + "a"),
        ("a" + BOM + "b", "a" + BOM + "b"),
        ("\va\fb\x85c\u2028d\u3000\n", "\va\fb\x85c\u2028d\u3000\n"),
        ("e\u0301", "\xe9"),
        ("a\u0301\u0323", "\u1ea1\u0301"),
        ("\u1100\u1161\u11a8", "\uac01"),
        (" \u0301\n\u0301", " \u0301\n\u0301"),
        ("\u212b", "\xc5"),
        ("\r\r\n\n", "\n\n\n"),
    ],
)
def test_what_text_1_changes_and_what_it_leaves(source, text):
    assert canonicalise(source.encode()).text == text


@pytest.mark.parametrize(
    "run",
    [
        "e\u0301\u0378",  # unassigned for ever, so far
        "\u212b\u0378",
        "e\u0301\U00010efd",  # a mark since Unicode 15.0
        "\U000113c2\U000113c2",  # composes since Unicode 16.0
        "o\u0897\u0302",  # a mark since Unicode 16.0
    ],
)
def test_a_run_with_a_code_point_unknown_to_unicode_14_is_left_as_it_is(run):
    assert canonicalise(f"{run}.e\u0301".encode()).text == f"{run}.\xe9"


@pytest.mark.parametrize(
    ("char", "boundary"),
    [
        *(("a", True), (" ", True), ("\n", True), ("漢", True), ("\uac00", True), ("\u00c5", True), (BOM, True)),
        *(("\u0301", False), ("\u212b", False), ("\u1161", False), ("\u0378", False), ("\u09be", False)),
        ("\u0fb7", False),  # the second half of U+0F43: no place in the source lies before it
    ],
)
def test_cuts_fall_only_before_boundaries(char, boundary):
    assert is_boundary(char) is boundary


def test_spans_are_exact_bytes_without_what_was_dropped():
    content = (BOM + "ab  \r\n\r\ncafe\u0301 \u212b\t\n").encode()
    canonical = canonicalise(content)
    assert canonical.text == "ab\n\ncafé Å\n"
    assert canonical.spans([(0, 2), (4, 9), (10, 12), (4, 12), (3, 3), (0, 3)]) == [
        Span(3, 5, 1, 1),
        Span(11, 17, 3, 3),
        Span(18, 21, 3, 3),
        Span(11, 21, 3, 3),
        Span(9, 9, 2, 2),
        Span(3, 9, 1, 1),
    ]


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("\n\n  a  b\n\n", "  a  b"),
        ("", ""),
        (" \n ", ""),
        ("  ", ""),
        ("\n \v\n\tx\n", "\tx"),
        ("a \n\n", "a"),
        ("\u3000x\u3000", "\u3000x\u3000"),
    ],
)
def test_trim_drops_blank_lines_and_trailing_space_but_no_indentation(text, piece):
    data = f"<{text}>".encode()
    start, end = trim(data, 1, len(data) - 1)
    assert data[start:end].decode() == piece
    assert 1 <= start <= end


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"abc\xffdef", "byte offset 3 (0xff)"),
        (BOM.encode() + b"a\xc3", "byte offset 4 (0xc3)"),
        (b"\xed\xa0\x80", "byte offset 0 (0xed)"),
        (b"\xc0\x80", "byte offset 0 (0xc0)"),
    ],
)
def test_bytes_that_are_not_utf_8_are_refused_with_their_place(content, where):
    with pytest.raises(DocumentError, match="save the file as UTF-8") as caught:
        canonicalise(content)
    assert caught.value.kind is FindingKind.UNDECODABLE
    assert where in str(caught.value)


@pytest.mark.parametrize("position", [6, -1])
def test_positions_out_of_range_are_refused(position):
    with pytest.raises(ValueError, match=rf"positions lie within 0\.\.5, got {position}"):
        canonicalise(b"a\r\nb\r\nc").offset(position)


def test_a_canonical_text_costs_no_map_and_the_body_moves_by_replace():
    canonical = canonicalise("Déjà vu\n".encode() * 100)
    assert canonical == CanonicalText(canonical.data)
    assert (canonical._positions, canonical._offsets) == ((0,), (0,))
    assert dataclasses.replace(canonical, body=10).spans([(10, 19)]) == [Span(10, 19, 2, 2)]


def test_a_hostile_run_of_marks_is_composed_like_any_other_and_in_time():
    marks = "\u0301\u0323" * 1000
    expected = unicodedata.normalize("NFC", "a" + marks)
    assert canonicalise(("a" + marks).encode()).text == expected
    longer = canonicalise(("a" + "\u0301\u0323" * 50_000).encode())  # by insertion this takes ten seconds
    assert longer.text == "\u1ea1" + "\u0323" * 49_999 + "\u0301" * 50_000


def test_hostile_white_space_takes_linear_time():
    content = b" " * 1_000_000 + b"x" + b"\t \n" * 300_000
    canonical = canonicalise(content)
    assert len(canonical.data) == 1_000_001 + 300_000
    assert trim(canonical.data, 0, len(canonical.data)) == (0, 1_000_001)

"""Words, breaks and packing: equality with slow readings of their rules."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from steadlith_core.chunking import breaks, words
from steadlith_core.chunking.packing import pack, refine, windows
from steadlith_core.chunking.parts import Level
from steadlith_core.text.canonical import canonicalise, is_boundary, trim

WHITE = {*" \t\v\f\n\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000", *map(chr, range(0x2000, 0x200B))}
OPENING = set("〈《「『【\u3014〖〘〚")

PIECES = st.sampled_from(
    [
        *("word", "Word.", "e.g.", "end!", "a", "3.14", "(See", 'quoted."', "-", "é", "É", "\u0301", "e\u0301\u0323"),
        *(" ", "  ", "\t", "\n", "\n\n", "    ", "\n  ", "\u00a0", "\u3000", "\u2003", "\r\n", "\n" + " " * 70),
        *("漢字", "です。", "「話」", "が", "\u3099", "ภาษาไทย" * 9, "x" * 200, "é" * 90, "\U0001f600" * 20, "\u0378"),
        *("a" + "\u0301" * 40, "\u0301" * 400),
    ]
)
TEXTS = st.lists(PIECES, max_size=16).map("".join)


def read(source, body=0, cap=1000):
    return words.read(canonicalise(source.encode()).data, body, cap)


def slow_words(data, cap):
    """(start, head, end) of every word, code point by code point."""
    text = data.decode()
    at = [0]
    for char in text:
        at.append(at[-1] + len(char.encode()))
    found = []
    for index in slow_heads(text):
        line = text.rfind("\n", 0, index) + 1
        indented = set(text[line:index]) <= WHITE and at[index] - at[line] <= words.LONG
        start = line if indented else index
        if is_boundary(text[start]):
            found.append((at[start], at[index]))
        elif not found:
            found.append((trim(data, 0, len(data))[0], at[index]))
    pieces = []
    for (start, head), (following, _) in pairwise([*found, (len(data), len(data))]):
        pieces += slow_parts(data, text, at, start, head, stripped(data, start, following), cap)
    return pieces


def slow_heads(text):
    for index, char in enumerate(text):
        before = text[index - 1] if index else " "
        wide = "\u3040" <= char <= "\u9fff" or char in OPENING
        if char not in WHITE and (before in WHITE or wide) and before not in OPENING:
            yield index


def stripped(data, start, end):
    return start + len(data[start:end].rstrip(b" \t\v\f\n\r"))


def slow_parts(data, text, at, start, head, end, cap):
    """What a word that is too long falls into."""
    allowed = {at[index] for index, char in enumerate(text) if is_boundary(char) and char not in WHITE}
    if data[head:end].isascii():
        allowed = set(at)
    places = [place for place in at if head < place < end and place in allowed]
    cuts = [head]
    while end - cuts[-1] > words.LONG:
        near = [place for place in places if cuts[-1] < place <= cuts[-1] + words.LONG]
        far = [place for place in places if place > cuts[-1]]
        if not far:
            break
        cuts.append(near[-1] if near else far[0])
    forced = []
    for low, high in pairwise([start, *cuts[1:], end]):
        forced.append(low)
        while high - forced[-1] > cap:
            forced.append(max(place for place in at if place <= forced[-1] + cap))
    return [(low, max(low, head), stripped(data, low, high)) for low, high in pairwise([*forced, end])]


@settings(max_examples=400)
@given(TEXTS)
@example("漢字です。次")
@example("\u3000\u3000\n\u3000字\n\u3000")
@example("  indented\n\n\t twice")
@example("x" + " " * 70 + "y\n" + " " * 64 + "z\n" + " " * 65 + "w")
def test_words_are_those_of_a_slow_reading(source):
    found = read(source, cap=300)
    got = list(zip(found.starts.tolist(), found.heads.tolist(), found.ends.tolist(), strict=True))
    assert got == slow_words(found.data, 300)


@settings(max_examples=300)
@given(TEXTS, st.data())
def test_every_piece_of_words_is_trimmed_and_together_they_hold_all_solid_text(source, data):
    found = read(source)
    if not len(found):
        assert set(canonicalise(source.encode()).text) <= WHITE
        return
    first = data.draw(st.integers(0, len(found) - 1))
    last = data.draw(st.integers(first + 1, len(found)))
    start, end = found.range(first, last)
    assert (start, end) == trim(found.data, start, end)
    held = bytearray(len(found.data))
    for index in range(len(found)):
        low, high = found.range(index, index + 1)
        held[low:high] = b"x" * (high - low)
    missing = bytes(byte for byte, mark in zip(found.data, held, strict=True) if not mark)
    assert set(missing.decode()) <= WHITE


def test_white_space_is_that_of_unicode_and_of_no_python():
    assert {char for char in map(chr, range(0x110000)) if char in words.SPACES} == WHITE
    for char in WHITE - set("\n\r"):
        assert len(read(f"a{char}b")) == 2, hex(ord(char))
    for near in "\u0084\u0086\u00a1\u167f\u1681\u200b\u2027\u202a\u2030\u205e\u2060\u180e\ufeff\u3001":
        assert len(read(f"a{near}b")) == 1, hex(ord(near))


def test_words_begin_behind_the_front_matter():
    data = b"---\nx: y\n---\n\n  body text"
    found = words.read(data, data.index(b"\n\n"), 1000)
    assert [data[slice(*found.range(index, index + 1))] for index in range(len(found))] == [b"  body", b"text"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a\u00a0b\u00a0c\u00a0d\u00a0e\u00a0f", 6),
        ("漢字です。", 4),
        ("x" * 64, 1),
        ("x" * 65, 2),
        ("a\u3000b", 2),
        ("", 0),
    ],
    ids=["no-break spaces", "ideographs", "long", "too long", "wide space", "empty"],
)
def test_what_a_word_is(text, count):
    assert len(read(text)) == count


def test_a_run_that_may_not_be_cut_is_one_word_and_cut_at_the_cap_only():
    run = "a" + "\u0301" * 300
    assert len(read(f"x {run} y", cap=1000)) == 3
    found = read(f"x {run} y", cap=400)
    assert found.forced == ((2, 2 + len(canonicalise(run.encode()).data)),)
    assert all(found.ends - found.heads <= 400)


# ------------------------------------------------------------------------------------------------- sentences


def sentences(source):
    found = read(source)
    begins = [*breaks.sentences(found).tolist(), len(found)]
    return [found.data[slice(*found.range(first, last))].decode() for first, last in pairwise(begins)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("It is 3.14 and so on. Then 2 more.", ["It is 3.14 and so on.", "Then 2 more."]),
        ("Ask Dr. Who, e.g. Tom. He knows.", ["Ask Dr. Who, e.g. Tom.", "He knows."]),
        ("It ends. but not here. 7 do.", ["It ends. but not here.", "7 do."]),
        ("What? yes! no", ["What?", "yes!", "no"]),
        ('He said "Stop." (She did.) Then left.', ['He said "Stop."', "(She did.)", "Then left."]),
        ("Fini. Été suit. été non.", ["Fini.", "Été suit. été non."]),
        ("終わり。「次」です\uff01最後", ["終わり。", "「次」です\uff01", "最後"]),
        ("no stop\n\nnew paragraph", ["no stop", "new paragraph"]),
        ("one. Two\nthree. Four", ["one.", "Two\nthree.", "Four"]),
        ("Smith Jr. Died (vs. Anna) in St. Ives", ["Smith Jr. Died (vs. Anna) in St. Ives"]),
    ],
)
def test_a_sentence_ends_where_one_does(source, expected):
    assert sentences(source) == expected


def test_no_abbreviation_of_the_list_ends_a_sentence():
    listed = ("mr", "dr", "prof", "vs", "etc", "e.g", "i.e", "fig", "no", "al", "inc", "ltd", "co", "jr", "sr", "st")
    for word in (*listed, "mrs", "ms"):
        assert sentences(f"Say {word.capitalize()}. Next") == [f"Say {word.capitalize()}. Next"]


@settings(max_examples=200)
@given(TEXTS)
def test_lines_and_paragraphs_begin_after_line_feeds(source):
    found = read(source)
    data, starts = found.data, found.starts.tolist()
    assert breaks.lines(found).tolist() == [i for i, at in enumerate(starts) if i == 0 or data[at - 1 : at] == b"\n"]
    assert breaks.paragraphs(found).tolist() == [
        i for i, at in enumerate(starts) if i == 0 or data[:at].endswith(b"\n\n")
    ]
    begun = set(breaks.sentences(found).tolist())
    for index in range(len(found)):
        strength = breaks.level(found, index)
        assert (strength is Level.PARAGRAPH) == (index in breaks.paragraphs(found))
        assert (strength in {Level.PARAGRAPH, Level.ITEM, Level.SENTENCE}) == (index in begun)


# --------------------------------------------------------------------------------------------------- packing


def slow_pack(found, bounds, target, overlap, cap):
    pieces = list(pairwise(bounds))
    made, start, end = [], bounds[0], bounds[0]
    for _, last in pieces:
        fits = last - start <= target and found.ends[last - 1] - found.starts[start] <= cap
        if end > bounds[0] and not fits:
            made.append((start, end))
            start = max(start + 1, end - overlap)
            while start < end and found.ends[end - 1] - found.starts[start] > overlap * cap // target:
                start += 1
            while start < end and found.ends[last - 1] - found.starts[start] > cap:
                start += 1
        end = last
    return [*made, (start, end)]


@settings(max_examples=300)
@given(
    st.lists(st.text("ab", min_size=1, max_size=60), min_size=1, max_size=40),
    st.sets(st.integers(1, 39)),
    st.integers(1, 12),
    st.integers(0, 11),
)
def test_packing_is_greedy_and_seeds_the_overlap(texts, inner, target, overlap):
    found = read(" ".join(texts))
    overlap = min(overlap, target - 1)
    bounds = np.array([0, *sorted(place for place in inner if place < len(found)), len(found)])
    bounds = refine(found, bounds, (breaks.all_words(found),), target, 256)
    assert list(pack(found, bounds, target, overlap, 256)) == slow_pack(found, bounds.tolist(), target, overlap, 256)


def test_windows_are_those_of_the_row():
    found = read("a b c d e f g h i j")
    assert list(windows(found, 0, 10, 5, 2, 256)) == [(0, 5), (3, 8), (6, 10)]
    assert list(windows(found, 0, 10, 0, 0, 256)) == [(0, 10)]


def test_weaker_breaks_are_used_only_inside_what_is_too_large():
    found = read("a b\n\nc d e f g\nh\n\ni j")
    bounds = refine(found, np.array([0, 10]), (find(found) for find in breaks.FINDERS.values()), 5, 256)
    assert bounds.tolist() == [0, 2, 7, 8, 10]

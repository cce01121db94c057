"""The policies `fixed`, `word`, `sentence` and `recursive`."""

import pytest

from steadlith_core.chunking.packed import FIXED, RECURSIVE, SENTENCE, WORD
from steadlith_core.chunking.parts import Level
from steadlith_core.errors import ConfigError
from steadlith_core.records import Format
from steadlith_core.text.canonical import canonicalise

PARAGRAPH = "alpha beta gamma delta"


def cut(factory, source, **settings):
    return factory.build(settings).cut(canonicalise(source.encode()), Format.TEXT)[0]


def texts(factory, source, **settings):
    return [chunk.text for chunk in cut(factory, source, **settings)]


def test_fixed_has_so_many_words_and_no_overlap():
    assert texts(FIXED, "a b\n\nc d e\n  f g", max_words=3) == ["a b\n\nc", "d e\n  f", "g"]


def test_word_windows_have_a_stride_and_the_last_ends_at_the_last_word():
    made = cut(WORD, "0 1 2 3 4 5 6 7 8 9", target_words=4, overlap_words=1)
    assert [chunk.text for chunk in made] == ["0 1 2 3", "3 4 5 6", "6 7 8 9"]
    assert [(chunk.span.start, chunk.span.end) for chunk in made] == [(0, 7), (6, 13), (12, 19)]


def test_sentences_are_packed_whole():
    source = "One two three. Four five. Six seven eight nine. Ten."
    assert texts(SENTENCE, source, target_words=5, overlap_words=0) == [
        "One two three. Four five.",
        "Six seven eight nine. Ten.",
    ]


def test_a_decimal_number_and_an_abbreviation_end_no_sentence():
    source = "Pi is 3.14 and Dr. Who knows it. He does."
    assert texts(SENTENCE, source, target_words=8, overlap_words=0) == ["Pi is 3.14 and Dr. Who knows it.", "He does."]


def test_a_sentence_over_the_target_is_cut_at_words():
    assert texts(SENTENCE, "One two three four five. Six.", target_words=3, overlap_words=0) == [
        "One two three",
        "four five. Six.",
    ]


def test_recursive_cuts_no_paragraph_that_fits():
    source = "\n\n".join([PARAGRAPH] * 5)
    assert texts(RECURSIVE, source, target_words=9, overlap_words=0) == [
        f"{PARAGRAPH}\n\n{PARAGRAPH}",
        f"{PARAGRAPH}\n\n{PARAGRAPH}",
        PARAGRAPH,
    ]


def test_recursive_descends_to_lines_sentences_and_words_only_where_it_must():
    source = "a b c\nd e f\n\nOne two. Three four five six.\n\ng h"
    made = cut(RECURSIVE, source, target_words=4, overlap_words=0)
    assert [chunk.text for chunk in made] == ["a b c", "d e f", "One two.", "Three four five six.", "g h"]
    assert [chunk.level for chunk in made] == [
        *(Level.PARAGRAPH, Level.LINE, Level.PARAGRAPH, Level.SENTENCE, Level.PARAGRAPH),
    ]


def test_an_overlap_is_the_last_words_of_the_chunk_before():
    source = "\n\n".join([PARAGRAPH] * 3)
    made = texts(RECURSIVE, source, target_words=4, overlap_words=2)
    assert made == [PARAGRAPH, f"gamma delta\n\n{PARAGRAPH}", f"gamma delta\n\n{PARAGRAPH}"]


@pytest.mark.parametrize("factory", [WORD, SENTENCE, RECURSIVE])
@pytest.mark.parametrize(
    ("target", "overlap", "expected"),
    [
        (8, 8, (8, 2)),
        (8, 9, (8, 2)),
        (8, -1, (8, 2)),
        (0, 5, (120, 24)),
        (-3, 0, (120, 24)),
        (8, 0, (8, 0)),
        (1, 1, (1, 0)),
    ],
)
def test_impossible_sizes_become_possible_ones(factory, target, overlap, expected):
    params = factory.build({"target_words": target, "overlap_words": overlap}).params
    assert (params["target_words"], params["overlap_words"]) == expected


def test_parameters_are_what_moves_a_cut():
    assert FIXED.build({}).params == {"max_bytes": 5120, "max_words": 320}
    assert WORD.build({"max_sections": 5}).params == {"max_bytes": 1920, "overlap_words": 24, "target_words": 120}
    assert [factory.build({}).id for factory in (FIXED, WORD, SENTENCE, RECURSIVE)] == [
        *("fixed/1", "word/1", "sentence/1", "recursive/1"),
    ]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_words": 0}, ["max_words = 0", "at least 1"]),
        ({"overlap_words": 3}, ["overlap_words = 3", "fixed/1", "max_words, max_bytes, max_sections"]),
        ({"max_words": "3"}, ["max_words = '3'", "whole number"]),
        ({"max_words": 3.0}, ["max_words = 3.0", "whole number"]),
        ({"max_words": True}, ["max_words = True", "whole number"]),
        ({"max_bytes": 1279}, ["max_bytes = 1279", "at least 1280", "4 x max_words"]),
        ({"max_words": 3, "max_bytes": 255}, ["max_bytes = 255", "at least 256"]),
        ({"max_sections": -1}, ["max_sections = -1", "at least 0"]),
    ],
)
def test_wrong_settings_are_refused_by_name_value_and_rule(settings, words):
    with pytest.raises(ConfigError) as caught:
        FIXED.build(settings)
    assert all(word in str(caught.value) for word in words)

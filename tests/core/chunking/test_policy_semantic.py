"""The policy `semantic`: sentences that share words stay together."""

import pytest

from steadlith_core.chunking.parts import Level
from steadlith_core.chunking.semantic import FACTORY
from steadlith_core.errors import ConfigError
from steadlith_core.records import Format
from steadlith_core.text.canonical import canonicalise

SHIPS = "The sloop has one mast. A sloop with one mast sails well."
FOOD = "Soup needs salt and onions! Onions and salt make soup."


def cut(source, **settings):
    settings = {"min_words": 1, **settings}
    return FACTORY.build(settings).cut(canonicalise(source.encode()), Format.TEXT)[0]


def texts(source, **settings):
    return [chunk.text for chunk in cut(source, **settings)]


def test_sentences_that_share_words_are_one_chunk():
    made = cut(f"{SHIPS} {FOOD}")
    assert [chunk.text for chunk in made] == [SHIPS, FOOD]
    assert [chunk.level for chunk in made] == [Level.PARAGRAPH, Level.SENTENCE]


def test_the_threshold_is_what_both_have_of_what_either_has():
    # {a, b, c} and {c, d}: one of four words.
    assert texts("A b c. C d.", similarity_percent=25) == ["A b c. C d."]
    assert texts("A b c. C d.", similarity_percent=26) == ["A b c.", "C d."]
    assert texts("A. B. C.", similarity_percent=0) == ["A. B. C."]
    assert texts("A b. B a! A, b?", similarity_percent=100) == ["A b. B a! A, b?"]


def test_punctuation_and_case_make_no_difference():
    assert texts('One "two" (three). ONE: two-three!', similarity_percent=100) == ['One "two" (three). ONE: two-three!']


def test_sentences_without_words_belong_together():
    assert texts("---\n\n***\n\nword", similarity_percent=100) == ["---\n\n***", "word"]


def test_a_group_under_the_minimum_goes_on():
    source = "One two. Three four. Five six. Seven."
    assert texts(source) == ["One two.", "Three four.", "Five six.", "Seven."]
    assert texts(source, min_words=3) == ["One two. Three four.", "Five six. Seven."]
    assert texts(source, min_words=5) == ["One two. Three four. Five six.", "Seven."]


def test_a_group_over_the_maximum_is_cut_at_sentences_and_at_words_only_inside_a_longer_one():
    assert texts(SHIPS, max_words=7) == ["The sloop has one mast.", "A sloop with one mast sails well."]
    assert texts(SHIPS, max_words=6) == ["The sloop has one mast. A", "sloop with one mast sails well."]


def test_sentences_of_ideographs_are_compared_by_ideograph():
    assert texts("船有桅杆。船的桅杆高。汤要盐和葱。") == ["船有桅杆。船的桅杆高。", "汤要盐和葱。"]


def test_parameters_are_whole_numbers():
    policy = FACTORY.build({})
    assert policy.id == "semantic/1"
    assert policy.params == {"max_bytes": 10240, "max_words": 640, "min_words": 180, "similarity_percent": 15}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"similarity_percent": 0.15}, ["similarity_percent = 0.15", "whole number"]),
        ({"similarity_percent": 101}, ["similarity_percent = 101", "from 0 to 100"]),
        ({"similarity_percent": -1}, ["similarity_percent = -1"]),
        ({"min_words": 0}, ["min_words = 0"]),
        ({"min_words": 700}, ["max_words = 640", "at least 700"]),
    ],
)
def test_wrong_settings_are_refused_by_name_value_and_rule(settings, words):
    with pytest.raises(ConfigError) as caught:
        FACTORY.build(settings)
    assert all(word in str(caught.value) for word in words)

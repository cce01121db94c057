"""The lexical side: queries and texts are cut alike, and no string is a bad query."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core.text.query import MAX_TERMS, index_text, terms


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ()),
        ("   \n\t", ()),
        ("!!! ... ---", ()),
        ("\U0001f600\U0001f680", ()),
        ("_ __ \u0301", ()),
        ("Hello, World! hello", ("hello", "world")),
        ("C++ and C#", ("c", "and")),
        ('title:x NEAR("a" "b", 3) AND NOT col*', ("title", "x", "near", "a", "b", "3", "and", "not", "col")),
        ("snake_case __init__ v2.0", ("snake_case", "init", "v2", "0")),
        ("a\0b", ("ab",)),
        ("\uff26\uff35\uff2c\uff2c \ufb01ne", ("full", "fine")),  # full-width, ligature
        ("Straße ΣΑΣ İ", ("straße", "σας", "i\u0307")),
        ("हिन्दी भाषा", ("हिन्दी", "भाषा")),
        ("한국어 검색", ("한국어", "검색")),
        ("東", ("東",)),
        ("東京都", ("東京", "京都")),
        ("東京Tower2024年", ("東京", "tower2024", "年")),
        ("カタカナ・ひらがな", ("カタ", "タカ", "カナ", "ひら", "らが", "がな")),
        ("ｶﾞｲﾄﾞ", ("ガイ", "イド")),
        ("サーバー", ("サー", "ーバ", "バー")),
        ("\U00020000\U00020001\U00020002", ("\U00020000\U00020001", "\U00020001\U00020002")),
        ("葛\U000e0100城", ("葛城",)),
        ("\ud800x", ("x",)),
    ],
)
def test_terms_of_a_query(query, expected):
    assert terms(query) == expected


@pytest.mark.parametrize(
    ("text", "indexed"),
    [
        ("Plain text, untouched: C++ 'x' _y_\n", "Plain text, untouched: C++ 'x' _y_\n"),
        ("naïve façade", "naïve façade"),
        ("見出し", " 見出 出し "),
        ("第3章: 東京都で", " 第 3 章 :  東京 京都 都で "),
        ("a\0b", "ab"),
    ],
)
def test_only_runs_without_spaces_are_cut_for_the_index(text, indexed):
    assert index_text(text) == indexed


def test_terms_are_capped_in_the_order_of_the_query():
    assert terms(" ".join(f"w{n}" for n in range(1000))) == tuple(f"w{n}" for n in range(MAX_TERMS))


CJK = st.text(st.sampled_from("東京都大学々〇ひらがなカタカナーヶ\U00020000\U0002a6d6"), min_size=2, max_size=12)
TEXT = st.lists(CJK | st.sampled_from([" ", "abc", "。", "・", "3", "é", "\n", "\U0001f600", "한"]), max_size=8)


@given(TEXT, st.data())
def test_every_cjk_part_of_a_text_asks_for_words_of_its_index(pieces, data):
    text = "".join(pieces)
    words = set(index_text(text).split(" "))
    runs = [piece for piece in pieces if len(piece) >= 2 and piece[0] >= "々"]
    for run in runs:
        start = data.draw(st.integers(0, len(run) - 2))
        end = data.draw(st.integers(start + 2, len(run)))
        assert set(terms(run[start:end])) <= words


@settings(max_examples=300)
@given(st.text(max_size=200))
def test_any_text_is_a_query_and_its_terms_are_words(query):
    found = terms(query)
    assert len(found) == len(set(found)) <= MAX_TERMS
    for term in found:
        assert any(char.isalnum() for char in term)
        assert not set(term) & set(' "*():\0-+^{}')


@given(TEXT)
def test_a_text_asks_for_itself(pieces):
    text = "".join(pieces)
    assert terms(index_text(text)) == terms(text)

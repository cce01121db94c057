"""tokens/1: integer weights by class, additive over ranges, and no blind spot for text without white space."""

import base64
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_core.text.tokens import (
    EACH_BYTE,
    ESTIMATOR_ID,
    KIND,
    LONG_LETTER,
    LONG_RUN,
    START_BYTE,
    UNIT,
    WEIGHTS,
    Estimate,
    cumulative,
    cumulative_bytes,
    estimate,
    weigh,
    whole,
)

LEADS = (
    (0xC0, "latin mark"),
    (0xC3, "latin"),
    (0xCA, "greek"),
    (0xD0, "cyrillic"),
    (0xD4, "semitic"),
    (0xE0, "indic"),
    (0xE2, "symbol"),
    (0xE3, "kana"),
    (0xE4, "han"),
    (0xEA, "hangul"),
    (0xEE, "kana"),
    (0xF0, "astral"),
)


def kind(char):
    first = char.encode("utf-8", "surrogatepass")[0]
    if first >= 0x80:
        return [name for lead, name in LEADS if lead <= first][-1]
    if char.isalpha():
        return "lower" if char.islower() else "upper"
    if char.isdigit():
        return "digit"
    return {"_": "underscore", "\n": "feed", **dict.fromkeys(" \t\v\f\r", "space")}.get(char, "mark")


def by_hand(text):
    """The estimator as docs/format.md would say it: one code point after the other."""
    weights, before, word = [], None, 0
    for char in text:
        now = kind(char)
        each, start = WEIGHTS[now][1:]
        word = word + 1 if now in {"lower", "upper", "digit"} else 0
        if word > LONG_RUN and now != "digit":
            weights.append(LONG_LETTER)
        else:
            weights.append(each + start * (now != before))
        before = now
    return weights


MIXED = st.text(alphabet=st.sampled_from("aaZ09_.,- \t\n\x00é·λж€漢か한\U0001f600\u0301"), max_size=120)
WORDS = st.text(alphabet=st.sampled_from("abZ9"), min_size=20, max_size=90)


@given(MIXED | st.text(max_size=60) | st.lists(WORDS, max_size=3).map("-".join))
def test_cumulative_is_the_sum_of_weights_code_point_by_code_point(text):
    weights = by_hand(text)
    assert cumulative(text).tolist() == [sum(weights[:at]) for at in range(len(text) + 1)]


@given(MIXED | st.lists(WORDS, max_size=3).map(" ".join))
def test_by_bytes_a_code_point_weighs_with_its_first_byte(text):
    data = text.encode()
    expected = []
    for char, weight in zip(text, by_hand(text), strict=True):
        expected += [weight] + [0] * (len(char.encode()) - 1)
    assert weigh(data).tolist() == expected
    assert cumulative_bytes(data).tolist() == [sum(expected[:at]) for at in range(len(data) + 1)]


@pytest.mark.parametrize("length", [1, LONG_RUN - 1, LONG_RUN, LONG_RUN + 1, 5 * LONG_RUN])
def test_letters_behind_a_long_run_weigh_more_and_digits_as_ever(length):
    units = weigh(b"9" * length + b"a" + b"9a")
    assert units[length] == (LONG_LETTER if length >= LONG_RUN else sum(WEIGHTS["lower"][1:]))
    assert units[length + 1] == sum(WEIGHTS["digit"][1:])


def test_the_tables_say_what_the_classes_say():
    names = list(WEIGHTS)
    for byte in range(256):
        weight = WEIGHTS[names[KIND[byte]]]
        assert byte in weight.first or names[KIND[byte]] == "mark"
        assert (weight.each, weight.start) == (EACH_BYTE[byte], START_BYTE[byte])
        assert weight.each + weight.start <= 255
    assert sum(len(weight.first) for weight in WEIGHTS.values()) == len({*b"".join(w.first for w in WEIGHTS.values())})


def test_what_has_more_than_one_byte_has_no_start():
    assert all(START_BYTE[byte] == 0 for byte in range(0x80, 0x100))
    assert all(EACH_BYTE[byte] == 0 for byte in range(0x80, 0xC0))


def test_the_estimate_is_a_measure_with_the_estimators_name():
    measure = Estimate()
    assert measure.id == ESTIMATOR_ID
    assert measure.cumulative("naïve".encode()).tolist() == cumulative_bytes("naïve".encode()).tolist()


def test_the_empty_text_has_no_tokens():
    assert estimate("") == 0
    assert cumulative("").tolist() == [0]


@given(st.text(min_size=1, max_size=40))
def test_a_text_that_is_not_empty_has_at_least_one_token(text):
    assert estimate(text) >= 1


def test_units_round_up_to_tokens():
    assert [whole(units) for units in (0, 1, UNIT, UNIT + 1)] == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("    return [x for x in range(10)]\n", 11),
        ("2026-11-30", 9),
        ("你好世界。", 6),
        ("\U0001f600", 4),
        ("a" * 50_000, 31_238),
        ("\n" * 1_000, 2),
        ("x" + " " * 10_000 + "y", 2),
    ],
)
def test_golden_estimates_of_tokens_0(text, tokens):
    assert estimate(text) == tokens


@pytest.mark.parametrize(
    ("encode", "bytes_per_token"), [(base64.b64encode, 1.39), (base64.encodebytes, 1.37), (bytes.hex, 1.80)]
)
def test_base64_and_digests_are_not_undercounted_by_more_than_a_fifth(encode, bytes_per_token):
    blob = encode(random.Random(1).randbytes(30_000))
    text = blob if isinstance(blob, str) else blob.decode()
    assert estimate(text) >= 0.8 * len(text) / bytes_per_token


def test_importing_the_core_and_the_estimator_loads_no_numpy():
    program = (
        "import sys, steadlith_core, steadlith_core.text.tokens, steadlith_core.chunking.structural\n"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

"""tokens/0: integer weights by class, additive over ranges, and no blind spot for text without white space."""

import base64
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_core.text.tokens import (
    EACH,
    FEED,
    LETTER,
    LONG_LETTER,
    LONG_RUN,
    START,
    UNIT,
    cumulative,
    estimate,
    whole,
)


def kind(char):
    if char == "\n":
        return 4
    if char in " \t\v\f\r":
        return 3
    if len(char.encode("utf-8", "surrogatepass")) > 1:
        return 3 + len(char.encode("utf-8", "surrogatepass"))
    return (0 if char.isalpha() else 1) if char.isalnum() else 2


def by_hand(text):
    """The estimator as docs/format.md would say it: one code point after the other."""
    total, run, word, feeds = [0], None, 0, 0
    for char in text:
        now = kind(char)
        word = word + 1 if now <= 1 else 0
        feeds = feeds + 1 if now == FEED else 0
        weight = EACH[now] + (START[now] if now != run else 0)
        if now == LETTER and word > LONG_RUN:
            weight = LONG_LETTER
        if feeds > 2:
            weight = 0
        total.append(total[-1] + weight)
        run = now
    return total


@given(st.text(alphabet=st.sampled_from("aZ09.,- \t\n\x00é漢\U0001f600\u0301"), max_size=120) | st.text(max_size=60))
def test_cumulative_is_the_sum_of_weights_code_point_by_code_point(text):
    assert cumulative(text).tolist() == by_hand(text)


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
        ("The quick brown fox jumps over the lazy dog.", 11),
        ("    return [x for x in range(10)]\n", 12),
        ("2026-11-30", 8),
        ("你好世界。", 6),
        ("\U0001f600", 3),
        ("a" * 50_000, 24_990),
        ("\n" * 1_000, 2),
        ("x" + " " * 10_000 + "y", 2),
    ],
)
def test_golden_estimates_of_tokens_0(text, tokens):
    assert estimate(text) == tokens


def test_base64_is_not_undercounted():
    blob = base64.b64encode(random.Random(1).randbytes(30_000)).decode()
    assert len(blob) / estimate(blob) < 3


def test_importing_the_core_and_the_estimator_loads_no_numpy():
    program = (
        "import sys, steadlith_core, steadlith_core.text.tokens, steadlith_core.chunking.structural\n"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

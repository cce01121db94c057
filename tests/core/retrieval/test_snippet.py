from hypothesis import given
from hypothesis import strategies as st

from steadlith_core.retrieval.snippet import snippet

TEXT = "# Title\n\nfirst line\nsecond line\n\nthird about invoices\nfourth\nfifth holds the cabinet\nsixth"


def test_the_window_with_most_of_the_query_is_shown():
    assert snippet(TEXT, ["invoices", "cabinet"], 3) == ("third about invoices", "fourth", "fifth holds the cabinet")


def test_without_a_word_of_the_query_it_is_the_beginning():
    assert snippet(TEXT, ["nowhere"], 2) == ("# Title", "first line")
    assert snippet(TEXT, [], 2) == ("# Title", "first line")


def test_a_longer_word_says_more_than_a_short_one():
    assert snippet("a line of it\nanother of it\nphotosynthesis", ["of", "it", "photosynthesis"], 1) == (
        "photosynthesis",
    )


@given(st.text(alphabet="ab \n", max_size=60), st.lists(st.sampled_from(["a", "ab", "b"])), st.integers(1, 5))
def test_it_is_a_run_of_the_texts_own_lines(text, terms, most):
    lines = [line for line in text.split("\n") if line]
    shown = list(snippet(text, terms, most))
    assert len(shown) == min(most, len(lines))
    assert any(lines[i : i + len(shown)] == shown for i in range(len(lines) + 1))

"""The fixture embedder: the rules of the kit, golden vectors, and what it is honest about."""

import pytest

from steadlith_adapters.embedders.hash import FACTORY
from steadlith_conformance.embedders import EmbedderSuite
from steadlith_core import vectors
from steadlith_core.digest import hash_fields
from steadlith_core.errors import ConfigError

# Regenerate only with a new model id: an index built from other vectors would be silently wrong.
GOLDEN = {
    "": "b3:48fe6fb1a886f4b84e3e103cd65f4489f9171b41262860c4a1675e4cbb7ee8dd",
    "A plan says what would change.": "b3:f8a7a8df98cf222dde320acd1f800131ae2567d9365ed3b22e91b91e6ae19912",
    "\u5206\u5757 chunking \u00dcBER": "b3:61f960a3ad6687976d8ef5ab3e5bcdce3609e4f31dfca7296a0430b0420aae7d",
    "!!!": "b3:4c1fe226f8341e4b6a79099ef85d37a5897dc120bc1bab7a89699f1b8d86f31d",
}


class TestHash(EmbedderSuite):
    @pytest.fixture
    def factory(self):
        return FACTORY


class TestHashOfEightDimensions(EmbedderSuite):
    """The fewest dimensions: features cancel out most often here."""

    @pytest.fixture
    def factory(self):
        return FACTORY

    @pytest.fixture
    def settings(self):
        return {"dimensions": 8}


@pytest.mark.parametrize(("text", "digest"), GOLDEN.items())
def test_vectors_are_the_same_on_every_platform(text, digest):
    assert str(hash_fields("golden", FACTORY.build({}).embed_query(text))) == digest


@pytest.mark.parametrize("wrong", [7, 4097, 256.0, "256", True, None])
def test_dimensions_out_of_range_are_refused_with_the_range(wrong):
    with pytest.raises(ConfigError, match="from 8 to 4096"):
        FACTORY.describe({"dimensions": wrong})


def test_the_most_dimensions_work():
    assert len(FACTORY.build({"dimensions": 4096}).embed_query("a")) == 4 * 4096


def test_shared_words_bring_texts_near_and_shared_pairs_nearer():
    embedder = FACTORY.build({})
    texts = ("red green blue white", "white blue green red", "one two three four")
    same, shuffled, other = (
        vectors.cosines([embedder.embed_query(text)], embedder.embed_query(texts[0]))[0] for text in texts
    )
    assert same == pytest.approx(1)
    assert 0.2 < shuffled < 0.6
    assert abs(other) < 0.2


def test_case_and_punctuation_do_not_matter():
    embedder = FACTORY.build({})
    assert embedder.embed_query("Red, GREEN!") == embedder.embed_query("red green")


def test_features_that_cancel_out_still_give_a_direction():
    embedder = FACTORY.build({"dimensions": 8})
    # One word three times sums up to 6, its two pairs to 6 or -6, in one of 8 places.
    texts = [f"w{number} w{number} w{number}" for number in range(200)]
    alone = [text for text in texts if not any(embedder._sums(text))]
    assert alone, "none of these cancels out any more; find others"
    for text in (*alone, "", "!!!", "\u200b"):
        assert vectors.problems(embedder.embed_query(text), 8) == ()


def test_a_query_that_is_not_utf8_is_embedded():
    assert len(FACTORY.build({}).embed_query("caf\udce9")) == 4 * 256

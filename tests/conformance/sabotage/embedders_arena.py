"""Embedders to sabotage: `hash`, wrapped."""

import sys
import time
from dataclasses import replace

import pytest
from sabotage.saboteurs import EMBEDDERS as TABLE
from sabotage.saboteurs import Wrapped

from steadlith_adapters.embedders.hash import FACTORY
from steadlith_conformance.embedders import EmbedderSuite
from steadlith_core import vectors
from steadlith_core.errors import EmbeddingError, Failure

breaks, also = TABLE.breaks, TABLE.also


class Arena(EmbedderSuite):
    """The whole suite over one saboteur."""

    @pytest.fixture
    def factory(self):
        return Wrapped(FACTORY, "embedders", self.saboteur)


def _turn(it):
    it.kept["turn"]["now"] = turn = it.kept["turn"].get("now", 0) + 1
    return turn


@breaks("embedders.describe", "test_identity_is_the_same_every_time")
def another_name_each_time(it, settings):
    """The model's name has a number that counts."""
    found = it.inner.describe(settings)
    return replace(found, model_id=f"{found.model_id}.{_turn(it)}")


@breaks("embedders.describe", "test_identity_says_what_changes_a_vector")
def identity_without_dimensions(it, settings):
    """What the vectors depend on is not part of the identity."""
    return replace(it.inner.describe(settings), document_params={})


def _limited(it, settings):
    return replace(it.inner.describe(settings), max_bytes=2000)


@breaks("embedder.embed_documents", "test_a_text_over_max_bytes_is_refused")
def long_texts_are_cut_off(it, texts):
    """A text over its own limit is embedded in part, without a word."""
    return it.inner.embed_documents([text[:2000] for text in texts])


also(long_texts_are_cut_off, "embedders.describe")(_limited)


def _refusing(error):
    def embed(it, texts):
        if any(len(text.encode()) > 2000 for text in texts):
            raise error
        return it.inner.embed_documents(texts)

    return embed


@breaks("embedder.embed_documents", "test_a_text_over_max_bytes_is_refused")
def error_of_another_class(it, texts):
    """A text that is too long raises what the provider's library raised."""
    return _refusing(ValueError("too long"))(it, texts)


also(error_of_another_class, "embedders.describe")(_limited)


@breaks("embedder.embed_documents", "test_a_text_over_max_bytes_is_refused")
def too_long_may_pass(it, texts):
    """A text that is too long is said to be a passing trouble: it is asked for again and again."""
    return _refusing(EmbeddingError("too long", failure=Failure.TRANSIENT))(it, texts)


also(too_long_may_pass, "embedders.describe")(_limited)


@breaks("embedder.embed_documents", "test_a_text_over_max_bytes_is_refused")
def blames_the_wrong_text(it, texts):
    """Of a batch with one text that is too long, another one is named."""
    return _refusing(EmbeddingError("too long", failure=Failure.INPUT, inputs=(0,)))(it, texts)


also(blames_the_wrong_text, "embedders.describe")(_limited)


@breaks("embedders.build", "test_an_unknown_setting_is_refused_by_name")
def unknown_settings_are_ignored(it, settings):
    """A setting with a typing error changes nothing, without a word."""
    return it.inner.build({key: value for key, value in settings.items() if key == "dimensions"})


@breaks("embedder.embed_documents", "test_every_text_gets_one_usable_vector_in_order")
def order_swapped(it, texts):
    """The first two answers change places."""
    made = list(it.inner.embed_documents(texts))
    return [*made[1:2], *made[:1], *made[2:]]


@breaks("embedder.embed_documents", "test_a_text_has_one_vector_whatever_stands_beside_it")
def answers_backwards(it, texts):
    """The answers come in the opposite order."""
    return list(it.inner.embed_documents(texts))[::-1]


@breaks(
    "embedder.embed_documents",
    "test_every_text_gets_one_usable_vector_in_order",
    "test_many_texts_at_once_are_one_call",
)
def count_short(it, texts):
    """The last text of a batch gets no vector."""
    return list(it.inner.embed_documents(texts))[: max(1, len(texts) - 1)]


@breaks("embedder.embed_documents", "test_every_text_gets_one_usable_vector_in_order")
def nan_in_a_vector(it, texts):
    """One number of a vector is none."""
    made = list(it.inner.embed_documents(texts))
    return [vectors.pack([float("nan"), *vectors.unpack(made[0]).tolist()[1:]]), *made[1:]]


@breaks("embedder.embed_documents", "test_odd_and_long_texts_get_usable_vectors")
def nothing_for_no_words(it, texts):
    """A text without words gets a vector of zeros."""
    return [
        each if text.strip() else bytes(len(each))
        for text, each in zip(texts, it.inner.embed_documents(texts), strict=True)
    ]


@breaks("embedder.embed_documents", "test_a_text_has_one_vector_whatever_stands_beside_it")
def first_of_a_batch_is_special(it, texts):
    """A text's vector depends on its place in the batch."""
    return [it.inner.embed_query(text if place else f"first {text}") for place, text in enumerate(texts)]


@breaks("embedders.build", "test_two_embedders_of_one_configuration_agree")
def seeded_by_chance(it, settings):
    """Every model that is loaded has weights of its own."""
    return _Salted(it.inner.build(settings), f"seed {_turn(it)} ")


class _Salted:
    def __init__(self, inner, salt):
        self.inner, self.salt = inner, salt

    def embed_query(self, text):
        return self.inner.embed_query(self.salt + text)

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


@breaks("embedder.embed_documents", "test_different_texts_have_different_vectors")
def one_vector_for_all(it, texts):
    """All texts get the same vector."""
    return [it.inner.embed_query("any")] * len(texts)


@breaks("embedder.embed_query", "test_a_query_gets_a_usable_vector")
def queries_of_another_width(it, text):
    """A query's vector has other dimensions than a document's."""
    return it.inner.embed_query(text)[:-4]


@breaks("embedder.embed_query", "test_a_query_is_nearest_to_the_text_that_it_repeats")
def queries_live_elsewhere(it, text):
    """Queries are embedded so that they are near to no document."""
    return it.inner.embed_query(text[::-1] + " query of another model")


@breaks("embedder.embed_documents", "test_many_texts_at_once_are_one_call")
def a_hundred_at_a_time(it, texts):
    """More texts than the provider takes at once fail."""
    if len(texts) > 100:
        raise EmbeddingError("too many inputs")
    return it.inner.embed_documents(texts)


@breaks("embedder.embed_documents", "test_threads_may_share_it")
def one_buffer_for_all_threads(it, texts):
    """Threads that embed at the same time get each other's vectors."""
    it.buffer = []
    for text in texts:
        it.buffer.append(it.inner.embed_query(text))
        time.sleep(0.001)
    return list(it.buffer[: len(texts)])


@breaks("embedder.embed_documents", "test_it_says_nothing_on_the_streams")
def shows_a_progress_bar(it, texts):
    """It prints to the terminal."""
    sys.stderr.write("100%|##########|\n")
    return it.inner.embed_documents(texts)


@breaks("embedder.embed_documents", "test_a_text_has_the_same_bits_every_time")
def last_bits_by_chance(it, texts):
    """The last bits of a vector are others each time."""
    noise = 1 + 1e-6 * (_turn(it) % 2)
    return [
        vectors.pack([number * noise for number in vectors.unpack(each).tolist()])
        for each in it.inner.embed_documents(texts)
    ]

"""What every embedder must do, as a class to inherit: override `factory`, and `settings` if it needs any.

1. A rule is one inherited method; its name is what it demands.
2. Vectors are judged with the core's own functions, and compared within `tolerance`: a model's arithmetic may depend
   on the texts beside a text, its meaning may not.
"""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from steadlith_conformance.suite import Suite, should
from steadlith_core import vectors
from steadlith_core.errors import ConfigError, EmbeddingError, Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.ports import Embedder, EmbedderFactory
    from steadlith_core.vectors import Vector

TEXTS = (
    "A plan says what would change before anything changes.",
    "Ein Plan sagt, was sich \u00e4ndern w\u00fcrde.",
    "\u5206\u5757\u8ba1\u5212\u5728\u5e94\u7528\u4e4b\u524d\u663e\u793a\u66f4\u6539\u3002",
    "def f(x):\n    return x + 1\n",
    "12345",
)

HOSTILE = (
    "",
    " ",
    "\n\n\t",
    "\0",
    "!!! --- ???",
    "\U0001f642\u200d\U0001f525",
    "\u0301",
    "\ufeff",
    "a" * 20_000,
    "\n".join(["word"] * 4000),
)


class EmbedderSuite(Suite, port="embedder"):
    """The rules of `ports.Embedder` and `ports.EmbedderFactory`."""

    tolerance = 1e-5

    @pytest.fixture
    def factory(self) -> EmbedderFactory:
        raise NotImplementedError("override `factory`: the embedder's factory")

    @pytest.fixture
    def settings(self) -> Mapping[str, Any]:
        return {}

    @pytest.fixture
    def embedder(self, factory: EmbedderFactory, settings: Mapping[str, Any]) -> Embedder:
        return factory.build(settings)

    @pytest.fixture
    def dimensions(self, factory: EmbedderFactory, settings: Mapping[str, Any]) -> int:
        return factory.describe(settings).dimensions

    def test_identity_is_the_same_every_time(self, factory: EmbedderFactory, settings: Mapping[str, Any]) -> None:
        """The identity is part of every key in the cache. Take it from settings and files, and leave the settings as
        they were.
        """
        before = copy.deepcopy(dict(settings))
        assert factory.describe(settings) == factory.describe(settings)
        assert settings == before

    def test_identity_says_what_changes_a_vector(self, factory: EmbedderFactory, settings: Mapping[str, Any]) -> None:
        """Whatever changes a document's vector belongs into `document_params`, dimensions at least; else two models
        share a space.
        """
        identity = factory.describe(settings)
        assert identity.model_id
        assert identity.document_params["dimensions"] == identity.dimensions
        assert identity.max_tokens is None or identity.max_tokens > 0
        assert identity.max_bytes is None or identity.max_bytes > 0

    def test_a_text_over_max_bytes_is_refused(
        self, factory: EmbedderFactory, settings: Mapping[str, Any], embedder: Embedder
    ) -> None:
        """A model that cuts off silently indexes the beginning alone. Raise `EmbeddingError` with `Failure.INPUT` and
        the positions, so that the others go on.
        """
        most = factory.describe(settings).max_bytes
        for text in () if most is None else ("x" * (most + 1), "\u5206" * (most // 3 + 1)):
            with pytest.raises(EmbeddingError) as raised:
                embedder.embed_documents(["fine", text])
            # So that an apply leaves this one out and embeds the others.
            assert raised.value.failure is Failure.INPUT
            assert raised.value.inputs in {(), (1,)}

    def test_an_unknown_setting_is_refused_by_name(self, factory: EmbedderFactory, settings: Mapping[str, Any]) -> None:
        """A misspelt key that is passed over embeds in a way that nobody asked for. Raise `ConfigError` with it, in
        `describe` and in `build`.
        """
        for make in (factory.describe, factory.build):
            with pytest.raises(ConfigError, match="no_such_setting"):
                make({**settings, "no_such_setting": 1})

    def test_every_text_gets_one_usable_vector_in_order(self, embedder: Embedder, dimensions: int) -> None:
        """Providers answer in any order, with an index beside each vector. Sort by it, and count."""
        made = embedder.embed_documents(TEXTS)
        assert len(made) == len(TEXTS)
        for vector in made:
            assert vectors.problems(vector, dimensions) == ()
        backwards = embedder.embed_documents(TEXTS[::-1])
        for one, other in zip(made, backwards[::-1], strict=True):
            assert self.is_near(one, other)

    def test_a_text_has_one_vector_whatever_stands_beside_it(self, embedder: Embedder) -> None:
        """Padding and truncation go by the longest text of a batch in some libraries. Mask the padding, or embed texts
        of one length together.
        """
        together = embedder.embed_documents([*TEXTS, TEXTS[0]])
        assert self.is_near(together[0], together[-1])
        for text, vector in zip(TEXTS, together[:-1], strict=True):
            assert self.is_near(embedder.embed_documents([text])[0], vector)

    @should
    def test_a_text_has_the_same_bits_every_time(self, embedder: Embedder) -> None:
        """Vectors that differ in their last bits rank ties otherwise on every machine, and no cache can be compared.

        Run the model with one thread, a fixed batch shape, or round what it answers.
        """
        together = embedder.embed_documents(TEXTS)
        assert list(embedder.embed_documents(TEXTS)) == list(together)
        assert [embedder.embed_documents([text])[0] for text in TEXTS] == list(together)

    def test_two_embedders_of_one_configuration_agree(
        self, factory: EmbedderFactory, settings: Mapping[str, Any], embedder: Embedder
    ) -> None:
        """Two machines with one configuration share a cache. No random weights, and no state from earlier calls."""
        other = factory.build(settings).embed_documents(TEXTS)
        for one, two in zip(embedder.embed_documents(TEXTS), other, strict=True):
            assert self.is_near(one, two)

    def test_different_texts_have_different_vectors(self, embedder: Embedder) -> None:
        """Equal vectors for other texts mean that something is cut off or left out: look at tokens that are unknown."""
        made = embedder.embed_documents(TEXTS)
        assert len(set(made)) == len(TEXTS)

    def test_a_query_gets_a_usable_vector(self, embedder: Embedder, dimensions: int) -> None:
        """A query is judged as a document is: right length, finite, and not all zeros."""
        for text in TEXTS:
            assert vectors.problems(embedder.embed_query(text), dimensions) == ()

    def test_a_query_is_nearest_to_the_text_that_it_repeats(self, embedder: Embedder) -> None:
        """Prefixes for queries and documents may differ, and must still fit each other. Check that neither is
        swapped.
        """
        made = [vectors.unit(vector) for vector in embedder.embed_documents(TEXTS)]
        for place, text in enumerate(TEXTS):
            scores = vectors.cosines(made, vectors.unit(embedder.embed_query(text)))
            assert max(range(len(TEXTS)), key=scores.__getitem__) == place

    def test_odd_and_long_texts_get_usable_vectors(
        self, factory: EmbedderFactory, settings: Mapping[str, Any], embedder: Embedder
    ) -> None:
        """Empty, control characters, one mark alone, twenty thousand letters: a corpus has them all. Give a direction,
        or refuse by `max_bytes`.
        """
        identity = factory.describe(settings)
        texts = [text for text in HOSTILE if len(text.encode()) <= (identity.max_bytes or len(text.encode()))]
        made = embedder.embed_documents(texts)
        assert [vectors.problems(vector, identity.dimensions) for vector in made] == [()] * len(texts)

    def test_many_texts_at_once_are_one_call(self, embedder: Embedder) -> None:
        """Split what your model or provider cannot take at once; the answer is one list."""
        texts = [f"text number {number}" for number in range(150)]
        assert len(embedder.embed_documents(texts)) == 150

    def test_threads_may_share_it(self, embedder: Embedder) -> None:
        """The engine embeds on several threads. Guard what is not safe, or keep one of it for each."""
        expected = embedder.embed_documents(TEXTS)
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(embedder.embed_documents, [TEXTS] * 8))
        for answer in answers:
            assert all(self.is_near(one, two) for one, two in zip(answer, expected, strict=True))

    def test_it_says_nothing_on_the_streams(
        self, factory: EmbedderFactory, settings: Mapping[str, Any], capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Standard output belongs to the command. Switch progress bars and warnings off."""
        factory.build(settings).embed_documents(TEXTS)
        assert capfd.readouterr() == ("", "")

    def is_near(self, one: Vector, other: Vector) -> bool:
        """Whether two vectors say the same."""
        (cosine,) = vectors.cosines([vectors.unit(one)], vectors.unit(other))
        return cosine > 1 - self.tolerance

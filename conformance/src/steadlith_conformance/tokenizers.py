"""What every measure of size must do, as a class to inherit: override `factory` and `settings`, and `root` if files are
needed.

1. A rule is one inherited method; its name is what it demands.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from steadlith_conformance.suite import Suite
from steadlith_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from steadlith_core.policies import Measure, TokenizerFactory

TEXTS = (
    "",
    "word",
    "the cat sat on the mat. naïve 漢字 \U0001f600\n" * 3,
    "def f(x):\n    return x + 1\n",
    "\0 nul \0",
    "\u0301\u0301 marks",
    "<|endoftext|> [CLS] </s>",
    " \n\n\t ",
    "数据库事务" * 40,
    "a" * 5000,
)


class TokenizerSuite(Suite, port="tokenizer"):
    """The rules of `policies.Measure` and `policies.TokenizerFactory`."""

    @pytest.fixture
    def factory(self) -> TokenizerFactory:
        """The tokeniser's factory."""
        raise NotImplementedError("override `factory`: the tokeniser's factory")

    @pytest.fixture
    def settings(self) -> Mapping[str, Any]:
        """The table that the measure is built from."""
        return {}

    @pytest.fixture
    def root(self, tmp_path: Path) -> str:
        """The folder that files in the settings are relative to."""
        return str(tmp_path)

    @pytest.fixture
    def measure(self, factory: TokenizerFactory, settings: Mapping[str, Any], root: str) -> Measure:
        """The measure."""
        return factory.build(settings, root=root)

    def test_its_id_is_the_same_every_time(
        self, factory: TokenizerFactory, settings: Mapping[str, Any], root: str, measure: Measure
    ) -> None:
        """The id is part of every chunk's identity. Name the vocabulary by its digest: a version may be packed anew."""
        assert measure.id
        assert factory.build(settings, root=root).id == measure.id

    def test_an_unknown_setting_is_refused_by_name(
        self, factory: TokenizerFactory, settings: Mapping[str, Any], root: str
    ) -> None:
        """A misspelt key that is passed over measures in a way that nobody asked for. Raise `ConfigError` with it."""
        with pytest.raises(ConfigError, match="no_such_setting"):
            factory.build({**settings, "no_such_setting": 1}, root=root)

    def test_there_is_one_number_for_every_byte_and_they_never_decrease(self, measure: Measure) -> None:
        """A range's size is the difference of two numbers, so there are as many as bytes and one, from 0 on.

        Offsets of most libraries count characters: turn them into bytes. A token counts where its text begins.
        """

        @hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(st.sampled_from(TEXTS) | st.text(max_size=80))
        def holds(text: str) -> None:
            data = text.encode("utf-8", "replace")
            counted = measure.cumulative(data)
            assert counted.dtype == np.int64
            assert len(counted) == len(data) + 1
            assert counted[0] == 0
            assert bool((counted[1:] >= counted[:-1]).all())

        holds()

    def test_a_text_of_words_weighs_something_and_twice_as_many_weigh_more(self, measure: Measure) -> None:
        """Weightless text fits every chunk, and truncation in the tokeniser's own file makes long texts light."""
        once, twice = (int(measure.cumulative(b"several words of a text " * times)[-1]) for times in (200, 400))
        assert 0 < once < twice

    def test_the_same_bytes_give_the_same_numbers(
        self, factory: TokenizerFactory, settings: Mapping[str, Any], root: str, measure: Measure
    ) -> None:
        """Another number moves a cut, and what is behind it is embedded again. Keep nothing from call to call."""
        other = factory.build(settings, root=root)
        for text in TEXTS:
            first = measure.cumulative(text.encode()).tolist()
            assert measure.cumulative(text.encode()).tolist() == first
        assert [other.cumulative(text.encode()).tolist() for text in reversed(TEXTS)] == [
            measure.cumulative(text.encode()).tolist() for text in reversed(TEXTS)
        ]

    def test_threads_may_share_it(self, measure: Measure) -> None:
        """The engine cuts in several threads with one measure."""
        expected = [measure.cumulative(text.encode()).tolist() for text in TEXTS]
        with ThreadPoolExecutor(4) as pool:
            made = pool.map(lambda _: [measure.cumulative(text.encode()).tolist() for text in TEXTS], range(8))
            assert all(each == expected for each in made)

    def test_it_says_nothing_on_the_streams(self, measure: Measure, capfd: pytest.CaptureFixture[str]) -> None:
        """Standard output belongs to the command that measures. Switch progress bars and warnings off."""
        measure.cumulative(TEXTS[2].encode())
        assert capfd.readouterr() == ("", "")

"""Measures to sabotage: one that counts every byte as a quarter of a token, wrapped."""

import sys
import time

import numpy as np
import pytest
from sabotage.saboteurs import TOKENIZERS as TABLE
from sabotage.saboteurs import Wrapped

from steadlith_conformance.tokenizers import TokenizerSuite
from steadlith_core.errors import ConfigError

breaks, also = TABLE.breaks, TABLE.also


class Bytes:
    """Eight units a byte."""

    id = "bytes/1"

    def cumulative(self, data):
        return np.arange(len(data) + 1, dtype=np.int64) * 8


class BytesFactory:
    """Nothing to set."""

    def build(self, settings, *, root):
        if settings:
            raise ConfigError(f"unknown keys: {sorted(settings)}")
        return Bytes()


class Arena(TokenizerSuite):
    """The whole suite over one saboteur."""

    @pytest.fixture
    def factory(self):
        return Wrapped(BytesFactory(), "measures", self.saboteur)


def _turn(it):
    it.kept["turn"]["now"] = turn = it.kept["turn"].get("now", 0) + 1
    return turn


@breaks("measure.id", "test_its_id_is_the_same_every_time")
def another_id_each_time(it):
    """Its id counts."""
    return f"bytes/{_turn(it)}"


@breaks("measures.build", "test_an_unknown_setting_is_refused_by_name")
def unknown_settings_are_ignored(it, settings, *, root):
    """A misspelt setting changes nothing, without a word."""
    del settings
    return it.inner.build({}, root=root)


@breaks("measure.cumulative", "test_there_is_one_number_for_every_byte_and_they_never_decrease")
def counts_characters(it, data):
    """There is a number for every character, not for every byte."""
    return it.inner.cumulative(data.decode(errors="replace"))


@breaks("measure.cumulative", "test_a_text_of_words_weighs_something_and_twice_as_many_weigh_more")
def cut_off_at_a_thousand(it, data):
    """What is behind the first thousand bytes weighs nothing."""
    return np.minimum(it.inner.cumulative(data), 8000)


@breaks("measure.cumulative", "test_the_same_bytes_give_the_same_numbers")
def weighs_by_chance(it, data):
    """Every other time a byte weighs more."""
    return it.inner.cumulative(data) * (1 + _turn(it) % 2)


@breaks("measure.cumulative", "test_threads_may_share_it")
def one_text_at_a_time(it, data):
    """Threads measure each other's texts."""
    it.data = data
    time.sleep(0.0005)
    return it.inner.cumulative(it.data)


@breaks("measure.cumulative", "test_it_says_nothing_on_the_streams")
def warns_of_long_texts(it, data):
    """It prints a warning."""
    sys.stderr.write("token indices sequence length is longer than the maximum\n")
    return it.inner.cumulative(data)

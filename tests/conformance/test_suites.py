"""What holds of every suite of the kit: rules cannot be overridden, and each says why it is demanded."""

import sys

import pytest

from steadlith_conformance.caches import CacheSuite
from steadlith_conformance.chunkers import ChunkerSuite
from steadlith_conformance.embedders import EmbedderSuite
from steadlith_conformance.sources import SourceSuite
from steadlith_conformance.stores import StoreSuite
from steadlith_conformance.tokenizers import TokenizerSuite

SUITES = [CacheSuite, ChunkerSuite, EmbedderSuite, SourceSuite, StoreSuite, TokenizerSuite]

suites = pytest.mark.parametrize("suite", SUITES)


@suites
def test_a_rule_cannot_be_overridden(suite):
    name = next(iter(suite.rules))
    with pytest.raises(TypeError, match=rf"Quiet overrides rules of the kit: {name}\."):
        type("Quiet", (suite,), {name: lambda self: None})


@suites
def test_a_rule_cannot_be_overridden_from_beside_or_set_to_nothing(suite):
    name = next(iter(suite.rules))
    with pytest.raises(TypeError, match="overrides rules"):
        type("Quiet", (type("Beside", (), {name: lambda self: None}), suite), {})
    with pytest.raises(TypeError, match="overrides rules"):
        type("Quiet", (suite,), {name: None})


@suites
def test_an_adapter_may_add_tests_of_its_own(suite):
    assert type("More", (suite,), {"test_of_its_own": lambda self: None}).rules == suite.rules


@suites
def test_no_rule_carries_given(suite):
    """Two subclasses would share its state."""
    assert [name for name, rule in suite.rules.items() if hasattr(rule.function, "hypothesis")] == []


@suites
def test_the_asserts_of_every_rule_show_their_values(suite):
    for rule in suite.rules.values():
        module = sys.modules[rule.function.__module__]
        assert type(module.__spec__.loader).__name__ == "AssertionRewritingHook", module.__name__

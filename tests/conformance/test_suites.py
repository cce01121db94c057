"""What holds of every suite of the kit: rules cannot be overridden, and each says why it is demanded."""

import sys
import types
from dataclasses import fields
from pathlib import Path

import pytest

from steadlith_conformance.cachefactories import CacheFactorySuite
from steadlith_conformance.caches import CacheSuite
from steadlith_conformance.checks import CHECKS
from steadlith_conformance.chunkers import ChunkerSuite
from steadlith_conformance.embedders import EmbedderSuite
from steadlith_conformance.formats import FormatSuite
from steadlith_conformance.sources import SourceSuite
from steadlith_conformance.stores import StoreFactorySuite, StoreSuite
from steadlith_conformance.stores.honesty import VALUES, problems
from steadlith_conformance.stores.words import BY_WORDS
from steadlith_conformance.suite import Suite
from steadlith_conformance.tokenizers import TokenizerSuite
from steadlith_core.ports import Capabilities

ROOT = Path(__file__).parents[2]
SUITES = [
    CacheFactorySuite,
    CacheSuite,
    ChunkerSuite,
    EmbedderSuite,
    FormatSuite,
    SourceSuite,
    StoreSuite,
    StoreFactorySuite,
    TokenizerSuite,
]

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


def test_two_rules_cannot_have_one_name():
    one, other = (type(name, (), {"test_same": lambda self: None}) for name in ("One", "Other"))
    with pytest.raises(TypeError, match="One and Other both have a rule test_same"):
        types.new_class("Both", (one, other, Suite), {"port": "store"})


@pytest.mark.parametrize("number", CHECKS)
def test_every_check_is_made_by_rules_and_tests_that_exist(number):
    check = CHECKS[number]
    assert check.rules or check.elsewhere
    assert StoreSuite.rules.keys() | StoreFactorySuite.rules.keys() >= set(check.rules)
    assert all((ROOT / path).is_file() for path in check.elsewhere)


def test_the_checks_are_numbered_without_a_gap():
    assert list(CHECKS) == list(range(1, len(CHECKS) + 1))
    assert len(CHECKS) > 52


def test_rules_that_go_by_words_are_rules():
    assert StoreSuite.rules.keys() >= BY_WORDS


@pytest.mark.parametrize("name", VALUES)
def test_every_capability_is_held_to_the_truth_by_rules_that_exist(name):
    for value, honesty in VALUES[name].items():
        for rules in honesty:
            if isinstance(rules, tuple):
                assert StoreSuite.rules.keys() >= set(rules), (name, value)
            else:
                assert rules.strip(), (name, value)


def test_every_capability_of_the_port_is_in_the_table():
    assert {*VALUES, "max_limit"} == {field.name for field in fields(Capabilities)}


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"commit": "pointer_flip"}, "commit = 'pointer_flip': the port has 'atomic'"),
        ({"dense": frozenset({"exact", "ivf"})}, "dense holds 'ivf'"),
        ({"dense": frozenset({"hnsw"})}, "dense lacks 'exact'"),
        ({"dense": "exact"}, "dense = 'exact'"),
        ({"quantization": frozenset({"int8"})}, "quantization lacks 'float32'"),
        ({"lexical_stats": "none"}, "goes with lexical_stats = 'head'"),
        ({"lexical": frozenset({"bm25"})}, "one value is needed"),
        ({"reclaims_space": 1}, "reclaims_space = 1"),
        ({"max_limit": 0}, "max_limit = 0"),
        ({"sharding": True}, "sharding is no capability"),
    ],
)
def test_what_the_port_does_not_know_is_refused(wrong, named):
    said = {
        **{name: next(iter(values)) for name, values in VALUES.items()},
        "dense": frozenset({"exact"}),
        "quantization": frozenset({"float32"}),
        "max_limit": 100,
    }
    assert problems(said) == []
    assert named in "\n".join(problems({**said, **wrong}))


@suites
def test_every_rule_says_more_than_its_name(suite):
    assert [name for name, rule in suite.rules.items() if len(rule.advice) < 40] == []

"""The policy `router`: another policy for each kind, and parameters that are its whole table."""

from dataclasses import dataclass

import pytest

from steadlith_core.chunking.router import BUILT_IN, FACTORY, KINDS, RouterFactory, built_in
from steadlith_core.errors import ConfigError
from steadlith_core.records import Format
from steadlith_core.text.canonical import canonicalise

TEXT = canonicalise(b"# A\n\na b c d\n")


@dataclass(frozen=True)
class Counting:
    """A policy that notes what it is asked to cut."""

    name: str
    asked: list
    params: tuple = ()

    @property
    def id(self):
        return self.name

    def cut(self, text, grammar):
        self.asked.append((self.name, grammar))
        return (), ()

    def build(self, settings):
        return Counting(self.name, self.asked, settings)


def router(**kinds):
    return FACTORY.build({"kinds": kinds})


def test_every_kind_goes_to_its_own_policy_and_others_to_the_default():
    asked = []
    factory = RouterFactory(lambda name: Counting(name, asked))
    policy = factory.build({"kinds": {"markdown": {"policy": "one"}, "default": {"policy": "two"}}})
    for grammar in (Format.MARKDOWN, Format.RST, Format.CODE, Format.MARKDOWN):
        policy.cut(TEXT, grammar)
    assert asked == [("one", Format.MARKDOWN), ("two", Format.RST), ("two", Format.CODE), ("one", Format.MARKDOWN)]


def test_a_route_cuts_as_its_policy_alone():
    policy = router(markdown={"policy": "markdown"}, default={"policy": "fixed", "max_words": 2})
    assert [chunk.text for chunk in policy.cut(TEXT, Format.MARKDOWN)[0]] == ["a b c d"]
    assert policy.cut(TEXT, Format.RST) == built_in("fixed").build({"max_words": 2}).cut(TEXT, Format.RST)


def test_a_kind_without_policy_or_default_is_named():
    policy = router(markdown={"policy": "markdown"}, default=None)
    with pytest.raises(ConfigError) as caught:
        policy.cut(TEXT, Format.RST)
    assert all(word in str(caught.value) for word in ("'rst'", "[chunking.kinds.rst]", "[chunking.kinds.default]"))


def test_the_parameters_are_the_whole_table():
    policy = router(text={"policy": "fixed", "max_words": 8}, default={"policy": "plain", "max_words": 0})
    assert policy.id == "router/1"
    assert policy.params == {"default": "plain/1", "text": "fixed/1", "text.max_bytes": 256, "text.max_words": 8}


def test_different_tables_have_different_parameters():
    tables = [
        {"default": {"policy": "fixed"}},
        {"text": {"policy": "fixed"}},
        {"default": {"policy": "word"}},
        {"default": {"policy": "fixed"}, "text": {"policy": "fixed"}},
        {"default": {"policy": "fixed", "max_words": 300}},
        {"default": {"policy": "fixed"}, "text": {"policy": "fixed", "max_words": 300}},
        {"default": {"policy": "fixed", "max_words": 300}, "text": {"policy": "fixed"}},
    ]
    assert len({tuple(sorted(router(**table).params.items())) for table in tables}) == len(tables)
    assert router(**tables[3]).params == router(**dict(reversed(tables[3].items()))).params


def test_every_entry_point_but_the_router_may_have_a_kind():
    from steadlith import wiring

    assert {*BUILT_IN, "router"} == set(wiring.installed("chunkers"))
    for name in BUILT_IN:
        assert wiring.chunker_factory(name) is built_in(name)
    assert wiring.chunker_factory("router") is FACTORY


def test_what_has_no_dot_may_be_a_kind():
    assert KINDS == ("markdown", "rst", "text", "code", "default")
    assert not any("." in kind for kind in KINDS)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, ["kinds is empty", "default", "markdown, rst, text, code"]),
        ({"kinds": {"default": None}}, ["kinds is empty"]),
        ({"kinds": "fixed"}, ["kinds = 'fixed'", "table"]),
        ({"policy": "x", "kinds": {}}, ["policy = 'x'", "router/1"]),
        ({"kinds": {"html": {"policy": "fixed"}}}, ["kinds.html", "markdown, rst, text, code, default"]),
        ({"kinds": {"text": "fixed"}}, ["kinds.text = 'fixed'", 'policy = "fixed"']),
        ({"kinds": {"text": {"max_words": 3}}}, ["kinds.text", "policy"]),
        ({"kinds": {"text": {"policy": "none"}}}, ["kinds.text", "policy = 'none'", "structural"]),
        ({"kinds": {"text": {"policy": "router"}}}, ["kinds.text", "policy = 'router'"]),
        ({"kinds": {"text": {"policy": "fixed", "max_words": 0}}}, ["kinds.text", "max_words = 0"]),
    ],
)
def test_wrong_settings_are_refused_by_kind_value_and_rule(settings, words):
    with pytest.raises(ConfigError) as caught:
        FACTORY.build(settings)
    assert all(word in str(caught.value) for word in words)

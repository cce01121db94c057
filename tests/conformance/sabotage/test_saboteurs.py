"""Each rule of the kit is broken by an adapter that keeps all others, and the kit says which rule that is.

The saboteurs stand in tables (`*_arena.py`, `stores/`); `verdicts.py` puts them to the kit in a pytest of its own.
"""

import pytest
from sabotage.saboteurs import KINDS
from sabotage.verdicts import FIRST, HONEST, suite, table

EVERY = [pytest.param(kind, name, id=f"{kind}-{name}") for kind in KINDS for name in table(kind) if name != HONEST]

UNBROKEN = {
    "test_a_commit_of_ten_thousand_chunks": "the two rules of field case 28 break at the same size, and are not slow",
    "test_field_case_25_every_live_record_is_found_by_its_own_vector_after_churn_and_compaction": (
        "its small sister is broken in its place: the same code, forty times faster"
    ),
}
"""Rules that no saboteur names, and why."""

SHOULD = {name for kind in KINDS for name, rule in suite(kind).rules.items() if rule.level == "SHOULD"}
"""They are told and fail nothing; their message has no demand to it."""

OUR_OWN = ("AttributeError", "NameError", "ImportError", "RecursionError: maximum")
"""What a mistake in a saboteur would raise."""


@pytest.mark.parametrize("kind", KINDS)
def test_the_honest_adapter_wrapped_like_the_others_keeps_every_rule(kind, verdicts):
    found = verdicts(kind)
    assert found["failures"].get(HONEST) is None
    assert len(found["ran"][HONEST]) > 5


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_saboteur_is_caught_by_the_rule_that_it_breaks(kind, name, verdicts):
    failures = verdicts(kind)["failures"].get(name, {})
    for rule in table(kind)[name].rules:
        assert rule in failures, f"{name} is not caught by {rule}, but by {sorted(failures) or 'nothing'}"
        told = verdicts(kind)["told"][name][rule]
        assert rule in SHOULD or rule.removeprefix("test_").replace("_", " ") in told, told
        assert not failures[rule].startswith(OUR_OWN)


@pytest.mark.parametrize("name", FIRST.values(), ids=FIRST)
def test_a_classical_saboteur_is_caught_by_few_rules_among_all(name, verdicts):
    found = verdicts("stores")
    assert len(found["ran"][name]) > 100
    assert 0 < len(found["failures"][name]) < len(found["ran"][name]) / 3


@pytest.mark.parametrize("kind", KINDS)
def test_every_rule_is_broken_by_a_saboteur(kind):
    rules = {name for name in dir(suite(kind)) if name.startswith("test_")}
    named = {rule for saboteur in table(kind).values() for rule in saboteur.rules}
    assert named <= rules, f"saboteurs name rules that are not there: {sorted(named - rules)}"
    assert rules - named == UNBROKEN.keys() & rules
    assert UNBROKEN.keys() & named == set()


def test_no_rule_hides_another_of_its_name():
    """Rules are gathered from many classes: of two with one name only the first would ever run."""
    for kind in KINDS:
        homes = {}
        for cls in suite(kind).__mro__:
            for name in vars(cls):
                if name.startswith("test_"):
                    homes.setdefault(name, []).append(cls.__name__)
        assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_a_saboteur_says_what_it_does():
    for kind in KINDS:
        for name, saboteur in table(kind).items():
            assert saboteur.what.endswith("."), f"{kind}: {name} does not say what it does"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_saboteur_is_caught_among_all_rules(kind, tmp_path):
    from sabotage.verdicts import run

    failures = run(kind, tmp_path, whole=True)["failures"]
    missed = {
        name: sorted(set(saboteur.rules) - failures.get(name, {}).keys())
        for name, saboteur in table(kind).items()
        if not set(saboteur.rules) <= failures.get(name, {}).keys()
    }
    assert missed == {}

"""The published schema: it takes every plan, older and newer minor versions included, and refuses what is none."""

import json
from dataclasses import replace
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from steadlith_core.digest import hash_fields
from steadlith_core.planning.make import make_plan
from steadlith_core.planning.plan import Brought, Drift, Fate, Repair
from steadlith_core.planning.planfile import document, plan_digest
from steadlith_core.planning.steps import KINDS, Reason
from steadlith_core.records import DriftKind, Finding, FindingKind, Level

SCHEMA = json.loads((files("steadlith") / "schemas" / "plan-1.0.json").read_text("utf-8"))

ONLY_WHERE_THERE_IS_ONE = ("configuration",)

texts = st.lists(st.sampled_from("abcdefgh"), max_size=5)
corpora = st.dictionaries(st.sampled_from(["a.md", "b.md", "c/d.md", "ünï.md"]), texts, max_size=4)
names = st.text(max_size=5).filter(lambda text: text.isprintable())


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


def test_every_closed_list_is_the_code_s_own():
    defs, properties = SCHEMA["$defs"], SCHEMA["properties"]
    assert defs["reason"]["enum"] == [str(reason) for reason in Reason]
    assert [step["properties"]["kind"]["const"] for step in defs["step"]["oneOf"]] == list(KINDS)
    assert defs["change"]["properties"]["fate"]["enum"] == [str(fate) for fate in Fate]
    drift = properties["drift"]["items"]["properties"]
    assert drift["kind"]["enum"] == [str(kind) for kind in DriftKind]
    assert drift["repair"]["enum"] == [str(repair) for repair in Repair]
    assert properties["refresh"]["enum"] == [str(level) for level in Level]


def test_every_key_of_a_plan_is_required_and_described(build):
    assert sorted(SCHEMA["required"]) == sorted(document(build.plan([], [build.wanted("a", "ab")])))
    assert sorted(SCHEMA["properties"]) == sorted([*SCHEMA["required"], *ONLY_WHERE_THERE_IS_ONE])


def test_a_configuration_that_a_plan_brings_is_described(build, checked):
    planned = build.plan([], [build.wanted("a", "ab")])
    brought = replace(planned, configuration=Brought("[sources.docs]\n", planned.config_digest))
    assert checked(brought) == brought
    assert plan_digest(brought) != plan_digest(planned)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_plan_of_any_world_is_valid(build, checked, data):
    how = build.recipe()
    now = data.draw(
        st.sampled_from(
            [
                how,
                build.recipe(spaces=(build.space("model/2", 8),)),
                build.recipe(spaces=(build.space(quantization="int8"),)),
                build.recipe(chunker_params_hash=hash_fields("params", "q")),
                build.recipe(normalizer_id="text/2"),
            ]
        )
    )
    before = [build.wanted(path, row, how) for path, row in data.draw(corpora).items()]
    after = [build.wanted(path, row, now) for path, row in data.draw(corpora).items()]
    world = build.world(before, after, now=now, findings=[Finding(data.draw(names), FindingKind.BINARY, "NUL")])
    drift = st.builds(Drift, names, st.sampled_from(DriftKind), names, st.sampled_from(Repair))
    keys = [chunk.vector_key for document in after for chunk in document.chunks]
    world = replace(
        world,
        level=data.draw(st.sampled_from(Level)),
        drift=tuple(data.draw(st.lists(drift, max_size=3))),
        scope=tuple(data.draw(st.lists(names, max_size=2))),
        preview=data.draw(st.booleans()),
        left_out=frozenset(id_ for id_ in world.vanished if data.draw(st.booleans())),
        replaced=frozenset(data.draw(st.sets(st.just("docs")))),
        mended=frozenset(id_ for id_ in world.wanted if data.draw(st.booleans())),
        store={"commit": "atomic", "max_k": 100, "dense": ("exact", "prefilter")},
        available=frozenset(key for key in keys if data.draw(st.booleans())),
        moves=(("docs:c/", "docs:e/"), ("docs:a.md", "docs:b.md")),
    )
    checked(make_plan(world, build.terms()).plan)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body.pop("target"),
        lambda body: body.update(kind="other"),
        lambda body: body.update(format_version="2.0"),
        lambda body: body["target"].update(corpus_root="b3:xyz"),
        lambda body: body["target"].update(documents=-1),
        lambda body: body["changes"][0].update(fate="exploded"),
        lambda body: body["changes"][0]["steps"][0].update(kind="shell"),
        lambda body: body["changes"][0]["steps"][0].update(reason="because"),
        lambda body: body["cost"].update(amount=0.5),
        lambda body: body["recipe"].update(spaces=[]),
    ],
)
def test_what_is_no_plan_is_refused(build, spoil):
    body = document(build.plan([build.wanted("a", "ab")], [build.wanted("a", "aX")]))
    spoil(body)
    assert list(Draft202012Validator(SCHEMA).iter_errors(body))


def test_a_newer_minor_version_with_unknown_keys_is_valid(build):
    body = document(build.plan([], [build.wanted("a", "ab")]))
    body |= {"format_version": "1.7", "news": {"x": 1}}
    body["changes"][0]["steps"][0]["weight"] = 3
    assert not list(Draft202012Validator(SCHEMA).iter_errors(body))

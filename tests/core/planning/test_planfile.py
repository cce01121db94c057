import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core.digest import hasher
from steadlith_core.errors import PlanFileError, PlanRejected
from steadlith_core.planning.layout import lay_out
from steadlith_core.planning.planfile import document, dump, is_plan_file, load, plan_digest
from steadlith_core.records import Finding, FindingKind


@pytest.fixture
def planned(build):
    before = [build.wanted("a", "abc"), build.wanted("b", "de"), build.wanted("old", "fgh")]
    after = [build.wanted("a", "acXb"), build.wanted("new", "fgh"), build.wanted("ünï", "z")]
    return build.plan(before, after, findings=[Finding("x\x1b[31m", FindingKind.BINARY, "NUL ö")])


def resealed(body):
    """A forger can recompute the checksum: it is no signature."""
    body.pop("checksum", None)
    compact = json.dumps(body, sort_keys=True, separators=(",", ":")).encode("ascii")
    return json.dumps({**body, "checksum": str(hasher("plan")(compact))})


def test_what_is_dumped_is_what_is_loaded(planned):
    assert load(dump(planned)) == planned
    assert dump(load(dump(planned))) == dump(planned)
    assert str(plan_digest(planned)) == json.loads(dump(planned))["checksum"]


def test_the_file_is_ascii_and_holds_no_text_of_a_document(planned, build):
    assert dump(planned).isascii()
    secret = build.plan([], [build.wanted("a", ["a very secret sentence"], headings=["Secret heading"])])
    assert "ecret" not in dump(secret)


def test_an_edited_file_is_refused_by_its_checksum(planned):
    edited = dump(planned).replace('"fate": "removed"', '"fate": "changed"')
    with pytest.raises(PlanRejected, match="changed after it was written"):
        load(edited)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a plan file"),
        ("[]", "expected an object"),
        ('{"kind": "other"}', "expected an object"),
        ('{"kind": "steadlith-plan", "format_version": "2.0"}', "format '2.0'"),
        ('{"kind": "steadlith-plan", "format_version": 1}', "format 1"),
    ],
)
def test_what_is_no_plan_of_ours_is_refused_with_the_reason(text, message):
    with pytest.raises(PlanFileError, match=message):
        load(text)


def test_a_newer_minor_version_with_unknown_keys_is_read(planned):
    body = json.loads(dump(planned))
    body["format_version"] = "1.7"
    body["news"] = {"x": 1}
    assert load(resealed(body)) == planned


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body.pop("target"),
        lambda body: body["target"].update(corpus_root="b3:xyz"),
        lambda body: body["target"].update(documents=-1),
        lambda body: body["target"].update(documents=True),
        lambda body: body["changes"][0].update(fate="exploded"),
        lambda body: body["changes"][0]["steps"][0].update(kind="shell"),
        lambda body: body["changes"][0]["steps"][0].update(reason="because"),
        lambda body: body["changes"][0].update(steps={}),
        lambda body: body["changes"].append(7),
        lambda body: body["changes"].append(body["changes"][-1]),
        lambda body: body["changes"].reverse(),
        lambda body: body["counts"].update(delete=0),
        lambda body: body.update(counts={}),
        lambda body: body["recipe"].update(spaces=[{"model_id": "m"}]),
        lambda body: body["recipe"]["spaces"][0].update(dimensions=0),
        lambda body: body["cost"].update(amount=0.5),
    ],
)
def test_a_well_sealed_file_of_the_wrong_shape_is_refused_by_name(planned, spoil):
    body = json.loads(dump(planned))
    spoil(body)
    with pytest.raises(PlanFileError, match="not a plan file: "):
        load(resealed(body))


def test_a_plan_file_is_recognised_by_its_bytes(planned):
    assert is_plan_file(dump(planned).encode())
    assert not is_plan_file(b'{"kind": "steadlith-plan"}')
    assert not is_plan_file(b"# A page about plan files\n")


@settings(max_examples=100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_no_json_value_crashes_the_reader(value):
    for text in (json.dumps(value), resealed({"kind": "steadlith-plan", "format_version": "1.0", "changes": value})):
        with pytest.raises(PlanFileError):
            load(text)


def test_a_step_is_one_line_and_the_layout_says_nothing(planned):
    lines = dump(planned).splitlines()
    steps = [line for line in lines if line.startswith('    {"chunk_hash"') or '"kind": "move"' in line]
    assert len(steps) == sum(len(change.steps) for change in planned.changes)
    assert load(json.dumps(json.loads(dump(planned)))) == planned
    assert json.loads(dump(planned)) == document(planned)


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_the_layout_is_json_of_the_same_value_with_sorted_keys(value):
    text = lay_out(value)
    assert text.isascii()
    assert json.loads(text) == value
    assert json.dumps(json.loads(text)) == json.dumps(json.loads(json.dumps(value, sort_keys=True)))


@pytest.mark.parametrize("edits", [1, 5, 10])
def test_twenty_edited_documents_among_13_000_chunks_make_a_small_plan(build, edits):
    def corpus(edited):
        rows = [[f"text {i} {j}" for j in range(26)] for i in range(500)]
        for i in range(0, 500, 25) if edited else ():
            rows[i][1 : 1 + 2 * edits : 2] = [f"edited {i} {j}" for j in range(edits)]
        return [build.wanted(f"guide/chapter-{i:03}.md", row) for i, row in enumerate(rows)]

    planned = build.plan(corpus(edited=False), corpus(edited=True))
    assert planned.counts["keep"] + planned.counts["delete"] == 13_000
    assert (planned.counts["add"], len(planned.changes)) == (20 * edits, 20)
    assert len(json.dumps(document(planned), sort_keys=True)) < 100_000
    assert len(dump(planned)) < 100_000

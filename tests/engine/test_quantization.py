"""An index in another form: planned and applied like any change, and embedding nothing that somebody has."""

import re
from dataclasses import replace

import pytest

from steadlith.observe import Look
from steadlith_adapters.embedders import hash as hashing
from steadlith_adapters.stores.memory import store as memory
from steadlith_adapters.stores.sqlite import connection
from steadlith_core.errors import ConfigError
from steadlith_core.planning.explain import Answer
from steadlith_core.planning.planfile import dump, load
from steadlith_core.planning.steps import Reason, Reembed
from steadlith_core.records import Level
from steadlith_core.retrieval.quantization import QUANTIZATIONS, siblings

FORMS = ("int8", "binary", "float32", "binary", "int8")
"""Each another form than the one before, float32 being the first of all."""


def keep_as(site, form):
    site.configure(embedding=f'quantization = "{form}"')


def forget_cache(site):
    for path in (site.root / ".steadlith").glob("cache.*"):
        path.unlink()


def steps(planned):
    return [step for change in planned.changes for step in change.steps]


@pytest.fixture
def counted(monkeypatch):
    """Texts that the model was given."""
    given = []
    kind = type(hashing.FACTORY.build({"dimensions": 32}))
    whole = kind.embed_documents
    monkeypatch.setattr(kind, "embed_documents", lambda self, texts: given.extend(texts) or whole(self, texts))
    return given


@pytest.mark.parametrize("cache", ["kept", "lost"])
def test_moving_from_form_to_form_embeds_nothing_and_changes_no_answer(settled, counted, cache):
    before, root = settled.hits(), settled.open().head().corpus_root
    for form in FORMS:
        if cache == "lost":
            forget_cache(settled)
        keep_as(settled, form)
        planned = settled.plan()
        assert {(type(step), step.reason, step.paid) for step in steps(planned)} == {
            (Reembed, Reason.QUANTIZATION, False)
        }
        assert (planned.cost.embeddings, planned.cost.tokens, planned.tripped) == (0, 0, ())
        assert planned.cost.cached + planned.cost.repeated == planned.target.chunks
        done = settled.apply(planned)
        assert done.embedded == 0
        assert done.head.corpus_root == root
        assert done.head.recipe.spaces[0].quantization == form
        assert settled.hits() == before
        assert settled.plan().is_empty
        assert settled.open().verify().ok
    assert counted == []


def test_a_saved_plan_to_another_form_is_applied_after_the_cache_was_lost(settled, counted):
    keep_as(settled, "int8")
    saved = load(dump(settled.plan()))
    forget_cache(settled)
    assert settled.apply(saved).embedded == 0
    assert counted == []


@pytest.mark.parametrize("cache", ["kept", "lost"])
@pytest.mark.parametrize("form", FORMS[:2])
@pytest.mark.parametrize(("table", "lost"), [("vec_1_1", 0), ("full_1", 1)])
def test_a_lost_code_is_made_of_its_vector_and_a_lost_vector_is_not_made_of_its_code(
    make_site, article, counted, table, lost, form, cache
):
    site = make_site(embedding=f'quantization = "{form}"')
    site.write("one.md", article("one"))
    site.apply()
    before, paid = site.hits(), len(counted)
    session = connection.writing(site.root / ".steadlith" / "index.sqlite3")
    session.load_vectors()
    session.run(f"DELETE FROM {table} WHERE rowid = 1")
    session.run("COMMIT")
    session.close()
    assert not site.open().verify().ok
    if cache == "lost":
        forget_cache(site)
    planned = site.open().plan(Look(Level.FULL))
    assert {drift.kind for drift in planned.drift} == {"vector"}
    assert planned.cost.embeddings == (lost if cache == "lost" else 0)
    assert site.apply(planned).embedded == planned.cost.embeddings
    assert len(counted) - paid == (lost + 8 if lost and cache == "lost" else 0)  # the probe's texts, once
    assert site.hits() == before
    assert site.open().verify().ok


def test_an_edit_is_paid_for_in_any_form(settled, article, counted):
    keep_as(settled, "binary")
    settled.write("one.md", article("one").replace("one 2 sentence 3", "a new sentence"))
    planned = settled.plan()
    assert planned.cost.embeddings == 1
    assert settled.apply(planned).embedded == 1
    assert len(counted) == 1 + 8  # the probe's texts, once
    assert any("a new sentence" in hit.text for hit in settled.hits("a new sentence", limit=3))


def test_the_state_root_names_the_form(settled):
    roots = {settled.open().head().state_root}
    for form in ("int8", "binary"):
        keep_as(settled, form)
        roots.add(settled.plan().target.state_root)
    assert len(roots) == 3


def test_vectors_are_the_same_bits_in_every_form(make_site, article):
    site, found = make_site(), []
    site.write("one.md", article("one"))
    keys = [step.vector_key for step in steps(site.plan())]
    for form in QUANTIZATIONS:
        keep_as(site, form)
        space = site.apply().head.recipe.spaces[0]
        assert space == siblings(space)[0]
        with site.open().reader() as reader:
            found.append(reader.vectors(space, keys))
    assert found[0].keys() == set(keys)
    assert found[0] == found[1] == found[2]


def test_an_explanation_says_who_has_the_vectors(settled):
    keep_as(settled, "int8")
    assert {why.answer for why in settled.open().explain("one.md").explanation.steps} == {Answer.CACHE}
    forget_cache(settled)
    assert {why.answer for why in settled.open().explain("one.md").explanation.steps} == {Answer.INDEX}


def test_a_search_before_the_change_is_applied_goes_on_and_says_what_differs(settled):
    before = settled.hits()
    keep_as(settled, "int8")
    answer = settled.open().search("alpha", limit=50)
    assert answer.hits == before
    assert re.search(r"32 dimensions, float32.*32 dimensions, int8", answer.note)


def test_a_form_that_nobody_knows_names_the_choices(settled):
    keep_as(settled, "int4")
    with pytest.raises(ConfigError, match=r"embedding.quantization = 'int4': choose from float32, int8, binary"):
        settled.plan()


def test_binary_needs_whole_bytes(settled):
    settled.configure(embedding='quantization = "binary"')
    file = settled.root / "steadlith.toml"
    file.write_text(file.read_text("utf-8").replace("dimensions = 32", "dimensions = 36"), "utf-8")
    with pytest.raises(ConfigError, match=r"embedding.quantization = 'binary': .*multiple of 8, got 36 \(hash/0\)"):
        settled.plan()


def test_what_the_store_cannot_keep_is_refused_before_anything_is_paid(make_site, article, counted, monkeypatch):
    monkeypatch.setattr(memory, "CAPABILITIES", replace(memory.CAPABILITIES, quantization=frozenset({"float32"})))
    site = make_site(embedding='quantization = "int8"', rest='[store]\ntype = "memory"')
    site.write("one.md", article("one"))
    with pytest.raises(ConfigError, match=r"embedding.quantization = 'int8': store 'memory' keeps float32 vectors"):
        site.plan()
    assert counted == []


def test_a_memory_store_moves_from_form_to_form_too(make_site, article, counted):
    site = make_site(rest='[store]\ntype = "memory"')
    site.write("one.md", article("one"))
    index = site.open()
    index.apply(index.plan())
    assert index.head().recipe.spaces[0].quantization == "float32"
    paid, before = len(counted), index.search("alpha", limit=50).hits
    forget_cache(site)
    site.configure(embedding='quantization = "binary"', rest='[store]\ntype = "memory"')
    other = site.open()
    other._memory = index._memory
    assert other.apply(other.plan()).embedded == 0
    assert other.search("alpha", limit=50).hits == before
    assert len(counted) == paid

"""Documents with parents, end to end on a real index file: parts are embedded and found, parents are kept and shown."""

from contextlib import contextmanager
from dataclasses import replace

import apsw
import pytest

from steadlith import hands
from steadlith.report import text
from steadlith_core.applying import effects as fx
from steadlith_core.errors import PlanRejected
from steadlith_core.planning.planfile import dump, load
from steadlith_core.planning.steps import Add, Delete, Reason, Update

LATE = """
[sources.docs]
path = "docs"
[chunking]
policy = "late"
child_max_words = 8
[embedding]
embedder = "hash"
dimensions = 32
"""
FLAT = LATE.replace('"late"', '"markdown"').replace("child_max_words = 8", "max_words = 0")


def section(name, words=20):
    return f"# {name}\n\n" + " ".join(f"{name}{number}" for number in range(words)) + "\n\n"


GUIDE = section("alpha") + "# Short\n\nfew words here\n\n" + section("omega")
"""Two parents of three parts each, and an ordinary chunk between them."""


@pytest.fixture
def late(make_site):
    site = make_site()
    (site.root / "steadlith.toml").write_text(LATE, "utf-8")
    site.write("guide.md", GUIDE)
    return site


@contextmanager
def embedded_texts():
    """Every text that a model is given while documents are embedded."""
    given, perform = [], hands.Hands.perform

    def watching(own, effect):
        if isinstance(effect, fx.Embed):
            given.extend(effect.texts)
        return perform(own, effect)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hands.Hands, "perform", watching)
        yield given


def recorded(site, path="docs:guide.md"):
    with site.open().reader() as reader:
        document = next(each for each in reader.documents() if str(each.id) == path)
        chunks = reader.chunks(document.id)
        texts = reader.texts([chunk.text_hash for chunk in chunks])
    return [(chunk, texts[chunk.text_hash]) for chunk in chunks]


def steps_of(planned):
    return [step for change in planned.changes for step in change.steps]


def test_only_parts_and_ordinary_chunks_are_embedded(late):
    planned = late.plan()
    bare = [step.position for step in steps_of(planned) if step.vector_key is None]
    assert bare == [0, 5]
    assert (planned.counts["add"], planned.cost.embeddings) == (9, 7)
    with embedded_texts() as given:
        done = late.apply(load(dump(planned)))
    assert (done.embedded, done.head.chunks) == (7, 9)
    rows = recorded(late)
    assert [chunk.parent for chunk, _ in rows] == [-1, 0, 0, 0, -1, -1, 5, 5, 5]
    assert [chunk.embed for chunk, _ in rows] == [False, True, True, True, True, False, True, True, True]
    assert sorted(given) == sorted(words for chunk, words in rows if chunk.embed)
    assert late.open().verify().ok
    assert late.plan().is_empty
    index = apsw.Connection(str(late.root / ".steadlith" / "index.sqlite3"), flags=apsw.SQLITE_OPEN_READONLY)
    counted = [index.execute(f"SELECT count(*) FROM {table}").fetchall() for table in ("vector", "lexical", "entry")]
    assert counted == [[(7,)], [(7,)], [(9,)]]
    index.close()


def test_the_plan_says_what_is_not_embedded(late):
    lines = [words for _, words in text.plan(late.plan(), steps=True)]
    assert sum("not embedded  (new document)" in line for line in lines) == 2
    assert sum("embed, about" in line for line in lines) == 7
    assert any("9 to add (0 cached, 2 not embedded)" in line for line in lines)


@pytest.mark.parametrize("forged", ["a parent with a key", "a part without one"])
def test_a_plan_that_embeds_something_else_is_refused(late, forged):
    planned = late.plan()
    (change,) = planned.changes
    parent, part, *rest = change.steps
    if forged == "a parent with a key":
        parent = replace(parent, vector_key=part.vector_key, paid=True)
    else:
        part = replace(part, vector_key=None, paid=False)
    claim = replace(planned, changes=(replace(change, steps=(parent, part, *rest)),))
    with pytest.raises(PlanRejected, match=r"guide\.md: the plan's steps do not follow"):
        late.apply(load(dump(claim)))
    assert late.open().head().generation == 0


def test_a_parent_is_never_a_hit_and_its_part_shows_it(late):
    late.write("flat.md", "# Only\n\nalpha3 alone\n")
    late.apply()
    parents = {words for chunk, words in recorded(late) if not chunk.embed}
    everything = " ".join(f"alpha{number} omega{number}" for number in range(200)) + " few words alone"
    for query, found in (("alpha3", 1), ("omega7 omega8", 1), ("few words", 1), (everything, 7)):
        hits = late.open().search(query, limit=200, parents=True).hits
        assert len(hits) >= found
        assert not {hit.text for hit in hits} & parents
        for hit in hits:
            if hit.title == "alpha" and "few" not in hit.text:
                assert hit.parent in parents
                assert hit.text in hit.parent
            else:
                assert hit.parent is None
    assert {hit.parent for hit in late.hits("alpha3")} == {None}


def test_an_edit_in_one_section_embeds_its_changed_parts_alone(late):
    late.apply()
    late.write("guide.md", GUIDE.replace("omega9 ", "omega9 changed "))
    planned = late.plan()
    adds = [step for step in steps_of(planned) if isinstance(step, Add)]
    assert {step.position for step in adds} == {5, 7, 8}
    assert (len([step for step in adds if step.vector_key is None]), planned.cost.embeddings) == (1, 2)
    assert planned.counts["keep"] == 6
    with embedded_texts() as given:
        late.apply(planned)
    assert all("omega" in each for each in given)
    assert len(given) == 2
    assert late.open().verify().ok


def test_a_section_that_grows_says_which_parts_stand_elsewhere(late):
    late.apply()
    at = GUIDE.index("omega8")
    late.write("guide.md", GUIDE[:at] + " ".join(f"more{number}" for number in range(8)) + " " + GUIDE[at:])
    found = steps_of(late.plan())
    assert [(type(step), step.position) for step in found if not isinstance(step, Delete)] == [
        (Add, 5),
        (Add, 7),
        (Update, 8),
        (Update, 9),
    ]
    assert {step.reason for step in found if isinstance(step, Update)} == {Reason.PARENT}
    assert late.apply().embedded == 1
    assert late.plan().is_empty
    assert late.open().verify().ok


def test_an_edit_before_a_section_leaves_its_parts_alone(late):
    late.apply()
    late.write("guide.md", section("new") + GUIDE)
    planned = late.plan()
    assert {type(step) for step in steps_of(planned) if step.position is not None} == {Add, Update}
    assert all(step.position < 4 for step in steps_of(planned) if isinstance(step, Add))
    assert late.apply(planned).embedded == 3
    assert late.open().verify().ok


def test_the_roots_are_those_of_an_index_made_anew(late, make_site):
    late.apply()
    late.write("guide.md", GUIDE.replace("alpha4", "other").replace("# Short", "## Short"))
    late.write("second.md", section("beta"))
    late.apply()
    fresh = make_site("fresh")
    (fresh.root / "steadlith.toml").write_text(LATE, "utf-8")
    fresh.write("second.md", section("beta"))
    fresh.write("guide.md", (late.docs / "guide.md").read_text("utf-8"))
    fresh.apply()
    here, there = late.open().head(), fresh.open().head()
    assert (here.corpus_root, here.state_root) == (there.corpus_root, there.state_root)
    (late.root / ".steadlith" / "index.sqlite3").unlink()
    assert late.apply().embedded == 0
    assert late.open().head().corpus_root == here.corpus_root


def test_a_text_that_was_a_chunk_and_becomes_a_parent_is_found_no_more(late):
    (late.root / "steadlith.toml").write_text(FLAT, "utf-8")
    late.apply()
    whole = [hit.text for hit in late.hits("alpha3") if hit.lexical]
    assert len(whole) == 1
    (late.root / "steadlith.toml").write_text(LATE, "utf-8")
    planned = late.plan()
    assert planned.counts == {"keep": 0, "add": 8, "move": 0, "update": 0, "reembed": 0, "rekey": 1, "delete": 2}
    assert late.apply(planned).embedded == 6
    assert whole[0] in [words for chunk, words in recorded(late) if not chunk.embed]
    assert whole[0] not in [hit.text for hit in late.hits("alpha3")]
    assert late.open().verify().ok
    (late.root / "steadlith.toml").write_text(FLAT, "utf-8")
    assert late.apply().embedded == 0
    assert [hit.text for hit in late.hits("alpha3") if hit.lexical] == whole


def test_a_renamed_document_moves_parents_and_parts(late):
    late.apply()
    (late.docs / "guide.md").rename(late.docs / "manual.md")
    planned = late.plan()
    assert (planned.counts["move"], planned.counts["add"], planned.counts["delete"]) == (9, 0, 0)
    late.apply(planned)
    assert [chunk.parent for chunk, _ in recorded(late, "docs:manual.md")] == [-1, 0, 0, 0, -1, -1, 5, 5, 5]


def test_a_document_that_cannot_be_read_keeps_its_parents_under_another_model(late):
    late.apply()
    late.write("guide.md", b"no text \xff at all")
    place = late.root / "steadlith.toml"
    place.write_text(LATE.replace("dimensions = 32", "dimensions = 48"), "utf-8")
    planned = late.plan()
    assert (planned.counts["reembed"], planned.counts["keep"], planned.cost.embeddings) == (7, 2, 7)
    late.apply(planned, allow=["--allow-model-change"])
    assert [chunk.parent for chunk, _ in recorded(late)] == [-1, 0, 0, 0, -1, -1, 5, 5, 5]
    assert late.open().verify().ok


def test_a_lost_vector_of_a_part_is_a_problem_and_the_vectors_that_parents_lack_are_none(late):
    late.apply()
    index = apsw.Connection(str(late.root / ".steadlith" / "index.sqlite3"))
    index.execute("DELETE FROM vector WHERE entry = (SELECT max(entry) FROM vector)")
    index.close()
    assert any("vector" in problem for problem in late.open().verify().problems)


def test_the_memory_store_agrees(late):
    late.apply()
    (late.root / "steadlith.toml").write_text(LATE + '[store]\ntype = "memory"\n', "utf-8")
    with late.open() as index:
        index.apply(index.plan())
        assert index.plan().is_empty
        assert index.verify().ok
        assert index.head().corpus_root == index.verify().corpus_root
        found = [(hit.text, hit.parent) for hit in index.search("alpha3", limit=200, parents=True).hits]
    (late.root / "steadlith.toml").write_text(LATE, "utf-8")
    assert sorted(found, key=str) == sorted(
        ((hit.text, hit.parent) for hit in late.open().search("alpha3", limit=200, parents=True).hits), key=str
    )

"""Why a step is taken: changed lines, moved cuts, and who has the vector."""

from dataclasses import replace

from steadlith_core.planning.explain import Answer, explain
from steadlith_core.planning.make import make_plan


def wanted(build, texts):
    """A document whose chunks stand on the lines that their texts take."""
    document, line, chunks = build.wanted("a.md", texts), 1, []
    for chunk in document.chunks:
        last = line + chunk.text.text.count("\n")
        chunks.append(replace(chunk, span=replace(chunk.span, first_line=line, last_line=last)))
        line = last + 1
    return replace(document, chunks=tuple(chunks))


def explained(build, before, after, *, in_cache=(), in_index=()):
    """The explanation of the one changed document."""
    world = build.world([wanted(build, before)], [wanted(build, after)])
    plan = make_plan(world, build.terms()).plan
    (change,) = plan.changes
    texts = {chunk.entry_hash: text for chunk, text in zip(world.chunks[change.id], before, strict=True)}
    recorded = [(chunk, texts[chunk.entry_hash]) for chunk in world.chunks[change.id]]
    return explain(change, recorded, world.wanted[change.id], frozenset(in_cache), frozenset(in_index))


def test_a_changed_line_is_named_in_its_chunk(build):
    found = explained(build, ["one", "two", "three"], ["one", "TWO", "three"])
    assert (found.new, found.gone) == (((2, 2),), ((2, 2),))
    add, delete = found.steps
    assert (add.changed, add.before, add.cut_moved) == (((2, 2),), (), False)
    assert (delete.changed, delete.after) == (((2, 2),), ())


def test_a_chunk_without_a_changed_line_is_a_moved_cut(build):
    found = explained(build, ["one\ntwo", "three"], ["one", "two\nthree"])
    assert (found.new, found.gone) == ((), ())
    assert all(why.cut_moved for why in found.steps)
    adds = [why for why in found.steps if why.before]
    assert [why.before for why in adds] == [(0,), (0, 1)]
    assert [why.after for why in found.steps if why.after] == [(0, 1), (1,)]


def test_who_has_the_vector_is_told(build):
    document = wanted(build, ["one", "new", "kept", "held", "new"])
    keys = {chunk.text.text: chunk.vector_key for chunk in document.chunks}
    world = build.world([wanted(build, ["one"])], [document], available=[keys["kept"], keys["held"]])
    (change,) = make_plan(world, build.terms()).plan.changes
    recorded = [(world.chunks[change.id][0], "one")]
    found = explain(change, recorded, document, frozenset({keys["kept"]}), frozenset({keys["held"]}))
    assert [why.answer for why in found.steps] == [Answer.NOBODY, Answer.CACHE, Answer.INDEX, Answer.PLAN]


def test_a_new_document_is_new_in_every_line(build):
    world = build.world([], [wanted(build, ["one\ntwo", "three"])])
    (change,) = make_plan(world, build.terms()).plan.changes
    found = explain(change, [], world.wanted[change.id], frozenset(), frozenset())
    assert found.gone == ()
    assert sum(last - first + 1 for first, last in found.new) == 3


def test_a_removed_document_is_gone_in_every_line(build):
    world = build.world([wanted(build, ["one"])], [])
    (change,) = make_plan(world, build.terms()).plan.changes
    found = explain(change, [(world.chunks[change.id][0], "one")], None, frozenset(), frozenset())
    assert (found.new, found.gone) == ((), ((1, 1),))


def test_lines_below_an_insertion_come_from_where_they_stood(build):
    found = explained(build, ["one\ntwo", "three\nfour"], ["new", "one\ntwo", "three\nFOUR"])
    assert (found.new, found.gone) == (((1, 1), (5, 5)), ((4, 4),))
    new, changed, gone = found.steps
    assert (new.lines, new.changed, new.before, new.cut_moved) == ((1, 1), ((1, 1),), (), False)
    assert (changed.lines, changed.changed, changed.before, changed.cut_moved) == ((4, 5), ((5, 5),), (1,), False)
    assert (gone.lines, gone.changed, gone.after, gone.cut_moved) == ((3, 4), ((4, 4),), (2,), False)


def test_a_chunk_that_grew_stands_in_the_company_it_had(build):
    found = explained(build, ["one\ntwo"], ["one\ntwo\nthree"])
    assert [why.cut_moved for why in found.steps] == [False, False]
    shrunk = explained(build, ["one\ntwo\nthree"], ["one\ntwo"])
    assert [why.cut_moved for why in shrunk.steps] == [False, False]


def test_what_keeps_its_text_is_explained_by_where_it_stands_and_who_has_its_vector(build):
    other = build.recipe(spaces=(build.space("model/2"),))
    before, after = build.wanted("a.md", ["one", "two"]), build.wanted("a.md", ["one", "two"], other)
    world = build.world([before], [after], now=other)
    (change,) = make_plan(replace(world, available=frozenset()), build.terms()).plan.changes
    recorded = list(zip(world.chunks[change.id], ["one", "two"], strict=True))
    found = explain(change, recorded, after, frozenset(), frozenset())
    assert [(why.lines, why.answer, why.cut_moved) for why in found.steps] == [
        ((1, 1), Answer.NOBODY, False),
        ((2, 2), Answer.NOBODY, False),
    ]


def test_a_renamed_document_and_other_metadata_ask_nobody_for_a_vector(build):
    before, after = build.wanted("old.md", ["one"]), build.wanted("new.md", ["one"])
    world = build.world([before], [after])
    change = next(each for each in make_plan(world, build.terms()).plan.changes if each.id == after.id)
    found = explain(change, [(world.chunks[before.id][0], "one")], after, frozenset(), frozenset())
    assert [(why.lines, why.answer, why.cut_moved) for why in found.steps] == [((1, 1), None, False)]
    titled = build.wanted("old.md", ["one"], metadata={"title": "New"}, source="other bytes")
    world = build.world([before], [titled])
    (change,) = make_plan(world, build.terms()).plan.changes
    found = explain(change, [(world.chunks[before.id][0], "one")], titled, frozenset(), frozenset(), ("title",))
    assert [(why.lines, why.keys, why.cut_moved) for why in found.steps] == [(None, ("title",), False)]

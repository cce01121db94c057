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

"""What is settled is not asked about, and the plan is the same as if it were."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core.planning.make import make_plan
from steadlith_core.planning.planfile import dump
from steadlith_core.planning.settled import unsettled
from steadlith_core.state import identity

texts = st.lists(st.tuples(st.sampled_from("abcde"), st.booleans(), st.sampled_from("xy")), max_size=8)
documents = st.dictionaries(st.sampled_from(["a.md", "b.md", "c/d.md"]), texts, max_size=3)


def made(build, drawn):
    """Documents as drawn: each text is embedded or not, and in one of two contexts."""
    for path, rows in drawn.items():
        tree = [(-1, embed) for _, embed, _ in rows]
        document = build.wanted(path, [text for text, _, _ in rows], source=repr(rows), tree=tree)
        chunks = (within(chunk, word) for chunk, (_, _, word) in zip(document.chunks, rows, strict=True))
        yield replace(document, chunks=tuple(chunks))


def within(chunk, word):
    if chunk.vector_key is None:
        return chunk
    context = identity.context_hash("plain/0", (word,))
    name = identity.entry_hash(chunk.text.text_hash, "", (), context)
    key = identity.vector_key(f"{word} {chunk.text.text}", "model/1", context)
    return replace(chunk, entry=replace(chunk.entry, entry_hash=name, context_hash=context), vector_key=key)


@settings(max_examples=400, deadline=None)
@given(documents, documents, st.sets(st.integers(0, 20)), st.data())
def test_what_is_settled_changes_no_plan_and_no_write(build, before, after, lost, data):
    world = build.world(list(made(build, before)), list(made(build, after)))
    there = sorted(world.available)
    world = replace(world, available=frozenset(key for at, key in enumerate(there) if at not in lost))
    mended = data.draw(st.sets(st.sampled_from(sorted(world.wanted)))) if world.wanted else set()
    world = replace(world, mended=frozenset(mended))
    asked = unsettled(world.chunks, world.wanted, world.chunks.keys() - mended)
    lean = replace(
        world,
        available=world.available.intersection(asked.keys),
        entries={name: row for name, row in world.entries.items() if name in asked.entries},
    )
    whole, planned = make_plan(world, build.terms()), make_plan(lean, build.terms())
    assert dump(planned.plan) == dump(whole.plan)
    assert planned.writes.inputs == whole.writes.inputs
    assert list(planned.writes.vectors()) == list(whole.writes.vectors())
    assert {key for key in planned.writes.inputs if key not in lean.available} == {
        key for key in whole.writes.inputs if key not in world.available
    }


def test_of_an_edited_document_the_new_text_and_the_one_that_went_are_asked_about(build):
    old, new = build.wanted("a.md", "abcdx"), build.wanted("a.md", "aBcdx")
    world = build.world([old], [new])
    asked = unsettled(world.chunks, world.wanted, world.chunks.keys())
    assert asked == ([new.chunks[1].vector_key], [old.chunks[1].entry.entry_hash])


def test_a_text_that_stands_there_twice_is_asked_about(build):
    old, new = build.wanted("a.md", "abb"), build.wanted("a.md", "abbc")
    world = build.world([old], [new])
    asked = unsettled(world.chunks, world.wanted, world.chunks.keys())
    assert set(asked.keys) == {new.chunks[1].vector_key, new.chunks[3].vector_key}
    assert asked.entries == [old.chunks[1].entry.entry_hash]


def test_of_a_document_that_is_written_anew_all_is_asked_about(build):
    old, new = build.wanted("a.md", "abc"), build.wanted("a.md", "abd")
    world = build.world([old], [new])
    asked = unsettled(world.chunks, world.wanted, ())
    assert set(asked.keys) == {chunk.vector_key for chunk in new.chunks}
    assert set(asked.entries) == {chunk.entry.entry_hash for chunk in old.chunks}


def test_a_document_that_goes_and_one_that_comes_are_asked_about(build):
    old, new = build.wanted("a.md", "abc"), build.wanted("b.md", "abc")
    world = build.world([old], [new])
    asked = unsettled(world.chunks, world.wanted, world.chunks.keys())
    assert set(asked.keys) == {chunk.vector_key for chunk in new.chunks}
    assert set(asked.entries) == {chunk.entry.entry_hash for chunk in old.chunks}

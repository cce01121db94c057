"""The rows of a plan: what needs any, what many documents share, that each time is the same and none is kept."""

import tracemalloc
from dataclasses import replace

import pytest

from steadlith_core.planning.make import make_plan
from steadlith_core.planning.writes import REMEMBERED

MADE = ("texts", "entries", "vectors", "versions")


def writes(build, documents):
    return make_plan(build.world([], documents), build.terms()).writes


def heaviest(made):
    """The most that is held while all rows are made and let go."""
    tracemalloc.start()
    try:
        for rows in MADE:
            for _ in getattr(made, rows)():
                pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_rows_that_are_let_go_take_no_memory_however_many_there_are(build):
    documents = [build.wanted(f"{name}", [f"{name} {each}" for each in range(REMEMBERED // 16)]) for name in range(64)]
    fewer, more = (heaviest(writes(build, some)) for some in (documents[:32], documents))
    assert more < 1.1 * fewer


@pytest.mark.parametrize("rows", MADE)
def test_rows_are_the_same_each_time(build, rows):
    made = writes(build, [build.wanted("a", "xy"), build.wanted("b", "yz")])
    first = list(getattr(made, rows)())
    assert first
    assert list(getattr(made, rows)()) == first


def test_what_many_documents_share_is_given_once(build):
    made = writes(build, [build.wanted(f"{name:03}", ["shared", f"{name}"]) for name in range(300)])
    assert [row.text for row in made.texts()].count("shared") == 1
    names = [row.entry_hash for row in made.entries()]
    assert len(names) == len(set(names)) == 301
    assert [entry for entry, _ in made.vectors()] == names


def test_what_is_far_apart_is_given_again_and_all_the_same(build):
    apart = [[f"{name} {each}" for each in range(1_000)] for name in range(2 * REMEMBERED // 1_000 + 1)]
    documents = [build.wanted("a", ["shared"])]
    documents += [build.wanted(f"b{name:02}", texts) for name, texts in enumerate(apart)]
    made = writes(build, [*documents, build.wanted("c", ["shared"])])
    shared = [row for row in made.texts() if row.text == "shared"]
    assert len(shared) == 2
    assert len(set(shared)) == 1


def test_each_entry_of_a_text_gets_its_vector(build):
    documents = [build.wanted("a", ["shared"], headings=[heading]) for heading in ("one", "two")]
    documents = [replace(document, id=build.id(path)) for path, document in zip("ab", documents, strict=True)]
    made = writes(build, documents)
    assert len(made.inputs) == 1
    assert [entry for entry, _ in made.vectors()] == [document.chunks[0].entry.entry_hash for document in documents]


def test_what_continues_needs_rows_only_in_another_space(build):
    before, after, other = (
        [build.wanted("a", "xy")],
        build.wanted("a", "xyz"),
        build.recipe(spaces=(build.space("m/2"),)),
    )
    made = make_plan(build.world(before, [after]), build.terms()).writes
    assert [row.text for row in made.texts()] == ["z"]
    assert [entry for entry, _ in made.vectors()] == [after.chunks[2].entry.entry_hash]
    moved = build.wanted("a", "xyz", other)
    made = make_plan(build.world(before, [moved], now=other), build.terms()).writes
    assert [row.text for row in made.texts()] == ["z"]
    assert list(made.vectors()) == [(chunk.entry.entry_hash, chunk.vector_key) for chunk in moved.chunks]


@pytest.mark.parametrize(("back", "written"), [(0, []), (5, ["a"])])
def test_a_rollback_writes_a_document_for_its_numbers_alone(build, back, written):
    document = build.wanted("a", "xy")
    _, recorded, chunks, _ = build.committed([document])
    numbered = [replace(chunk, occurrence=1 + place + back) for place, chunk in enumerate(document.chunks)]
    world = replace(
        build.world([document], [document]),
        recorded=recorded,
        chunks=chunks,
        wanted={document.id: replace(document, chunks=tuple(numbered))},
        rollback_to=1,
    )
    made = make_plan(world, build.terms()).writes
    assert [id_.path for id_ in made.written] == written
    placed = [placement.occurrence for version in made.versions() for placement in version.placements]
    assert placed == [chunk.occurrence for chunk in numbered][: 2 * len(written)]
    assert [list(rows()) for rows in (made.texts, made.entries, made.vectors)] == [[], [], []]

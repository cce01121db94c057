"""Refused texts are named as people know them, the first of many, and the way out names their documents."""

from dataclasses import replace

import pytest

from steadlith_core.applying import refusals
from steadlith_core.errors import EmbeddingError
from steadlith_core.planning.make import make_plan
from steadlith_core.records import DocumentId

WHY = EmbeddingError("400: too long")


def refused(build, count, *, left=0, kept=1):
    """The error for `count` documents of one refused text each, in an order that is not theirs."""
    names = [f"{chr(97 + place // 10)}{place % 10}.md" for place in range(count)]
    documents = [build.wanted(name, [f"text of {name}"]) for name in names]
    writes = make_plan(build.world([], documents), build.terms()).writes
    keys = [document.chunks[0].vector_key for document in reversed(documents)]
    return refusals.error(dict.fromkeys(keys, WHY), writes, kept=kept, left=left), [f"docs:{name}" for name in names]


@pytest.mark.parametrize(("count", "listed", "more"), [(3, 3, []), (20, 20, []), (21, 20, ["and 1 more"])])
def test_twenty_are_listed_and_the_others_counted(build, count, listed, more):
    error, names = refused(build, count)
    summary, *lines, way_out = str(error).splitlines()
    assert summary.startswith(
        f"the embedder refused {count} of {count + 1} texts, so nothing was applied; 1 are embedded"
    )
    assert [line.partition(":1 (chunk 0)")[0] for line in lines[:listed]] == names[:listed]
    assert lines[0].endswith("(chunk 0): 13 bytes: 400: too long")
    assert lines[listed:] == more
    assert way_out.startswith("plan again without their documents")


@pytest.mark.parametrize(("count", "ending"), [(3, ""), (4, " ...")])
def test_the_way_out_names_three_documents(build, count, ending):
    error, names = refused(build, count)
    assert error.documents == tuple(names)
    assert (
        f"(steadlith plan {' '.join(f'--hold {name}' for name in names[:3])}{' --hold ...' if ending else ''})"
        in str(error)
    )


def test_where_most_was_refused_no_document_is_blamed(build):
    error, _ = refused(build, 3, left=5)
    assert error.documents == ()
    assert "refused 3 of 9 texts" in str(error)
    assert "; 5 were not asked for any more" in str(error)
    assert str(error).endswith("look at the embedder's settings")


@pytest.mark.parametrize(("times", "more"), [(3, ""), (5, " and 2 more")])
def test_a_text_that_stands_in_many_chunks_is_named_by_the_first(build, times, more):
    document = build.wanted("a.md", ["same"] * times)
    writes = make_plan(build.world([], [document]), build.terms()).writes
    found = refusals.finding(document.chunks[0].vector_key, WHY, writes)
    assert found.place == f"docs:a.md:1 (chunk 0), docs:a.md:2 (chunk 1), docs:a.md:3 (chunk 2){more}"


def test_documents_are_in_the_order_of_their_names_as_they_are_written(build):
    documents = [replace(build.wanted("x.md", [source]), id=DocumentId(source, "x.md")) for source in ("a", "a b")]
    writes = make_plan(build.world([], documents), build.terms()).writes
    keys = [document.chunks[0].vector_key for document in documents]
    assert refusals.error(dict.fromkeys(keys, WHY), writes, kept=2, left=0).documents == ("a b:x.md", "a:x.md")

"""The lexical index compared byte by byte with one made anew: equal after any history, and after nothing else."""

from contextlib import closing
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_adapters.stores.sqlite import FACTORY, connection
from steadlith_adapters.stores.sqlite.checks import remade
from steadlith_adapters.stores.sqlite.settle import LARGE
from steadlith_conformance.samples import doc, pieces, write

WORDS = [f"w{number}" for number in range(60)]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=80).map(" ".join)
COMMIT = st.tuples(
    st.sampled_from(["a.md", "b.md", "c.md"]), st.lists(TEXT, max_size=12, unique=True), st.integers(1, 40)
)


def is_same(folder):
    with closing(connection.reading(folder / "index.sqlite3")) as reading:
        return remade.is_same(reading)


@settings(max_examples=25, deadline=None)
@given(history=st.lists(COMMIT, min_size=1, max_size=20), compacted=st.sampled_from([None, False, True]))
def test_any_history_of_commits_gives_the_bytes_of_an_index_made_anew(tmp_path_factory, history, compacted):
    folder = tmp_path_factory.mktemp("index")
    with closing(FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=False)) as store:
        for path, texts, times in history:
            # many times over, so that postings run over pages
            write(store, {doc(path): pieces(*(f"{text} {number}" for text in texts for number in range(times)))})
            assert is_same(folder)
        if compacted is not None:
            store.compact(store.head(), store.head().generation, scrub=compacted)
    assert is_same(folder)


@pytest.fixture
def index(tmp_path):
    with closing(FACTORY.open({"path": "index.sqlite3"}, root=str(tmp_path), readonly=False)) as store:
        for number, path in zip(count(), ("a.md", "b.md"), strict=False):
            write(store, {doc(path): pieces(*(f"one two three {number} {step}" for step in range(40)))})
    return tmp_path


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM lexical WHERE rowid = 3",
        "INSERT OR REPLACE INTO lexical(rowid, title, headings, body) VALUES (3, '', '', 'two one three 0 2')",
        "INSERT OR REPLACE INTO lexical(rowid, title, headings, body) VALUES (3, 'one', '', 'two three 0 2')",
        "INSERT INTO lexical(rowid, body) VALUES (9999, 'one')",
        "UPDATE lexical_docsize SET sz = x'000005' WHERE id = 3",
    ],
    ids=["a row is missing", "other places", "another column", "a row too many", "another length"],
)
def test_a_word_more_or_less_or_elsewhere_is_not_the_same(index, statement, change):
    assert is_same(index)
    change(index / "index.sqlite3", statement)
    assert not is_same(index)


def segments(folder):
    with closing(connection.reading(folder / "index.sqlite3")) as reading:
        return reading.value("SELECT count(DISTINCT segid) FROM lexical_idx")


def test_a_commit_that_doubles_a_large_index_leaves_one_segment_and_a_small_one_leaves_its_own(tmp_path):
    with closing(FACTORY.open({"path": "index.sqlite3"}, root=str(tmp_path), readonly=False)) as store:
        found = []
        for path, size in (("a.md", 3), ("b.md", LARGE - 1), ("c.md", LARGE + 2), ("d.md", LARGE)):
            write(store, {doc(path): pieces(*(f"word {path} {number}" for number in range(size)))})
            found.append(segments(tmp_path))
    assert found == [1, 2, 1, 2]
    assert is_same(tmp_path)

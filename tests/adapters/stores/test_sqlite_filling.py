"""Rows that follow one another fill a page: of any sizes, each once, and as SQLite lays them out."""

import hashlib

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_adapters.stores.sqlite import FACTORY, filling
from steadlith_conformance.samples import Piece, doc, text_row, write

PAGE = 8192


def drawn(label, count, least, most):
    """Numbers that follow from a label."""
    digests = (hashlib.sha256(f"{label} {number}".encode()).digest() for number in range(count))
    return [least + int.from_bytes(digest[:4], "big") % (most - least + 1) for digest in digests]


def like_chunks(label, count):
    """Sizes as chunks have them: about 1,400, a tenth of them below 1,200 or above 1,600."""
    parts = [drawn(f"{label} {part}", count, 0, 400) for part in range(2)]
    return [1000 + sum(each) for each in zip(*parts, strict=True)]


@pytest.fixture
def table(tmp_path):
    """A file with one table of records; what its pages leave unused is asked of SQLite."""
    connection = apsw.Connection(str(tmp_path / "rows.sqlite3"))
    connection.execute(f"PRAGMA page_size = {PAGE}")
    connection.execute("CREATE TABLE row(number INTEGER PRIMARY KEY, data BLOB NOT NULL)")

    def unused(records):
        # a record is the length of its header, and a type for the number and for the data, of three bytes at most
        rows = [bytes(length - 4) for length in records]
        connection.execute("DELETE FROM row")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO row(data) VALUES (?)", [(row,) for row in rows])
        connection.execute("COMMIT")
        asked = "SELECT sum(unused), count(*) FROM dbstat WHERE name = 'row' AND pagetype = 'leaf'"
        return connection.execute(asked).fetchall()[0]

    yield unused
    connection.close()


def filled(records):
    return [records[position] for position in filling.order(records, PAGE)]


@given(st.lists(st.integers(0, 100_000), max_size=60))
def test_every_row_is_put_once_and_the_same_sizes_give_the_same_order(records):
    order = filling.order(records, PAGE)
    assert sorted(order) == list(range(len(records)))
    assert order == filling.order(records, PAGE)


def test_pages_of_chunks_are_full_but_for_a_fortieth(table):
    records = like_chunks("chunks", 500)
    as_they_come, pages = table(records)
    assert as_they_come / pages > 800
    left, pages = table(filled(records))
    assert left / pages < PAGE / 40


@pytest.mark.parametrize(
    ("least", "most"),
    [(100, 300), (300, 2000), (1450, 1450), (2000, 6000), (4000, 8100), (8100, 8300), (100, 60_000)],
)
def test_no_sizes_take_more_pages_than_in_the_order_in_which_they_come(table, least, most):
    records = drawn("any", 500, least, most)
    _, before = table(records)
    _, after = table(filled(records))
    assert after <= before + 1


def test_what_a_long_row_leaves_on_its_page_is_counted(table):
    """A row of more than a page goes on elsewhere; what stands here of it is an eighth of a page or more."""
    records = [*drawn("long", 100, 8200, 40_000), *drawn("short", 300, 500, 1500)]
    _, before = table(records)
    left, after = table(filled(records))
    assert after < 0.9 * before
    assert left / after < PAGE / 20


def test_rows_of_one_page_stay_as_they_come():
    assert filling.order([], PAGE) == []
    assert filling.order([500, 100, 7000, 300], PAGE) == [0, 1, 2, 3]
    order = filling.order(like_chunks("chunks", 500), PAGE)
    assert order[:5] == sorted(order[:5])
    assert order[0] == 0


def test_the_texts_of_an_index_fill_its_pages(tmp_path):
    """Through the store's own port, in several puts, some of them of few texts and some in other scripts."""
    sizes = like_chunks("index", 1200)
    bodies = [(f"{number} " + "word " * 600)[:size] for number, size in enumerate(sizes)]
    bodies[::50] = [body[: len(body) // 2].replace("word", "слово") for body in bodies[::50]]
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(tmp_path), readonly=False)
    write(store, {doc("a.md"): [Piece(body) for body in bodies]})
    again = store.begin(store.head())
    again.put_texts(text_row(Piece(body)) for body in bodies)
    again.abort()
    assert list(store.snapshot().problems(full=True)) == []
    store.close()
    connection = apsw.Connection(str(tmp_path / "index.sqlite3"))
    asked = "SELECT sum(unused), count(*) FROM dbstat WHERE name = 'text' AND pagetype = 'leaf'"
    left, pages = connection.execute(asked).fetchall()[0]
    assert connection.execute("SELECT count(*), max(text) FROM text").fetchall()[0] == (1200, 1200)
    connection.close()
    assert pages > 200
    assert left / pages < 250

"""Which vectors are searched, set in vec0's own tables: vec0 reads what it would have written itself."""

from contextlib import closing

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_adapters.stores.sqlite import spaces, tombstones
from steadlith_adapters.stores.sqlite.forms import FORMS
from steadlith_adapters.stores.sqlite.session import Session
from steadlith_adapters.stores.sqlite.spaces import SpaceTable
from steadlith_conformance.samples import vector

ROWS = 300
FLIPS = st.lists(st.tuples(st.integers(0, 1), st.integers(1, ROWS + 40)), max_size=80, unique_by=lambda flip: flip[1])
HISTORY = st.lists(FLIPS, max_size=4)


def tables(form, *, older=False):
    """A space's vec0 table of some chunks, every third row not there, every second live."""
    session = Session(apsw.Connection(":memory:"), "memory")
    table = SpaceTable(1, "vec_1_1", 16, FORMS[form])
    if older:
        session.load_vectors()
        session.run("CREATE VIRTUAL TABLE vec_1_1 USING vec0(vector float[16], live integer, chunk_size=64)")
    else:
        spaces.declare(session, table)
    rows = [number for number in range(1, ROWS + 1) if number % 3]
    codes = table.form.encode([vector(str(number), 16) for number in rows], 16)
    session.run_many(
        f"INSERT INTO vec_1_1(rowid, vector, live) VALUES (?, {table.form.value}, ?)",
        [(number, code, number % 2) for number, code in zip(rows, codes, strict=True)],
    )
    return session, table


def live(session):
    return dict(session.run("SELECT rowid, live FROM vec_1_1"))


@pytest.mark.parametrize("form", sorted(FORMS))
@settings(max_examples=15, deadline=None)
@given(history=HISTORY)
def test_vec0_reads_what_was_set_and_finds_the_living_alone(form, history):
    session, table = tables(form)
    with closing(session):
        wanted = live(session)
        assert len(wanted) == ROWS - ROWS // 3
        for flips in history:
            tombstones.set_many(session, table, flips)
            wanted.update({entry: one for one, entry in flips if entry in wanted})
            assert live(session) == wanted
        (code,) = table.form.encode([vector("1", 16)], 16)
        found = session.run(
            f"SELECT rowid FROM vec_1_1 WHERE vector MATCH {table.form.value} AND k = {ROWS} AND live = 1", code
        )
        assert sorted(found) == [(entry,) for entry, one in sorted(wanted.items()) if one]


@pytest.mark.parametrize("form", sorted(FORMS))
def test_the_tables_are_byte_for_byte_those_that_vec0_makes(form):
    flips = [(number // 5 % 2, number) for number in range(1, ROWS) if number % 3 and number % 4]
    kept = []
    for set_many in (
        tombstones.set_many,
        lambda session, _, rows: session.run_many("UPDATE vec_1_1 SET live = ? WHERE rowid = ?", rows),
    ):
        session, table = tables(form)
        with closing(session):
            set_many(session, table, flips)
            kept.append([session.run(f"SELECT * FROM vec_1_1_{part}") for part in ("chunks", "metadatachunks00")])
    assert kept[0] == kept[1]


def test_a_table_of_an_older_release_is_set_by_vec0():
    session, table = tables("float32", older=True)
    with closing(session):
        tombstones.set_many(session, table, [(1, 2), (0, 5), (1, 3), (1, 7)])
        found = live(session)
        assert [found[number] for number in (2, 5, 7, 11, 10)] == [1, 0, 1, 1, 0]
        assert 3 not in found


def test_no_vector_is_read_for_it(tmp_path):
    session, table = tables("float32")
    with closing(session):
        read = []
        session._connection.authorizer = lambda action, name, *_: (
            (read.append(name) if action == apsw.SQLITE_READ else None) or apsw.SQLITE_OK
        )
        tombstones.set_many(session, table, [(1, 2), (0, 1)])
        assert "vec_1_1_metadatachunks00" in read
        assert not {"vec_1_1", "vec_1_1_vector_chunks00"} & set(read)

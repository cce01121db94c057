"""Where vectors stand in vec0's blocks: what a search would not find, or find twice, is named, and mended."""

import shutil
from contextlib import closing

import pytest

from steadlith_adapters.stores.sqlite import FACTORY, blocks, connection, spaces
from steadlith_conformance.samples import SPACE, doc, mend, pieces, space, texts_of, vector, write
from steadlith_core.records import DriftKind

INT8 = space(quantization="int8")
BINARY = space(quantization="binary")
SPACES = [SPACE, INT8, BINARY]
A = doc("a.md")
HELD = pieces(*(f"text {number}" for number in range(300)))  # more than a block of any form holds
FIRST = "{1} = (SELECT min(chunk_id) FROM {0}_chunks)"
DAMAGE = {
    "a row's bit": "UPDATE {0}_chunks SET validity = x'fe' || substr(validity, 2) WHERE {1}",
    "no bits": "UPDATE {0}_chunks SET validity = zeroblob(length(validity)) WHERE {1}",
    "another's number": """UPDATE {0}_chunks
        SET rowids = substr(rowids, 1, 400) || x'0200000000000000' || substr(rowids, 409) WHERE {1}""",
    "no numbers": "UPDATE {0}_chunks SET rowids = zeroblob(length(rowids)) WHERE {1}",
    "a bit too many": """UPDATE {0}_chunks SET validity = substr(validity, 1, length(validity) - 1) || x'ff'
        WHERE chunk_id = (SELECT max(chunk_id) FROM {0}_chunks)""",
    "bits cut off": "UPDATE {0}_chunks SET validity = x'ff' WHERE {1}",
    "tombstones cut off": "UPDATE {0}_metadatachunks00 SET data = x'ff' WHERE {2}",
    "vectors cut off": "UPDATE {0}_vector_chunks00 SET vectors = x'ff' WHERE {2}",
    "no vectors": "DELETE FROM {0}_vector_chunks00 WHERE {2}",
    "another size": "UPDATE {0}_chunks SET size = 0 WHERE {1}",
    "another place": "UPDATE {0}_rowids SET chunk_offset = 5 WHERE rowid = 3",
    "another block": "UPDATE {0}_rowids SET chunk_id = chunk_id + 1 WHERE rowid = 3",
    "no place": "DELETE FROM {0}_rowids WHERE rowid = 3",
}


def open_store(folder, *, readonly=False):
    return FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=readonly)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Three spaces; some rows are dead, and some slots were used before."""
    folder = tmp_path_factory.mktemp("whole")
    with closing(open_store(folder)) as store:
        write(store, {A: HELD, doc("b.md"): pieces("gone")}, spaces=SPACES)
        write(store, {doc("b.md"): None}, spaces=SPACES)
        write(store, {A: HELD[:-1]}, spaces=SPACES)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copy(whole / "index.sqlite3", tmp_path)
    return tmp_path


def found(store, each):
    with closing(store.snapshot()) as reader:
        return texts_of(reader, reader.dense(each, vector("text 7"), 1000))


def test_of_a_sound_table_every_row_is_read_as_vec0_reads_it(folder):
    with closing(connection.reading(folder / "index.sqlite3")) as session:
        session.load_vectors()
        for table in spaces.find_all(session):
            assert blocks.misplaced(session, table) == []
            rows = [row for block in blocks.rows(session, table, but=()) for row in block]
            asked = f"SELECT rowid, live, vector FROM {table.name} ORDER BY rowid"
            assert sorted(rows) == session.run(asked)
            assert len(rows) == 301
            others = sorted(row.entry for block in blocks.rows(session, table, but={1, 5}) for row in block)
            assert others[:5] == [2, 3, 4, 6, 7]


@pytest.mark.parametrize("table", ["vec_1_1", "vec_2_1", "vec_3_1"])
@pytest.mark.parametrize("what", DAMAGE)
def test_what_a_search_would_not_find_is_named_and_mended(folder, what, table, change):
    damage = DAMAGE[what].format(table, FIRST.format(table, "chunk_id"), FIRST.format(table, "rowid"))
    assert change(folder / "index.sqlite3", damage) > 0
    with closing(open_store(folder)) as store:
        with closing(store.snapshot()) as reader:
            problems = list(reader.problems(full=True))
        assert {problem.kind for problem in problems} == {DriftKind.VECTOR}
        assert any("does not stand where a search finds it" in problem.message for problem in problems)
        assert all(problem.message.startswith(f"{table}: ") for problem in problems)
        said = [problem.message.split(" does not ")[0] for problem in problems]
        assert len(said) == len(set(said))
        mend(store, {A: HELD[:-1]}, spaces=SPACES)
        with closing(store.snapshot()) as reader:
            assert list(reader.problems(full=True)) == []
        for each in SPACES:
            assert sorted(found(store, each)) == sorted(piece.text for piece in HELD[:-1])


def test_a_table_that_is_sound_is_not_made_anew(folder):
    with closing(open_store(folder)) as store:
        mend(store, {A: HELD[:-1]}, spaces=SPACES)
    with closing(connection.reading(folder / "index.sqlite3")) as session:
        assert [table.name for table in spaces.find_all(session)] == ["vec_1_1", "vec_2_1", "vec_3_1"]

"""Quantized spaces in a real file: codes and full vectors, damaged one by one, written in bulk, compacted, dropped."""

import shutil
from contextlib import closing
from dataclasses import replace

import pytest

from steadlith_adapters.stores.sqlite import FACTORY, connection, neighbours, session
from steadlith_adapters.stores.sqlite.forms import FORMS
from steadlith_adapters.stores.sqlite.session import BATCH
from steadlith_conformance.samples import (
    SPACE,
    doc,
    entry_row,
    follow,
    mend,
    pieces,
    space,
    stage_rows,
    text_row,
    texts_of,
    vector,
    vector_row,
    version,
    versions,
    write,
    write_vectors,
)
from steadlith_core.errors import StoreCorrupt
from steadlith_core.records import DriftKind

CODED = [form for form, how in FORMS.items() if how.coded]
WIDTH = 64
ONE, TWO, GONE = pieces("one", "two", "gone")
A, B = doc("a.md"), doc("b.md")
EVERYTHING = {A: [ONE, TWO]}
KEY = {piece.text: vector_row(piece, space(WIDTH)).vector_key for piece in (ONE, TWO, GONE)}

CODE = "INSERT INTO vec_1_1(rowid, vector, live) VALUES ({to}, {code}, 1)"
FAULTS = [
    (["DELETE FROM vec_1_1 WHERE rowid = 1"], {"entry 1 has no code"}, set()),
    (["DELETE FROM vec_1_1 WHERE rowid = 3"], {"entry 3 has no code"}, set()),
    (
        ["DELETE FROM vec_1_1 WHERE rowid = 1", CODE.replace("{to}", "1")],
        {"entry 1 has a code that is not its own"},
        set(),
    ),
    (["UPDATE vec_1_1 SET live = 0 WHERE rowid = 1"], {"entry 1 has live=0, the entry 1"}, set()),
    (["UPDATE vec_1_1 SET live = 1 WHERE rowid = 3"], {"entry 3 has live=1, the entry 0"}, set()),
    (["DELETE FROM full_1 WHERE entry = 1"], {"entry 1 is missing, and its code is not"}, {ONE}),
    (["DELETE FROM full_1 WHERE entry = 3"], {"entry 3 is missing, and its code is not"}, {GONE}),
    (
        ["DELETE FROM full_1 WHERE entry = 1", "DELETE FROM vec_1_1 WHERE rowid = 1"],
        {"entry 1 is missing"},
        {ONE},
    ),
    (
        ["UPDATE full_1 SET vector = (SELECT vector FROM full_1 WHERE entry = 2) WHERE entry = 1"],
        {"entry 1 does not match its checksum"},
        {ONE},
    ),
    (
        ["UPDATE full_1 SET vector = zeroblob(256)"],
        {f"entry {each} does not match its checksum" for each in (1, 2, 3)},
        {ONE, TWO, GONE},
    ),
    (["UPDATE full_1 SET vector = x'00' WHERE entry = 1"], {"entry 1 does not match its checksum"}, {ONE}),
    (
        ["INSERT INTO full_1 SELECT 99, vector FROM full_1 WHERE entry = 1"],
        {"entry 99 is no entry's of its space, and has no code"},
        set(),
    ),
    ([CODE.replace("{to}", "99")], {"entry 99 is no entry's of its space"}, set()),
    (["DELETE FROM vector WHERE entry = 1"], {"entry 1 is no entry's of its space"}, {ONE}),
    (["UPDATE vector SET checksum = zeroblob(8) WHERE entry = 1"], {"entry 1 does not match its checksum"}, {ONE}),
]
"""Statements, what is said of the vectors, and whose vector counts as absent."""

NOT_MENDED = [
    ("DROP TABLE full_1", "full_1 is missing"),
    ("DROP TABLE vec_1_1", "vec_1_1 is missing"),
    ("UPDATE space SET quantization = 'float32'", "not the one that its id says"),
    ("UPDATE space SET dimensions = 32", "not the one that its id says"),
    ("UPDATE space SET dimensions = 0", "cannot be read"),
]


def open_store(folder, *, readonly=False):
    return FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=readonly)


@pytest.fixture(params=CODED)
def form(request):
    return request.param


@pytest.fixture
def where(form):
    return space(WIDTH, quantization=form)


@pytest.fixture
def folder(tmp_path, where):
    with closing(open_store(tmp_path)) as store:
        write(store, {A: [ONE, TWO], B: [GONE]}, spaces=[where])
        write(store, {B: None}, spaces=[where])
    assert messages(tmp_path) == set()
    return tmp_path


def messages(folder, *, full=True):
    with closing(open_store(folder, readonly=True)) as store:
        return {problem.message for problem in store.snapshot().problems(full=full)}


def change(folder, form, *statements):
    writing = connection.writing(folder / "index.sqlite3")
    writing.load_vectors()
    (of_two,) = FORMS[form].encode([vector("two", WIDTH)], WIDTH)
    code = FORMS[form].value.replace("?", f"x'{of_two.hex()}'")
    for statement in ("COMMIT", "PRAGMA foreign_keys = OFF", "BEGIN", *statements):
        writing.run(statement.replace("{code}", code))
    writing.run("COMMIT")
    writing.close()


def rows(folder, sql):
    reading = connection.reading(folder / "index.sqlite3")
    reading.load_vectors()
    with closing(reading):
        return reading.run(sql)


def tables(folder):
    """Tables of spaces, without those that vec0 makes beside its own."""
    found = rows(folder, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '*[0-9]'")
    return {name for (name,) in found if name.startswith("full_") or name.count("_") == 2}


def have_answers(reader, where):
    """What both live vectors are found as, by their own and by another query."""
    found = []
    for query in ("one", "two", "any"):
        hits = reader.dense(where, vector(query, WIDTH), 5)
        found.append([(text, hit.score) for text, hit in zip(texts_of(reader, hits), hits, strict=True)])
    return found


@pytest.mark.parametrize(("statements", "wanted", "absent"), FAULTS)
def test_damage_to_either_half_is_named_and_a_write_that_mends_leaves_none(
    folder, form, where, statements, wanted, absent
):
    with closing(open_store(folder, readonly=True)) as store:
        before = have_answers(store.snapshot(), where)
    change(folder, form, *statements)
    assert messages(folder, full=False) == set()
    of_vectors = {message.removeprefix("vec_1_1: the vector of ") for message in messages(folder)}
    assert {message for message in of_vectors if "has no vector in the space" not in message} == wanted
    keys = list(KEY.values())
    with closing(open_store(folder)) as store:
        reader = store.snapshot()
        there = {KEY[piece.text] for piece in (ONE, TWO, GONE) if piece not in absent}
        assert reader.held(where, keys) == there
        assert reader.vectors(where, keys) == {
            KEY[piece.text]: vector(piece.text, WIDTH) for piece in (ONE, TWO, GONE) if piece not in absent
        }
        have_answers(reader, where)  # and no error
        reader.close()
        mend(store, EVERYTHING, spaces=[where])
        reader = store.snapshot()
        assert have_answers(reader, where) == before
        assert {KEY["one"], KEY["two"]} <= reader.held(where, keys)
    assert messages(folder) == set()


@pytest.mark.parametrize(("statements", "absent"), [(fault[0], fault[2]) for fault in FAULTS if ONE in fault[2]])
def test_a_vector_that_counts_as_absent_is_mended_by_putting_it_again(folder, form, where, statements, absent):
    change(folder, form, *statements)
    with closing(open_store(folder)) as store:
        transaction = store.begin(store.head())
        transaction.put_vectors(where, [vector_row(piece, where) for piece in absent])
        transaction.commit(follow(transaction, store.snapshot(), {}, [where]))
        assert store.snapshot().held(where, list(KEY.values())) == frozenset(KEY.values())
    assert messages(folder) == set()


@pytest.mark.parametrize("statement", ["INSERT INTO full_1 VALUES (4, x'00')", CODE.replace("{to}", "4")])
def test_what_damage_left_where_an_entry_comes_is_replaced(folder, form, where, statement):
    change(folder, form, statement)
    with closing(open_store(folder)) as store:
        write(store, {B: pieces("new", "newer")}, spaces=[where])
        reader = store.snapshot()
        assert texts_of(reader, reader.dense(where, vector("new", WIDTH), 1)) == ["new"]
    assert messages(folder) == set()


@pytest.mark.parametrize(("statement", "message"), NOT_MENDED)
def test_what_only_a_new_index_mends_is_found_at_the_head_s_level(folder, form, where, statement, message):
    change(folder, form, statement)
    with closing(open_store(folder, readonly=True)) as store:
        (problem,) = store.snapshot().problems(full=False)
        assert problem.kind is DriftKind.INDEX_DAMAGED
        assert message in problem.message
        if "missing" not in message:
            with pytest.raises(StoreCorrupt, match="delete it and apply again"):
                store.snapshot().dense(where, vector("one", WIDTH), 1)


def test_of_a_lost_space_no_table_is_left(folder, form, where):
    change(folder, form, "DELETE FROM space")
    with closing(open_store(folder)) as store:
        mend(store, EVERYTHING, spaces=[where])
    assert tables(folder) == {"vec_2_1", "full_2"}
    assert messages(folder) == set()


def test_a_float32_space_is_one_table(tmp_path):
    with closing(open_store(tmp_path)) as store:
        write(store, EVERYTHING)
    assert tables(tmp_path) == {"vec_1_1"}


def test_a_failed_write_leaves_neither_half(tmp_path, where):
    with closing(open_store(tmp_path)) as store:
        write(store, {A: [ONE]}, spaces=[SPACE])
        transaction = store.begin(store.head())
        stage_rows(transaction, {B: [TWO]}, [where])
        transaction.abort()
        assert tables(tmp_path) == {"vec_1_1"}
        write(store, {A: [ONE]}, spaces=[where])
        transaction = store.begin(store.head())
        stage_rows(transaction, {B: [TWO]}, [where])
        transaction.abort()
    assert rows(tmp_path, "SELECT entry FROM full_2") == rows(tmp_path, "SELECT rowid FROM vec_2_1") == [(1,)]
    assert messages(tmp_path) == set()


def test_a_vector_put_twice_in_one_write_is_searched(tmp_path, where):
    """Its entry is not live yet, so the second row must not take back that the first one was put as searched."""
    with closing(open_store(tmp_path)) as store:
        transaction = store.begin(store.head())
        transaction.put_texts([text_row(ONE)])
        transaction.put_entries([entry_row(ONE)])
        for label in ("before", "one"):
            transaction.put_vectors(where, [replace(vector_row(ONE, where), vector=vector(label, WIDTH))])
        transaction.put_document(version(A, [ONE]))
        reader = store.snapshot()
        transaction.commit(follow(transaction, reader, versions({A: [ONE]}), [where]))
        (hit,) = store.snapshot().dense(where, vector("one", WIDTH), 1)
        assert hit.score == pytest.approx(1)
    assert rows(tmp_path, "SELECT rowid, live FROM vec_1_1") == [(1, 1)]
    assert messages(tmp_path) == set()


def of_spaces(given):
    return [sql for sql in given if "vec_1_1" in sql or "full_1" in sql]


def test_vectors_are_written_a_statement_for_a_batch(tmp_path, statements, form):
    """One more in a coded space: for the full vectors."""
    for count in (1, BATCH, 3 * BATCH):
        for each, more in (("float32", 0), (form, 1)):
            del statements[:]
            with closing(open_store(tmp_path / f"{each}-{count}")) as store:
                given = {f"text {number}": vector(f"v{number}", WIDTH) for number in range(count)}
                write_vectors(store, given, space(WIDTH, quantization=each))
            assert len(of_spaces(statements)) == 1 + more + -(-count // BATCH) * (1 + more)


def test_a_query_of_a_float32_space_asks_once_and_then_for_all_hits_together(tmp_path, statements):
    with closing(open_store(tmp_path)) as store:
        write_vectors(store, {f"text {number}": vector(f"v{number}", WIDTH) for number in range(1200)}, space(WIDTH))
        reader = store.snapshot()
        del statements[:]
        assert len(reader.dense(space(WIDTH), vector("v7", WIDTH), 10)) == 10
    assert len(of_spaces(statements)) == 1 + 1


def test_a_query_of_a_quantized_space_asks_for_its_full_vectors_in_batches(tmp_path, statements, form, where):
    with closing(open_store(tmp_path)) as store:
        write_vectors(store, {f"text {number}": vector(f"v{number}", WIDTH) for number in range(1200)}, where)
        reader = store.snapshot()
        del statements[:]
        assert len(reader.dense(where, vector("v7", WIDTH), 10)) == 10
    searched = [sql for sql in of_spaces(statements) if "MATCH" in sql]
    beside = [sql for sql in of_spaces(statements) if " IN (" in sql]
    # Asked once more where as many bits differ of many; beyond it, how many there are in all.
    assert len(searched) in {1, 2}
    assert len(beside) in {1, 2}
    assert len(of_spaces(statements)) == len(searched) + len(beside) + 1


@pytest.mark.parametrize(("most", "scanned"), [(8, 1), (8, 7), (4096, 30)])
def test_what_codes_cannot_tell_is_compared_one_by_one_and_exact(tmp_path, where, monkeypatch, most, scanned):
    monkeypatch.setattr(neighbours, "MAX_K", most)
    monkeypatch.setattr(neighbours, "SCANNED", scanned)
    given = {f"text {number}": vector(f"v{number % 25}", WIDTH) for number in range(30)}  # five of them twice
    with closing(open_store(tmp_path)) as store:
        write_vectors(store, given, space(WIDTH), where)
        write(store, {B: [replace(ONE, text="text 3")]}, spaces=[space(WIDTH), where])
        reader = store.snapshot()
        for limit in (1, 4, 29, 40):
            for label in ("v7", "v2", "any"):
                query = vector(label, WIDTH)
                assert reader.dense(where, query, limit) == reader.dense(space(WIDTH), query, limit)


def test_without_the_extension_the_full_vectors_are_there(folder, where, monkeypatch):
    change(folder, where.quantization, "DELETE FROM full_1 WHERE entry = 1")
    monkeypatch.setattr(session, "_extension", lambda: None)
    with closing(open_store(folder, readonly=True)) as store:
        reader = store.snapshot()
        assert reader.held(where, list(KEY.values())) == {KEY["two"], KEY["gone"]}
        assert reader.vectors(where, [KEY["two"]]) == {KEY["two"]: vector("two", WIDTH)}


def test_compaction_keeps_codes_as_they_are_and_the_full_vectors_that_they_are_of(folder, form, where):
    kept = "SELECT rowid, live, vector FROM {} WHERE rowid <> 3 ORDER BY rowid"
    codes = rows(folder, kept.format("vec_1_1"))
    full = rows(folder, "SELECT * FROM full_1 WHERE entry <> 3 ORDER BY entry")
    change(folder, form, "INSERT INTO full_1 SELECT 99, vector FROM full_1 WHERE entry = 1")
    with closing(open_store(folder)) as store:
        before = have_answers(store.snapshot(), where)
        removed = store.removable(2)
        assert removed.vectors == 1
        store.compact(store.head(), 2)
        assert have_answers(store.snapshot(), where) == before
        assert store.snapshot().held(where, list(KEY.values())) == {KEY["one"], KEY["two"]}
    assert tables(folder) == {"vec_1_2", "full_1"}
    assert rows(folder, kept.format("vec_1_2")) == codes
    assert rows(folder, "SELECT * FROM full_1 ORDER BY entry") == full
    assert messages(folder) == set()


def test_a_space_that_no_kept_generation_names_goes_with_both_its_tables(folder, form, where):
    with closing(open_store(folder)) as store:
        write(store, EVERYTHING, spaces=[space(WIDTH)])
        assert tables(folder) == {"vec_1_1", "full_1", "vec_2_1"}
        assert store.removable(3).bytes > store.removable(2).bytes + 2 * 4 * WIDTH
        store.compact(store.head(), 3)
    assert tables(folder) == {"vec_2_1"}
    assert messages(folder) == set()


@pytest.mark.parametrize("spaces", ["kept", "dropped"])
def test_scrubbing_leaves_no_byte_of_a_code_or_of_its_vector(folder, form, where, spaces):
    (code,) = FORMS[form].encode([vector("gone", WIDTH)], WIDTH)
    needles = (vector("gone", WIDTH), code)
    shutil.copy(folder / "index.sqlite3", folder / "before")
    assert all(needle in (folder / "before").read_bytes() for needle in needles)
    (folder / "before").unlink()
    with closing(open_store(folder)) as store:
        if spaces == "dropped":
            write(store, EVERYTHING, spaces=[space(WIDTH)])
        assert store.compact(store.head(), store.head().generation, scrub=True).given_back
    for needle in needles:
        assert not any(needle in file.read_bytes() for file in folder.iterdir() if file.is_file())
    assert messages(folder) == set()


def test_a_write_after_a_compaction_goes_on_in_the_next_table(folder, where):
    with closing(open_store(folder)) as store:
        store.compact(store.head(), 2)
        write(store, {B: pieces("new")}, spaces=[where])
        write(store, {A: [TWO]}, spaces=[where])
        reader = store.snapshot()
        found = reader.dense(where, vector("new", WIDTH), 5)
        assert sorted(texts_of(reader, found)) == ["new", "two"]
    assert messages(folder) == set()

"""Texts, entries and vectors by their hashes: indexes hold eight bytes of them, and who asks is told of the whole."""

import lzma
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest import mock

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_adapters.stores.sqlite import (
    FACTORY,
    connection,
    contents,
    doubles,
    hashes,
    reader,
    schema,
    session,
    settle,
    traces,
    vectors,
)
from steadlith_adapters.stores.sqlite.session import Session
from steadlith_conformance.samples import (
    SPACE,
    Piece,
    doc,
    entry_row,
    follow,
    mend,
    pieces,
    stage_rows,
    text_row,
    texts_of,
    vector,
    vector_row,
    version,
    versions,
    word_hits,
    write,
)
from steadlith_core.digest import Digest
from steadlith_core.errors import StoreCorrupt
from steadlith_core.records import DriftKind

OLDER = sorted(Path(__file__).with_name("released").glob("index-*.xz"))
ONE, TWO, THREE = pieces("one", "two", "three")
A, B = doc("a.md"), doc("b.md")


def open_store(folder, *, readonly=False):
    return FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=readonly)


@pytest.fixture
def folder(tmp_path):
    with closing(open_store(tmp_path)) as store:
        write(store, {A: [ONE, TWO], B: [THREE]})
    return tmp_path


def alike(digest):
    """Another hash that begins as this one does."""
    return Digest(digest[:8] + bytes(byte ^ 255 for byte in digest[8:]))


def counts(folder):
    connection = apsw.Connection(str(folder / "index.sqlite3"))
    found = [connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in ("text", "entry")]
    connection.close()
    return found


# ----------------------------------------------------------------------------------------------- look-ups

ASKED = {
    "texts": (reader._TEXTS, 1000, "text"),
    "entries": (reader._ENTRIES, 1000, "entry"),
    "numbers of texts": (contents._FIND_TEXTS, 1000, "text"),
    "numbers of entries": (contents._FIND_ENTRIES, 1000, "entry"),
    "vectors": (f"SELECT vector_key {vectors._BY_KEY}", 1001, "vector"),
    "traces": (f"{traces._KEYS} AND {traces._UNUSED}", 1, "vector"),
}
WRITTEN = {
    "occurrences": (settle._OPEN, 1, "entry"),
    "doubles": (
        doubles._ROWS.replace("{table}", "text").format_map(
            {"rank": "0", "prefix": "substr(text_hash, 1, 8)", "indexed": "{indexed}", "side": "{side}"}
        ),
        1,
        "text",
    ),
}


def plans(path, sql, count, table):
    """How SQLite goes about a statement, of each half of the table; and the index of that half."""
    with closing(Session(apsw.Connection(str(path)), str(path))) as session:
        for statement in settle.STAGE:
            session.run(statement)
        marks = ",".join("?" * 500)
        for half in hashes.halves(session, table):
            made = half.of(sql, marks, marks)
            steps = session.run("EXPLAIN QUERY PLAN " + made, *[b"12345678"] * count)
            yield half.indexed.removeprefix("INDEXED BY "), [row[3] for row in steps]


@pytest.mark.parametrize("what", [*ASKED, *WRITTEN])
def test_no_hash_is_looked_for_by_reading_a_table(folder, what):
    sql, count, table = {**ASKED, **WRITTEN}[what]
    found = dict(plans(folder / "index.sqlite3", sql, count, table))
    assert tuple(found) == schema.HASHED[table].names
    for index, steps in found.items():
        asked = f"{index} (space=? AND <expr>=?" if table == "vector" else f"{index} (<expr>=?"
        assert any(f"INDEX {asked}" in step for step in steps), steps
        assert not {f"SCAN {name}" for name in ("text", "entry", "vector", "e", "t", "v", "w")} & set(steps)


@pytest.mark.parametrize("older", OLDER, ids=lambda path: path.name)
@pytest.mark.parametrize("what", ASKED)
def test_in_an_older_file_the_same_questions_are_answered_by_its_one_index(tmp_path, older, what):
    (tmp_path / "index.sqlite3").write_bytes(lzma.decompress(older.read_bytes()))
    sql, count, table = ASKED[what]
    ((_, steps),) = plans(tmp_path / "index.sqlite3", sql, count, table)
    whole = older.name < "index-6"  # over whole hashes
    if table == "vector":
        index = f"vector_by_key (space=? AND {'vector_key' if whole else '<expr>'}=?"
    else:
        index = f"sqlite_autoindex_{table}_1 ({table}_hash=?" if whole else f"{table}_by_hash (<expr>=?"
    assert any(f"INDEX {index}" in step for step in steps), steps


def test_finding_what_stands_twice_reads_the_indexes_alone(folder):
    with closing(connection.reading(folder / "index.sqlite3")) as session:
        for table in ("text", "entry"):
            steps = [row[3] for row in session.run("EXPLAIN QUERY PLAN " + doubles.alike(session, table))]
            for index in schema.HASHED[table].names:
                assert f"SCAN {table} USING COVERING INDEX {index}" in steps
            assert not any("TEMP B-TREE" in step for step in steps)


# ------------------------------------------------------------------------------------- settled and recent


def parted(folder):
    """Up to which number the rows of each table are settled."""
    with closing(connection.reading(folder / "index.sqlite3")) as session:
        return {table: hashes._settled(session, table) for table in schema.HASHED}


def test_rows_are_recent_until_they_are_many_and_then_all_are_settled(tmp_path, monkeypatch):
    monkeypatch.setattr(hashes, "FEW", 20)
    seen = []
    with closing(open_store(tmp_path)) as store:
        for number in range(12):
            write(store, {doc(f"{number}.md"): pieces(*(f"text {number} {each}" for each in range(15)))})
            seen.append(parted(tmp_path)["text"])
            with closing(connection.reading(tmp_path / "index.sqlite3")) as session:
                assert session.run("PRAGMA integrity_check(1)") == [("ok",)]  # each row in its index, and in no other
            assert len(set(parted(tmp_path).values())) == 1  # here every text is an entry with a vector
    # More than 20, and more than an eighth: of 30 rows all; of 60, 30 more; and so on until an eighth is more.
    assert seen == [0, 30, 30, 60, 60, 90, 90, 120, 120, 150, 150, 180]
    with closing(open_store(tmp_path)) as store:
        write(store, {doc("many.md"): pieces(*(f"many {each}" for each in range(420)))})
        assert parted(tmp_path)["text"] == 600
        for more, settled in ((70, 600), (5, 600), (1, 676)):
            write(store, {doc(f"{more} more.md"): pieces(*(f"{more} more {each}" for each in range(more)))})
            assert parted(tmp_path)["text"] == settled
        assert list(store.snapshot().problems(full=True)) == []


@settings(max_examples=20, deadline=None)
@given(history=st.lists(st.lists(st.integers(0, 40), max_size=12), min_size=1, max_size=8), few=st.integers(0, 9))
def test_whatever_is_settled_when_each_text_is_kept_once_and_found(tmp_path_factory, history, few):
    folder = tmp_path_factory.mktemp("index")
    known = set()
    with mock.patch.object(hashes, "FEW", few), closing(open_store(folder)) as store:
        for number, texts in enumerate(history):
            held = pieces(*(f"text {each}" for each in texts))
            write(store, {doc(f"{number % 3}.md"): held})
            known.update(held)
            with closing(store.snapshot()) as reader:
                assert set(reader.texts([each.text_hash for each in known])) == {each.text_hash for each in known}
                assert set(reader.entries([each.entry_hash for each in known])) == {each.entry_hash for each in known}
                keys = [vector_row(each).vector_key for each in known]
                assert reader.held(SPACE, keys) == set(keys)
                assert list(reader.problems(full=True)) == []
    assert counts(folder) == [len(known), len(known)]


def test_a_reader_that_is_open_and_one_that_comes_after_find_all_while_another_process_settles(tmp_path, monkeypatch):
    with closing(open_store(tmp_path)) as ours, closing(open_store(tmp_path)) as theirs:
        write(theirs, {A: [ONE, TWO]})
        before = ours.snapshot()
        assert set(before.texts([ONE.text_hash])) == {ONE.text_hash}
        monkeypatch.setattr(hashes, "FEW", 0)
        write(theirs, {B: [THREE]})
        assert parted(tmp_path)["text"] == 3
        assert set(before.texts([TWO.text_hash, THREE.text_hash])) == {TWO.text_hash}
        before.close()
        after = ours.snapshot()  # on the same connection
        assert set(after.texts([TWO.text_hash, THREE.text_hash])) == {TWO.text_hash, THREE.text_hash}
        after.close()
        gone = ours.traces([A])
        monkeypatch.setattr(hashes, "FEW", 1000)
        write(theirs, {A: None})
        assert (gone.vector_keys, len(ours.traces([A]).vector_keys)) == (frozenset(), 2)


@pytest.mark.parametrize("table", ["text", "entry", "vector"])
@pytest.mark.parametrize("side", [0, 1])
def test_without_an_index_all_is_found_and_it_is_named(folder, table, side, change):
    name = schema.HASHED[table].names[side]
    change(folder / "index.sqlite3", f"DROP INDEX {name}")
    with closing(open_store(folder)) as store:
        found = store.snapshot()
        assert found.texts([ONE.text_hash, THREE.text_hash]).keys() == {ONE.text_hash, THREE.text_hash}
        assert found.entries([ONE.entry_hash]).keys() == {ONE.entry_hash}
        assert found.held(SPACE, [vector_row(TWO).vector_key]) == {vector_row(TWO).vector_key}
        assert store.traces([A]).documents == {A}
        assert f"the table or index {name} is missing" in [each.message for each in found.problems(full=True)]
        found.close()
        write(store, {A: [ONE, THREE]})
    assert counts(folder) == [3, 3]


# -------------------------------------------------------------------------------------------- equal prefixes


def test_hashes_that_begin_alike_are_told_apart(folder):
    """What is put under the second of two such hashes is kept beside the first, and each is found by its own."""
    other = replace(text_row(ONE), text_hash=alike(ONE.text_hash), text="another one")
    entry = replace(entry_row(ONE), entry_hash=alike(ONE.entry_hash), text_hash=other.text_hash)
    row = vector_row(ONE)
    second = replace(row, entry_hash=entry.entry_hash, vector_key=alike(row.vector_key), vector=vector("another"))
    with closing(open_store(folder)) as store:
        writing = store.begin(store.head())
        writing.put_texts([other, text_row(ONE)])
        writing.put_entries([entry, entry_row(ONE)])
        writing.put_vectors(SPACE, [second, row])
        made = version(doc("c.md"), [ONE])
        placed = replace(made.placements[0], entry_hash=entry.entry_hash)
        writing.put_document(replace(made, placements=(placed,)))
        writing.commit(follow(writing, store.snapshot(), {doc("c.md"): made}))
        found = store.snapshot()
        assert found.texts([other.text_hash, ONE.text_hash]) == {other.text_hash: "another one", ONE.text_hash: "one"}
        assert found.entries([entry.entry_hash])[entry.entry_hash].text_hash == other.text_hash
        assert found.entries([ONE.entry_hash])[ONE.entry_hash].text_hash == ONE.text_hash
        keys = [second.vector_key, row.vector_key]
        assert found.held(SPACE, keys) == set(keys)
        assert found.vectors(SPACE, keys) == {second.vector_key: vector("another"), row.vector_key: row.vector}
        assert found.chunks(doc("c.md"))[0].entry_hash == entry.entry_hash
        assert found.chunks(A)[0].entry_hash == ONE.entry_hash
        assert texts_of(found, found.dense(SPACE, vector("another"), 1)) == ["another one"]
        assert not any("times" in problem.message for problem in found.problems(full=True))
    assert counts(folder) == [4, 4]


def test_a_hash_that_only_begins_like_a_kept_one_is_not_there(folder):
    with closing(open_store(folder, readonly=True)) as store:
        found = store.snapshot()
        assert found.texts([alike(ONE.text_hash)]) == {}
        assert found.entries([alike(ONE.entry_hash)]) == {}
        assert found.held(SPACE, [alike(vector_row(ONE).vector_key)]) == frozenset()


# ----------------------------------------------------------------------------------------- put once, and again


def test_what_is_put_again_is_kept_once(folder):
    """In one batch, in batches of one put, in several puts, and in a later write."""
    again = [ONE, *pieces(*(f"text {number}" for number in range(1200))), TWO, ONE]
    with closing(open_store(folder)) as store:
        writing = store.begin(store.head())
        for _ in range(2):
            writing.put_texts([*map(text_row, again), text_row(again[5]), text_row(again[5])])
            writing.put_entries([*map(entry_row, again), entry_row(again[5]), entry_row(again[5])])
        stage_rows(writing, {A: again[1:600]})
        writing.commit(follow(writing, store.snapshot(), versions({A: again[1:600]})))
        assert list(store.snapshot().problems(full=True)) == []
    assert counts(folder) == [1203, 1203]


def test_no_more_is_remembered_than_is_said(folder, monkeypatch):
    """Whatever is forgotten is asked for: with room for a few, the index is the same one."""
    monkeypatch.setattr(contents, "REMEMBERED", 700)
    many = pieces(*(f"text {number}" for number in range(1600)))
    with closing(open_store(folder)) as store:
        write(store, {A: many})
        writing = store.begin(store.head())
        writing.put_texts(map(text_row, many))
        writing.put_entries(map(entry_row, many))
        assert max(len(writing._contents._texts), len(writing._contents._entries)) <= 700
        writing.abort()
        assert list(store.snapshot().problems(full=True)) == []
    assert counts(folder) == [1603, 1603]


def test_entries_put_after_their_texts_ask_for_no_number(folder, monkeypatch):
    asked = []
    real = hashes.find
    monkeypatch.setattr(
        hashes,
        "find",
        lambda session, table, sql, names, *rest: (
            asked.append((sql, len(names))) or real(session, table, sql, names, *rest)
        ),
    )
    new = pieces("four", "five")
    with closing(open_store(folder)) as store:
        writing = store.begin(store.head())
        stage_rows(writing, {A: new})
        writing.abort()
    texts = [count for sql, count in asked if sql == contents._FIND_TEXTS]
    entries = [count for sql, count in asked if sql == contents._FIND_ENTRIES]
    assert texts == [2, 0]  # the texts that are put; their numbers, for the entries
    assert entries == [2, 0]  # the entries; theirs, for the vectors


def test_a_number_that_nobody_gave_is_damage_and_nothing_is_put(folder):
    connection = apsw.Connection(str(folder / "index.sqlite3"))
    connection.execute("UPDATE text SET text = 9223372036854775807 WHERE text = 3")
    connection.close()
    with closing(open_store(folder)) as store, pytest.raises(StoreCorrupt, match="text 9223372036854775807"):
        store.begin(store.head())


# ---------------------------------------------------------------------------------------------- what stands twice


def test_an_entry_that_stands_twice_and_is_used_twice_is_made_one(folder):
    """The copy is used, has a vector and a lexical row: all of it is led to the other, or goes."""
    connection = apsw.Connection(str(folder / "index.sqlite3"))
    connection.enable_load_extension(True)
    connection.load_extension(session._extension())
    for statement in (
        "INSERT INTO entry SELECT 9, entry_hash, text, title, headings, context_hash, 1 FROM entry WHERE entry = 3",
        "UPDATE occurrence SET entry = 9 WHERE entry = 3",
        "UPDATE entry SET live = 0 WHERE entry = 3",
        "INSERT INTO vector SELECT space, 9, vector_key, checksum FROM vector WHERE entry = 3",
        "INSERT INTO vec_1_1(rowid, vector, live) SELECT 9, vector, 1 FROM vec_1_1 WHERE rowid = 3",
        "UPDATE vec_1_1 SET live = 0 WHERE rowid = 3",
        "INSERT INTO lexical(rowid, title, headings, body) VALUES (9, 'Sample', '', 'three')",
        "DELETE FROM lexical WHERE rowid = 3",
    ):
        connection.execute(statement)
    connection.close()
    with closing(open_store(folder)) as store:
        problems = list(store.snapshot().problems(full=True))
        assert [(problem.kind, problem.entry) for problem in problems] == [(DriftKind.ENTRY, THREE.entry_hash)]
        assert "is kept 2 times" in problems[0].message
        before = store.snapshot().chunks(B)
        mend(store, {A: [ONE, TWO], B: [Piece("three", 3)]})
        assert list(store.snapshot().problems(full=True)) == []
        assert store.snapshot().chunks(B) == before
        assert store.snapshot(1).chunks(B) == before
        assert texts_of(store.snapshot(), word_hits(store, store.snapshot(), "three")) == ["three"]
        assert texts_of(store.snapshot(), store.snapshot().dense(SPACE, vector("three"), 1)) == ["three"]
    assert counts(folder) == [3, 3]

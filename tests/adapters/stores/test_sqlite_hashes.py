"""Texts, entries and vectors by their hashes: indexes hold eight bytes of them, and who asks is told of the whole."""

import lzma
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from steadlith_adapters.stores.sqlite import FACTORY, contents, doubles, reader, session, settle, traces, vectors
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
    "traces": (traces._KEYS, 1, "vector"),
}
WRITTEN = {
    "occurrences": (settle._OPEN, 1, "entry"),
    "doubles": (doubles._ROWS.format(table="text", prefix="substr(text_hash, 1, 8)", rank="text"), 1, "text"),
}


def plan(connection, sql, count):
    marks = ",".join("?" * 500)
    rows = connection.execute("EXPLAIN QUERY PLAN " + sql.format(marks, marks), [b"12345678"] * count).fetchall()
    return [row[3] for row in rows]


@pytest.mark.parametrize("what", [*ASKED, *WRITTEN])
def test_no_hash_is_looked_for_by_reading_a_table(folder, what):
    sql, count, table = {**ASKED, **WRITTEN}[what]
    connection = apsw.Connection(str(folder / "index.sqlite3"))
    for statement in settle.STAGE:
        connection.execute(statement)
    steps = plan(connection, sql, count)
    connection.close()
    index = "vector_by_key (space=? AND <expr>=?)" if table == "vector" else f"{table}_by_hash (<expr>=?"
    assert any(f"INDEX {index}" in step for step in steps), steps
    assert not {f"SCAN {name}" for name in ("text", "entry", "vector", "e", "t", "v", "w")} & set(steps)


@pytest.mark.parametrize("older", OLDER, ids=lambda path: path.name)
@pytest.mark.parametrize("what", ASKED)
def test_in_an_older_file_the_same_questions_are_answered_by_the_index_over_whole_hashes(tmp_path, older, what):
    (tmp_path / "index.sqlite3").write_bytes(lzma.decompress(older.read_bytes()))
    sql, count, table = ASKED[what]
    connection = apsw.Connection(str(tmp_path / "index.sqlite3"))
    steps = plan(connection, sql, count)
    connection.close()
    whole = "vector_by_key (space=? AND vector_key=?)"
    index = whole if table == "vector" else f"sqlite_autoindex_{table}_1 ({table}_hash=?)"
    assert any(f"INDEX {index}" in step for step in steps), steps


def test_finding_what_stands_twice_reads_the_index_alone(folder):
    connection = apsw.Connection(str(folder / "index.sqlite3"))
    for table in ("text", "entry"):
        names = {"table": table, "prefix": f"substr({table}_hash, 1, 8)"}
        steps = plan(connection, doubles._ALIKE.format(**names), 0)
        assert f"SCAN {table} USING COVERING INDEX {table}_by_hash" in steps
    connection.close()


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
    real = session.Session.find
    monkeypatch.setattr(
        session.Session,
        "find",
        lambda self, sql, hashes, *rest: asked.append((sql, len(hashes))) or real(self, sql, hashes, *rest),
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

"""A damaged index is moved out of the way under a new name; nothing is deleted, and nothing of anybody else's moved."""

import sqlite3

import pytest

from steadlith_adapters.stores.sqlite import FACTORY
from steadlith_conformance.samples import doc, pieces, write
from steadlith_core.errors import AdapterError, ForeignFile

SETTINGS = {"path": "index.sqlite3"}


def open_store(folder, *, readonly=False):
    return FACTORY.open(SETTINGS, root=str(folder), readonly=readonly)


def set_aside(folder):
    return FACTORY.set_aside(SETTINGS, root=str(folder))


@pytest.fixture
def index(tmp_path):
    store = open_store(tmp_path)
    write(store, {doc("a.md"): pieces("one")})
    store.close()
    return tmp_path / "index.sqlite3"


def test_an_index_is_renamed_with_what_sqlite_put_beside_it(index, tmp_path):
    store = open_store(tmp_path)
    reader = open_store(tmp_path, readonly=True).snapshot()  # keeps the log
    write(store, {doc("b.md"): pieces("two")})
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for path in tmp_path.glob("index.sqlite3*"):
        (crashed / path.name).write_bytes(path.read_bytes())
    reader.close()
    store.close()
    (crashed / "index.sqlite3.lock").touch()
    (crashed / "index.sqlite3-journal").write_bytes(b"half a write")
    before = {path.name: path.read_bytes() for path in crashed.iterdir()}
    assert set_aside(crashed) == str(crashed / "index.sqlite3.damaged-1")
    after = {path.name: path.read_bytes() for path in crashed.iterdir()}
    assert after == {
        name if name.endswith(".lock") else name.replace("index.sqlite3", "index.sqlite3.damaged-1"): content
        for name, content in before.items()
    }
    aside = FACTORY.open({"path": "index.sqlite3.damaged-1"}, root=str(crashed), readonly=True)
    assert aside.head().generation == 2
    aside.close()


def test_the_first_free_number_is_taken(index, tmp_path):
    (tmp_path / "index.sqlite3.damaged-1").write_text("an earlier one")
    (tmp_path / "index.sqlite3.damaged-2-wal").write_text("all that is left of another one")
    assert set_aside(tmp_path).endswith("index.sqlite3.damaged-3")
    assert (tmp_path / "index.sqlite3.damaged-1").read_text() == "an earlier one"


def test_a_new_index_takes_its_place(index, tmp_path):
    set_aside(tmp_path)
    store = open_store(tmp_path)
    assert store.head().generation == 0
    assert write(store, {doc("a.md"): pieces("one")}).generation == 1
    assert list(store.snapshot().problems(full=True)) == []
    store.close()
    assert set_aside(tmp_path).endswith(".damaged-2")


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"\0" * 4096 + content[4096:],  # its first page is gone
        lambda content: b"\xa5" * 4096 + content[4096:],
        lambda content: b"X" + content[1:],  # the mark is left
        lambda content: content[:16] + b"\0\0" + content[18:],  # a header that SQLite refuses
        lambda content: content[:5000],
        lambda content: content[:60],
        lambda content: b"",
    ],
)
def test_what_may_be_ours_is_moved_whatever_is_left_of_it(index, tmp_path, damage):
    damaged = damage(index.read_bytes())
    index.write_bytes(damaged)
    moved = set_aside(tmp_path)
    assert not index.exists()
    assert (tmp_path / "index.sqlite3.damaged-1").read_bytes() == damaged
    assert moved == str(tmp_path / "index.sqlite3.damaged-1")


def other_database(path, *statements):
    path.unlink()
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("make", "whose"),
    [
        (lambda path: path.write_text("Dear diary, nothing happened."), "somebody's text"),
        (lambda path: path.write_text("事务" * 3000), "somebody's text"),
        (lambda path: other_database(path, "CREATE TABLE mine(x)"), "another program"),
        (lambda path: other_database(path, "PRAGMA application_id = 7"), "another program"),
        (lambda path: other_database(path, "CREATE TABLE index_meta(x)"), "steadlith 1.x"),
        (
            lambda path: other_database(path, f"PRAGMA application_id = {0x53544C32}", "PRAGMA user_version = 99"),
            "newer",
        ),
    ],
)
def test_what_is_somebody_else_s_is_refused_and_left_alone(index, tmp_path, make, whose):
    make(index)
    before = index.read_bytes()
    with pytest.raises(ForeignFile, match=whose):
        set_aside(tmp_path)
    assert index.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if "damaged" in path.name] == []


def test_where_there_is_nothing_nothing_is_moved(tmp_path):
    with pytest.raises(AdapterError, match="the index cannot be used"):
        set_aside(tmp_path)

"""What compaction does to the file: space given back, readers respected, tables rewritten, damage refused."""

import shutil
from contextlib import closing

import pytest

from steadlith_adapters.stores.sqlite import FACTORY, connection, returning, session
from steadlith_conformance.samples import SPACE, Piece, doc, pieces, vector, write
from steadlith_core.errors import AdapterError, GenerationGone, LockHeld, StoreCorrupt, UsageError

LONG = " of many words that fill a page" * 20


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(returning, "PATIENCE_MS", 0)


@pytest.fixture
def store(tmp_path):
    store = open_store(tmp_path)
    for number in range(1, 5):
        write(store, {doc("a.md"): pieces(*(f"text {number} {step}{LONG}" for step in range(300)), "kept")})
    yield store
    store.close()


def open_store(folder, *, readonly=False):
    return FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=readonly)


def size(folder):
    return sum(file.stat().st_size for file in folder.glob("index.sqlite3*") if not file.name.endswith("-shm"))


def problems(store):
    with closing(store.snapshot()) as reader:
        return [problem.message for problem in reader.problems(full=True)]


def query(folder, sql):
    reading = connection.reading(folder / "index.sqlite3")
    rows = reading.run(sql)
    reading.close()
    return rows


def test_the_space_of_what_went_is_given_back_and_told_truthfully(store, tmp_path):
    before = size(tmp_path)
    told = store.removable(4)
    done = store.compact(store.head(), 4)
    assert (done.given_back, done.bytes_before, done.bytes_after) == (True, before, size(tmp_path))
    assert done.bytes_after < before / 2
    assert told.bytes == pytest.approx(before - done.bytes_after, rel=0.5)
    assert store.removable(4).is_nothing
    assert query(tmp_path, "PRAGMA freelist_count") == [(0,)]


def test_a_file_as_small_as_a_new_one(store, tmp_path):
    store.compact(store.head(), 4)
    fresh = open_store(tmp_path / "fresh")
    write(fresh, {doc("a.md"): pieces(*(f"text 4 {step}{LONG}" for step in range(300)), "kept")})
    fresh.compact(fresh.head(), 1)
    fresh.close()
    assert size(tmp_path) <= size(tmp_path / "fresh") * 1.05


def test_vectors_move_into_a_table_of_the_next_name(store, tmp_path):
    named = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%vec0%'"
    assert query(tmp_path, named) == [("vec_1_1",)]
    store.compact(store.head(), 4)
    assert query(tmp_path, named) == [("vec_1_2",)]
    store.compact(store.head(), 4)
    assert query(tmp_path, named) == [("vec_1_2",)]  # nothing of it was dead
    write(store, {doc("a.md"): pieces("other")})
    store.compact(store.head(), 5)
    assert query(tmp_path, named) == [("vec_1_3",)]
    assert query(tmp_path, "SELECT vec_table FROM space") == [("vec_1_3",)]


def test_blocks_of_which_most_rows_went_are_rewritten_though_no_row_goes_now(store, tmp_path, change):
    write(store, {doc("a.md"): pieces("kept")})
    change(
        tmp_path / "index.sqlite3",
        "DELETE FROM vec_1_1 WHERE rowid % 2",
        "DELETE FROM vector WHERE entry % 2",
    )
    blocks = query(tmp_path, "SELECT count(*) FROM vec_1_1_chunks")
    store.compact(store.head(), 1)
    assert query(tmp_path, "SELECT count(*) FROM vec_1_2_chunks") < blocks


@pytest.mark.usefixtures("impatient")
def test_an_open_reader_keeps_its_snapshot_and_the_space_is_given_back_later(store, tmp_path):
    watching = open_store(tmp_path, readonly=True)
    reader = watching.snapshot(1)
    wanted = list(reader.documents()), reader.chunks(doc("a.md"))
    before = size(tmp_path)
    done = store.compact(store.head(), 4)
    assert (done.given_back, done.bytes_before, done.bytes_after) == (False, before, size(tmp_path))
    assert (list(reader.documents()), reader.chunks(doc("a.md"))) == wanted
    with pytest.raises(GenerationGone):
        store.snapshot(1)
    assert problems(store) == []
    again = store.compact(store.head(), 4)
    assert not again.given_back
    assert size(tmp_path) < 1.1 * done.bytes_after  # a file that cannot shrink is not copied into its log
    reader.close()
    assert store.removable(4).bytes > 0
    last = store.compact(store.head(), 4)
    assert last.given_back
    assert last.bytes_after < before / 2
    assert last.removed.generations == 0
    watching.close()


@pytest.mark.usefixtures("impatient")
def test_a_reader_that_reads_the_file_alone_is_in_the_way_too(store, tmp_path):
    """It came after the log was folded in: it holds no mark in the log that would tell of it."""
    with closing(open_store(tmp_path, readonly=True)) as watching, closing(watching.snapshot()) as reader:
        assert not store.compact(store.head(), 4).given_back
        assert len(reader.dense(SPACE, vector("kept"), 3)) == 3
    assert store.compact(store.head(), 4).given_back


def test_another_writer_is_in_the_way(store, tmp_path, monkeypatch):
    from steadlith_adapters.stores.sqlite import compaction

    monkeypatch.setattr(compaction, "BUSY_MS", 0)
    other = open_store(tmp_path)
    write_ = other.begin(other.head())
    with pytest.raises(LockHeld):
        store.compact(store.head(), 4)
    write_.abort()
    other.close()
    mine = store.begin(store.head())
    with pytest.raises(UsageError, match="in progress"):
        store.compact(store.head(), 4)
    mine.abort()
    assert len(store.history()) == 4


def test_a_generation_that_is_missing_above_the_oldest_kept_one_is_still_damage(store, tmp_path, change):
    write(store, {doc("b.md"): pieces("five")})
    store.compact(store.head(), 3)
    assert problems(store) == []
    for number in (4, 3):
        change(tmp_path / "index.sqlite3", f"DELETE FROM told WHERE number = {number}")
        change(tmp_path / "index.sqlite3", f"DELETE FROM generation WHERE number = {number}")
        assert problems(store) == ["generation 4, which generation 5 was committed on, is missing"]
    assert problems(store) == ["generation 4, which generation 5 was committed on, is missing"]


def test_without_the_note_of_a_compaction_what_is_missing_is_damage(store, tmp_path, change):
    store.compact(store.head(), 3)
    change(tmp_path / "index.sqlite3", "DELETE FROM compacted")
    assert problems(store) == ["generation 2, which generation 3 was committed on, is missing"]


def test_an_index_that_would_not_hold_together_is_left_as_it_is(store, tmp_path, change):
    before = query(tmp_path, "SELECT count(*) FROM occurrence")
    # Open to the head, but seen by no reader of it: its document's version ended.
    change(tmp_path / "index.sqlite3", "UPDATE document_version SET valid_to = 3 WHERE valid_to = 4")
    with pytest.raises(StoreCorrupt, match="nothing was removed"):
        store.compact(store.head(), 3)
    assert query(tmp_path, "SELECT count(*) FROM occurrence") == before
    assert len(store.history()) == 4


def test_without_the_extension_an_index_with_vectors_is_not_compacted(store, monkeypatch):
    monkeypatch.setattr(session, "_extension", lambda: None)
    with pytest.raises(AdapterError, match="sqlite-vec is not installed"):
        store.compact(store.head(), 4)
    assert len(store.history()) == 4


def test_scrubbing_leaves_no_byte_of_what_went(tmp_path):
    store = open_store(tmp_path)
    secret = Piece("a secret plan that nobody else has", title="Xylographic", headings=("Quixotry",))
    write(store, {doc("secret-name.md"): [secret], doc("b.md"): pieces(*(f"text {step}{LONG}" for step in range(50)))})
    write(store, {doc("secret-name.md"): None})
    needles = (b"a secret plan", b"secret-name", b"Xylographic", b"xylograph", b"quixotri", vector(secret.text))
    assert all(any(needle in data for data in contents(tmp_path)) for needle in needles[:3])
    assert store.compact(store.head(), 2, scrub=True).given_back
    for needle in needles:
        assert not any(needle in data for data in contents(tmp_path)), needle
    assert problems(store) == []
    store.close()


def contents(folder):
    return [file.read_bytes() for file in folder.iterdir() if file.is_file()]


def test_commits_of_another_connection_are_seen_before_the_lexical_index_is_called_damaged(tmp_path):
    """FTS5's own check believed the structure that its connection had read before: a false alarm."""
    store = open_store(tmp_path)
    for number in range(4):
        write(store, {doc("a.md"): pieces(*(f"text {number} {step}" for step in range(700)))})
        assert problems(store) == []  # on the connection that the store keeps idle
    store.close()


def test_a_copy_of_a_compacted_file_is_an_index(store, tmp_path):
    store.compact(store.head(), 3)
    (tmp_path / "copy").mkdir()
    shutil.copy(tmp_path / "index.sqlite3", tmp_path / "copy")
    with closing(open_store(tmp_path / "copy")) as copied:
        assert copied.head() == store.head()
        assert problems(copied) == []

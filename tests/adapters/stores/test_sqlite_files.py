"""What opening accepts, refuses and leaves behind."""

import shutil
import subprocess
import sys

import apsw
import pytest

from steadlith_adapters.stores import packing
from steadlith_adapters.stores.sqlite import FACTORY, schema, session
from steadlith_conformance.samples import SPACE, doc, pieces, stage, vector, write
from steadlith_core.errors import AdapterError, ConfigError, ForeignFile, GenerationGone, StoreCorrupt, UsageError


def open_store(folder, *, readonly=False):
    return FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=readonly)


def snapshot_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def index(tmp_path):
    store = open_store(tmp_path)
    write(store, {doc("a.md"): pieces("one", "two")})
    write(store, {doc("b.md"): pieces("three")})
    store.close()
    return tmp_path / "index.sqlite3"


@pytest.fixture
def foreign(tmp_path):
    def make(*statements):
        connection = apsw.Connection(str(tmp_path / "index.sqlite3"))
        for statement in statements:
            connection.execute(statement).fetchall()
        connection.close()

    return make


def read_all(folder):
    store = open_store(folder, readonly=True)
    reader = store.snapshot()
    list(reader.documents())
    hits = reader.dense(SPACE, vector("one"), 5)
    reader.lexical(["one"], 5)
    list(reader.problems(full=True))
    store.close()
    return len(hits)


def test_a_commit_leaves_one_file(index):
    assert [path.name for path in index.parent.iterdir()] == ["index.sqlite3"]


def test_reading_changes_no_byte_and_leaves_no_file(index):
    before = snapshot_of(index.parent)
    assert read_all(index.parent) == 3
    assert snapshot_of(index.parent) == before


def test_reading_an_absent_index_makes_neither_file_nor_folder(tmp_path):
    store = FACTORY.open({"path": "deep/er/index.sqlite3"}, root=str(tmp_path), readonly=True)
    assert store.head().generation == 0
    store.snapshot().close()
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_opening_for_writing_creates_nothing_before_the_first_write(tmp_path):
    store = FACTORY.open({"path": "deep/er/index.sqlite3"}, root=str(tmp_path), readonly=False)
    assert store.head().generation == 0
    assert list(tmp_path.iterdir()) == []
    assert write(store, {doc("a.md"): pieces("one")}).generation == 1
    store.close()
    assert [path.name for path in (tmp_path / "deep/er").iterdir()] == ["index.sqlite3"]


def test_a_log_left_by_a_dead_writer_is_read(index, tmp_path):
    store = open_store(tmp_path)
    reader = open_store(tmp_path, readonly=True).snapshot()  # keeps the log from being folded in
    write(store, {doc("c.md"): pieces("four")})
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for path in tmp_path.glob("index.sqlite3*"):
        shutil.copy(path, crashed)
    reader.close()
    store.close()
    assert (crashed / "index.sqlite3-wal").stat().st_size
    assert read_all(crashed) == 4


def test_two_readers_beside_a_writer(index):
    readers = [open_store(index.parent, readonly=True).snapshot() for _ in range(2)]
    writer = open_store(index.parent)
    transaction = writer.begin(writer.head())
    stage(transaction, writer.snapshot(), {doc("c.md"): pieces("four")})
    for reader in readers:
        assert len(reader.dense(SPACE, vector("q"), 9)) == 3
    transaction.abort()
    assert write(writer, {doc("c.md"): pieces("four")}).generation == 3
    for reader in readers:
        assert len(reader.dense(SPACE, vector("q"), 9)) == 3
        reader.close()
    writer.close()


def test_a_replaced_file_is_noticed(index, tmp_path):
    store = open_store(tmp_path, readonly=True)
    assert store.head().generation == 2
    index.unlink()
    assert store.head().generation == 0
    other = open_store(tmp_path)
    write(other, {doc("new.md"): pieces("new")})
    other.close()
    assert [each.id for each in store.snapshot().documents()] == [doc("new.md")]
    store.close()


# --------------------------------------------------------------------------------- where nothing may be written

ASKED = "len(list(reader.documents())), len(reader.dense(SPACE, query, 5)), list(reader.problems(full=True))"


@pytest.fixture
def sealed(index, outside):
    """A folder that nobody may write to."""
    shutil.copy(index, outside)
    (outside / "index.sqlite3").chmod(0o444)
    return outside


def test_a_read_only_folder_is_read_and_left_as_it_was(sealed, read_as_nobody):
    before = snapshot_of(sealed)
    assert read_as_nobody(sealed, ASKED) == "2 3 []"
    assert snapshot_of(sealed) == before


def test_a_read_only_folder_with_an_empty_log_is_read(sealed, read_as_nobody):
    (sealed / "index.sqlite3-wal").touch()
    assert read_as_nobody(sealed, ASKED) == "2 3 []"


def test_a_read_only_folder_with_commits_in_the_log_is_refused(sealed, read_as_nobody):
    (sealed / "index.sqlite3-wal").write_bytes(b"commits")
    found = read_as_nobody(sealed, ASKED)
    assert found.startswith("AdapterError")
    assert "index.sqlite3-wal holds commits" in found
    assert "write access" in found


# -------------------------------------------------------------------------------------------- what is not ours


def refused(folder, error, match):
    """Refused for reading and for writing, and not changed."""
    before = snapshot_of(folder)
    for readonly in (True, False):
        with pytest.raises(error, match=match):
            open_store(folder, readonly=readonly)
    assert snapshot_of(folder) == before


@pytest.mark.parametrize("size", [1, 20, 100, 5000, 40_000])
def test_a_file_that_is_not_sqlite_is_refused(tmp_path, size):
    (tmp_path / "index.sqlite3").write_bytes((b"# A recipe for plum cake\n" * size)[:size])
    refused(tmp_path, ForeignFile, "not a SQLite database.*store.path")


def test_a_database_of_another_program_is_refused(tmp_path, foreign):
    foreign("CREATE TABLE bookmarks(url TEXT)")
    refused(tmp_path, ForeignFile, "another program.*1 tables")


def test_a_marked_database_of_another_program_is_refused(tmp_path, foreign):
    foreign("PRAGMA application_id = 1234", "CREATE TABLE t(x)")
    refused(tmp_path, ForeignFile, "application id 0x4d2")


def test_an_index_of_steadlith_1_is_refused_with_a_pointer_to_import(tmp_path, foreign):
    foreign("CREATE TABLE index_meta(key TEXT PRIMARY KEY, value TEXT)", "CREATE TABLE chunks(x)")
    refused(tmp_path, ForeignFile, "steadlith 1.x.*steadlith import")


def test_an_index_of_a_newer_version_is_refused(index, foreign):
    foreign(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    refused(index.parent, ForeignFile, "newer Steadlith.*upgrade")


def test_an_index_of_an_older_version_is_refused_with_the_way_to_rebuild_it(index, foreign):
    foreign(f"PRAGMA user_version = {schema.OLDEST_READABLE - 1}")
    refused(index.parent, StoreCorrupt, "older Steadlith.*delete it and apply again")


def test_a_half_made_index_is_refused(tmp_path, foreign):
    foreign(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    refused(tmp_path, StoreCorrupt, "half-made.*delete it and apply again")


def test_an_index_without_a_head_is_refused(index, foreign):
    foreign("DELETE FROM head")
    refused(index.parent, StoreCorrupt, "head is missing.*delete it and apply again")


@pytest.mark.parametrize("left", [0.9, 0.5, 0.1, 0.01])
def test_a_truncated_index_is_refused(index, left):
    content = index.read_bytes()
    index.write_bytes(content[: int(len(content) * left)])
    refused(index.parent, StoreCorrupt, "damaged.*delete it and apply again")


@pytest.mark.parametrize("made", ["empty", "no tables", "wal without tables"])
def test_what_a_killed_first_write_leaves_is_generation_0(tmp_path, foreign, made):
    if made == "empty":
        (tmp_path / "index.sqlite3").touch()
    elif made == "no tables":
        foreign("PRAGMA page_size = 16384", "VACUUM")
    else:
        foreign("PRAGMA page_size = 16384", "PRAGMA journal_mode = WAL")
    for readonly in (True, False):
        assert open_store(tmp_path, readonly=readonly).head().generation == 0
    store = open_store(tmp_path)
    assert write(store, {doc("a.md"): pieces("one")}).generation == 1
    assert store.snapshot().dense(SPACE, vector("one"), 1)[0].score == pytest.approx(1)
    store.close()


def test_a_write_to_a_foreign_file_changes_nothing(tmp_path, foreign):
    store = open_store(tmp_path)
    head = store.head()
    foreign("CREATE TABLE bookmarks(url TEXT)")
    before = snapshot_of(tmp_path)
    with pytest.raises(ForeignFile):
        store.begin(head)
    assert snapshot_of(tmp_path) == before


def test_a_folder_in_the_index_s_place_is_told_with_what_to_set_instead(tmp_path):
    (tmp_path / "index.sqlite3").mkdir()
    for readonly in (True, False):
        with pytest.raises(ConfigError, match=r"path = 'index\.sqlite3'.*'index.sqlite3/index.sqlite3'.* is a folder"):
            open_store(tmp_path, readonly=readonly)


def test_a_page_that_stands_everywhere_unpacks_no_more_versions_than_are_asked_for(tmp_path, monkeypatch):
    store = open_store(tmp_path)
    write(store, {doc(f"{number:03}.md"): pieces("the same page", f"{number}") for number in range(300)})
    reader = store.snapshot()
    (page,) = reader.lexical(["page"], 5)
    unpacked = []
    honest = packing.unpack_ids
    monkeypatch.setattr(packing, "unpack_ids", lambda data: unpacked.append(data) or honest(data))
    assert [hit.id.path for hit in reader.occurrences([page.entry], 3)] == ["000.md", "001.md", "002.md"]
    assert len(unpacked) == 3
    store.close()


# ------------------------------------------------------------------------------------- settings and the extension


def test_its_own_files_are_known(tmp_path):
    files = FACTORY.files({"path": "x.db"}, root=str(tmp_path))
    names = ["x.db", "x.db-wal", "x.db-shm", "x.db-journal", "x.db.lock", "x.db.lock.info"]
    assert list(files) == [str(tmp_path / name) for name in names]


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"collection": "x"}, r"collection = 'x'.*one logical index"),
        ({"alias": "x"}, r"alias = 'x'.*one logical index"),
        ({"pth": "x"}, r"'pth'.*known: path"),
        ({"path": 7}, r"path = 7 is not"),
        ({"path": ""}, r"path = '' is not"),
    ],
)
def test_settings_it_does_not_have_are_refused(settings, match):
    with pytest.raises(ConfigError, match=match):
        FACTORY.open(settings, root="/nowhere", readonly=True)


def test_without_the_extension_everything_but_vectors_works(index, monkeypatch):
    monkeypatch.setattr(session, "_extension", lambda: None)
    store = open_store(index.parent)
    reader = store.snapshot()
    assert len(list(reader.documents())) == 2
    assert len(reader.lexical(["one"], 5)) == 1
    assert list(reader.problems(full=False)) == []
    with pytest.raises(AdapterError, match="pip install sqlite-vec"):
        reader.dense(SPACE, vector("one"), 5)
    reader.close()
    store.close()


def test_an_index_without_spaces_never_needs_the_extension(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_extension", lambda: None)
    store = open_store(tmp_path)
    write(store, {doc("a.md"): pieces("one")}, spaces=())
    write(store, {doc("a.md"): pieces("two")}, spaces=())
    assert len(store.snapshot().lexical(["two"], 5)) == 1
    assert list(store.snapshot().problems(full=True)) == []
    store.close()


def test_numpy_loads_for_vectors_only_and_sqlite_vec_never(index):
    code = (
        "import sys\n"
        "from steadlith_adapters.stores.sqlite import FACTORY\n"
        "assert 'apsw' not in sys.modules\n"
        f"store = FACTORY.open({{'path': 'index.sqlite3'}}, root={str(index.parent)!r}, readonly=True)\n"
        "reader = store.snapshot()\n"
        "list(reader.documents()); reader.lexical(['one'], 5); list(reader.problems(full=True)); store.close()\n"
        "assert 'numpy' not in sys.modules\n"
        "assert 'sqlite_vec' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_second_write_on_one_store_is_refused(index):
    store = open_store(index.parent)
    head = store.head()
    first = store.begin(head)
    with pytest.raises(UsageError, match="a write is in progress"):
        store.begin(head)
    first.abort()
    store.begin(head).abort()
    store.close()


def test_a_failed_snapshot_keeps_nothing_open(index):
    store = open_store(index.parent)
    with pytest.raises(GenerationGone, match=r"generation 7 is not kept.*at generation 2"):
        store.snapshot(7)
    store.close()
    assert [path.name for path in index.parent.iterdir()] == ["index.sqlite3"]

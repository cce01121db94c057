import re
from base64 import b64decode, b64encode

import pytest
from steadlith_conformance.samples import doc, pieces, stage, write
from steadlith_conformance.stores import StoreFactorySuite, StoreSuite
from steadlith_conformance.stores.opening import Part
from steadlith_core.errors import ForeignFile, OutcomeUnknown, StaleHead, StoreCorrupt, UsageError

from steadlith_example.folder import Folder
from steadlith_example.store import FACTORY


class TestExampleStore(StoreSuite):
    @pytest.fixture
    def make_store(self, tmp_path):
        opened = []

        def open_store(name="index", *, readonly=False):
            store = FACTORY.open({"path": name}, root=str(tmp_path), readonly=readonly)
            opened.append(store)
            return store

        yield open_store
        for store in opened:
            store.close()

    @pytest.fixture
    def raw_read(self, tmp_path):
        """All files, and the vectors that stand in them as base64."""

        def read(name="index"):
            files = [path.read_bytes() for path in sorted((tmp_path / name).glob("*"))]
            packed = (b64decode(each) for data in files for each in re.findall(rb'"bytes":"([^"]*)"', data))
            return b"".join([*files, *packed])

        return read

    @pytest.fixture
    def raw_write(self, tmp_path):
        def change(part, old, new, name="index"):
            written = {Part.TEXT: bytes, Part.VECTOR: b64encode}.get(part, lambda digest: digest.hex().encode())
            files = [path for path in (tmp_path / name).glob("*-*") if written(old) in path.read_bytes()]
            assert files, part
            for path in files:
                path.write_bytes(path.read_bytes().replace(written(old), written(new)))

        return change


class TestExampleStores(StoreFactorySuite):
    @pytest.fixture
    def factory(self):
        return FACTORY


# ---------------------------------------------------------------------- what no rule can know: how it is kept


@pytest.fixture
def kept(tmp_path):
    """A folder with an index of two generations, and what opens it."""

    def open_store(*, readonly=False):
        return FACTORY.open({"path": "kept"}, root=str(tmp_path), readonly=readonly)

    store = open_store()
    write(store, {doc("a.md"): pieces("one", "two")})
    write(store, {doc("a.md"): pieces("two", "three")})
    store.close()
    return tmp_path / "kept", open_store


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_what_a_killed_writer_left_is_harmless_and_goes_with_the_next_compaction(kept):
    folder, open_store = kept
    before = names(folder)
    (folder / ".writing1234").write_bytes(b"half a fi")
    (folder / "rows-0000").write_bytes(b"written, and never named by a head")
    store = open_store()
    assert (store.head().generation, list(store.snapshot().problems(full=True))) == (2, [])
    store.compact(store.head(), 1)
    assert {path.name.partition("-")[0] for path in folder.iterdir()} == {name.partition("-")[0] for name in before}
    assert ".writing1234" not in names(folder)


@pytest.mark.parametrize("pattern", ["HEAD", "rows-*", "generation-*"])
def test_a_file_that_was_cut_short_is_named_with_the_way_out(kept, pattern):
    folder, open_store = kept
    file = max(folder.glob(pattern))
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(StoreCorrupt, match=rf"{file.name}.*move the folder away"):
        open_store().head()


def test_a_missing_file_is_named(kept):
    folder, open_store = kept
    file = next(folder.glob("rows-*"))
    file.unlink()
    with pytest.raises(StoreCorrupt, match=f"{file.name} is missing"):
        open_store().snapshot()


def test_a_commit_that_the_disk_does_not_confirm_has_an_unknown_outcome(kept, monkeypatch):
    _, open_store = kept
    store, real = open_store(), Folder.swing

    def unconfirmed(self, files):
        def refuse():
            raise OSError("the disk is gone")

        monkeypatch.setattr(self, "_sync", refuse)
        real(self, files)

    monkeypatch.setattr(Folder, "swing", unconfirmed)
    with pytest.raises(OutcomeUnknown, match="did not confirm"):
        write(store, {doc("b.md"): pieces("four")})
    assert open_store().head().generation == 3  # it happened: who looks finds out


def test_a_write_that_a_compaction_overtook_is_stale_and_one_of_its_own_store_is_in_the_way(kept):
    _, open_store = kept
    store, other = open_store(), open_store()
    reader = store.snapshot()
    transaction = store.begin(store.head())
    given = stage(transaction, reader, {doc("b.md"): pieces("one")})
    with pytest.raises(UsageError, match="in progress"):
        store.compact(store.head(), 2)
    other.compact(other.head(), 2)
    with pytest.raises(StaleHead, match="moved"):
        transaction.commit(given)
    assert list(open_store().snapshot().problems(full=True)) == []


def test_a_folder_of_somebody_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"cat")
    for use in (
        lambda: FACTORY.open({"path": "photos"}, root=str(tmp_path), readonly=False),
        lambda: FACTORY.set_aside({"path": "photos"}, root=str(tmp_path)),
    ):
        with pytest.raises(ForeignFile, match="photos"):
            use()
    assert names(tmp_path / "photos") == {"cat.jpg"}

"""Index files of every released schema, as they were written then: read as they are, migrated by the first write."""

import lzma
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from steadlith_adapters.stores.sqlite import FACTORY, schema
from steadlith_conformance.samples import SPACE, doc, pieces, vector, write

RELEASED = Path(__file__).with_name("released")
VERSIONS = sorted(int(path.name.split("-")[1].split(".")[0]) for path in RELEASED.iterdir())


def version_of(path):
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    found = connection.execute("PRAGMA user_version").fetchall()[0][0]
    connection.close()
    return found


@pytest.fixture(params=VERSIONS)
def released(request, tmp_path):
    path = tmp_path / "index.sqlite3"
    path.write_bytes(lzma.decompress((RELEASED / f"index-{request.param}.sqlite3.xz").read_bytes()))
    assert version_of(path) == request.param
    return path


def open_store(path, *, readonly=False):
    return FACTORY.open({"path": path.name}, root=str(path.parent), readonly=readonly)


def test_every_readable_schema_has_a_file_here():
    assert set(range(schema.OLDEST_READABLE, schema.SCHEMA_VERSION)) <= set(VERSIONS)


def test_an_older_file_is_read_as_it_is(released):
    before = released.read_bytes()
    store = open_store(released, readonly=True)
    assert [each.number for each in store.history()] == [1, 2, 3]
    reader = store.snapshot()
    assert list(reader.problems(full=True)) == []
    assert {str(each.id) for each in reader.documents()} == {"docs:a.md", "docs:c.md"}
    first = reader.dense(SPACE, vector("zero"), 1)[0]
    assert [hit.text for hit in reader.occurrences([first.entry], 1)] == ["zero"]
    assert [hit.text for hit in reader.occurrences([hit.entry for hit in reader.lexical(["four"], 5)], 5)] == ["four"]
    assert {str(each.id) for each in store.snapshot(1).documents()} == {"docs:a.md", "docs:b.md"}
    store.close()
    assert released.read_bytes() == before
    assert [path.name for path in released.parent.iterdir()] == [released.name]


def test_an_older_file_is_read_in_a_folder_that_nobody_may_write_to(released, public_path, as_nobody):
    released.rename(public_path / released.name)
    script = (
        "from steadlith_adapters.stores.sqlite import FACTORY, store\n"
        "drop()\nfound = FACTORY.open({'path': 'index.sqlite3'}, root=arguments[0], readonly=True)\n"
        "answer([found.head().generation, len(list(found.snapshot().documents()))])\n"
    )
    assert as_nobody(script, str(public_path)) == [3, 2]


def test_the_first_write_migrates(released):
    store = open_store(released)
    assert write(store, {doc("d.md"): pieces("five")}).generation == 4
    assert list(store.snapshot().problems(full=True)) == []
    assert {str(each.id) for each in store.snapshot(1).documents()} == {"docs:a.md", "docs:b.md"}
    store.close()
    assert version_of(released) == schema.SCHEMA_VERSION


def test_a_write_that_is_given_up_or_killed_leaves_the_older_file(released):
    before = released.read_bytes()
    store = open_store(released)
    store.begin(store.head()).abort()
    store.close()
    assert released.read_bytes() == before
    script = (
        "import os, signal, sys\nfrom steadlith_adapters.stores.sqlite import FACTORY\n"
        "store = FACTORY.open({'path': 'index.sqlite3'}, root=sys.argv[1], readonly=False)\n"
        "write = store.begin(store.head())\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(released.parent)], check=False)
    assert done.returncode == -signal.SIGKILL
    store = open_store(released, readonly=True)
    assert store.head().generation == 3
    assert list(store.snapshot().problems(full=True)) == []
    store.close()
    assert version_of(released) == released_version(before)


def released_version(header):
    return int.from_bytes(header[60:64], "big")


def test_a_newer_file_is_refused(released):
    connection = apsw.Connection(str(released))
    connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}").fetchall()
    connection.close()
    with pytest.raises(Exception, match=rf"newer Steadlith.*reads {schema.OLDEST_READABLE} to {schema.SCHEMA_VERSION}"):
        open_store(released)

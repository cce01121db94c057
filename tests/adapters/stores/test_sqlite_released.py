"""Index files of every released schema, as they were written then: read as they are, migrated by the first write."""

import lzma
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from steadlith_adapters.stores.sqlite import FACTORY, schema
from steadlith_conformance.samples import SPACE, Piece, doc, mend, pieces, texts_of, vector, vector_row, write
from steadlith_core.errors import StoreCorrupt
from steadlith_core.records import DriftKind

RELEASED = Path(__file__).with_name("released")
SAID = {
    3: {"docs:a.md": [("zero",), ("one",)], "docs:c.md": [("four", None, "Four", ("At",))]},
    4: {"docs:a.md": [("zero",), ("two",)], "docs:c.md": [("four",), ("three",)]},
    5: {"docs:a.md": [("zero",), ("one",), ("two",)], "docs:c.md": [("four", None, "Four", ("At", "Depth"))]},
    6: {
        "docs:a.md": [("zero",), ("one",), ("two",)],
        "docs:c.md": [("four", None, "Four", ("At", "Depth")), ("five",), ("never embedded",)],
    },
}
"""What their documents hold at the head."""
COPIED_SINCE = 6
"""The schema since which no table is made otherwise."""
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


def answers(store, generation=None):
    """Everything that a reader says."""
    reader = store.snapshot(generation)
    ids = [each.id for each in reader.documents()]
    chunks = {each: reader.chunks(each) for each in ids}
    held = [chunk for each in chunks.values() for chunk in each]
    texts = reader.texts([chunk.text_hash for chunk in held])
    keys = [vector_row(Piece(text)).vector_key for text in texts.values()]
    near = reader.dense(SPACE, vector("one"), 10)
    entries = [hit.entry for hit in near]
    found = [
        (reader.generation, list(reader.documents()), reader.find(ids), reader.rows(""), chunks),
        reader.entries([chunk.entry_hash for chunk in held]),
        texts,
        (
            reader.held(SPACE, keys),
            reader.vectors(SPACE, keys),
            reader.changed_since(reader.generation),
            reader.within(ids),
        ),
        (near, reader.dense(SPACE, vector("one"), 1, entries[:2]), reader.cosines(SPACE, vector("two"), entries)),
        (reader.lexical(["one", "four"], 10), reader.lexical(["sample"], 10, entries), reader.occurrences(entries, 9)),
    ]
    if generation is None:
        found.append((reader.nodes([""]), list(reader.problems(full=True))))
    reader.close()
    return found


@pytest.mark.parametrize("scrub", [False, True])
def test_migrated_by_a_compaction_it_answers_as_it_did(released, scrub):
    store = open_store(released)
    head, before = store.head(), [answers(store), answers(store, 3)]
    store.compact(head, 3, scrub=scrub)
    assert [answers(store), answers(store, 3)] == before
    assert [each.number for each in store.history()] == [3]
    store.close()
    assert version_of(released) == schema.SCHEMA_VERSION
    assert declared(released, "vec_1_%") == "boolean"


def test_migrated_by_a_write_it_shows_the_same_generations(released):
    store = open_store(released)
    version = version_of(released)
    before = [answers(store, number) for number in (1, 2, 3)]
    traces = store.traces([doc("a.md"), doc("b.md")])
    write(store, {doc("d.md"): pieces("five", "six")})
    assert [answers(store, number) for number in (1, 2, 3)] == before
    assert store.traces([doc("a.md"), doc("b.md")]) == traces
    assert traces.vector_keys
    assert texts_of(store.snapshot(), store.snapshot().lexical(["five"], 5)) == ["five"]
    assert texts_of(store.snapshot(), store.snapshot().dense(SPACE, vector("five"), 1)) == ["five"]
    assert answers(store)[-1][1] == []
    store.close()
    assert declared(released, "vec_1_%") == ("integer" if version < COPIED_SINCE else "boolean")


def declared(path, table):
    """The type of `live` in a space's vec0 table."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    asked = "SELECT sql FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%' AND name LIKE ?"
    sql = connection.execute(asked, (table,)).fetchall()[0][0]
    connection.close()
    return sql.split("live ")[1].split(",")[0]


def test_a_migrated_file_has_what_a_new_one_has(released, tmp_path_factory):
    """Tables and indexes, as they are declared; what is copied at a compaction only, after it."""
    copied = {"document_version", "span"} if version_of(released) < COPIED_SINCE else set()
    store = open_store(released)
    write(store, {doc("d.md"): pieces("five")})
    migrated = schema_of(released)
    store.compact(store.head(), 1)
    assert list(store.snapshot().problems(full=True)) == []
    store.close()
    new = tmp_path_factory.mktemp("new") / "index.sqlite3"
    store = open_store(new)
    write(store, {doc("d.md"): pieces("five")})
    store.close()
    assert schema_of(released) == schema_of(new)
    assert {name for name, sql in schema_of(new).items() if migrated.get(name) != sql} == copied


def schema_of(path):
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    asked = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE '%vec\\_%' ESCAPE '\\' AND name NOT LIKE 'full%'"
    found = {name: " ".join(sql.split()) if sql else None for name, sql in connection.execute(asked)}
    assert connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    return found


def test_a_damaged_older_file_is_migrated_by_the_write_that_mends_it(released):
    connection = apsw.Connection(str(released))
    connection.execute("UPDATE entry SET headings = x'00' WHERE live = 1")
    connection.execute("UPDATE text SET body = CAST(x'ff' AS TEXT) WHERE body = 'zero'")
    connection.close()
    store = open_store(released)
    reader = store.snapshot()
    everything = {
        each.id: [Piece(*said) for said in SAID[version_of(released)][str(each.id)]] for each in reader.documents()
    }
    assert {problem.kind for problem in reader.problems(full=True)} >= {DriftKind.TEXT, DriftKind.ENTRY}
    reader.close()
    if version_of(released) < COPIED_SINCE:  # the words are indexed anew, of what cannot be read
        with pytest.raises(StoreCorrupt):
            store.begin(store.head())
    mend(store, everything)
    assert [problem.kind for problem in store.snapshot().problems(full=True) if problem.kind != DriftKind.HISTORY] == []
    assert texts_of(store.snapshot(), store.snapshot().lexical(["zero"], 5)) == ["zero"]
    store.close()
    assert version_of(released) == schema.SCHEMA_VERSION


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

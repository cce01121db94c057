"""Damage that no statement makes: flipped bytes, lost pages; and what reading does when it meets damage."""

import pytest

from steadlith_adapters.stores.sqlite import FACTORY, connection, neighbours, session
from steadlith_adapters.stores.sqlite.checks import levels
from steadlith_conformance.samples import SPACE, Piece, doc, follow, pieces, vector, vector_row, write
from steadlith_core.errors import ForeignFile, StoreCorrupt

NEEDLE = "a needle that stands in the file as it is"


@pytest.fixture
def index(tmp_path):
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(tmp_path), readonly=False)
    write(store, {doc("a.md"): pieces("one", NEEDLE), doc("b.md"): pieces("three")})
    write(store, {doc("b.md"): None})
    write(store, {doc("c.md"): pieces("four")})
    store.close()
    return tmp_path / "index.sqlite3"


def problems(index, *, full):
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=True)
    found = [problem.message for problem in store.snapshot().problems(full=full)]
    store.close()
    return found


def flip(index, needle):
    content = index.read_bytes()
    assert content.count(needle) == 1
    at = content.index(needle) + len(needle) // 2
    index.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])


def test_a_flipped_byte_in_a_text_is_named(index):
    flip(index, NEEDLE.encode())
    assert problems(index, full=False) == []
    assert problems(index, full=True) == [f"text {Piece(NEEDLE).text_hash.short} does not match its hash"]


def test_a_flipped_byte_in_a_vector_is_named_and_the_vector_is_neither_held_nor_given_out(index):
    row = vector_row(Piece(NEEDLE))
    flip(index, row.vector)
    assert problems(index, full=True) == ["vec_1_1: the vector of entry 2 does not match its checksum"]
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=True)
    reader = store.snapshot()
    assert reader.held(SPACE, [row.vector_key]) == frozenset()
    assert reader.vectors(SPACE, [row.vector_key]) == {}
    intact = vector_row(Piece("one")).vector_key
    assert reader.held(SPACE, [row.vector_key, intact]) == {intact}
    store.close()


def test_without_the_extension_a_row_is_believed_so_that_planning_works(index, monkeypatch):
    row = vector_row(Piece(NEEDLE))
    flip(index, row.vector)
    monkeypatch.setattr(session, "_extension", lambda: None)
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=True)
    assert store.snapshot().held(SPACE, [row.vector_key]) == {row.vector_key}
    store.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vec_1_1 SET vector = (SELECT vector FROM vec_1_1 WHERE rowid = 1) WHERE rowid = 2",
        "DELETE FROM vec_1_1 WHERE rowid = 2",
        "UPDATE vector SET checksum = zeroblob(8) WHERE entry = 2",
        "UPDATE vector SET vector_key = zeroblob(32) WHERE entry = 2",
        "DELETE FROM vector WHERE entry = 2",
    ],
)
def test_a_damaged_vector_is_mended_by_putting_it_again(index, statement, change):
    row = vector_row(Piece(NEEDLE))
    change(index, statement)
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=False)
    assert store.snapshot().held(SPACE, [row.vector_key]) == frozenset()
    head = store.head()
    transaction = store.begin(head)
    transaction.put_vectors(SPACE, [row])
    transaction.commit(follow(transaction, store.snapshot(), {}))
    assert store.snapshot().held(SPACE, [row.vector_key]) == {row.vector_key}
    assert list(store.snapshot().problems(full=True)) == []
    store.close()


def test_an_occurrence_that_its_document_does_not_list_stops_with_the_way_out(index, change):
    change(
        index, "COMMIT", "PRAGMA foreign_keys = OFF", "BEGIN", "UPDATE occurrence SET document = 3 WHERE occurrence = 1"
    )
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=True)
    with pytest.raises(StoreCorrupt, match=r"occurrence 1 has no place in docs:c\.md.*apply again"):
        store.snapshot().occurrences([1], 5)
    store.close()


def test_bytes_that_are_not_utf8_are_damage_not_a_crash(index):
    content = index.read_bytes()
    at = content.index(NEEDLE.encode())
    index.write_bytes(content[:at] + b"\xff" + content[at + 1 :])
    assert len(problems(index, full=True)) == 1
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=True)
    with pytest.raises(StoreCorrupt, match="delete it and apply again"):
        store.snapshot().texts([Piece(NEEDLE).text_hash])
    store.close()


def test_overwritten_pages_are_named_or_refused(index):
    content = bytearray(index.read_bytes())
    assert len(content) > 8 * 16_384
    for page in range(1, len(content) // 16_384):
        broken = content[:]
        broken[page * 16_384 : page * 16_384 + 200] = b"\xa5" * 200
        index.write_bytes(broken)
        try:
            found = problems(index, full=True)
        except StoreCorrupt as error:
            found = [str(error)]
        assert found, f"page {page + 1}"


def test_damage_met_while_reading_stops_with_the_way_out(index, change):
    change(index, "COMMIT", "PRAGMA foreign_keys = OFF", "BEGIN", "DELETE FROM occurrence WHERE occurrence = 1")
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=True)
    with pytest.raises(StoreCorrupt, match=r"occurrence 1 of docs:a\.md is missing.*delete it and apply again"):
        store.snapshot().chunks(doc("a.md"))
    store.close()


def test_metadata_that_cannot_be_read_does_not_keep_documents_from_being_listed(index, change):
    change(index, "UPDATE document_version SET metadata = x'6d' WHERE document = 1")
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=True)
    reader = store.snapshot()
    assert [(found.id, dict(found.metadata)) for found in reader.documents()] == [
        (doc("a.md"), {}),
        (doc("c.md"), {"title": "Sample"}),
    ]
    with pytest.raises(StoreCorrupt, match=r"metadata of docs:a\.md cannot be read.*apply again"):
        reader.chunks(doc("a.md"))
    store.close()


def test_a_file_cut_short_is_named_at_the_head_s_level_or_refused(index):
    whole = index.read_bytes()
    for size in range(len(whole) - 1, 0, -5000):
        index.write_bytes(whole[:size])
        try:
            found = problems(index, full=False)
        except (ForeignFile, StoreCorrupt) as error:
            found = [str(error)]
        assert found, f"{size} bytes of {len(whole)}"
    index.write_bytes(whole[:-1])
    assert problems(index, full=False) == ["the file is 1 bytes shorter than its header says"]


def test_the_head_s_level_reads_as_much_of_a_large_index_as_of_a_small_one(tmp_path):
    def steps(path):
        session = connection.reading(path)
        counted = []
        session._connection.set_progress_handler(lambda: counted.append(1) is not None, 10)
        assert list(levels.problems(session, full=False)) == []
        session.close()
        return len(counted)

    def made(name, documents):
        store = FACTORY.open({"path": name}, root=str(tmp_path), readonly=False)
        write(store, {doc(f"{number}.md"): pieces(f"text {number}", "shared") for number in range(documents)})
        store.close()
        return tmp_path / name

    assert steps(made("large", 400)) <= 1.2 * steps(made("small", 4)) + 5


def test_a_damaged_recipe_stops_with_the_way_out(index, change):
    change(index, "UPDATE generation SET recipe = x'00'")
    with pytest.raises(StoreCorrupt, match=r"generation 3 cannot be read.*delete it"):
        FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=True).head()


def test_an_exact_answer_survives_a_swarm_of_equal_vectors(tmp_path):
    """More ties than vec0 can list: the arm falls back to comparing everything."""
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(tmp_path), readonly=False)
    write(store, {doc("a.md"): pieces(*(f"text {number}" for number in range(30)))})
    reader = store.snapshot()
    wanted = reader.dense(SPACE, vector("q"), 5)
    before, neighbours.MAX_K = neighbours.MAX_K, 8
    try:
        assert reader.dense(SPACE, vector("q"), 5) == wanted
    finally:
        neighbours.MAX_K = before
    store.close()

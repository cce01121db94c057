"""Every kind of damage is named by `problems`; the suite shows that a healthy index has none."""

import re

import pytest

from steadlith_adapters.stores.sqlite import FACTORY, connection, session
from steadlith_conformance.samples import SPACE, Piece, doc, generation, pieces, vector, vector_row, write
from steadlith_core.errors import StoreCorrupt

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


def change(index, *statements):
    writing = connection.writing(index)
    writing.load_vectors()
    for statement in statements:
        writing.run(statement)
    writing.run("COMMIT")
    writing.close()


def flip(index, needle):
    content = index.read_bytes()
    assert content.count(needle) == 1
    at = content.index(needle) + len(needle) // 2
    index.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE head SET generation = 2", "the head points at generation 2, the last one committed is 3"),
        ("UPDATE head SET next_occurrence = 2", "would give out occurrence 2 again; 4 is in use"),
        ("UPDATE generation SET at = 'yesterday' WHERE number = 2", "generation 2 is not as it was committed"),
        (
            "UPDATE generation SET corpus_root = zeroblob(32) WHERE number = 3",
            "generation 3 is not as it was committed",
        ),
        (
            "DELETE FROM document_version WHERE document = 1",
            "3 documents|2 documents and 3 chunks, the file holds 1 and 1",
        ),
        ("DELETE FROM occurrence WHERE occurrence = 1", "the head counts 3 chunks, 2 occurrences are open"),
    ],
)
def test_damage_to_head_and_counts_is_named_at_both_levels(index, statement, named):
    change(index, "PRAGMA foreign_keys = OFF", "COMMIT", "PRAGMA foreign_keys = OFF", "BEGIN", statement)
    for full in (False, True):
        assert any(re.search(named, each) for each in problems(index, full=full)), problems(index, full=full)


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE text SET body = body || ' ' WHERE text = 1", r"text \w{12} does not match its hash"),
        ("UPDATE text SET text_hash = zeroblob(32) WHERE text = 1", "text 000000000000 does not match its hash"),
        ("UPDATE entry SET title = 'Other' WHERE entry = 1", r"entry \w{12} does not match its hash"),
        ("UPDATE entry SET headings = x'00' WHERE entry = 1", r"headings of entry \w{12} cannot be read"),
        ("UPDATE entry SET live = 0 WHERE entry = 1", r"entry \w{12} \(row 1\) is in use but not live"),
        ("UPDATE entry SET live = 1 WHERE entry = 3", r"entry \w{12} \(row 3\) is live without an open occurrence"),
        (
            "UPDATE document_version SET root = zeroblob(32) WHERE document = 1",
            r"docs:a\.md as of generation 1: its root",
        ),
        ("UPDATE document_version SET leaves = zeroblob(64) WHERE document = 1", r"docs:a\.md .* its root"),
        (
            "UPDATE document_version SET metadata = x'6d' WHERE document = 1",
            r"metadata of docs:a\.md .* cannot be read",
        ),
        ("UPDATE document_version SET seal = zeroblob(8) WHERE document = 2", r"docs:b\.md .* its occurrences"),
        ("UPDATE occurrence SET entry = 2 WHERE occurrence = 1", r"docs:a\.md .* its occurrences are not those"),
        ("UPDATE span SET positions = zeroblob(32) WHERE document = 1", r"docs:a\.md: its spans since generation 1"),
        (
            "UPDATE span SET source_digest = zeroblob(32) WHERE document = 3",
            r"docs:c\.md: its spans since generation 3",
        ),
        ("DELETE FROM span WHERE document = 1", r"docs:a\.md .* its spans do not end where it ends"),
        ("UPDATE document_version SET valid_to = 3 WHERE document = 2", "generation 2 was committed with 1 documents"),
        ("DELETE FROM lexical WHERE rowid = 1", "entry 1 is live and has no lexical row"),
        ("INSERT INTO lexical(rowid, body) VALUES (3, 'x')", "entry 3 is not live and has a lexical row"),
        ("DELETE FROM lexical_data WHERE id > 10", "the lexical index is damaged"),
        ("UPDATE vec_1_1 SET live = 0 WHERE rowid = 1", "the vector of entry 1 in vec_1_1 has live=0, the entry 1"),
        ("DELETE FROM vec_1_1 WHERE rowid = 1", "the vector of entry 1 is missing from vec_1_1"),
        ("DELETE FROM vector WHERE entry = 1", "1 live entries have no vector in the space of 'sample-model/1'"),
        ("DELETE FROM vector WHERE entry = 1", "vec_1_1 holds a vector for row 1, which is no entry of its space"),
        ("UPDATE vector SET checksum = zeroblob(8) WHERE entry = 2", "the vector of entry 2 .* its checksum"),
    ],
)
def test_damage_to_rows_is_named_at_the_full_level(index, statement, named):
    change(index, "COMMIT", "PRAGMA foreign_keys = OFF", "BEGIN", statement)
    assert any(re.search(named, each) for each in problems(index, full=True)), problems(index, full=True)


@pytest.fixture
def family(index):
    """The index with a fourth document: a parent (entry 5) and its part (entry 6)."""
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=False)
    write(store, {doc("d.md"): [Piece("five six", embed=False), Piece("five", parent=0)]})
    store.close()
    assert problems(index, full=True) == []
    return index


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE entry SET context_hash = NULL WHERE entry = 1", r"entry \w{12} does not match its hash"),
        ("UPDATE entry SET context_hash = NULL WHERE entry = 1", r"docs:a\.md .* its root does not follow"),
        ("UPDATE entry SET live = 1 WHERE entry = 5", r"\(row 5\) is live without an open occurrence"),
        ("UPDATE entry SET context_hash = zeroblob(32) WHERE entry = 5", r"\(row 5\) is in use but not live"),
        ("INSERT INTO lexical(rowid, body) VALUES (5, 'x')", "entry 5 is not live and has a lexical row"),
        ("UPDATE document_version SET parents = x'' WHERE document = 4", r"docs:d\.md .* its root does not follow"),
        ("UPDATE document_version SET parents = x'00' WHERE document = 4", r"parents of docs:d\.md .* cannot be read"),
        (
            "UPDATE document_version SET parents = x'ffffffff01000000' WHERE document = 4",
            r"parents of docs:d\.md .* cannot be read \(chunk 1 has the parent 1",
        ),
        ("UPDATE document_version SET parents = zeroblob(8) WHERE document = 1", r"docs:a\.md .* cannot be read"),
        ("DELETE FROM vector WHERE entry = 6", "1 live entries have no vector in the space of 'sample-model/1'"),
    ],
)
def test_damage_to_a_parent_or_to_its_part_is_named(family, statement, named):
    change(family, "COMMIT", "PRAGMA foreign_keys = OFF", "BEGIN", statement)
    assert any(re.search(named, each) for each in problems(family, full=True)), problems(family, full=True)


def test_a_flipped_byte_in_a_text_is_named(index):
    flip(index, NEEDLE.encode())
    assert problems(index, full=False) == []
    assert problems(index, full=True) == [f"text {Piece(NEEDLE).text_hash.short} does not match its hash"]


def test_a_flipped_byte_in_a_vector_is_named_and_the_vector_is_neither_held_nor_given_out(index):
    row = vector_row(Piece(NEEDLE))
    flip(index, row.vector)
    assert problems(index, full=True) == ["the vector of entry 2 in vec_1_1 does not match its checksum"]
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
    ],
)
def test_a_damaged_vector_is_mended_by_putting_it_again(index, statement):
    row = vector_row(Piece(NEEDLE))
    change(index, statement)
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=False)
    assert store.snapshot().held(SPACE, [row.vector_key]) == frozenset()
    head = store.head()
    transaction = store.begin(head)
    transaction.put_vectors(SPACE, [row])
    transaction.commit(generation(head, head.documents, head.chunks))
    assert store.snapshot().held(SPACE, [row.vector_key]) == {row.vector_key}
    assert list(store.snapshot().problems(full=True)) == []
    store.close()


def test_an_occurrence_that_its_document_does_not_list_stops_with_the_way_out(index):
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


def test_damage_met_while_reading_stops_with_the_way_out(index):
    change(index, "COMMIT", "PRAGMA foreign_keys = OFF", "BEGIN", "DELETE FROM occurrence WHERE occurrence = 1")
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=True)
    with pytest.raises(StoreCorrupt, match=r"occurrence 1 of docs:a\.md is missing.*delete it and apply again"):
        store.snapshot().chunks(doc("a.md"))
    store.close()


def test_a_damaged_recipe_stops_with_the_way_out(index):
    change(index, "UPDATE generation SET recipe = x'00'")
    with pytest.raises(StoreCorrupt, match=r"generation 3 cannot be read.*delete it"):
        FACTORY.open({"path": "index.sqlite3"}, root=str(index.parent), readonly=True).head()


def test_an_exact_answer_survives_a_swarm_of_equal_vectors(tmp_path):
    """More ties than vec0 can list: the arm falls back to comparing everything."""
    store = FACTORY.open({"path": "index.sqlite3"}, root=str(tmp_path), readonly=False)
    from steadlith_adapters.stores.sqlite import vectors

    write(store, {doc("a.md"): pieces(*(f"text {number}" for number in range(30)))})
    reader = store.snapshot()
    wanted = reader.dense(SPACE, vector("q"), 5)
    before, vectors.MAX_K = vectors.MAX_K, 8
    try:
        assert reader.dense(SPACE, vector("q"), 5) == wanted
    finally:
        vectors.MAX_K = before
    store.close()

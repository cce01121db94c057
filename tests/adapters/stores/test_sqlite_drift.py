"""Faults put into a real file, one by one: each is found at the level it belongs to, under its kind and its owner's
name, and a write that mends leaves nothing of it but what only older generations show.
"""

from contextlib import closing

import pytest

from steadlith_adapters.stores.sqlite import FACTORY, connection, vectors
from steadlith_conformance.samples import SPACE, Piece, doc, mend, pieces, vector, write
from steadlith_core.errors import StoreCorrupt
from steadlith_core.records import DriftKind
from steadlith_core.state.moving import build
from steadlith_core.state.trie import document_key

ONE, TWO, THREE, FOUR = pieces("one", "two", "three", "four")
FAMILY = [Piece("five six", embed=False), Piece("five", parent=0)]
WHOLE, PART = FAMILY
A, B, C, D, X = (doc(f"{name}.md") for name in "abcdx")

# Documents, texts, entries and occurrences are numbered as they come: 1 and 2 are a.md's, 3 is b.md's, 4 is c.md's, 5
# and 6 are d.md's; b.md, text 3 and entry 3 are closed at the head, generation 4.
EVERYTHING = {A: [ONE, TWO], C: [FOUR], D: FAMILY}

COUNTS, DOCUMENT, ENTRY, HEAD, HISTORY = (
    DriftKind.COUNTS,
    DriftKind.DOCUMENT,
    DriftKind.ENTRY,
    DriftKind.HEAD,
    DriftKind.HISTORY,
)
LEXICAL, NODES, SPANS, TEXT, VECTOR = (
    DriftKind.LEXICAL,
    DriftKind.NODES,
    DriftKind.SPANS,
    DriftKind.TEXT,
    DriftKind.VECTOR,
)

TEXT_AGAIN = "INSERT INTO text(text_hash, body) SELECT text_hash, body FROM text"
ENTRY_AGAIN = """
    INSERT INTO entry(entry_hash, text, title, headings, context_hash)
    SELECT entry_hash, text, title, headings, context_hash FROM entry"""

AT_HEAD = [
    ("UPDATE head SET next_occurrence = 2", [(HEAD, None)], False),
    ("UPDATE generation SET at = 'x' WHERE number = 4", [(HEAD, None)], True),
    ("UPDATE generation SET corpus_root = zeroblob(32) WHERE number = 4", [(HEAD, None), (NODES, None)], True),
    ("UPDATE trie_node SET digest = zeroblob(32)", [(NODES, None)], False),
    ("UPDATE trie_node SET documents = 2", [(NODES, None), (COUNTS, None)], False),
    ("DELETE FROM trie_node", [(NODES, None), (COUNTS, None)], False),
]
"""Fault, problems (kind and owner) that are found at the head's level, whether history stays damaged."""

IN_FULL = [
    ("UPDATE trie_node SET sources = zeroblob(32)", [(NODES, None)], False),
    ("INSERT INTO trie_node SELECT 'a', documents, digest, sources FROM trie_node", [(NODES, None)], False),
    ("UPDATE generation SET at = 'x' WHERE number = 2", [(HISTORY, None)], True),
    ("DELETE FROM generation WHERE number = 2", [(HISTORY, None)], True),
    # documents
    ("DELETE FROM document WHERE document = 1", [(DOCUMENT, None), (COUNTS, None), (NODES, None)], True),
    ("DELETE FROM document WHERE document = 4", [(DOCUMENT, None), (COUNTS, None), (NODES, None)], True),
    ("UPDATE document SET key = zeroblob(32) WHERE document = 1", [(DOCUMENT, A), (NODES, None)], False),
    ("UPDATE document SET key = zeroblob(32) WHERE document = 2", [(HISTORY, B)], False),
    ("DELETE FROM document_version WHERE document = 1", [(DOCUMENT, A), (COUNTS, None), (NODES, None)], True),
    ("DELETE FROM document_version WHERE document = 2", [(HISTORY, B)], True),
    ("UPDATE document_version SET valid_to = 3 WHERE document = 1", [(DOCUMENT, A), (COUNTS, None)], True),
    ("UPDATE document_version SET valid_to = 3 WHERE document = 2", [(HISTORY, B), (HISTORY, None)], True),
    ("UPDATE document_version SET root = zeroblob(32) WHERE document = 1", [(DOCUMENT, A), (NODES, None)], True),
    ("UPDATE document_version SET root = zeroblob(32) WHERE document = 2", [(HISTORY, B)], True),
    ("UPDATE document_version SET leaves = zeroblob(64) WHERE document = 1", [(DOCUMENT, A)], True),
    ("UPDATE document_version SET leaves = x'' WHERE document = 1", [(DOCUMENT, A), (COUNTS, None)], True),
    ("UPDATE document_version SET metadata = x'6d' WHERE document = 1", [(DOCUMENT, A)], True),
    ("UPDATE document_version SET seal = zeroblob(8) WHERE document = 1", [(DOCUMENT, A)], True),
    ("UPDATE document_version SET occurrences = x'00' WHERE document = 1", [(DOCUMENT, A)], True),
    ("UPDATE document_version SET parents = x'' WHERE document = 4", [(DOCUMENT, D)], True),
    ("UPDATE document_version SET parents = x'00' WHERE document = 4", [(DOCUMENT, D)], True),
    ("UPDATE document_version SET parents = x'ffffffff01000000' WHERE document = 4", [(DOCUMENT, D)], True),
    # occurrences
    ("DELETE FROM occurrence WHERE occurrence = 1", [(DOCUMENT, A), (COUNTS, None)], True),
    ("UPDATE occurrence SET entry = 2 WHERE occurrence = 1", [(DOCUMENT, A)], True),
    ("UPDATE occurrence SET entry = 1 WHERE occurrence = 3", [(HISTORY, B)], True),
    ("UPDATE occurrence SET document = 3 WHERE occurrence = 1", [(DOCUMENT, A), (DOCUMENT, C)], True),
    ("UPDATE occurrence SET valid_to = 3 WHERE occurrence = 1", [(DOCUMENT, A), (COUNTS, None)], True),
    ("UPDATE occurrence SET valid_to = 99 WHERE occurrence = 1", [(DOCUMENT, A), (COUNTS, None)], False),
    ("UPDATE occurrence SET valid_from = 99 WHERE occurrence = 1", [(DOCUMENT, A)], True),
    ("INSERT INTO occurrence VALUES (3, 3, 9223372036854775807, 1, 3)", [(DOCUMENT, A), (COUNTS, None)], False),
    # spans
    ("UPDATE span SET positions = zeroblob(32) WHERE document = 1", [(SPANS, A)], True),
    (
        "UPDATE document_version SET valid_from = 99 WHERE document = 1",
        [(SPANS, A), (COUNTS, None), (NODES, None)],
        True,
    ),
    ("UPDATE span SET source_digest = zeroblob(32) WHERE document = 3", [(SPANS, C), (NODES, None)], True),
    ("UPDATE span SET positions = zeroblob(16) WHERE document = 2", [(HISTORY, B)], True),
    ("DELETE FROM span WHERE document = 1", [(SPANS, A), (COUNTS, None), (NODES, None)], True),
    ("DELETE FROM span WHERE document = 2", [(HISTORY, B)], True),
    # texts
    ("UPDATE text SET body = body || ' ' WHERE text = 1", [(TEXT, ONE.text_hash)], False),
    ("UPDATE text SET body = CAST(x'ff' AS TEXT) WHERE text = 1", [(TEXT, ONE.text_hash)], False),
    ("UPDATE text SET body = body || ' ' WHERE text = 3", [(HISTORY, THREE.text_hash)], True),
    ("UPDATE text SET text_hash = zeroblob(32) WHERE text = 1", [(TEXT, bytes(32)), (ENTRY, ONE.entry_hash)], False),
    ("UPDATE text SET text_hash = x'00' WHERE text = 1", [(TEXT, None), (ENTRY, ONE.entry_hash)], False),
    ("DELETE FROM text WHERE text = 1", [(ENTRY, ONE.entry_hash), (DOCUMENT, A)], False),
    ("DELETE FROM text WHERE text = 6", [(ENTRY, PART.entry_hash), (DOCUMENT, D)], False),
    ("DELETE FROM text WHERE text = 3", [(HISTORY, THREE.entry_hash), (HISTORY, B)], True),
    # entries
    (f"{TEXT_AGAIN} WHERE text = 1", [(TEXT, ONE.text_hash)], False),
    (f"{TEXT_AGAIN} WHERE text = 3", [(HISTORY, THREE.text_hash)], False),
    (f"{ENTRY_AGAIN} WHERE entry = 1", [(ENTRY, ONE.entry_hash)], False),
    (f"{ENTRY_AGAIN} WHERE entry = 3", [(HISTORY, THREE.entry_hash)], False),
    (f"{ENTRY_AGAIN} WHERE entry = 5", [(ENTRY, WHOLE.entry_hash)], False),
    ("UPDATE entry SET title = 'Other' WHERE entry = 1", [(ENTRY, ONE.entry_hash)], False),
    ("UPDATE entry SET title = 'Other' WHERE entry = 3", [(HISTORY, THREE.entry_hash)], True),
    ("UPDATE entry SET headings = x'00' WHERE entry = 1", [(ENTRY, ONE.entry_hash)], False),
    ("UPDATE entry SET text = 2 WHERE entry = 1", [(ENTRY, ONE.entry_hash)], False),
    ("UPDATE entry SET context_hash = NULL WHERE entry = 1", [(ENTRY, ONE.entry_hash), (DOCUMENT, A)], False),
    ("UPDATE entry SET context_hash = zeroblob(32) WHERE entry = 5", [(ENTRY, WHOLE.entry_hash)], False),
    ("UPDATE entry SET entry_hash = zeroblob(32) WHERE entry = 1", [(ENTRY, bytes(32)), (DOCUMENT, A)], True),
    ("UPDATE entry SET live = 0 WHERE entry = 1", [(ENTRY, ONE.entry_hash)], False),
    ("UPDATE entry SET live = 2 WHERE entry = 1", [(ENTRY, ONE.entry_hash)], False),
    ("UPDATE entry SET live = 1 WHERE entry = 3", [(ENTRY, THREE.entry_hash)], False),
    ("UPDATE entry SET live = 1 WHERE entry = 5", [(ENTRY, WHOLE.entry_hash)], False),
    ("DELETE FROM entry WHERE entry = 1", [(DOCUMENT, A)], True),
    ("DELETE FROM entry WHERE entry = 6", [(DOCUMENT, D)], True),
    # lexical rows
    ("DELETE FROM lexical WHERE rowid = 1", [(LEXICAL, ONE.entry_hash)], False),
    ("INSERT INTO lexical(rowid, body) VALUES (3, 'x')", [(LEXICAL, THREE.entry_hash)], False),
    ("INSERT INTO lexical(rowid, body) VALUES (5, 'x')", [(LEXICAL, WHOLE.entry_hash)], False),
    ("INSERT INTO lexical(rowid, body) VALUES (99, 'x')", [(LEXICAL, None)], False),
    ("INSERT OR REPLACE INTO lexical(rowid, body) VALUES (1, 'x')", [(LEXICAL, ONE.entry_hash)], False),
    (
        "INSERT OR REPLACE INTO lexical(rowid, title, headings, body) VALUES (1, 'one', '', 'sample')",
        [(LEXICAL, ONE.entry_hash)],
        False,
    ),
    ("DELETE FROM lexical_docsize WHERE id = 1", [(LEXICAL, ONE.entry_hash)], False),
    ("DELETE FROM lexical_data WHERE id > 10", [(LEXICAL, None)], False),
    ("INSERT INTO lexical(lexical) VALUES ('delete-all')", [(LEXICAL, ONE.entry_hash)], False),
    # vectors
    ("UPDATE vec_1_1 SET live = 0 WHERE rowid = 1", [(VECTOR, ONE.entry_hash)], False),
    ("DELETE FROM vec_1_1 WHERE rowid = 1", [(VECTOR, ONE.entry_hash)], False),
    (
        "UPDATE vec_1_1 SET vector = (SELECT vector FROM vec_1_1 WHERE rowid = 2) WHERE rowid = 1",
        [(VECTOR, ONE.entry_hash)],
        False,
    ),
    (
        "INSERT INTO vec_1_1(rowid, vector, live) SELECT 99, vector, 1 FROM vec_1_1 WHERE rowid = 1",
        [(VECTOR, None)],
        False,
    ),
    ("DELETE FROM vector WHERE entry = 1", [(VECTOR, ONE.entry_hash)], False),
    ("DELETE FROM vector WHERE entry = 3", [(VECTOR, THREE.entry_hash)], False),
    ("UPDATE vector SET checksum = zeroblob(8) WHERE entry = 1", [(VECTOR, ONE.entry_hash)], False),
    ("UPDATE vector SET checksum = zeroblob(8) WHERE entry = 3", [(VECTOR, THREE.entry_hash)], False),
    ("UPDATE vector SET vector_key = zeroblob(32) WHERE entry = 1", [(VECTOR, ONE.entry_hash)], False),
    ("DELETE FROM space", [(VECTOR, ONE.entry_hash), (VECTOR, PART.entry_hash)], False),
]
"""Faults that only the full level finds: a look at every row."""

NOT_MENDED = [
    ("UPDATE head SET generation = 3", DriftKind.INDEX_DAMAGED),
    ("DROP TABLE vec_1_1", DriftKind.INDEX_DAMAGED),
    ("DROP TABLE trie_node", DriftKind.INDEX_DAMAGED),
    ("DROP INDEX occurrence_entry", DriftKind.INDEX_DAMAGED),
    ("DROP INDEX text_by_hash", DriftKind.INDEX_DAMAGED),
]
"""What the head's level finds and only a new index mends."""


def open_store(folder, *, readonly=False):
    return FACTORY.open({"path": "index.sqlite3"}, root=str(folder), readonly=readonly)


@pytest.fixture
def folder(tmp_path):
    with closing(open_store(tmp_path)) as store:
        write(store, {A: [ONE, TWO], B: [THREE]})
        write(store, {B: None})
        write(store, {C: [FOUR]})
        write(store, {D: FAMILY})
    assert problems(tmp_path, full=True) == []
    return tmp_path


def inject(folder, *statements):
    session = connection.writing(folder / "index.sqlite3")
    session.load_vectors()
    session.run("COMMIT")
    session.run("PRAGMA foreign_keys = OFF")
    for statement in statements:
        session.run(statement)
    session.close()


def problems(folder, *, full):
    with closing(open_store(folder, readonly=True)) as store:
        return list(store.snapshot().problems(full=full))


def found(folder, *, full):
    return {(each.kind, each.document or each.entry or each.text) for each in problems(folder, full=full)}


@pytest.mark.parametrize(("fault", "wanted"), [fault[:2] for fault in AT_HEAD])
def test_what_the_head_vouches_for_is_looked_at_on_both_levels(folder, fault, wanted):
    inject(folder, fault)
    for full in (False, True):
        assert found(folder, full=full) >= set(wanted)


@pytest.mark.parametrize(("fault", "wanted"), [fault[:2] for fault in IN_FULL])
def test_a_damaged_row_is_found_at_the_full_level_only(folder, fault, wanted):
    inject(folder, fault)
    assert problems(folder, full=False) == []
    assert found(folder, full=True) >= set(wanted)


@pytest.mark.parametrize("fault", [fault for fault, wanted, _ in IN_FULL if all(kind == HISTORY for kind, _ in wanted)])
def test_what_only_older_generations_show_has_no_other_kind(folder, fault):
    inject(folder, fault)
    assert {kind for kind, _ in found(folder, full=True)} == {HISTORY}


@pytest.mark.parametrize(("fault", "history"), [(fault, history) for fault, _, history in (*AT_HEAD, *IN_FULL)])
def test_a_write_that_mends_leaves_only_history(folder, fault, history):
    inject(folder, fault)
    with closing(open_store(folder)) as store:
        assert mend(store, EVERYTHING).generation == 5
    left = problems(folder, full=True)
    assert {problem.kind for problem in left} == ({HISTORY} if history else set())
    assert_whole(folder)


def assert_whole(folder):
    with closing(open_store(folder, readonly=True)) as store:
        reader = store.snapshot()
        assert [each.id for each in reader.documents()] == [A, C, D]
        for id_, parts in EVERYTHING.items():
            assert [chunk.entry_hash for chunk in reader.chunks(id_)] == [part.entry_hash for part in parts]
        dense = [hit.entry for hit in reader.dense(SPACE, vector("any"), 9)]
        assert sorted(dense) == sorted(hit.entry for hit in reader.lexical(["sample"], 9))
        assert {hit.text for hit in reader.occurrences(dense, 9)} == {"one", "two", "four", "five"}
        assert reader.head.generation == 5


@pytest.mark.parametrize(
    "fault",
    [
        fault
        for fault, wanted, history in IN_FULL
        if not history and not any(kind == HISTORY for kind, _ in wanted) and "occurrence" not in fault
    ],
)
def test_older_generations_that_were_intact_still_read_after_mending(folder, fault):
    with closing(open_store(folder, readonly=True)) as store:
        before = [manifest(store, number) for number in (1, 2, 3, 4)]
    inject(folder, fault)
    with closing(open_store(folder)) as store:
        mend(store, EVERYTHING)
        assert [manifest(store, number) for number in (1, 2, 3, 4)] == before


def manifest(store, number):
    reader = store.snapshot(number)
    return [(each, reader.chunks(each.id)) for each in reader.documents()]


@pytest.mark.parametrize(("fault", "kind"), NOT_MENDED)
def test_what_only_a_new_index_mends_is_found_at_the_head_s_level(folder, fault, kind):
    inject(folder, fault)
    assert kind in {found for found, _ in found(folder, full=False)}


def test_a_head_that_points_back_cannot_be_mended(folder):
    inject(folder, "UPDATE head SET generation = 3")
    with closing(open_store(folder)) as store, pytest.raises(StoreCorrupt, match="its head is generation 3, and 4 was"):
        store.begin(store.head(), mend=True)


def test_a_document_under_a_wrong_name_is_closed_and_the_right_one_added(folder):
    inject(folder, "UPDATE document SET path = 'x.md' WHERE document = 1")
    assert (DOCUMENT, X) in found(folder, full=True)
    with closing(open_store(folder, readonly=True)) as store:
        assert store.snapshot().find([A]) == {}
    with closing(open_store(folder)) as store:
        mend(store, {**EVERYTHING, X: None})
    assert problems(folder, full=True) == []
    assert_whole(folder)


def test_documents_that_have_each_other_s_keys_are_given_their_own(folder):
    one, other = (document_key(each).hex() for each in (A, C))
    inject(
        folder,
        "UPDATE document SET key = x'00' WHERE document = 1",
        f"UPDATE document SET key = x'{one}' WHERE document = 3",
        f"UPDATE document SET key = x'{other}' WHERE document = 1",
    )
    assert {(DOCUMENT, A), (DOCUMENT, C)} <= found(folder, full=True)
    with closing(open_store(folder)) as store:
        mend(store, EVERYTHING)
    assert problems(folder, full=True) == []
    assert_whole(folder)


def test_a_node_that_holds_and_is_below_a_leaf_is_too_many(folder):
    digit = document_key(A).hex()[0]
    with closing(open_store(folder, readonly=True)) as store:
        node = build(store.snapshot().rows(digit)).after
    inject(
        folder,
        f"INSERT INTO trie_node VALUES ('{digit}', {node.count}, x'{node.digest.hex()}', x'{node.sources.hex()}')",
    )
    assert [problem.message for problem in problems(folder, full=True)] == [
        f"the trie node at '{digit}' is below none that has children"
    ]


def test_what_is_left_of_a_lost_document_is_closed_though_nobody_puts_it_again(folder):
    inject(folder, "DELETE FROM document_version WHERE document = 3")
    with closing(open_store(folder)) as store:
        mend(store, {A: [ONE, TWO], D: FAMILY})
        assert store.snapshot().lexical(["four"], 5) == ()
    assert {problem.kind for problem in problems(folder, full=True)} == {HISTORY}


@pytest.mark.parametrize("table", ["document_version", "span", "occurrence"])
def test_no_row_of_a_generation_to_come_is_left(folder, table):
    inject(folder, f"UPDATE {table} SET valid_from = 99 WHERE document = 1")
    with closing(open_store(folder)) as store:
        mend(store, EVERYTHING)
    assert rows(folder, f"SELECT count(*) FROM {table} WHERE valid_from > 5") == [(0,)]
    assert_whole(folder)


def test_vectors_that_are_whole_are_not_written_again(folder, monkeypatch):
    def forget(session, table, entry):
        pytest.fail(f"the vector of entry {entry} is whole")

    monkeypatch.setattr(vectors, "forget", forget)
    with closing(open_store(folder)) as store:
        mend(store, EVERYTHING)


def test_of_a_lost_space_nothing_is_left(folder):
    inject(folder, "DELETE FROM space")
    with closing(open_store(folder)) as store:
        mend(store, EVERYTHING)
    assert rows(folder, "SELECT DISTINCT space FROM vector") == rows(folder, "SELECT space FROM space")


def rows(folder, sql):
    session = connection.reading(folder / "index.sqlite3")
    with closing(session):
        return session.run(sql)


def test_the_number_of_a_lost_text_is_given_to_no_other(folder):
    with closing(open_store(folder)) as store:
        write(store, {D: None})
    inject(folder, "DELETE FROM text WHERE text = 6")
    with closing(open_store(folder)) as store:
        mend(store, {A: pieces("seven"), C: [FOUR]})
        assert store.snapshot().entries([PART.entry_hash]) == {}
    assert {problem.kind for problem in problems(folder, full=True)} == {HISTORY}


def test_the_number_of_a_lost_entry_is_given_to_no_other(folder):
    inject(folder, "DELETE FROM entry WHERE entry = 6", "DELETE FROM text WHERE text = 6")
    with closing(open_store(folder)) as store:
        mend(store, {**EVERYTHING, D: [Piece("seven"), *FAMILY[1:]]})
        seven = store.snapshot().lexical(["seven"], 1)[0].entry
        assert seven > 6
    assert {problem.kind for problem in problems(folder, full=True)} == {HISTORY}


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ("DELETE FROM trie_node WHERE prefix = '{leaf}'", "''"),
        ("UPDATE trie_node SET digest = zeroblob(32) WHERE prefix = '{leaf}'", "'{leaf}'"),
        ("UPDATE trie_node SET documents = documents + 1 WHERE prefix = '{leaf}'", "'{leaf}'"),
        ("UPDATE trie_node SET sources = zeroblob(32) WHERE prefix = '{leaf}'", "'{leaf}'"),
        ("INSERT INTO trie_node SELECT '{leaf}0', documents, digest, sources FROM trie_node LIMIT 1", "'{leaf}0'"),
        ("UPDATE trie_node SET prefix = '{leaf}00' WHERE prefix = '{leaf}'", "'{leaf}00'"),
    ],
)
def test_a_node_below_the_topmost_is_found_at_the_full_level_and_mended(tmp_path, fault, named):
    everything = {doc(f"{number}.md"): pieces(f"text {number}") for number in range(60)}
    with closing(open_store(tmp_path)) as store:
        write(store, everything)
    leaf = document_key(doc("0.md")).hex()[:1]
    inject(tmp_path, fault.format(leaf=leaf))
    assert problems(tmp_path, full=False) == []
    left = problems(tmp_path, full=True)
    assert {problem.kind for problem in left} == {NODES}
    assert any(f"at {named.format(leaf=leaf)}" in problem.message for problem in left)
    with closing(open_store(tmp_path)) as store:
        mend(store, everything)
    assert problems(tmp_path, full=True) == []


def test_many_faults_at_once_are_mended_at_once(folder):
    inject(folder, *(fault for fault, _, _ in IN_FULL if fault.startswith("DELETE") and "generation" not in fault))
    with closing(open_store(folder)) as store:
        mend(store, EVERYTHING)
    assert {problem.kind for problem in problems(folder, full=True)} == {HISTORY}
    assert_whole(folder)

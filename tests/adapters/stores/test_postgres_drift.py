"""Faults put into a real schema, one by one: each is found at the level it belongs to, under its kind and its owner's
name, and a write that mends leaves nothing of it but what only older generations show.

The faults are those of the SQLite store where both keep the same columns. Each is put into a copy of one database,
which the server makes; most of them are for the slow run.
"""

import re
from contextlib import closing
from itertools import count

import psycopg
import pytest

from steadlith_adapters.stores.postgres import FACTORY
from steadlith_conformance.samples import SPACE, Piece, doc, mend, pieces, space, vector, write
from steadlith_core.errors import StoreCorrupt
from steadlith_core.records import DriftKind
from steadlith_core.state.trie import document_key

SPACES = (SPACE, space(quantization="int8"))

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
    ("UPDATE text SET body = body || ' '::bytea WHERE text = 1", [(TEXT, ONE.text_hash)], False),
    ("UPDATE text SET body = x'ff' WHERE text = 1", [(TEXT, ONE.text_hash)], False),
    ("UPDATE text SET body = body || ' '::bytea WHERE text = 3", [(HISTORY, THREE.text_hash)], True),
    ("UPDATE text SET text_hash = zeroblob(32) WHERE text = 1", [(TEXT, bytes(32)), (ENTRY, ONE.entry_hash)], False),
    ("UPDATE text SET text_hash = x'00' WHERE text = 1", [(TEXT, None), (ENTRY, ONE.entry_hash)], False),
    ("DELETE FROM text WHERE text = 1", [(ENTRY, ONE.entry_hash), (DOCUMENT, A)], False),
    ("DELETE FROM text WHERE text = 6", [(ENTRY, PART.entry_hash), (DOCUMENT, D)], False),
    ("DELETE FROM text WHERE text = 3", [(HISTORY, THREE.entry_hash), (HISTORY, B)], True),
    # entries
    ("UPDATE entry SET title = 'Other' WHERE entry = 1", [(ENTRY, ONE.entry_hash)], False),
    ("UPDATE entry SET title = 'Other' WHERE entry = 3", [(HISTORY, THREE.entry_hash)], True),
    ("UPDATE entry SET headings = x'00' WHERE entry = 1", [(ENTRY, ONE.entry_hash)], False),
    ("UPDATE entry SET text = 2 WHERE entry = 1", [(ENTRY, ONE.entry_hash)], False),
    ("UPDATE entry SET context_hash = NULL WHERE entry = 1", [(ENTRY, ONE.entry_hash), (DOCUMENT, A)], False),
    ("UPDATE entry SET context_hash = zeroblob(32) WHERE entry = 5", [(ENTRY, WHOLE.entry_hash)], False),
    ("UPDATE entry SET entry_hash = zeroblob(32) WHERE entry = 1", [(ENTRY, bytes(32)), (DOCUMENT, A)], True),
    ("UPDATE entry SET live = false WHERE entry = 1", [(ENTRY, ONE.entry_hash)], False),
    ("UPDATE entry SET live = true WHERE entry = 3", [(ENTRY, THREE.entry_hash)], False),
    ("UPDATE entry SET live = true WHERE entry = 5", [(ENTRY, WHOLE.entry_hash)], False),
    ("DELETE FROM entry WHERE entry = 1", [(DOCUMENT, A)], True),
    ("DELETE FROM entry WHERE entry = 6", [(DOCUMENT, D)], True),
    # lexical rows and the counts of their words
    ("DELETE FROM lexical WHERE entry = 1", [(LEXICAL, ONE.entry_hash)], False),
    ("INSERT INTO lexical VALUES (3, 'x')", [(LEXICAL, THREE.entry_hash)], False),
    ("INSERT INTO lexical VALUES (5, 'x')", [(LEXICAL, WHOLE.entry_hash)], False),
    ("INSERT INTO lexical VALUES (99, 'x')", [(LEXICAL, None)], False),
    ("UPDATE lexical SET words = 'x' WHERE entry = 1", [(LEXICAL, ONE.entry_hash)], False),
    ("UPDATE lexical SET words = setweight(words, 'A') WHERE entry = 1", [(LEXICAL, ONE.entry_hash)], False),
    ("DELETE FROM lexical", [(LEXICAL, ONE.entry_hash), (LEXICAL, PART.entry_hash)], False),
    ("UPDATE word SET entries = entries + 1 WHERE word = 'sampl'", [(LEXICAL, None)], False),
    ("DELETE FROM word WHERE word = ''", [(LEXICAL, None)], False),
    ("INSERT INTO word VALUES ('x', 1)", [(LEXICAL, None)], False),
    # vectors
    ("DELETE FROM full_1_1 WHERE entry = 1", [(VECTOR, ONE.entry_hash)], False),
    (
        "UPDATE full_1_1 SET vector = (SELECT vector FROM full_1_1 WHERE entry = 2) WHERE entry = 1",
        [(VECTOR, ONE.entry_hash)],
        False,
    ),
    ("INSERT INTO full_1_1 SELECT 99, vector FROM full_1_1 WHERE entry = 1", [(VECTOR, None)], False),
    ("INSERT INTO full_1_1 SELECT * FROM full_1_1 WHERE entry = 1", [(VECTOR, ONE.entry_hash)], False),
    ("DELETE FROM code_2_1 WHERE entry = 1", [(VECTOR, ONE.entry_hash)], False),
    (
        "UPDATE code_2_1 SET vector = (SELECT vector FROM code_2_1 WHERE entry = 2) WHERE entry = 1",
        [(VECTOR, ONE.entry_hash)],
        False,
    ),
    ("INSERT INTO code_2_1 SELECT 99, vector FROM code_2_1 WHERE entry = 1", [(VECTOR, None)], False),
    ("INSERT INTO code_2_1 SELECT * FROM code_2_1 WHERE entry = 1", [(VECTOR, ONE.entry_hash)], False),
    ("DELETE FROM full_2_1 WHERE entry = 1", [(VECTOR, ONE.entry_hash)], False),
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
    ("DROP TABLE full_1_1", DriftKind.INDEX_DAMAGED),
    ("DROP TABLE trie_node", DriftKind.INDEX_DAMAGED),
    ("DROP INDEX occurrence_entry", DriftKind.INDEX_DAMAGED),
]
"""What the head's level finds and only a new index mends."""

EVERY = [(*fault, True) for fault in AT_HEAD] + [(*fault, False) for fault in IN_FULL]
SAMPLE = 9
"""Of so many faults one is tried in every run."""
NUMBERS = count(1)
VARIABLE = "STEADLITH_TEST_POSTGRES_COPY"


def in_turn(faults):
    """The faults as parameters: all of them in the slow run, a sample in every run."""
    return [
        pytest.param(*fault, marks=[] if place % SAMPLE == 0 else [pytest.mark.slow], id=fault[0][:70])
        for place, fault in enumerate(faults)
    ]


def open_store(*, readonly=False):
    return FACTORY.open({"dsn_env": VARIABLE, "schema": "index"}, root="/", readonly=readonly)


@pytest.fixture(scope="module")
def original(postgres_server):
    """A database with a whole index of four generations."""
    with psycopg.connect(postgres_server.dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE original")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, f"{postgres_server.dsn} dbname=original")
        with closing(open_store()) as store:
            for changes in ({A: [ONE, TWO], B: [THREE]}, {B: None}, {C: [FOUR]}, {D: FAMILY}):
                write(store, changes, spaces=SPACES)
        assert problems(full=True) == []


@pytest.fixture
def copy(postgres_server, original, monkeypatch):
    """A copy of it, for one test."""
    name = f"copy_{next(NUMBERS)}"
    with psycopg.connect(postgres_server.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE original")
    monkeypatch.setenv(VARIABLE, f"{postgres_server.dsn} dbname={name}")
    yield f"{postgres_server.dsn} dbname={name}"
    with psycopg.connect(postgres_server.dsn, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def inject(copy, *statements):
    with psycopg.connect(copy, autocommit=True) as connection:
        connection.execute("SET search_path = index, public")
        for statement in statements:
            connection.execute(as_postgres(statement))


def as_postgres(statement):
    statement = re.sub(r"zeroblob\((\d+)\)", r"decode(repeat('00', \1), 'hex')", statement)
    return re.sub(r"x'([0-9a-f]*)'", r"'\\x\1'::bytea", statement)


def problems(*, full):
    with closing(open_store(readonly=True)) as store, closing(store.snapshot()) as reader:
        return list(reader.problems(full=full))


def found(*, full):
    return {(each.kind, each.document or each.entry or each.text) for each in problems(full=full)}


@pytest.mark.parametrize(("fault", "wanted", "history", "at_head"), in_turn(EVERY))
def test_a_fault_is_found_under_its_name_and_mending_leaves_only_history(copy, fault, wanted, history, at_head):
    inject(copy, fault)
    if at_head:
        assert found(full=False) >= set(wanted)
    else:
        assert problems(full=False) == []
    kinds = found(full=True)
    assert kinds >= set(wanted)
    if all(kind == HISTORY for kind, _ in wanted):
        assert {kind for kind, _ in kinds} == {HISTORY}
    with closing(open_store()) as store:
        assert mend(store, EVERYTHING, spaces=SPACES).generation == 5
    left = problems(full=True)
    assert {problem.kind for problem in left} == ({HISTORY} if history else set()), left
    assert_whole()


def assert_whole():
    with closing(open_store(readonly=True)) as store, closing(store.snapshot()) as reader:
        assert [each.id for each in reader.documents()] == [A, C, D]
        for id_, parts in EVERYTHING.items():
            assert [chunk.entry_hash for chunk in reader.chunks(id_)] == [part.entry_hash for part in parts]
        for where in SPACES:
            dense = [hit.entry for hit in reader.dense(where, vector("any"), 9)]
            assert sorted(dense) == sorted(hit.entry for hit in reader.lexical(["sample"], 9))
            assert {hit.text for hit in reader.occurrences(dense, 9)} == {"one", "two", "four", "five"}
        assert reader.head.generation == 5


@pytest.mark.parametrize(("fault", "kind"), NOT_MENDED)
def test_what_only_a_new_index_mends_is_found_at_the_head_s_level(copy, fault, kind):
    inject(copy, fault)
    assert kind in {found for found, _ in found(full=False)}


def test_a_head_that_is_lost_is_damage_and_no_empty_index(copy):
    inject(copy, "DELETE FROM head")
    with pytest.raises(StoreCorrupt, match=r"its head is missing.*apply again"):
        open_store(readonly=True)


def test_a_head_that_points_back_cannot_be_mended(copy):
    inject(copy, "UPDATE head SET generation = 3, state_root = (SELECT state_root FROM generation WHERE number = 3)")
    with closing(open_store()) as store, pytest.raises(StoreCorrupt, match="its head is generation 3, and 4 was"):
        store.begin(store.head(), mend=True)


def test_documents_that_have_each_other_s_keys_are_given_their_own(copy):
    one, other = (document_key(each).hex() for each in (A, C))
    inject(
        copy,
        "UPDATE document SET key = x'00' WHERE document = 1",
        f"UPDATE document SET key = x'{one}' WHERE document = 3",
        f"UPDATE document SET key = x'{other}' WHERE document = 1",
    )
    assert {(DOCUMENT, A), (DOCUMENT, C)} <= found(full=True)
    with closing(open_store()) as store:
        mend(store, EVERYTHING, spaces=SPACES)
    assert problems(full=True) == []
    assert_whole()


def test_many_faults_at_once_are_mended_at_once(copy):
    inject(copy, *(fault for fault, _, _ in IN_FULL if fault.startswith("DELETE") and "generation" not in fault))
    with closing(open_store()) as store:
        mend(store, EVERYTHING, spaces=SPACES)
    assert {problem.kind for problem in problems(full=True)} == {HISTORY}
    assert_whole()


def test_compaction_refuses_what_would_not_hold_together(copy):
    inject(copy, "DELETE FROM occurrence WHERE occurrence = 1")
    with closing(open_store()) as store:
        before = store.history()
        store.compact(store.head(), 4)  # what was wrong before is no worse
        assert [each.number for each in store.history()] == [4]
        assert before[-1:] == store.history()

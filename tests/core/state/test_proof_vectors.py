"""The golden vectors of proofs work both ways: the reader alone verifies them, and the maker makes them."""

import json
from importlib.resources import files

import pytest

from steadlith_core.digest import Digest
from steadlith_core.errors import ProofError
from steadlith_core.records import DocumentId
from steadlith_core.state.proof import verify_absence, verify_chunk, verify_document
from steadlith_core.state.proving import Trie
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key

VECTORS = json.loads((files("steadlith_conformance") / "vectors" / "proofs.json").read_text("utf-8"))
REASONS = {
    "empty": "cut short at byte 0",
    "cut short": "a row's root has 32 bytes, 31 are there",
    "a byte after the end": "bytes after the end",
    "another magic": "not a proof",
    "another version": "a proof of version 0",
    "an unknown kind": "unknown kind: 4",
    "another schema": "a proof under 'identitx/",
    "another normaliser": "lead to the corpus root",
    "another key": "a proof for the document key",
    "another document root": "lead to the corpus root",
    "another corpus": "lead to the corpus root",
    "rows in descending order": "rows out of order",
    "a row twice": "rows out of order or twice",
    "the own key among the rows": "the proof's own key, and a row",
    "a leaf of 33": "at most 32 documents, got 33",
    "a count that the leaf belies": "3 documents, and the one leaf has 2",
    "an inner node above 32 documents": "an inner node above 32 documents",
}


def digest(entry, name):
    return Digest.parse(entry[name])


def proof(entry):
    return bytes.fromhex(entry["proof"])


def rows(count):
    keys = [document_key(DocumentId("docs", f"{number}.md")) for number in range(count)]
    return [(key, Digest(number.to_bytes(32, "big"))) for number, key in enumerate(keys)]


def test_the_vectors_have_the_sizes_that_matter():
    assert VECTORS["documents"].keys() == {"0", "1", "32", "33", "10000"}
    assert VECTORS["chunks"].keys() == {"1", "2", "3", "5", "8", "1000", "5 with parts"}
    assert all(case["absent"] for case in VECTORS["documents"].values())
    assert all(case["present"] for count, case in VECTORS["documents"].items() if count != "0")


@pytest.mark.parametrize("count", VECTORS["documents"])
def test_the_reader_verifies_documents(count):
    case = VECTORS["documents"][count]
    root = digest(case, "corpus")
    for entry in case["present"]:
        proven = verify_document(root, digest(entry, "key"), digest(entry, "document_root"), proof(entry))
        assert proven.corpus.documents == int(count)
    for entry in case["absent"]:
        assert verify_absence(root, digest(entry, "key"), proof(entry)).corpus.documents == int(count)


@pytest.mark.parametrize("name", VECTORS["chunks"])
def test_the_reader_verifies_chunks(name):
    case = VECTORS["chunks"][name]
    for entry in case["chunks"]:
        proven = verify_chunk(digest(case, "corpus"), digest(case, "key"), digest(entry, "chunk_hash"), proof(entry))
        assert (proven.index, proven.count) == (entry["index"], case["count"])
        said = case["topology"][entry["index"]] if case["topology"] else [-1, True]
        assert [proven.parent, proven.embed] == said
        assert (str(proven.document_root), str(proven.metadata_hash)) == (case["document_root"], case["metadata_hash"])


@pytest.mark.parametrize("name", VECTORS["refused"])
def test_the_reader_refuses_what_must_be_refused_for_its_reason(name):
    entry = VECTORS["refused"][name]
    claim = [digest(entry, field) for field in ("corpus", "key", "document_root")]
    with pytest.raises(ProofError, match=REASONS[name]):
        verify_document(*claim, proof(entry))


@pytest.mark.parametrize("count", VECTORS["documents"])
def test_the_maker_makes_the_proofs_of_documents(count):
    case, trie = VECTORS["documents"][count], Trie(rows(int(count)))
    assert str(trie.corpus_root) == case["corpus"]
    for entry in (*case["present"], *case["absent"]):
        assert trie.prove(digest(entry, "key")) == proof(entry)


@pytest.mark.parametrize("name", VECTORS["chunks"])
def test_the_maker_makes_the_proofs_of_chunks(name):
    case = VECTORS["chunks"][name]
    chunks = [Digest(number.to_bytes(32, "big")) for number in range(case["count"])]
    key, topology = digest(case, "key"), case["topology"]
    trie = Trie([(key, document_root(chunks, case["metadata"], topology)), *rows(33)[1:]])
    assert str(trie.corpus_root) == case["corpus"]
    for entry in case["chunks"]:
        assert trie.prove_chunk(key, chunks, case["metadata"], entry["index"], topology) == proof(entry)

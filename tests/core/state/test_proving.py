import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core.digest import Digest, hash_fields
from steadlith_core.records import IDENTITY_SCHEMA, DocumentId
from steadlith_core.state import proving
from steadlith_core.state.proof import verify_absence, verify_chunk, verify_document
from steadlith_core.state.proofbytes import MAX_INNER, MAX_SIZE, unpack
from steadlith_core.state.proving import Trie
from steadlith_core.state.roots import corpus_root
from steadlith_core.state.tree import document_root, metadata_hash
from steadlith_core.state.trie import document_key, trie_root
from steadlith_core.text.canonical import NORMALIZER_ID


def key(name):
    return document_key(DocumentId("docs", f"{name}.md"))


def corpus(count):
    return [(key(number), Digest(number.to_bytes(32, "big"))) for number in range(count)]


def close(count):
    """Keys that differ in their last nibbles alone: the deepest trie that there is."""
    return [(Digest(number.to_bytes(32, "big")), Digest(number.to_bytes(32, "little"))) for number in range(count)]


def drawn(count):
    raw = random.Random(count).randbytes(64 * count)
    return [(Digest(raw[at : at + 32]), Digest(raw[at + 32 : at + 64])) for at in range(0, len(raw), 64)]


# The layout as format.md 9 words it, from the rows alone, without any care for speed.


def trie_digest(rows, depth=0):
    rows = sorted(rows)
    if len(rows) <= 32:
        return hash_fields("trie-leaf", [part for row in rows for part in row])
    return hash_fields("trie-node", [part for pair in children(rows, depth) for part in pair])


def below(rows, depth, nibble):
    return [row for row in rows if int(row[0].hex()[depth], 16) == nibble]


def children(rows, depth):
    return [(n, trie_digest(below(rows, depth, n), depth + 1)) for n in range(16) if below(rows, depth, n)]


def way(rows, wanted, depth=0):
    rows = sorted(rows)
    if len(rows) <= 32:
        others = [row for row in rows if row[0] != wanted]
        return bytes(2) + bytes([len(others)]) + b"".join(left + right for left, right in others)
    own = int(wanted.hex()[depth], 16)
    found = children(rows, depth)
    node = sum(2**n for n, _ in found).to_bytes(2, "big") + b"".join(digest for n, digest in found if n != own)
    return node + (way(below(rows, depth, own), wanted, depth + 1) if own in dict(found) else b"")


def worded(rows, wanted):
    ids = b"".join(bytes([len(name)]) + name.encode() for name in (IDENTITY_SCHEMA, NORMALIZER_ID))
    kind = b"\x01" if wanted in dict(rows) else b"\x02"
    return b"\x8bSLP\x01" + kind + ids + len(rows).to_bytes(8, "big") + wanted + way(rows, wanted)


@pytest.mark.parametrize(
    "rows", [corpus(n) for n in (0, 1, 2, 32, 33, 34, 600)] + [close(n) for n in (32, 33, 40, 100)]
)
def test_proofs_have_the_bytes_that_the_format_words_and_verify(rows):
    trie = Trie(rows)
    for wanted, root in rows[:3] + rows[-3:]:
        proof = trie.prove(wanted)
        assert proof == worded(rows, wanted)
        assert verify_document(trie.corpus_root, wanted, root, proof).corpus.documents == len(rows)
    for wanted in (*map(key, ("x", "y", "z")), Digest(bytes(31) + b"\xff"), Digest(b"\xff" * 32)):
        if wanted not in trie:
            proof = trie.prove(wanted)
            assert proof == worded(rows, wanted)
            assert verify_absence(trie.corpus_root, wanted, proof).key == wanted


@pytest.mark.parametrize("count", [0, 1, 32, 33, 34, 1000, 10_000])
def test_every_document_is_proven_present_and_others_absent(count):
    rows = corpus(count)
    trie = Trie(rows)
    assert trie.root == trie_root(rows)
    assert trie.corpus_root == corpus_root(count, trie_root(rows))
    for wanted, root in rows[:: max(1, count // 500)]:
        proven = verify_document(trie.corpus_root, wanted, root, trie.prove(wanted))
        assert (proven.key, proven.document_root, proven.corpus.documents) == (wanted, root, count)
    for number in range(count, count + 200):
        assert verify_absence(trie.corpus_root, key(number), trie.prove(key(number))).key == key(number)


nibbles = st.sampled_from([0, 0, 0, 1, 15])
packed = st.lists(nibbles, min_size=64, max_size=64).map(lambda n: Digest(bytes.fromhex("".join(f"{x:x}" for x in n))))


@settings(max_examples=50, deadline=None)
@given(st.sets(packed, max_size=120), st.lists(packed, max_size=5), st.randoms(use_true_random=False))
def test_any_set_of_keys_in_any_order_proves_each_and_no_other(keys, others, rng):
    rows = [(each, hash_fields("demo", each)) for each in keys]
    trie = Trie(rows)
    rng.shuffle(rows)
    assert Trie(rows).root == trie.root == trie_root(rows)
    for wanted in [*sorted(keys)[:10], *others]:
        root = trie.document_root(wanted)
        assert root == dict(rows).get(wanted)
        proof = trie.prove(wanted)
        assert Trie(rows).prove(wanted) == proof
        if root is None:
            verify_absence(trie.corpus_root, wanted, proof)
        else:
            verify_document(trie.corpus_root, wanted, root, proof)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 1000])
def test_every_chunk_is_proven_where_it_stands(count):
    chunks = [hash_fields("demo", number) for number in range(count)]
    metadata = {"title": "T", "format": "text"}
    root = document_root(chunks, metadata)
    trie = Trie([*corpus(40), (key("chunked"), root)])
    for index in range(0, count, max(1, count // 50)):
        proof = trie.prove_chunk(key("chunked"), chunks, metadata, index)
        proven = verify_chunk(trie.corpus_root, key("chunked"), chunks[index], proof)
        assert (proven.chunk_hash, proven.index, proven.count) == (chunks[index], index, count)
        assert (proven.document_root, proven.metadata_hash) == (root, metadata_hash(metadata))
        assert (proven.parent, proven.embed) == (-1, True)


def test_a_part_is_proven_with_its_parent_and_a_parent_as_one_that_no_model_saw():
    chunks = [hash_fields("demo", number) for number in range(6)]
    topology = [(-1, False), (0, True), (0, True), (-1, True), (-1, False), (4, True)]
    root = document_root(chunks, {}, topology)
    trie = Trie([*corpus(40), (key("parts"), root)])
    for index, said in enumerate(topology):
        proof = trie.prove_chunk(key("parts"), chunks, {}, index, topology)
        proven = verify_chunk(trie.corpus_root, key("parts"), chunks[index], proof)
        assert (proven.index, proven.parent, proven.embed) == (index, *said)
        assert proven.document_root == root
    with pytest.raises(ValueError, match="the corpus has"):
        trie.prove_chunk(key("parts"), chunks, {}, 0)


def test_a_chunk_that_stands_at_several_places_has_a_proof_for_each():
    chunks = [Digest(bytes(32))] * 5
    trie = Trie([(key(0), document_root(chunks, {}))])
    found = [
        verify_chunk(trie.corpus_root, key(0), chunks[0], trie.prove_chunk(key(0), chunks, {}, i)) for i in range(5)
    ]
    assert [proven.index for proven in found] == [0, 1, 2, 3, 4]


def test_chunks_that_are_not_the_documents_are_refused_when_a_proof_is_made():
    chunks = [hash_fields("demo", number) for number in range(3)]
    trie = Trie([(key(0), document_root(chunks, {}))])
    for wrong in ((key(0), chunks[:2], {}), (key(0), chunks, {"title": "other"}), (key(1), chunks, {})):
        with pytest.raises(ValueError, match="the corpus has"):
            trie.prove_chunk(*wrong, 0)
    with pytest.raises(ValueError, match="no leaf 3 in a tree of 3"):
        trie.prove_chunk(key(0), chunks, {}, 3)


def test_a_key_given_twice_is_refused():
    row = corpus(1)[0]
    with pytest.raises(ValueError, match="given twice"):
        Trie([row, (row[0], Digest(bytes(32)))])


def test_another_normaliser_is_another_corpus_and_named_in_the_answer():
    rows = corpus(3)
    trie = Trie(rows, normalizer_id="text/other")
    assert trie.corpus_root != Trie(rows).corpus_root
    proven = verify_document(trie.corpus_root, *rows[0], trie.prove(rows[0][0]))
    assert proven.corpus.normalizer_id == "text/other"


def test_the_deepest_trie_has_63_inner_nodes_on_a_path():
    rows = close(40)
    proof = Trie(rows).prove(rows[0][0])
    assert len(unpack(proof).path) == MAX_INNER == 63
    assert len(proof) <= MAX_SIZE


def test_a_proof_hashes_no_row_again(monkeypatch):
    rows = corpus(2000)
    trie = Trie(rows)
    asked = []
    for name in ("leaf_digest", "node_digest"):
        monkeypatch.setattr(proving, name, lambda _: asked.append(1))
    proofs = [trie.prove(wanted) for wanted, _ in rows]
    assert len(proofs) == 2000
    assert not asked


def sizes(rows, step):
    """The largest proof of a document present, one absent, and a chunk of a document of 4,096 chunks."""
    chunks = [hash_fields("demo", number) for number in range(4096)]
    rows[0] = (rows[0][0], document_root(chunks, {}))
    trie = Trie(rows)
    present = [trie.prove(wanted) for wanted, _ in rows[::step]]
    absent = [trie.prove(hash_fields("key", "missing", str(number))) for number in range(20_000)]
    for (wanted, root), proof in zip(rows[::step][:200], present, strict=False):
        verify_document(trie.corpus_root, wanted, root, proof)
    own = trie.prove(rows[0][0])
    chunk = trie.prove_chunk(rows[0][0], chunks, {}, 4095)
    verify_chunk(trie.corpus_root, rows[0][0], chunks[4095], chunk)
    assert len(chunk) - len(own) == 45 + 12 * 32  # the chunk part is the same wherever the document stands
    return max(map(len, present)), max(map(len, absent)), max(map(len, present)) + 45 + 32 * 20


def test_sizes_at_a_hundred_thousand_documents():
    present, absent, chunk = sizes(drawn(100_000), 10)
    assert max(present, absent) <= 4096
    assert chunk <= 5120  # of a document of a million chunks


@pytest.mark.slow
def test_sizes_at_a_million_documents():
    present, absent, chunk = sizes(drawn(1_000_000), 5)
    assert max(present, absent) <= 4096
    assert chunk <= 5120

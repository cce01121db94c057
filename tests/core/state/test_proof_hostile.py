"""Bytes made to harm: any end in a `ProofError`, and canonical form is demanded even where the root would come out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_core.digest import Digest, hash_fields
from steadlith_core.errors import ProofError
from steadlith_core.records import IDENTITY_SCHEMA
from steadlith_core.state.proof import verify_absence, verify_chunk, verify_document
from steadlith_core.state.proofbytes import MAX_SIZE, ChunkPart, Corpus, Inner, Kind, Proof, unpack
from steadlith_core.state.roots import corpus_root
from steadlith_core.text.canonical import NORMALIZER_ID

KEY = Digest(b"\x5a" * 32)
ROOT = Digest(bytes(32))
OTHER = Digest(b"\x11" * 32)


def head(kind, documents, schema=IDENTITY_SCHEMA, normaliser=NORMALIZER_ID):
    schema, normaliser = (name if isinstance(name, bytes) else name.encode() for name in (schema, normaliser))
    ids = bytes([len(schema)]) + schema + bytes([len(normaliser)]) + normaliser
    return b"\x8bSLP\x01" + bytes([kind]) + ids + documents.to_bytes(8, "big") + KEY


def leaf(*rows):
    return bytes(2) + bytes([len(rows)]) + b"".join(key + root for key, root in rows)


def beside(number):
    """A key that has all but its last byte in common with `KEY`."""
    return Digest(KEY[:31] + bytes([number]))


def leaf_hash(*rows):
    return hash_fields("trie-leaf", [part for row in rows for part in row])


def verify(kind, root, proof):
    if kind == 2:
        return verify_absence(root, KEY, proof)
    return verify_document(root, KEY, ROOT, proof)


@given(st.binary(max_size=300))
def test_any_bytes_end_in_a_proof_error(data):
    for proof in (data, b"\x8bSLP\x01" + data, *(head(kind, 33) + data for kind in (1, 2, 3))):
        for present in (verify_document, verify_chunk):
            with pytest.raises(ProofError):
                present(ROOT, KEY, ROOT, proof)
        with pytest.raises(ProofError):
            verify_absence(ROOT, KEY, proof)


@pytest.mark.parametrize(
    ("proof", "why"),
    [
        (b"", "cut short at byte 0: the magic has 4 bytes, 0 are there"),
        (b"\x8bSLQ\x01", "not a proof"),
        (b"\x8bSLP\x02", "a proof of version 2; this version reads 1"),
        (b"\x8bSLP\x01\x00", "unknown kind: 0"),
        (b"\x8bSLP\x01\x01\x00", "the identity schema has 1 to 64 bytes, got 0"),
        (b"\x8bSLP\x01\x01\xff", "the identity schema has 1 to 64 bytes, got 255"),
        (head(1, 1, schema="identity/9"), "a proof under 'identity/9'"),
        (head(1, 1, normaliser=b"\xff\xfe"), "the normaliser's id is not UTF-8"),
        (head(1, 1, normaliser=b"\xed\xa0\x80"), "the normaliser's id is not UTF-8"),
        (head(1, 1)[:-1], "the key has 32 bytes, 31 are there"),
        (head(1, 1) + b"\x00", "a bitmap of children has 2 bytes, 1 are there"),
        (head(1, 1) + bytes(2), "the count of rows has 1 bytes, 0 are there"),
        (head(1, 1) + bytes(2) + b"\x21", "at most 32 documents, got 33 rows"),
        (head(1, 33) + b"\xff\xff" + bytes(32 * 14), "a sibling at depth 0 has 32 bytes, 0 are there"),
        (head(1, 1) + leaf() + b"\x00", "bytes after the end of the proof: 1"),
        (head(1, 33) + b"\x00\x01" + bytes(32), "ends above the leaf"),
        (head(3, 1) + bytes(8), "no chunk 0 in a document of 0 chunks"),
        (head(3, 1) + bytes(3) + b"\x02" + bytes(3) + b"\x02", "no chunk 2 in a document of 2 chunks"),
        (head(3, 1) + bytes(7) + b"\x01" + bytes(4), "whether it is embedded has 1 bytes, 0 are there"),
        (head(3, 1) + bytes(7) + b"\x01" + bytes(4) + b"\x02", "embedded is 0 or 1, got 2"),
        (head(3, 1) + bytes(7) + b"\x01" + bytes(3) + b"\x01\x01" + bytes(32), "no parent 1 places before it"),
        (head(3, 1) + bytes(4) + b"\xff" * 4 + bytes(5 + 32 * 32), "a digest of the audit path has 32 bytes"),
        (head(1, 2**64 - 1) + b"\xff\xff" * 20_000, f"at most {MAX_SIZE} bytes"),
        (
            head(1, 2**64 - 1) + b"\x04\x00\x00\x20" * 0 + b"".join([b"\x00\x20", b"\x04\x00"] * 32) + leaf(),
            "more than 63",
        ),
    ],
)
def test_damage_is_named(proof, why):
    with pytest.raises(ProofError, match=why):
        unpack(proof)


@pytest.mark.parametrize(
    ("kind", "documents", "rows", "why"),
    [
        (1, 3, [(beside(9), ROOT), (beside(1), ROOT)], "rows out of order"),
        (2, 2, [(beside(9), ROOT), (beside(1), ROOT)], "rows out of order"),
        (2, 2, [(beside(1), ROOT), (beside(1), OTHER)], "rows out of order or twice"),
        (2, 1, [(KEY, ROOT)], "the proof's own key, and a row"),
        (1, 2, [(KEY, OTHER)], "the proof's own key, and a row"),
        (1, 33, [(beside(number), ROOT) for number in range(32)], "at most 32 documents, got 33"),
        (1, 7, [], "7 documents, and the one leaf has 1"),
        (2, 1, [], "1 documents, and the one leaf has 0"),
    ],
)
def test_a_leaf_out_of_canonical_form_is_refused_though_the_root_comes_out(kind, documents, rows, why):
    held = [*rows, (KEY, ROOT)] if kind == 1 else rows
    for order in (held, sorted(held)):
        root = corpus_root(documents, leaf_hash(*order))
        with pytest.raises(ProofError, match=why):
            verify(kind, root, head(kind, documents) + leaf(*rows))


@pytest.mark.parametrize(
    ("documents", "rows", "why"),
    [
        (33, [], "an empty leaf at depth 1"),
        (33, [(OTHER, ROOT)], "does not begin with the 1 nibbles of the leaf"),
        (32, [(beside(1), ROOT)], "an inner node above 32 documents, which one leaf holds"),
    ],
)
def test_a_way_out_of_canonical_form_is_refused_though_the_root_comes_out(documents, rows, why):
    root = corpus_root(documents, hash_fields("trie-node", [5, leaf_hash(*rows)]))
    with pytest.raises(ProofError, match=why):
        verify_absence(root, KEY, head(2, documents) + b"\x00\x20" + leaf(*rows))


def test_the_forms_above_are_refused_for_their_form_alone():
    one = (beside(1), ROOT)
    root = corpus_root(33, hash_fields("trie-node", [5, leaf_hash(one)]))
    assert verify_absence(root, KEY, head(2, 33) + b"\x00\x20" + leaf(one)).key == KEY
    assert verify_absence(corpus_root(1, leaf_hash(one)), KEY, head(2, 1) + leaf(one)).corpus.documents == 1


CORPUS = Corpus(IDENTITY_SCHEMA, NORMALIZER_ID, 40)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Corpus(IDENTITY_SCHEMA, "", 1), "1 to 64 bytes, got 0"),
        (lambda: Corpus(IDENTITY_SCHEMA, "é" * 33, 1), "1 to 64 bytes, got 66"),
        (lambda: Corpus(IDENTITY_SCHEMA, "n", 2**64), "do not fit into 8 bytes"),
        (lambda: Corpus(IDENTITY_SCHEMA, "n", -1), "do not fit into 8 bytes"),
        (lambda: ChunkPart(0, 2**32, 0, True, ROOT, ()), "no chunk 0 in a document of 4294967296"),
        (lambda: ChunkPart(1, 2, 2, True, ROOT, (ROOT,)), "chunk 1 has no parent 2 places before it"),
        (lambda: ChunkPart(1, 2, -1, True, ROOT, (ROOT,)), "chunk 1 has no parent -1 places before it"),
        (lambda: ChunkPart(0, 2, 0, True, ROOT, ()), "has 1 digests, got 0"),
        (lambda: Proof(Kind.CHUNK, CORPUS, KEY, None, (), ()), "has an audit path"),
        (lambda: Proof(Kind.DOCUMENT, CORPUS, KEY, ChunkPart(0, 1, 0, True, ROOT, ()), (), ()), "has an audit path"),
        (lambda: Proof(Kind.ABSENCE, CORPUS, KEY, None, (), None), "ends above the leaf"),
        (lambda: Proof(Kind.ABSENCE, CORPUS, KEY, None, (Inner(0, ()),), None), "without children"),
        (lambda: Proof(Kind.ABSENCE, CORPUS, KEY, None, (Inner(1 << 16, ()),), None), "or of more than 16"),
        (lambda: Proof(Kind.ABSENCE, CORPUS, KEY, None, (Inner(1, ()),), None), "0 siblings at depth 0"),
        (lambda: Proof(Kind.ABSENCE, CORPUS, KEY, None, (Inner(1, (ROOT,)),), ()), "no child for nibble 5"),
        (lambda: Proof(Kind.ABSENCE, CORPUS, KEY, None, (Inner(32, ()),), None), "a child for nibble 5"),
        (lambda: Proof(Kind.DOCUMENT, CORPUS, KEY, None, (Inner(32, ()),) * 64, ()), "more than 63 inner nodes"),
    ],
)
def test_a_record_is_constructed_valid_or_not_at_all(make, why):
    with pytest.raises(ProofError, match=why):
        make()

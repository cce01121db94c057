"""Nothing but a true claim verifies: changed bytes, moved proofs, presence dressed as absence and the reverse."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core.digest import Digest, hash_fields
from steadlith_core.errors import ProofError, ProofRejected
from steadlith_core.records import DocumentId
from steadlith_core.state.proof import verify_absence, verify_chunk, verify_document
from steadlith_core.state.proofbytes import unpack
from steadlith_core.state.proving import Trie
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key

KIND = 5
CHUNKS = [hash_fields("demo", number) for number in range(5)]
TOPOLOGY = ((-1, True), (-1, False), (1, True), (-1, True), (1, False))
ROOT = document_root(CHUNKS, {"title": "T"}, TOPOLOGY)


def key(name):
    return document_key(DocumentId("docs", f"{name}.md"))


def build(count):
    return Trie([(key(number), Digest(number.to_bytes(32, "big")) if number else ROOT) for number in range(count)])


TRIES = {count: build(count) for count in (0, 1, 2, 32, 33, 34, 1000, 10_000)}


def claims(trie):
    """(verify, proof) of what is true here."""
    root, missing = trie.corpus_root, key("missing")
    found = [(lambda proof: verify_absence(root, missing, proof), trie.prove(missing))]
    if key(0) in trie:
        found += [
            (lambda proof: verify_document(root, key(0), ROOT, proof), trie.prove(key(0))),
            (
                lambda proof: verify_chunk(root, key(0), CHUNKS[4], proof),
                trie.prove_chunk(key(0), CHUNKS, {"title": "T"}, 4, TOPOLOGY),
            ),
        ]
    return found


def refused(verify, proof):
    with pytest.raises(ProofError):
        verify(proof)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_no_other_byte_at_any_place_is_accepted(count):
    for verify, proof in claims(TRIES[count]):
        verify(proof)
        for at, byte in enumerate(proof):
            for other in {*range(256)} - {byte}:
                refused(verify, proof[:at] + bytes([other]) + proof[at + 1 :])


@pytest.mark.parametrize("count", [32, 33, 34, 1000])
def test_no_bit_can_be_flipped(count):
    for verify, proof in claims(TRIES[count]):
        for at, byte in enumerate(proof):
            bit = 1 << (at + count) % 8
            refused(verify, proof[:at] + bytes([byte ^ bit]) + proof[at + 1 :])


@settings(deadline=None)
@given(st.sampled_from(sorted(TRIES)), st.data())
def test_no_change_of_a_proof_is_accepted(count, data):
    verify, proof = data.draw(st.sampled_from(claims(TRIES[count])))
    start = data.draw(st.integers(0, len(proof)))
    stop = data.draw(st.integers(start, min(len(proof), start + 70)))
    piece = data.draw(st.binary(max_size=70) | st.integers(0, len(proof) - 1).map(lambda at: proof[at : at + 64]))
    changed = proof[:start] + piece + proof[stop:]
    if changed != proof:
        refused(verify, changed)


@pytest.mark.parametrize("count", [1, 33, 1000])
def test_no_proof_cut_short_or_with_more_bytes_is_accepted(count):
    for verify, proof in claims(TRIES[count]):
        for stop in range(len(proof)):
            refused(verify, proof[:stop])
        for more in (b"\x00", b"\x00\x00\x00", proof):
            refused(verify, proof + more)


@pytest.mark.parametrize("count", [2, 32, 33, 34, 1000, 10_000])
def test_a_proof_of_one_key_never_verifies_for_another(count):
    trie = TRIES[count]
    for number in range(1, min(count, 60)):
        proof, other = trie.prove(key(number)), key(number - 1)
        root = trie.document_root(other)
        for forged in (proof, proof.replace(key(number), other)):
            with pytest.raises(ProofError):
                verify_document(trie.corpus_root, other, root, forged)
    absent = trie.prove(key("missing"))
    for forged in (absent, absent.replace(key("missing"), key("gone"))):
        # With the key put in its place the bytes may be the other key's own proof of absence, and then they are true.
        if forged != trie.prove(key("gone")):
            with pytest.raises(ProofError):
                verify_absence(trie.corpus_root, key("gone"), forged)


@pytest.mark.parametrize("count", [1, 2, 32, 33, 34, 1000, 10_000])
def test_no_proof_verifies_for_another_document_root_chunk_or_corpus(count):
    trie, other = TRIES[count], Digest(bytes(31) + b"\x07")
    proof = trie.prove(key(0))
    chunk = trie.prove_chunk(key(0), CHUNKS, {"title": "T"}, 0, TOPOLOGY)
    with pytest.raises(ProofRejected, match="lead to the corpus root"):
        verify_document(trie.corpus_root, key(0), other, proof)
    with pytest.raises(ProofRejected, match="lead to the corpus root"):
        verify_chunk(trie.corpus_root, key(0), CHUNKS[1], chunk)
    for elsewhere in (build(count + 1), Trie([(key(0), other)])):
        with pytest.raises(ProofRejected, match="lead to the corpus root"):
            verify_document(elsewhere.corpus_root, key(0), ROOT, proof)


@pytest.mark.parametrize("count", [1, 2, 33, 34, 1000, 10_000])
def test_presence_never_verifies_as_absence(count):
    trie = TRIES[count]
    for number in range(min(count, 60)):
        wanted = key(number)
        proof = trie.prove(wanted)
        with pytest.raises(ProofRejected, match=r"a document's presence, not of a document's absence"):
            verify_absence(trie.corpus_root, wanted, proof)
        for forged in disguises(proof):
            with pytest.raises(ProofError):
                verify_absence(trie.corpus_root, wanted, forged)


def disguises(proof):
    """The proof with the other kind, with another document count, and cut off above the key at each inner node."""
    as_absence = proof[:KIND] + b"\x02" + proof[KIND + 1 :]
    read = unpack(proof)
    start = proof.index(read.key) + 32
    count = read.corpus.documents
    fewer = as_absence[: start - 40] + (count - 1).to_bytes(8, "big") + as_absence[start - 32 :]
    yield from (as_absence, fewer)
    at = start
    for depth, inner in enumerate(read.path):
        own = read.key.hex()[depth]
        without = inner.bitmap & ~(1 << int(own, 16))
        siblings = b"".join(inner.siblings)
        yield as_absence[:at] + without.to_bytes(2, "big") + siblings
        at += 2 + len(siblings)


@pytest.mark.parametrize("count", [0, 1, 33, 34, 1000, 10_000])
def test_absence_never_verifies_as_presence(count):
    trie = TRIES[count]
    for number in range(60):
        wanted = key(f"missing {number}")
        proof = trie.prove(wanted)
        as_presence = proof[:KIND] + b"\x01" + proof[KIND + 1 :]
        start = proof.index(wanted)
        more = as_presence[: start - 8] + (count + 1).to_bytes(8, "big") + as_presence[start:]
        for forged in (proof, as_presence, more, as_presence + bytes(3), more + bytes(3)):
            for root in (ROOT, Digest(bytes(32)), trie.root):
                with pytest.raises(ProofError):
                    verify_document(trie.corpus_root, wanted, root, forged)


def test_a_proof_of_a_chunk_is_none_of_its_document_and_the_reverse():
    trie = TRIES[33]
    document, chunk = trie.prove(key(0)), trie.prove_chunk(key(0), CHUNKS, {"title": "T"}, 2, TOPOLOGY)
    with pytest.raises(ProofRejected, match="a chunk's presence, not of a document's presence"):
        verify_document(trie.corpus_root, key(0), ROOT, chunk)
    with pytest.raises(ProofRejected, match="a document's presence, not of a chunk's presence"):
        verify_chunk(trie.corpus_root, key(0), CHUNKS[2], document)


def test_an_index_is_proven_not_believed():
    repeated = [CHUNKS[0], CHUNKS[0], CHUNKS[1], CHUNKS[0]]
    trie = Trie([(key(0), document_root(repeated, {}))])
    proof = trie.prove_chunk(key(0), repeated, {}, 0)
    start = proof.index(key(0)) + 32
    for index in range(6):
        for count in range(6):
            forged = proof[:start] + index.to_bytes(4, "big") + count.to_bytes(4, "big") + proof[start + 8 :]
            if (index, count) in {(0, 4), (1, 4)}:  # the two neighbours have one sibling in common: themselves
                assert verify_chunk(trie.corpus_root, key(0), CHUNKS[0], forged).index == index
            else:
                with pytest.raises(ProofError):
                    verify_chunk(trie.corpus_root, key(0), CHUNKS[0], forged)

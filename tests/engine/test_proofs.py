import json
from dataclasses import replace

import pytest

from steadlith import proofs
from steadlith_adapters.wrappers.faults import Fault, Faults, every
from steadlith_adapters.wrappers.reading import WrappedReader
from steadlith_core.digest import Digest
from steadlith_core.errors import ProofError, ProofRejected, StoreCorrupt, UsageError
from steadlith_core.records import DocumentId

ONE = DocumentId("docs", "one.md")


@pytest.fixture
def reader(settled):
    with settled.open() as index, index.reader() as reader:
        yield reader


def test_documents_chunks_and_absences_are_proven_and_the_file_says_it_all(reader):
    root = reader.head.corpus_root
    rows = reader.chunks(ONE)
    for id_, chunk, words in (
        (ONE, None, f"holds docs:one.md with the root {reader.find([ONE])[ONE].root}."),
        (ONE, "1", f"holds {rows[1].chunk_hash} as chunk 1 (of {len(rows)}) of docs:one.md."),
        (ONE, rows[2].chunk_hash.short, f"holds {rows[2].chunk_hash} as chunk 2 "),
        (ONE, str(rows[3].chunk_hash), "as chunk 3 "),
        (DocumentId("docs", "none.md"), None, "holds no docs:none.md."),
        (DocumentId("docs", "none.md"), "0", "holds no docs:none.md."),
    ):
        proven = proofs.prove(reader, id_, chunk)
        assert words in proofs.sentence(proven)
        claim = proofs.load(proofs.dump(proven.claim).encode())
        assert claim == proven.claim
        assert proofs.verify(claim, root) == proven
        with pytest.raises(ProofRejected):
            proofs.verify(claim, reader.head.state_root)


def test_a_chunk_that_is_not_there_is_a_usage_error_with_the_way_out(reader):
    count = len(reader.chunks(ONE))
    for chunk, message in (
        (str(count), f"no chunk {count}: it has {count}, counted from 0"),
        ("xyz", "whose hash begins with 'xyz'"),
        ("b3:", "whose hash begins with 'b3:'"),
    ):
        with pytest.raises(UsageError, match=message):
            proofs.prove(reader, ONE, chunk)


def test_a_beginning_that_several_chunks_share_is_refused(reader):
    rows = [row for document in reader.documents() for row in reader.chunks(document.id)] * 3
    ambiguous = next(
        row.chunk_hash.hex()[0]
        for row in rows
        if len({other.chunk_hash for other in rows if other.chunk_hash.hex()[0] == row.chunk_hash.hex()[0]}) > 1
    )
    with pytest.raises(UsageError, match="give more of the hash"):
        proofs._position(ONE, rows, f"b3:{ambiguous}")


def test_a_text_is_the_proven_chunks_as_it_was_cut_or_as_it_stands_in_the_source(reader, settled):
    root = reader.head.corpus_root
    claim = proofs.prove(reader, ONE, "1").claim
    row = reader.chunks(ONE)[1]
    text = reader.texts([row.text_hash])[row.text_hash]
    source = (settled.docs / "one.md").read_bytes()[row.span.start : row.span.end]
    for given in (text.encode(), source, source.replace(b"\n", b"\r\n"), text.encode() + b"\n\n"):
        proven = proofs.verify(claim, root, given)
        assert proven.text_matches
        assert proofs.sentence(proven).endswith(", and the text is that chunk's.")
    for other in (b"", text.encode() + b"x", b"\xff"):
        with pytest.raises(ProofRejected, match="not that of the proven chunk"):
            proofs.verify(claim, root, other)
    with pytest.raises(UsageError, match="--text is for a proof of a chunk"):
        proofs.verify(proofs.prove(reader, ONE).claim, root, b"")


def test_a_claim_that_somebody_changed_is_rejected(reader):
    root = reader.head.corpus_root
    body = proofs.document(proofs.prove(reader, ONE, "1").claim)
    other = str(reader.chunks(ONE)[2].chunk_hash)
    for changed in ({"document": {"source": "docs", "path": "two.md"}}, {"chunk_hash": other}):
        with pytest.raises(ProofRejected):
            proofs.verify(proofs.load(json.dumps({**body, **changed}).encode()), root)
    # Without its claims a chunk's proof is read as one of absence, and is none.
    bare = {key: value for key, value in body.items() if not key.startswith("chunk")}
    with pytest.raises(ProofRejected, match="not of a document's absence"):
        proofs.verify(proofs.load(json.dumps(bare).encode()), root)


def test_bytes_that_are_no_proof_file_are_a_proof_error(reader):
    body = proofs.document(proofs.prove(reader, ONE, "1").claim)
    bad = [{**body, "kind": "x"}, {**body, "format_version": "2.0"}, {**body, "proof": "*"}, {**body, "proof": 1}]
    bad += [{**body, "proof": "é"}, {**body, "document": 1}, {**body, "document": {"source": "docs"}}]
    bad += [{**body, "chunk_hash": "b3:"}, {**body, "chunker": None}, [], 1]
    bad += [{**body, "document": {"source": "docs", "path": "\ud800"}}]
    for each in bad:
        with pytest.raises(ProofError):
            proofs.load(json.dumps(each).encode())
    for data in (b"", b"\xff", b"[" * 100_000, b" " * (proofs.MAX_FILE + 1)):
        with pytest.raises(ProofError, match="not a proof file"):
            proofs.load(data)


def damaged(reader):
    """The same, but for a topmost node that is another."""

    def other(nodes):
        return {prefix: replace(node, count=node.count + 1) for prefix, node in nodes.items()}

    return WrappedReader(reader, Faults(Fault("reader.nodes", every(1), answer=other)))


def test_an_index_that_cannot_prove_what_it_committed_says_so(reader):
    with pytest.raises(StoreCorrupt, match="run `steadlith verify`"):
        proofs.prove(damaged(reader), ONE)


def test_a_proof_reads_one_path(reader, monkeypatch):
    monkeypatch.setattr(type(reader), "documents", lambda _: pytest.fail("read all documents"))
    assert proofs.prove(reader, ONE).found.document_root == reader.find([ONE])[ONE].root
    assert isinstance(proofs.prove(reader, ONE, "0").claim.chunk_hash, Digest)

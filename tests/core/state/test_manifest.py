import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core import canon
from steadlith_core.digest import Digest, hash_fields, hasher
from steadlith_core.errors import ManifestError
from steadlith_core.records import DocumentId, Recipe, Space
from steadlith_core.rows import TrieRow
from steadlith_core.state import manifestreading
from steadlith_core.state import recipe as recipes
from steadlith_core.state.manifest import WINDOW, Header, ManifestChunk, ManifestDocument, Window
from steadlith_core.state.manifestreading import Unpacking
from steadlith_core.state.manifestwriting import number, pack
from steadlith_core.state.moving import build
from steadlith_core.state.roots import corpus_root, sources_root, state_root
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key

DIGEST = Digest(bytes(range(32)))
RECIPE = Recipe("text/1", "test/1", DIGEST, DIGEST, "plain/0", "lexical/0", (Space("model", DIGEST, 4),))


def document(path, contexts, metadata, source="docs", parents=None):
    chunks = tuple(
        ManifestChunk(*(hash_fields(f"demo-{kind}", path, position) for kind in "cte"), context, parent)
        for position, (context, parent) in enumerate(
            zip(contexts, parents or [-1] * len(contexts), strict=True),
        )
    )
    topology = [(chunk.parent, chunk.context_hash is not None) for chunk in chunks]
    root = document_root([chunk.chunk_hash for chunk in chunks], metadata, topology)
    return ManifestDocument(DocumentId(source, path), root, hash_fields("demo-s", path), metadata, chunks)


def header(documents, recipe=RECIPE):
    top = build(TrieRow(document_key(each.id), each.root, each.source_digest) for each in documents).after
    corpus = corpus_root(top.count, top.digest)
    chunks = sum(len(each.chunks) for each in documents)
    return Header(recipe, corpus, state_root(corpus, recipe), sources_root(top), len(documents), chunks)


def packed(documents):
    return b"".join(pack(header(documents), documents))


def read(data, size=None):
    size = size or max(1, len(data))
    unpacking = Unpacking([data[at : at + size] for at in range(0, len(data), size)])
    return unpacking.header, list(unpacking.documents())


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["title", "markdown", "x" * 257]
)
contexts = st.none() | st.integers(0, 5).map(lambda n: Digest(n.to_bytes(32, "big")))
ids = st.tuples(st.sampled_from(["docs", "other", "Ä"]), texts)


@st.composite
def corpora(draw):
    found = []
    for source, path in sorted(draw(st.sets(ids, max_size=12))):
        held = draw(st.lists(contexts, max_size=6))
        parents = [draw(st.integers(-1, position - 1)) for position in range(len(held))]
        metadata = draw(st.dictionaries(texts, texts, max_size=4))
        found.append(document(path, held, metadata, source, parents))
    return found


# The layout as format.md 16 words it, without windows that forget and without any care for speed.


def coded(value):
    groups = []
    while True:
        value, low = divmod(value, 128)
        groups.append(low)
        if not value:
            return bytes([*(low + 128 for low in groups[:-1]), groups[-1]])


def referred(known, thing, written, *, kept=True):
    if thing in known:
        return coded(known.index(thing) + 1)
    if kept:
        known.append(thing)
    return b"\x00" + written


def worded_head(head):
    fields = {
        "chunks": head.chunks,
        "corpus_root": head.corpus_root,
        "documents": head.documents,
        "identity_schema": "identity/1",
        "recipe": recipes.encode(RECIPE),
        "sources_root": head.sources_root,
        "state_root": head.state_root,
    }
    body = canon.encode(fields)
    return b"\x8bSLM\x01" + coded(len(body)) + body


def worded_name(own, last):
    path, before, piece = own.path.encode(), b"", b"\x00"
    if last is None or last.source != own.source:
        piece = b"\x01" + coded(len(own.source.encode())) + own.source.encode()
    else:
        before = last.path.encode()
    shared = max(n for n in range(len(path) + 1) if path[:n] == before[:n] and n <= len(before))
    return piece + coded(shared) + coded(len(path) - shared) + path[shared:]


def worded_chunk(position, chunk, hashes):
    back = position - chunk.parent if chunk.parent >= 0 else 0
    piece = chunk.chunk_hash + chunk.text_hash + chunk.entry_hash
    if chunk.context_hash is None:
        return piece + coded(2 * back + 1)
    return piece + coded(2 * back) + referred(hashes, chunk.context_hash, chunk.context_hash)


def worded(documents):
    pieces, strings, hashes, last = [worded_head(header(documents))], [], [], None
    for each in documents:
        piece = worded_name(each.id, last) + each.root + each.source_digest + coded(len(each.metadata))
        for key in sorted(each.metadata, key=lambda key: key.encode()):
            for raw in (key.encode(), each.metadata[key].encode()):
                piece += referred(strings, raw, coded(len(raw)) + raw, kept=len(raw) <= 256)
        piece += coded(len(each.chunks))
        piece += b"".join(worded_chunk(position, chunk, hashes) for position, chunk in enumerate(each.chunks))
        pieces.append(piece)
        last = each.id
    checksum = b""
    for piece in pieces:
        checksum = hasher("manifest")(checksum + piece)
    return b"".join(pieces) + checksum


@settings(max_examples=100, deadline=None)
@given(corpora(), st.integers(1, 50))
def test_what_is_written_is_read_again_in_pieces_of_any_size_and_has_the_bytes_that_the_format_words(documents, size):
    data = packed(documents)
    assert data == worded(documents)
    assert read(data, size) == (header(documents), documents)


def few():
    held = [document("guide/deep/Ä.md", [DIGEST], {"format": "markdown", "title": "Ä"})]
    held.append(
        document("guide/deep/Å.md", [None, DIGEST, Digest(bytes(32))], {"format": "markdown"}, parents=[-1, 0, 0])
    )
    held.append(document("guide/x.md", [], {"title": "x" * 257}))
    return [*held, document("guide/x.md", [DIGEST] * 3, {"title": "Ä"}, "other")]


def test_every_truncation_is_refused():
    data = packed(few())
    for end in range(len(data)):
        with pytest.raises(ManifestError):
            read(data[:end])


def test_every_flipped_bit_is_refused():
    data = packed(few())
    for at in range(len(data)):
        for bit in range(8):
            with pytest.raises(ManifestError):
                read(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_whatever_the_bytes_are_reading_ends_in_documents_or_in_the_typed_error(seed):
    rng = random.Random(seed)
    data = bytearray(packed(few()))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        how = rng.randrange(4)
        if how == 0:
            data[at] = rng.randrange(256)
        elif how == 1:
            del data[at : at + rng.randint(1, 40)]
        elif how == 2:
            data[at:at] = rng.randbytes(rng.randint(1, 10))
        else:
            data[at:at] = data[rng.randrange(len(data)) :][: rng.randint(1, 80)]
    try:
        found = read(bytes(data), rng.randint(1, 100))
    except ManifestError:
        return
    assert packed(found[1]) == bytes(data)


class Believing(manifestreading._Stream):
    """Takes the checksum for right: a liar can make one."""

    def digest(self, what):
        taken = super().digest(what)
        return self.sealed if what == "the checksum" else taken


@pytest.mark.parametrize("seed", range(400))
def test_under_a_right_checksum_too_what_is_read_leads_to_its_roots_and_is_what_the_writer_makes(seed, monkeypatch):
    monkeypatch.setattr(manifestreading, "_Stream", Believing)
    rng = random.Random(seed)
    data = bytearray(packed(few()))
    data[rng.randrange(len(data) - 32)] = rng.randrange(256)
    try:
        head, documents = read(bytes(data))
    except ManifestError:
        return
    assert head == header(documents, head.recipe)
    assert b"".join(pack(head, documents))[:-32] == data[:-32]


def test_a_claim_of_many_documents_or_a_long_text_costs_nothing():
    head = header([])
    huge = {
        **{name: getattr(head, name) for name in ("corpus_root", "state_root", "sources_root", "chunks")},
        "identity_schema": "identity/1",
        "recipe": recipes.encode(RECIPE),
        "documents": 2**62,
    }
    body = canon.encode(huge)
    start = b"\x8bSLM\x01" + number(len(body)) + body
    for rest in (b"", b"\x01" + number(2**60), b"\x01\x01d" + number(0) + number(4097), b"\x01" + b"\xff" * 20):
        with pytest.raises(ManifestError):
            read(start + rest)


def test_the_writer_refuses_what_a_reader_would():
    documents = few()
    with pytest.raises(ManifestError, match="out of order"):
        list(pack(header(documents), reversed(documents)))
    with pytest.raises(ManifestError, match="the header counts 4 and 7"):
        list(pack(header(documents), documents[:3]))
    long = [document("x" * 4097, [], {})]
    with pytest.raises(ManifestError, match="a path has at most 4096 bytes, this one 4097"):
        list(pack(header(long), long))
    with pytest.raises(ManifestError, match="lead to the root"):
        ManifestDocument(documents[0].id, DIGEST, DIGEST, {}, ())
    with pytest.raises(ManifestError, match="has no parent 0"):
        document("x", [DIGEST], {}, parents=[0])
    with pytest.raises(ManifestError, match="the state root is"):
        Header(RECIPE, DIGEST, DIGEST, DIGEST, 0, 0)
    with pytest.raises(ManifestError, match="without a recipe"):
        Header(None, DIGEST, state_root(DIGEST, None), DIGEST, 1, 0)


def test_the_writer_takes_one_document_at_a_time():
    taken = []

    def lazily():
        for each in few():
            taken.append(each.id)
            yield each

    pieces = pack(header(few()), lazily())
    assert [(next(pieces), len(taken))[1] for _ in range(4)] == [0, 1, 2, 3]


def test_a_window_forgets_the_oldest_and_keeps_places():
    window = Window()
    for thing in range(WINDOW + 3):
        window.keep(thing)
    assert [window.place(thing) for thing in (0, 2, 3, WINDOW, WINDOW + 2)] == [None, None, 3, 0, 2]
    assert (window.at(0), window.at(3), window.at(WINDOW)) == (WINDOW, 3, None)


def test_more_contexts_than_can_be_referred_to_are_written_again():
    many = [Digest(value.to_bytes(32, "big")) for value in range(WINDOW + 10)]
    many = [hash_fields("demo", value) for value in many]
    documents = [document("a", [*many, *many[:20], many[-1]], {})]
    data = packed(documents)
    assert read(data)[1] == documents
    assert data.count(many[0]) == 2
    assert data.count(many[15]) == 2  # the ten that came back put out ten more
    assert data.count(many[-1]) == 1


def test_numbers_are_written_in_their_shortest_form():
    assert [number(value) for value in (0, 1, 127, 128, 300)] == [b"\x00", b"\x01", b"\x7f", b"\x80\x01", b"\xac\x02"]

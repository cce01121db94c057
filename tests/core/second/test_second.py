"""The second implementation, written from docs/format.md alone, and the real one say the same."""

import dataclasses
import importlib.util
import json
import random
import struct
from ast import literal_eval
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from second import cuts, documents, identities, proofs, texts, tokens, trees, values

from steadlith_core import canon
from steadlith_core.chunking.structural import StructuralChunker
from steadlith_core.digest import Digest, hash_fields, hasher
from steadlith_core.errors import DocumentError, ProofError, ProofRejected
from steadlith_core.records import Format
from steadlith_core.state import proof as real_proofs
from steadlith_core.state import roots, tree, trie
from steadlith_core.state.proving import Trie
from steadlith_core.text import frontmatter
from steadlith_core.text.canonical import canonicalise, fragment
from steadlith_core.text.tokens import cumulative_bytes

ROOT = Path(__file__).parents[3]
FORMATS = ["markdown", "rst", "text", "code"]
SIZES = [(6, 24, 96), (6, 24, 400), (6, 20, 80), (1, 10, 40)]
"""min_tokens, max_tokens, max_bytes"""


def real_texts(sources, format_):
    """The canonical text of each document with its body, None for one that is refused."""
    for source in sources:
        text = canonicalise(source)
        try:
            yield dataclasses.replace(text, body=frontmatter.read(text, format_, ()).end)
        except DocumentError:
            yield None


def real_cuts(sources, format_, size):
    """The chunks of documents that are cut together, as the second implementation's records."""
    min_tokens, max_tokens, max_bytes = size
    chunker = StructuralChunker(min_tokens=min_tokens, max_tokens=max_tokens, max_bytes=max_bytes)
    read = list(real_texts(sources, Format(format_)))
    cut = (
        group.chunks(number)
        for group in chunker.cut_many([text for text in read if text is not None], Format(format_))
        for number in range(len(group))
    )
    return [None if text is None else [second_record(chunk) for chunk in next(cut)] for text in read]


def second_record(chunk):
    return cuts.Chunk(
        text=chunk.text,
        **{name: getattr(chunk.span, name) for name in ("start", "end", "first_line", "last_line")},
        headings=tuple(chunk.headings),
        level=chunk.level,
        tokens=chunk.tokens,
    )


def second_cut(source, format_, size):
    try:
        return cuts.cut(source, format_, *size)
    except texts.Refused:
        return None


def check_cuts(sources, format_, size):
    for source, real in zip(sources, real_cuts(sources, format_, size), strict=True):
        assert second_cut(source, format_, size) == real, (source, format_, size)
        for chunk, behind in zip(real or [], [*(real or [])[1:], None], strict=False):
            # Section 8, the last sentence. Pieces of a run (15.7) may begin where nothing else does.
            ends = [chunk, behind] if behind else [chunk]
            if all(texts.is_boundary(end.text[0]) for end in ends):
                assert fragment(source[chunk.start : chunk.end]) == chunk.text, (source, format_, size)


# ------------------------------------------------------------------------------------------- texts and cuts

LINES = {
    "markdown": documents.MARKDOWN,
    "rst": documents.RST,
    "text": documents.MARKDOWN + documents.RST,
    "code": documents.CODE,
}
ANYWHERE = [*documents.UNUSUAL, *documents.RUNS, *documents.MARKERS, "A sentence. Another one! And words", "", "", ""]


def sources(format_):
    line = st.tuples(
        st.sampled_from(["", "", "", *documents.INDENTATIONS]),
        st.sampled_from(LINES[format_]) | st.sampled_from(ANYWHERE) | st.text(max_size=8),
        st.sampled_from(["", "", " words of it", ". More", " \t"]),
        st.sampled_from(["\n", "\n", "\n", "\n\n", "\r\n", "\r"]),
    )
    return st.lists(line, max_size=16).map(lambda lines: "".join(map("".join, lines)).encode("utf-8"))


@pytest.mark.parametrize("format_", FORMATS)
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_lines_of_every_construct_are_cut_alike(format_, data):
    check_cuts([data.draw(sources(format_))], format_, data.draw(st.sampled_from(SIZES)))


@pytest.mark.parametrize("format_", FORMATS)
def test_random_documents_are_cut_alike(format_):
    compare(format_, batches=16)


@pytest.mark.slow
@pytest.mark.parametrize("format_", FORMATS)
def test_many_random_documents_are_cut_alike(format_):
    compare(format_, batches=250)


def compare(format_, batches):
    drawn = random.Random(f"{format_} {batches}")
    for _ in range(batches):
        batch = [documents.document(drawn, format_) for _ in range(20)]
        check_cuts(batch, format_, drawn.choice(SIZES))
    long = b"".join(documents.document(drawn, format_) for _ in range(20))
    check_cuts([long], format_, (48, 128, 2048))


@pytest.mark.parametrize("size", [998, 999, 1000, 1001])
@pytest.mark.parametrize(
    ("format_", "made"),
    [
        ("markdown", lambda size: "# " + "x" * (size - 2)),
        ("markdown", lambda size: " " + "x" * (size - 1) + "\n==="),
        ("markdown", lambda size: "|" * size + "\n|-|\n|a|\n|b|\n|c|"),
        ("rst", lambda size: "x" * size + "\n===="),
        ("rst", lambda size: "=" * size + "\nx\n" + "=" * size),
    ],
)
def test_long_lines_are_headings_alike(format_, made, size):
    around = b"word " * 40
    check_cuts([around + b"\n\n" + made(size).encode() + b"\n\n" + around], format_, (10, 60, 240))


@pytest.mark.parametrize("size", range(65_520, 65_540))
def test_a_simple_table_is_as_long_alike(size):
    rows = "a  b\n" * (size // 5) + "c" * (size % 5) + "\n"
    check_cuts([f"== ==\n{rows}== ==\n\nword".encode()], "rst", (2048, 20_000, 200_000))


def test_the_end_of_a_comment_stands_behind_its_start():
    check_cuts([b"<!-->\nOne two. Three four\n# Five six\nmore --> words\n# Seven eight nine"], "markdown", (1, 10, 40))


def test_the_end_of_an_indented_comment_stands_behind_its_start():
    check_cuts([b"  <!-->\nOne two. Three four\n# Five six\nmore --> words\n# Seven eight"], "markdown", (1, 10, 40))


def test_an_overlined_title_of_1000_bytes_is_one():
    check_cuts([b"====\n" + b"x" * 1000 + b"\n====\n\n" + b"word " * 40], "rst", (10, 60, 240))


FRONT_BLOCKS = [
    *("", "a", "- a", "a: 1", "a: 1\n--- b", "%YAML 1.1", "# c", "!foo!bar x: 1", "? [a]\n: b", 'title: "\\ud800"'),
    *(
        "a: \x7f",
        "&a x",
        "*a",
        "- &b c",
        "{}",
        "~",
        "a: 'b",
        "\ta: b",
        "a:\tb",
        "a: b\na: c",
        "a: b: c",
        "a: b #c",
        "1: 2",
    ),
    *(
        "<<: 1",
        "a: @x",
        "a: - b",
        "a: |\n b",
        "\ufeffa: b",
        "a: b\n c",
        "a: \u2028x",
        "x: \u0085y",
        "a: 2026-99-99",
        "a: [b",
    ),
    *(
        "a = 1",
        "a = 1\na = 2",
        "a = 1979-99-99",
        "a = " + "9" * 5000,
        "a.b = 1",
        "\n",
        " \na: b",
        "a: b\n ---",
        "a: b\n...",
    ),
    *("a: " + "[" * depth + "]" * depth for depth in (31, 32, 33)),
    *("[" * depth + "]" * depth for depth in (32, 33, 34)),
    *("a = '" + "." * dots + "'" for dots in (4096, 4097)),
]


@pytest.mark.parametrize("mark", ["---", "+++"])
@pytest.mark.parametrize("block", FRONT_BLOCKS, ids=range(len(FRONT_BLOCKS)))
def test_front_blocks_are_read_or_refused_alike(mark, block):
    for start, end in ((mark, mark), ("\ufeff" + mark + " ", mark + "\t"), (mark, "..."), (mark + "\r", mark + "\r")):
        for behind in ("", "\n", "\n\n  body\n", "\n\u0301b"):
            source = f"{start}\n{block}\n{end}{behind}".encode()
            check_cuts([source], "markdown", (2048, 20_000, 200_000))


@pytest.mark.parametrize("size", [65_536, 65_537])
@pytest.mark.parametrize("block", ["a: ", "- "])
def test_front_blocks_are_as_large_alike(size, block):
    source = f"---\n{block:x<{size - 1}}\n---\n\nbody".encode()
    check_cuts([source], "markdown", (2048, 20_000, 200_000))


@settings(max_examples=300, deadline=None)
@given(sources("markdown") | st.text().map(str.encode))
def test_canonical_texts_places_and_fragments_are_alike(source):
    units = texts.canonical(source)
    real = canonicalise(source)
    text = "".join(unit[0] for unit in units)
    assert text.encode() == bytes(real.data)
    for at, (_, place, _) in enumerate(units):
        assert real.offset(len(text[:at].encode())) == place
    assert texts.fragment(source) == fragment(source)


@settings(max_examples=300, deadline=None)
@given(sources("text") | st.text().map(str.encode))
def test_token_estimates_are_alike(source):
    text = "".join(unit[0] for unit in texts.canonical(source))
    sums = cumulative_bytes(text.encode()).tolist()
    weight = at = 0
    for character, own in zip(text, tokens.weights(text), strict=True):
        weight += own
        at += len(character.encode())
        assert sums[at] == weight


# ----------------------------------------------------------------------------------------- values and proofs

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def read_by(decode, data):
    try:
        return decode(data)
    except ValueError:
        return "refused"


@given(VALUES, st.integers(0), st.integers(0, 255))
def test_values_are_encoded_and_read_alike(value, at, byte):
    data = values.encode(value)
    assert data == canon.encode(value)
    assert values.decode(data) == value
    changed = data[: at % len(data)] + bytes([byte]) + data[at % len(data) + 1 :]
    for other in (changed, data[:-1], data + b"\0", changed + data):
        assert read_by(values.decode, other) == read_by(canon.decode, other)


@given(VALUES, st.binary(), st.text(max_size=5))
def test_digests_are_alike(value, data, constant):
    assert identities.of_fields("demo", value) == hash_fields("demo", value)
    assert identities.of_bytes("demo", data, [constant]) == hasher("demo", constant)(data)


def digest(number):
    return Digest(number.to_bytes(32, "big"))


def corpus(drawn, count):
    """Key and document root of documents; some keys begin alike, so that the trie is deep."""
    base = drawn.randbytes(32)
    same = [drawn.choice([0, 0, 0, 1, 2, 5]) for _ in range(count)]
    return {Digest(base[:size] + drawn.randbytes(32 - size)): Digest(drawn.randbytes(32)) for size in same}


@pytest.mark.parametrize("count", [0, 1, 2, 32, 33, 40, 100, 600])
def test_roots_and_proofs_are_alike(count):
    drawn = random.Random(count)
    rows = corpus(drawn, count)
    chunks = [Digest(drawn.randbytes(32)) for _ in range(count)]
    topology = [(drawn.randrange(-1, index + 1) if index else -1, drawn.random() < 0.5) for index in range(count)]
    topology = [(-1 if parent == index else parent, embed) for index, (parent, embed) in enumerate(topology)]
    metadata = {"title": "T", "format": "text"}
    root = tree.document_root(chunks, metadata, topology)
    assert trees.document_root(chunks, metadata, topology) == root
    assert trees.document_root(chunks, metadata) == tree.document_root(chunks, metadata)
    if rows:
        rows[next(iter(rows))] = root
    made = Trie(rows.items())
    assert trees.trie_root(rows) == trie.trie_root(rows.items())
    corpus_root = trees.corpus_root(len(rows), trees.trie_root(rows), "text/1")
    assert corpus_root == made.corpus_root == roots.corpus_root(len(rows), trie.trie_root(rows.items()))
    absent = [Digest(drawn.randbytes(32)) for _ in range(5)] + [
        Digest(key[:-1] + bytes([key[-1] ^ 1])) for key in list(rows)[:5]
    ]
    claims = [(proofs.DOCUMENT, key, rows[key], made.prove(key)) for key in list(rows)[:5]]
    claims += [(proofs.ABSENCE, key, None, made.prove(key)) for key in absent]
    claims += [
        (proofs.CHUNK, key, chunks[index], made.prove_chunk(key, chunks, metadata, index, topology))
        for key in list(rows)[:1]
        for index in {0, 1 % count, count // 2, count - 1}
    ]
    for claim in claims:
        assert verified_by_both(corpus_root, *claim)
        kind, key, value, proof = claim
        for _ in range(20):
            at = drawn.randrange(min(len(proof), 200))
            changed = proof[:at] + bytes([proof[at] ^ 1 << drawn.randrange(8)]) + proof[at + 1 :]
            assert not verified_by_both(corpus_root, kind, key, value, changed)
        assert not verified_by_both(corpus_root, kind, key, value, proof[:-1])
        assert not verified_by_both(corpus_root, kind, key, value, proof + b"\0")
        assert not verified_by_both(digest(0), *claim)
        assert not verified_by_both(corpus_root, kind % 3 + 1, key, value or digest(1), proof)


def verified_by_both(corpus_root, kind, key, claim, proof):
    found = proofs.verify(corpus_root, kind, key, claim, proof)
    try:
        if kind == proofs.DOCUMENT:
            real_proofs.verify_document(Digest(corpus_root), key, claim, proof)
        elif kind == proofs.CHUNK:
            real_proofs.verify_chunk(Digest(corpus_root), key, claim, proof)
        else:
            real_proofs.verify_absence(Digest(corpus_root), key, proof)
    except (ProofError, ProofRejected):
        assert not found
    else:
        assert found
    return found


# -------------------------------------------------------------------------------------------- golden vectors


def vectors(name):
    return json.loads((ROOT / f"conformance/src/steadlith_conformance/vectors/{name}.json").read_text())


def golden():
    """The sources of the vectors, of which the files have only the digests."""
    spec = importlib.util.spec_from_file_location("golden", ROOT / "scripts" / "golden.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def parsed(printed):
    return bytes.fromhex(printed.removeprefix("b3:"))


def test_the_schema_is_that_of_the_vectors():
    assert vectors("identities")["identity_schema"] == identities.IDENTITY_SCHEMA


def test_vectors_of_encodings_and_digests():
    for vector in vectors("encodings"):
        value = literal_eval(vector["value"])
        assert values.encode(value).hex() == vector["bytes"]
        assert values.decode(bytes.fromhex(vector["bytes"])) == value
    printed = identities.printed
    assert vectors("digests") == {
        "H[demo](empty list)": printed(identities.of_fields("demo")),
        "H[demo](x, 1)": printed(identities.of_fields("demo", "x", 1)),
        "H[demo] of bytes abc": printed(identities.of_bytes("demo", b"abc")),
        "H[demo with constants one, two] of bytes abc": printed(identities.of_bytes("demo", b"abc", ["one", "two"])),
    }


def test_vectors_of_texts():
    for name, vector in vectors("texts")["good"].items():
        source = bytes.fromhex(vector["source"])
        units = texts.canonical(source)
        assert "".join(unit[0] for unit in units).encode().hex() == vector["canonical"], name
        assert [unit[1] for unit in units] == vector["offsets"][:-1], name
        assert texts.fragment(source).encode().hex() == vector["fragment"], name
    for vector in vectors("texts")["bad"].values():
        with pytest.raises(UnicodeDecodeError):
            texts.canonical(bytes.fromhex(vector["source"]))


def test_vectors_of_tokens():
    for text, vector in vectors("tokens").items():
        units = sum(tokens.weights(text))
        assert vector == {"units": units, "tokens": tokens.size(units)}, text


def test_vectors_of_cuts():
    found = vectors("cuts")
    ids, params = vectors("identities"), found["params"]
    for name, vector in found["documents"].items():
        source = golden().DOCUMENTS[name][1]
        assert identities.source_digest(source) == parsed(vector["source"])
        size = [params[key] for key in ("min_tokens", "max_tokens", "max_bytes")]
        chunks = [
            {
                "start": chunk.start,
                "end": chunk.end,
                "first_line": chunk.first_line,
                "level": chunk.level,
                "tokens": chunk.tokens,
                "headings": list(chunk.headings),
                "text_hash": identities.printed(identities.text_hash(chunk.text)),
                "chunk_hash": identities.printed(
                    identities.chunk_hash(
                        chunk.text, ids["normalizer_id"], ids["chunker_id"], identities.params_hash(params)
                    )
                ),
            }
            for chunk in cuts.cut(source, vector["format"], *size)
        ]
        assert chunks == vector["chunks"], name


def key(name):
    return trees.document_key("docs", f"{name}.md")


def leaf(number):
    return number.to_bytes(32, "big")


def test_vectors_of_the_state():
    context = identities.context_hash("breadcrumb/0", ["A", "B"])
    model, params = "model/1", identities.params_hash({"dimensions": 4})
    text = identities.text_hash("text")
    space = golden().recipe().spaces[0]
    space_id = trees.space_id(model, params, 4, space.quantization)
    normalizer_id = vectors("identities")["normalizer_id"]
    family = [(-1, True), (-1, False), (1, True), (1, True)]

    def trie_of(count):
        root = trees.trie_root({key(number): leaf(number) for number in range(count)})
        corpus_root = trees.corpus_root(count, root, normalizer_id)
        spaces = [(space_id, 4, space.quantization)]
        return {
            "trie": root,
            "corpus": corpus_root,
            "state": trees.state_root(corpus_root, spaces, "lexical/0", "plain/0"),
        }

    empty = trees.corpus_root(0, trees.trie_root({}), normalizer_id)
    made = {
        "tree": {
            str(count): trees.leaves_root([trees.leaf(leaf(number)) for number in range(count)])
            for count in (0, 1, 2, 3, 5, 8, 1000)
        },
        "document": {
            "empty": trees.document_root([], {"title": "", "format": "text"}),
            "two leaves": trees.document_root([leaf(1), leaf(2)], {"title": "T", "format": "markdown", "tags": "a, b"}),
            "a chunk, a parent and two parts": trees.document_root([leaf(number) for number in range(4)], {}, family),
        },
        "key": trees.document_key("docs", "guide/ä.md"),
        "tries": {str(count): trie_of(count) for count in (0, 1, 2, 32, 33, 1000, 10000)},
        "empty": {"corpus": empty, "state": trees.state_root(empty, [], None, None)},
        "space": space_id,
        "context": context,
        "entry": identities.entry_hash(text, "Title", ["A", "B"], context),
        "entry that is not embedded": identities.entry_hash(text, "Title", ["A", "B"], None),
        "vector_key": identities.vector_key("text", model, params),
        "embedding_id": identities.embedding_id(leaf(1), context, model, params),
    }
    assert printed_all(made) == vectors("state")


def test_vectors_of_foreign_chunks():
    text, params = identities.text_hash("text"), identities.params_hash({"dimensions": 4})
    context = identities.foreign_context_hash("model/1", params, struct.pack("<4f", 0.5, -0.5, 1.5, 0.0))
    made = {
        "chunk": identities.foreign_chunk_hash("text", "foreign/jsonl"),
        "context": context,
        "entry": identities.entry_hash(text, "", [], context),
        "vector_key": identities.foreign_vector_key(text, context),
    }
    assert printed_all(made) == vectors("foreign")


def printed_all(value):
    if isinstance(value, dict):
        return {name: printed_all(each) for name, each in value.items()}
    return identities.printed(value)


def test_vectors_of_proofs():
    found = vectors("proofs")
    for vector in found["documents"].values():
        root = parsed(vector["corpus"])
        for each in vector["present"]:
            claim = parsed(each["key"]), parsed(each["document_root"])
            assert proofs.verify(root, proofs.DOCUMENT, *claim, bytes.fromhex(each["proof"]))
        for each in vector["absent"]:
            assert proofs.verify(root, proofs.ABSENCE, parsed(each["key"]), None, bytes.fromhex(each["proof"]))
    for vector in found["chunks"].values():
        for each in vector["chunks"]:
            claim = parsed(vector["key"]), parsed(each["chunk_hash"])
            assert proofs.verify(parsed(vector["corpus"]), proofs.CHUNK, *claim, bytes.fromhex(each["proof"]))
    for name, each in found["refused"].items():
        claim = parsed(each["key"]), parsed(each["document_root"])
        assert not proofs.verify(parsed(each["corpus"]), proofs.DOCUMENT, *claim, bytes.fromhex(each["proof"])), name

"""Golden vectors: write what this version computes, or with `--check` prove that nothing changed.

Vectors are stored per identity. Those of a `/0` identity may be written again, with a changelog line. Names of files
(`golden.py proofs`) keep it to those.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from steadlith_core import canon
from steadlith_core import vectors as vectors32
from steadlith_core.cachefile import pack as pack_entries
from steadlith_core.chunking.structural import POLICY_ID, StructuralChunker
from steadlith_core.digest import Digest, hash_fields, hasher
from steadlith_core.errors import DocumentError
from steadlith_core.records import IDENTITY_SCHEMA, DocumentId, Format, Recipe, Space
from steadlith_core.retrieval.quantization import BINARY, INT8, codes, problem
from steadlith_core.rows import TrieRow
from steadlith_core.state import foreign, identity, proofbytes
from steadlith_core.state import recipe as recipes
from steadlith_core.state.manifest import Header, ManifestChunk, ManifestDocument, checksum
from steadlith_core.state.manifestwriting import pack
from steadlith_core.state.moving import build
from steadlith_core.state.proving import Trie
from steadlith_core.state.roots import corpus_root, empty_head, sources_root, space_id, state_root
from steadlith_core.state.template import TEMPLATES
from steadlith_core.state.tree import Topology, document_root, leaves_root, metadata_hash
from steadlith_core.state.trie import document_key, leaf_digest, trie_root
from steadlith_core.text.canonical import NORMALIZER_ID, canonicalise, fragment
from steadlith_core.text.tokens import ESTIMATOR_ID, cumulative, estimate

FOLDER = Path(__file__).parent.parent / "conformance" / "src" / "steadlith_conformance" / "vectors"

TEXTS = {
    "empty": b"",
    "ascii": b"one\ntwo  \n\n three\t\n",
    "crlf": b"one\r\ntwo\r\n",
    "lone cr": b"one\rtwo\r\r\nthree",
    "bom": b"\xef\xbb\xbfone",
    "two boms": b"\xef\xbb\xbf\xef\xbb\xbfone\xef\xbb\xbf",
    "nfd": "Cafe\u0301 A\u030a".encode(),
    "reordering": "a\u0301\u0323 e\u0323\u0302".encode(),
    "hangul": "\u1112\u1161\u11ab \ud55c\u1100\u1161".encode(),
    "astral": "\U0001f600 \U0001d11e\u0301".encode(),
    "controls": b"a\x00b\x0bc\x0c\n\x0c\nd",
    "line separator": "a\u2028b\u0085c\u00a0 \n".encode(),
    "mark after line end": "a\n\u0301b".encode(),
    "unassigned in 14.0": "e\u0301 x\U00011f04\u0301 \u0c5d".encode(),
    "newer than 14.0": "a\U0001e08f\u0301".encode(),
}
BAD = {"invalid": b"ok\xffno", "surrogate": b"\xed\xa0\x80", "cut short": "é".encode()[:1], "overlong": b"\xc0\xaf"}

MARKDOWN = "".join(
    f"{'#' * (1 + section % 3)} Section {section}\n\n"
    + "".join(
        f"Paragraph {section}.{number} says something about item {number * section % 7}. It has two sentences.\n\n"
        for number in range(3 + section % 4)
    )
    + ("```python\nfor i in range(10):\n    # not a heading\n    print(i)\n```\n\n" if section % 5 == 2 else "")
    + ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n" if section % 5 == 3 else "")
    for section in range(1, 13)
)
RST = (
    "Title\n=====\n\nSome words here.\n\nPart\n----\n\n"
    + "A sentence of reStructuredText. " * 40
    + "\n\n::\n\n    code\n"
)
CJK = "# 标题\n\n" + "数据库事务必须满足原子性。隔离级别决定可见性！" * 30 + "\n\n日本語の文章です。次の文です。\n"
DOCUMENTS: dict[str, tuple[Format, bytes]] = {
    "markdown": (Format.MARKDOWN, MARKDOWN.encode()),
    "markdown crlf": (Format.MARKDOWN, MARKDOWN.replace("\n", "\r\n").encode()),
    "rst": (Format.RST, RST.encode()),
    "cjk": (Format.MARKDOWN, CJK.encode()),
    "code": (Format.CODE, b"".join(b"def f%d(x):\n    return x + %d\n\n\n" % (i, i) for i in range(40))),
    "one line": (Format.TEXT, b"word " * 900),
    "base64": (Format.TEXT, b"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo" * 120),
}
POLICY = StructuralChunker(min_tokens=48, max_tokens=128)


def recipe() -> Recipe:
    """The recipe that the vectors of chunk hashes and roots are made under."""
    return Recipe(
        normalizer_id=NORMALIZER_ID,
        chunker_id=POLICY.id,
        chunker_params_hash=identity.params_hash(POLICY.params),
        content_hash=hash_fields("content", []),
        template_id=TEMPLATES["plain"].id,
        lexical_id="lexical/0",
        spaces=(Space("model/1", identity.params_hash({"dimensions": 4}), 4),),
    )


def encodings() -> list[dict[str, str]]:
    values: list[canon.Value] = [
        *("", "é", "\U0001f600", b"", b"\x00\xff", 0, 1, -1, 255, 256, -256, 2**64, True, False, None),
        [],
        ["a", ["b", []]],
        {},
        {"b": 1, "a": [None]},
        {"\U0001f600": 1, "\uff5e": 2},
    ]
    return [{"value": repr(value), "bytes": canon.encode(value).hex()} for value in values]


def digests() -> dict[str, str]:
    return {
        "H[demo](empty list)": str(hash_fields("demo")),
        "H[demo](x, 1)": str(hash_fields("demo", "x", 1)),
        "H[demo] of bytes abc": str(hasher("demo")(b"abc")),
        "H[demo with constants one, two] of bytes abc": str(hasher("demo", "one", "two")(b"abc")),
    }


def texts() -> dict[str, Any]:
    good = {}
    for name, content in TEXTS.items():
        text = canonicalise(content)
        good[name] = {
            "source": content.hex(),
            "canonical": text.text.encode().hex(),
            "offsets": [text.offset(len(text.text[:at].encode())) for at in range(len(text.text) + 1)],
            "fragment": fragment(content).encode().hex(),
        }
    bad = {}
    for name, content in BAD.items():
        try:
            canonicalise(content)
        except DocumentError as error:
            bad[name] = {"source": content.hex(), "finding": str(error.kind)}
    return {"good": good, "bad": bad}


def tokens() -> dict[str, Any]:
    samples = [
        *("", "a", "hello world", "x" * 100, "12345", "数据库事务", "é" * 10, "\U0001f600", "a  \n\n\n b", "{}[]()"),
    ]
    return {sample: {"units": int(cumulative(sample)[-1]), "tokens": estimate(sample)} for sample in samples}


def cuts() -> dict[str, Any]:
    name = identity.chunk_hasher(recipe())
    found: dict[str, Any] = {"params": dict(POLICY.params), "documents": {}}
    for title, (format_, content) in DOCUMENTS.items():
        chunks, findings = POLICY.cut(canonicalise(content), format_)
        found["documents"][title] = {
            "format": str(format_),
            "source": str(identity.source_digest(content)),
            "chunks": [
                {
                    "start": chunk.span.start,
                    "end": chunk.span.end,
                    "first_line": chunk.span.first_line,
                    "level": chunk.level,
                    "tokens": chunk.tokens,
                    "headings": list(chunk.headings),
                    "text_hash": str(identity.text_hash(chunk.text)),
                    "chunk_hash": str(name(chunk.text)),
                }
                for chunk in chunks
            ],
            "findings": [str(finding.kind) for finding in findings],
        }
    return found


def documents() -> dict[str, str]:
    """The sources that `cuts` are of, in a file of their own: that of a released id is frozen."""
    return {title: content.hex() for title, (_, content) in DOCUMENTS.items()}


def leaf(number: int) -> Digest:
    return Digest(number.to_bytes(32, "big"))


def key(name: object) -> Digest:
    return document_key(DocumentId("docs", f"{name}.md"))


def rows(count: int) -> list[tuple[Digest, Digest]]:
    return [(key(number), leaf(number)) for number in range(count)]


def state() -> dict[str, Any]:
    how = recipe()
    tries = {}
    for count in (0, 1, 2, 32, 33, 1000, 10000):
        trie = trie_root(rows(count))
        corpus = corpus_root(count, trie)
        tries[str(count)] = {"trie": str(trie), "corpus": str(corpus), "state": str(state_root(corpus, how))}
    counts = (0, 1, 2, 3, 5, 8, 1000)
    text = identity.text_hash("text")
    context = identity.context_hash("breadcrumb/0", ("A", "B"))
    space = how.spaces[0]
    family = [(-1, True), (-1, False), (1, True), (1, True)]
    return {
        "tree": {str(count): str(leaves_root([leaf(number) for number in range(count)])) for count in counts},
        "document": {
            "empty": str(document_root([], {"title": "", "format": "text"})),
            "two leaves": str(document_root([leaf(1), leaf(2)], {"title": "T", "format": "markdown", "tags": "a, b"})),
            "a chunk, a parent and two parts": str(document_root([leaf(number) for number in range(4)], {}, family)),
        },
        "key": str(document_key(DocumentId("docs", "guide/ä.md"))),
        "tries": tries,
        "empty": {"corpus": str(empty_head().corpus_root), "state": str(empty_head().state_root)},
        "space": str(space_id(space)),
        "context": str(context),
        "entry": str(identity.entry_hash(text, "Title", ("A", "B"), context)),
        "entry that is not embedded": str(identity.entry_hash(text, "Title", ("A", "B"), None)),
        "vector_key": str(identity.vector_key("text", space.model_id, space.params_hash)),
        "embedding_id": str(identity.embedding_id(leaf(1), context, space.model_id, space.params_hash)),
    }


def foreign_identities() -> dict[str, str]:
    """Those of a chunk that another program cut, with the vector that came with it."""
    text, space = identity.text_hash("text"), recipe().spaces[0]
    context = foreign.context_hash(space, vectors32.pack([0.5, -0.5, 1.5, 0.0]))
    name = identity.chunk_hasher(foreign.cut_by(recipe(), {foreign.KEY: "foreign/jsonl"}))
    return {
        "chunk": str(name("text")),
        "context": str(context),
        "entry": str(identity.entry_hash(text, "", (), context)),
        "vector_key": str(foreign.vector_key(text, context)),
    }


def printed(**claim: bytes | int | str) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Digest) else _plain(value) for name, value in claim.items()}


def _plain(value: bytes | int | str) -> int | str:
    return value.hex() if isinstance(value, bytes) else value


def absences(trie: Trie) -> list[dict[str, Any]]:
    """One that ends in a leaf and one that ends above a child that is not there, where the corpus has both."""
    ends: dict[bool, dict[str, Any]] = {}
    for number in range(200):
        missing = key(f"missing {number}")
        proof = trie.prove(missing)
        ends.setdefault(proofbytes.unpack(proof).rows is None, printed(key=missing, proof=proof))
    return list(ends.values())


def chunk_proofs(count: int, topology: Topology = ()) -> dict[str, Any]:
    """Chunks of the document `0` in a corpus of 33."""
    chunks, metadata = [leaf(number) for number in range(count)], {"title": f"{count}", "format": "text"}
    document = document_root(chunks, metadata, topology)
    trie = Trie([(key(0), document), *rows(33)[1:]])

    def proof(index: int) -> bytes:
        return trie.prove_chunk(key(0), chunks, metadata, index, topology)

    return {
        **printed(corpus=trie.corpus_root, document_root=document, count=count),
        **printed(key=key(0), metadata_hash=metadata_hash(metadata)),
        "metadata": metadata,
        "topology": list(topology),
        "chunks": [
            printed(index=index, chunk_hash=chunks[index], proof=proof(index))
            for index in sorted({0, count // 2, count - 1})
        ],
    }


def refusals() -> dict[str, Any]:
    """Proofs of a document that a reader must refuse, most of them under a root that they do lead to."""
    own, one, two = (key(number) for number in (0, 1, 2))
    trie = Trie(rows(2))
    good = trie.prove(own)
    at = good.index(own) - 8  # where the document count stands
    many = Trie(rows(33))

    def forged(*others: tuple[Digest, Digest], documents: int) -> dict[str, Any]:
        """One leaf of `others` and the claimed row, as its maker listed them."""
        root = corpus_root(documents, leaf_digest([*others, (own, leaf(0))]))
        body = bytes((0, 0, len(others))) + b"".join(part for row in others for part in row)
        proof = good[:at] + documents.to_bytes(8, "big") + own + body
        return printed(corpus=root, key=own, document_root=leaf(0), proof=proof)

    def changed(proof: bytes, corpus: Digest = trie.corpus_root, **claim: Digest) -> dict[str, Any]:
        return printed(**{"corpus": corpus, "key": own, "document_root": leaf(0), "proof": proof, **claim})

    descending = sorted(((one, leaf(1)), (two, leaf(2))), reverse=True)
    return {
        "empty": changed(b""),
        "cut short": changed(good[:-1]),
        "a byte after the end": changed(good + b"\x00"),
        "another magic": changed(b"\x00" + good[1:]),
        "another version": changed(good[:4] + b"\x00" + good[5:]),
        "an unknown kind": changed(good[:5] + b"\x04" + good[6:]),
        "another schema": changed(good.replace(b"identity/", b"identitx/")),
        "another normaliser": changed(good.replace(b"text/", b"texu/")),
        "another key": changed(good, key=one),
        "another document root": changed(good, document_root=leaf(7)),
        "another corpus": changed(good, corpus=Trie(rows(3)).corpus_root),
        "rows in descending order": forged(*descending, documents=3),
        "a row twice": forged((one, leaf(1)), (one, leaf(1)), documents=3),
        "the own key among the rows": forged((own, leaf(9)), documents=2),
        "a leaf of 33": forged(*sorted(rows(33)[1:]), documents=33),
        "a count that the leaf belies": forged((one, leaf(1)), documents=3),
        "an inner node above 32 documents": changed(
            many.prove(own).replace((33).to_bytes(8, "big"), (32).to_bytes(8, "big")), corpus_root(32, many.root)
        ),
    }


def proofs() -> dict[str, Any]:
    tries = {}
    for count in (0, 1, 32, 33, 10000):
        trie = Trie(rows(count))
        tries[str(count)] = {
            "corpus": str(trie.corpus_root),
            "present": [
                printed(key=key(number), document_root=leaf(number), proof=trie.prove(key(number)))
                for number in sorted({0, count // 2, count - 1} & set(range(count)))
            ],
            "absent": absences(trie),
        }
    chunks = {str(count): chunk_proofs(count) for count in (1, 2, 3, 5, 8, 1000)}
    parts = chunk_proofs(5, ((-1, True), (-1, False), (1, True), (1, True), (-1, False)))
    return {"documents": tries, "chunks": {**chunks, "5 with parts": parts}, "refused": refusals()}


def held(
    path: str, contexts: Sequence[int | None], metadata: dict[str, str], *, source: str = "docs", parent: int = -1
) -> ManifestDocument:
    """A document of a manifest with a chunk for each context, the last one a part of `parent`."""
    chunks = tuple(
        ManifestChunk(
            chunk_hash=hash_fields("demo-chunk", path, number),
            text_hash=hash_fields("demo-text", path, number),
            entry_hash=hash_fields("demo-entry", path, number),
            context_hash=None if context is None else leaf(context),
            parent=parent if number == len(contexts) - 1 else -1,
        )
        for number, context in enumerate(contexts)
    )
    topology = [(chunk.parent, chunk.context_hash is not None) for chunk in chunks]
    root = document_root([chunk.chunk_hash for chunk in chunks], metadata, topology)
    return ManifestDocument(DocumentId(source, path), root, hash_fields("demo-source", path), metadata, chunks)


def head_of(documents: Sequence[ManifestDocument], how: Recipe | None) -> Header:
    """The header that follows from documents."""
    trie = build(TrieRow(document_key(each.id), each.root, each.source_digest) for each in documents).after
    corpus = corpus_root(trie.count, trie.digest)
    chunks = sum(len(each.chunks) for each in documents)
    return Header(how, corpus, state_root(corpus, how), sources_root(trie), len(documents), chunks)


def manifest_case(documents: Sequence[ManifestDocument], how: Recipe | None) -> dict[str, Any]:
    header = head_of(documents, how)
    roots = printed(corpus=header.corpus_root, state=header.state_root, sources=header.sources_root)
    listed = [
        {
            **printed(source=each.id.source, path=each.id.path, root=each.root, source_digest=each.source_digest),
            "metadata": dict(each.metadata),
            "chunks": [
                {
                    **printed(chunk_hash=chunk.chunk_hash, text_hash=chunk.text_hash, entry_hash=chunk.entry_hash),
                    "context_hash": None if chunk.context_hash is None else str(chunk.context_hash),
                    "parent": chunk.parent,
                }
                for chunk in each.chunks
            ],
        }
        for each in documents
    ]
    return {
        **roots,
        "recipe": how is not None,
        "documents": listed,
        "manifest": b"".join(pack(header, documents)).hex(),
    }


def sealed(*pieces: bytes) -> str:
    """A manifest of these pieces with a checksum that is right."""
    so_far = b""
    for piece in pieces:
        so_far = checksum(so_far + piece)
    return b"".join((*pieces, so_far)).hex()


def refused_manifests() -> dict[str, str]:
    """What a reader must refuse, most of it under a checksum that is right."""
    how = recipe()
    one, two = held("a", [], {}), held("b", [], {})
    head, first, second, _ = pack(head_of([one, two], how), [one, two])
    whole = bytes.fromhex(sealed(head, first, second))
    body, other = first[9:], second[4:]  # what stands behind the names: 01 04 docs 00 01 a, and 00 00 01 b
    digests = one.root + one.source_digest
    chunk = held("a", [1], {})
    chunked = list(pack(head_of([chunk], how), [chunk]))[:-1]

    def named(name: bytes, rest: bytes = other) -> str:
        """With a second document that has another name."""
        return sealed(head, first, name + rest)

    def with_metadata(metadata: bytes) -> str:
        return sealed(head, first[:9] + digests + metadata + b"\x00", second)

    def headed(recipe: bytes | None = recipes.encode(how), **wrong: canon.Value) -> str:
        good = head_of([one, two], how)
        fields: dict[str, canon.Value] = {
            "identity_schema": IDENTITY_SCHEMA,
            "recipe": recipe,
            "corpus_root": good.corpus_root,
            "state_root": state_root(good.corpus_root, how if recipe else None),
            "sources_root": good.sources_root,
            "documents": good.documents,
            "chunks": good.chunks,
        }
        fields |= wrong
        coded = canon.encode(fields)
        return sealed(head[:5] + bytes((len(coded) & 127 | 128, len(coded) >> 7)) + coded, first, second)

    return {
        "empty": "",
        "cut short": whole[:-1].hex(),
        "a byte after the end": (whole + b"\x00").hex(),
        "another magic": (b"\x00" + whole[1:]).hex(),
        "another version": (whole[:4] + b"\x02" + whole[5:]).hex(),
        "another byte under the same checksum": (whole[:-1] + bytes((whole[-1] ^ 1,))).hex(),
        "another schema": headed(identity_schema="identity/2"),
        "a field more": headed(lineage="x"),
        "no recipe": headed(None),
        "a state root that does not follow": headed(state_root=leaf(9)),
        "another corpus root": headed(corpus_root=leaf(9), state_root=state_root(leaf(9), how)),
        "another sources root": headed(sources_root=leaf(9)),
        "fewer documents than are there": headed(documents=1),
        "more chunks than are there": headed(chunks=1),
        "documents out of order": sealed(head, first[:8] + b"b" + other, b"\x00\x00\x01a" + body),
        "a document twice": sealed(head, first, b"\x00\x01\x00" + body),
        "the same source as another": named(b"\x01\x04docs\x00\x01b"),
        "no source": sealed(head, b"\x00\x00\x01a" + body, second),
        "more shared than there is": named(b"\x00\x02\x01b"),
        "less shared than could be": named(b"\x00\x00\x02ab"),
        "a longer number": named(b"\x00\x80\x00\x01b"),
        "a path that is no UTF-8": named(b"\x00\x00\x01\xff"),
        "a reference to nothing": with_metadata(b"\x01\x05\x05"),
        "a text twice": with_metadata(b"\x01\x00\x01t\x00\x01t"),
        "metadata out of order": with_metadata(b"\x02\x00\x01b\x00\x01c\x00\x01a\x01"),
        "a document root that does not follow": sealed(head, first.replace(one.root, leaf(9)), second),
        "a chunk hash that does not follow": sealed(
            chunked[0], chunked[1].replace(chunk.chunks[0].chunk_hash, leaf(9))
        ),
        "a parent before the first chunk": sealed(chunked[0], chunked[1][:-34] + b"\x02" + chunked[1][-33:]),
    }


def manifests() -> dict[str, Any]:
    family = held("guide/parts.md", [None, 1, 1, 2], {"format": "markdown", "title": "Parts"}, parent=0)
    small = [
        held("guide/deep/Ä.md", [1], {"format": "markdown", "title": ""}),
        held("guide/deep/Å.md", [1, 2, 1], {"format": "markdown", "tags": "a, b", "title": "Parts"}),
        family,
        held("long", [], {"format": "text", "title": "x" * 257}),
        held("long.txt", [], {"format": "text", "title": "x" * 257}),
        held("guide/parts.md", [3], {}, source="other"),
    ]
    # More contexts than can be referred to, and then again the first ones, of which 4 are left of the first 104.
    many = [held("many", [*range(4200), *range(100, 108)], {})]
    return {
        "constants": {"recipe": recipes.encode(recipe()).hex()},
        "manifests": {
            "no index": manifest_case([], None),
            "no documents": manifest_case([], recipe()),
            "a few": manifest_case(small, recipe()),
        },
        "many contexts": printed(
            last=next(reversed(list(pack(head_of(many, recipe()), many)))),
            size=sum(map(len, pack(head_of(many, recipe()), many))),
        ),
        "refused": refused_manifests(),
    }


def cached(name: str, *values: float) -> tuple[Digest, bytes]:
    """An entry of a cache file."""
    return hash_fields("demo", name), vectors32.pack(values)


def cachefiles() -> dict[str, Any]:
    entries = sorted(
        [
            cached("a", 1.0, 0.0, -0.5),
            cached("b", 0.25),
            cached("c", 1e-45, 3.4028234663852886e38),
            cached("d", *[1] * 70),
        ]
    )
    return {
        "files": {
            name: {
                "entries": [{"key": str(key), "vector": vector.hex()} for key, vector in given],
                "file": b"".join(pack_entries(given)).hex(),
            }
            for name, given in {"nothing": [], "one": entries[:1], "a few": entries}.items()
        },
        "refused": refused_cachefiles(entries),
    }


def refused_cachefiles(entries: list[tuple[Digest, bytes]]) -> dict[str, str]:
    """What a reader must refuse, most of it under checksums that are right."""
    head, first, second, *_ = pack_entries(entries)
    whole = b"".join(pack_entries(entries[:2]))

    def sealed(*records: bytes, count: int | None = None) -> str:
        """A file of these entries, whatever they are, with its end."""
        chain = hasher("cache-file")(head)
        for record in records:
            chain = hasher("cache-file")(chain + record[:4] + record[-32:])
        end = bytes(4) + (len(records) if count is None else count).to_bytes(8, "big")
        return b"".join((head, *records, end, hasher("cache-file")(chain + end))).hex()

    def entry(key: bytes, vector: bytes, dimensions: int | None = None) -> bytes:
        size = len(vector) // 4 if dimensions is None else dimensions
        return size.to_bytes(4, "big") + key + vector + hasher("cache-entry")(key + vector)

    key = entries[0][0]
    assert sealed(first, second) == whole.hex()
    return {
        "empty": "",
        "another magic": (b"\x00" + whole[1:]).hex(),
        "another version": (whole[:4] + b"\x02" + whole[5:]).hex(),
        "cut short in the end": whole[:-1].hex(),
        "cut short in an entry": whole[:60].hex(),
        "no end": (head + first).hex(),
        "a byte after the end": (whole + b"\x00").hex(),
        "another digest": (whole[:-1] + bytes((whole[-1] ^ 1,))).hex(),
        "more entries than are there": sealed(first, second, count=3),
        "an entry left out under the same end": (head + second + whole[len(head + first + second) :]).hex(),
        "entries out of order": sealed(second, first),
        "an entry twice": sealed(first, first),
        "another vector under the same checksum": sealed(first[:36] + bytes(len(first) - 68) + first[-32:]),
        "another key under the same checksum": sealed(first[:4] + bytes(32) + first[36:]),
        "a vector of zeros": sealed(entry(key, bytes(12))),
        "a vector that is not finite": sealed(entry(key, vectors32.pack([1.0, float("inf")]))),
        "a vector that is not a number": sealed(entry(key, vectors32.pack([1.0, float("nan")]))),
        "too many dimensions": sealed(entry(key, b"", 65_537)),
    }


def quantized() -> dict[str, Any]:
    """Codes of vectors; float32 as 4 bytes a component, least significant first."""
    rows: dict[str, list[float]] = {
        "3, 4": [3, 4],
        "every sign": [0, -1, 1, -1, 1, 1, 1, 0],
        "zeros": [0.0, -0.0] * 4,
        "one axis": [0, 0, -2, 0, 0, 0, 0, 0],
        "equal parts": [0.5] * 16,
        # 127 x component / length is 63.5 at both ends, halfway between two levels
        "halves": [127, 0, 0, -127, 127, -127, 0, 0],
        "smallest": [1e-45, -1e-45, 0, 0, 0, 0, 0, 0],
        "greatest": [3e38, -3e38, 3e38, 0, 0, 0, 0, 0],
        "24 components": [(number * 37 % 101) - 50 for number in range(24)],
        "seven components": [1, -2, 3, -4, 5, -6, 7],
    }
    found = {}
    for name, row in rows.items():
        packed = vectors32.pack(row)
        found[name] = {
            "float32": packed.hex(),
            "int8": codes(INT8, [packed], len(row))[0].hex(),
            "binary": None if problem(BINARY, len(row)) else codes(BINARY, [packed], len(row))[0].hex(),
        }
    return found


def vectors() -> dict[str, Callable[[], Any]]:
    """Every file of vectors by name."""
    identities = {
        "identity_schema": IDENTITY_SCHEMA,
        "normalizer_id": NORMALIZER_ID,
        "chunker_id": POLICY_ID,
        "estimator_id": ESTIMATOR_ID,
    }
    return {
        "identities": lambda: identities,
        "encodings": encodings,
        "digests": digests,
        "texts": texts,
        "tokens": tokens,
        "cuts": cuts,
        "documents": documents,
        "state": state,
        "foreign": foreign_identities,
        "proofs": proofs,
        "manifests": manifests,
        "cachefiles": cachefiles,
        "quantization": quantized,
    }


def main() -> None:
    stale = []
    known = vectors()
    for name in [name for name in sys.argv[1:] if name != "--check"] or known:
        path = FOLDER / f"{name}.json"
        content = json.dumps(known[name](), indent=1, sort_keys=True) + "\n"
        if "--check" not in sys.argv:
            path.write_text(content, "utf-8")
        elif not path.exists() or path.read_text("utf-8") != content:
            stale.append(path.name)
    if stale:
        sys.exit(f"golden vectors differ: {', '.join(stale)} (run scripts/golden.py and say why in the changelog)")
    done = "checked" if "--check" in sys.argv else "written"
    print(f"golden vectors in {FOLDER.relative_to(FOLDER.parents[3])}: {done}")


if __name__ == "__main__":
    main()

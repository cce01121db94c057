"""Golden vectors: write what this version computes, or with `--check` prove that nothing changed.

Vectors are stored per identity. Those of a `/0` identity may be written again, with a changelog line.
"""

import json
import sys
from pathlib import Path
from typing import Any

from steadlith_core import canon
from steadlith_core.chunking.structural import POLICY_ID, StructuralChunker
from steadlith_core.digest import Digest, hash_fields, hasher
from steadlith_core.errors import DocumentError
from steadlith_core.records import IDENTITY_SCHEMA, DocumentId, Format, Recipe, Space
from steadlith_core.state import identity
from steadlith_core.state.roots import corpus_root, empty_head, space_id, state_root
from steadlith_core.state.template import TEMPLATES
from steadlith_core.state.tree import document_root, leaves_root
from steadlith_core.state.trie import document_key, trie_root
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


def leaf(number: int) -> Digest:
    return Digest(number.to_bytes(32, "big"))


def state() -> dict[str, Any]:
    how = recipe()
    tries = {}
    for count in (0, 1, 2, 32, 33, 1000, 10000):
        keys = [document_key(DocumentId("docs", f"{number}.md")) for number in range(count)]
        trie = trie_root((key, leaf(number)) for number, key in enumerate(keys))
        corpus = corpus_root(count, trie)
        tries[str(count)] = {"trie": str(trie), "corpus": str(corpus), "state": str(state_root(corpus, how))}
    counts = (0, 1, 2, 3, 5, 8, 1000)
    text = identity.text_hash("text")
    context = identity.context_hash("breadcrumb/0", ("A", "B"))
    space = how.spaces[0]
    return {
        "tree": {str(count): str(leaves_root([leaf(number) for number in range(count)])) for count in counts},
        "document": {
            "empty": str(document_root([], {"title": "", "format": "text"})),
            "two leaves": str(document_root([leaf(1), leaf(2)], {"title": "T", "format": "markdown", "tags": "a, b"})),
        },
        "key": str(document_key(DocumentId("docs", "guide/ä.md"))),
        "tries": tries,
        "empty": {"corpus": str(empty_head().corpus_root), "state": str(empty_head().state_root)},
        "space": str(space_id(space)),
        "context": str(context),
        "entry": str(identity.entry_hash(text, "Title", ("A", "B"), context)),
        "vector_key": str(identity.vector_key("text", space.model_id, space.params_hash)),
        "embedding_id": str(identity.embedding_id(leaf(1), context, space.model_id, space.params_hash)),
    }


def vectors() -> dict[str, Any]:
    """Every file of vectors by name."""
    identities = {
        "identity_schema": IDENTITY_SCHEMA,
        "normalizer_id": NORMALIZER_ID,
        "chunker_id": POLICY_ID,
        "estimator_id": ESTIMATOR_ID,
    }
    return {
        "identities": identities,
        "encodings": encodings(),
        "digests": digests(),
        "texts": texts(),
        "tokens": tokens(),
        "cuts": cuts(),
        "state": state(),
    }


def main() -> None:
    stale = []
    for name, value in vectors().items():
        path = FOLDER / f"{name}.json"
        content = json.dumps(value, indent=1, sort_keys=True) + "\n"
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

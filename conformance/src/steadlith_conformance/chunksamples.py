"""Documents that chunkers are given, ordinary ones and those that break them; and what is true of every answer."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_core.chunking import outline, topology
from steadlith_core.chunking.words import SPACES
from steadlith_core.digest import hash_fields
from steadlith_core.errors import DocumentError
from steadlith_core.records import FindingKind, Format
from steadlith_core.text import frontmatter
from steadlith_core.text.canonical import canonicalise, fragment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_core.records import Chunk, Finding
    from steadlith_core.text.canonical import CanonicalText

_WORDS = (
    *("index", "plan", "apply", "root", "chunk", "store", "vector", "a", "the", "of", "and", "to", "in", "is", "it"),
    *("that", "was", "for", "on", "are", "change", "document", "leaf", "source", "commit", "reader", "writer", "lock"),
)

ORDINARY: Mapping[str, tuple[Format, str]] = {
    "markdown": (
        Format.MARKDOWN,
        (
            "# Guide\n\nA sentence!\n\n## Set\n\n- one item\n- another\n\n```python\n# no heading\nx = 1\n```\n\n"
            """| a | b |\n|---|---|\n| 1 | 2 |\n\nUnder\n=====\n\nLast words.\n"""
        ),
    ),
    "front matter": (Format.MARKDOWN, "---\ntitle: T\n---\n# Head\n\nBody words here.\n"),
    "rst": (Format.RST, "Title\n=====\n\nSome words here.\n\nPart\n----\n\n::\n\n    literal\n\nMore words.\n"),
    "code": (Format.CODE, "".join(f"def f{number}(x):\n    return x + {number}\n\n\n" for number in range(30))),
    "text": (Format.TEXT, "A paragraph of words.\n\n    An indented one.\n\n" * 20),
    "cjk": (
        Format.MARKDOWN,
        "# 标题\n\n" + "数据库事务必须满足原子性。隔离级别决定可见性\uff01" * 12 + "\n\n日本語の文章です。\n",
    ),
    "crlf": (Format.MARKDOWN, "# One\r\n\r\nTwo lines\r\nof words.\r\n\r\nThree.\r\n" * 6),
    "lone cr": (Format.TEXT, "one\rtwo words\r\rthree\r" * 9),
    "byte order mark": (Format.TEXT, "\ufeffwords behind a mark\n"),
    "decomposed": (Format.MARKDOWN, "# Te\u0302te\n\ncafe\u0301 noir et re\u0301sume\u0301.\n\n" * 8),
    "nul and controls": (Format.TEXT, "a\0b \0 c\x0b d\x0c e\x1b[0m\n\n\0\n" * 9),
    "other white space": (Format.TEXT, "a\u00a0b\u3000c\u2003d\u2028e\u0085f\n" * 9),
    "one word": (Format.TEXT, "word"),
    "no end": (Format.MARKDOWN, "```\nnever closed\n\n# still inside\n" * 3),
}

BLANK = ("", "\n\n", " \t\r\n", "\ufeff", "---\ntitle: x\n---\n")

HOSTILE: Mapping[str, tuple[Format, str]] = {
    "one line of 400 KB": (Format.TEXT, "word " * 80_000),
    "one run without a break": (Format.TEXT, "QUJDREVGR0hJSktM" * 8_000),
    "ideographs without a break": (Format.MARKDOWN, "数据库" * 8_000),
    "only headings": (Format.MARKDOWN, "# heading\n" * 6_000),
    "only blank lines and one word": (Format.MARKDOWN, "\n" * 200_000 + "word" + "\n" * 200_000),
    "marks upon marks": (Format.TEXT, "e" + "\u0301" * 20_000),
    "a fence that nobody closes": (Format.MARKDOWN, "```\n" + "line of code\n" * 8_000),
    "a list as deep as it goes": (Format.MARKDOWN, "".join(" " * (2 * depth) + "- x\n" for depth in range(400))),
    "nul after nul": (Format.TEXT, "\0" * 50_000),
}


def read(source: str, grammar: Format) -> tuple[bytes, CanonicalText]:
    """Bytes and canonical text, as planning reads a document."""
    content = source.encode("utf-8", "surrogatepass")
    text = canonicalise(content)
    with suppress(DocumentError):  # front matter that cannot be read is no front matter here
        text = replace(text, body=frontmatter.read(text, grammar, ()).end)
    return content, text


def long_paragraphs(count: int = 400) -> list[str]:
    """Paragraphs of ordinary words under headings, the same every time."""
    made = []
    for number in range(count):
        digest = b"".join(hash_fields("sample-words", number, part) for part in range(2))
        words = [_WORDS[byte % len(_WORDS)] for byte in digest[: 20 + digest[0] % 40]]
        sentences = [" ".join(words[at : at + 9]).capitalize() + "." for at in range(0, len(words), 9)]
        made.append(("## Section " + str(number) + "\n\n" if number % 9 == 0 else "") + " ".join(sentences))
    return made


def check(content: bytes, text: CanonicalText, cut: tuple[Sequence[Chunk], Sequence[Finding]]) -> None:
    """What holds of every chunk of every document."""
    chunks, findings = cut
    assert topology.problems([chunk.parent for chunk in chunks]) == ()
    starts = [chunk.span.start for chunk in chunks]
    assert starts == sorted(starts), "chunks come in source order: sort them by where they start"
    first = text.offset(text.body)
    # A run without any place for a cut, cut by force: where its pieces stand in the source is approximate.
    forced = any(finding.kind == FindingKind.UNSPLITTABLE for finding in findings)
    for number, chunk in enumerate(chunks):
        span = chunk.span
        where = f"chunk {number}, bytes {span.start} to {span.end}"
        assert first <= span.start < span.end <= len(content), f"{where}: outside the body, or empty"
        assert forced or fragment(content[span.start : span.end]) == chunk.text, (
            f"{where}: its text is not the fragment of the source there; get spans from `text.spans`"
        )
        assert (span.first_line, span.last_line) == (_line(content, span.start), _line(content, span.end - 1)), where
        assert chunk.tokens > 0, f"{where}: text that weighs nothing"
        if chunk.parent >= 0:
            outer = chunks[chunk.parent].span
            assert outer.start <= span.start < span.end <= outer.end, f"{where}: not inside its parent"
    held = [(chunk.span.start, chunk.span.end, chunk.parent) for chunk in chunks]
    assert len(held) == len(set(held)), "two chunks at one place: which of them a hit shows is chance"
    parents = {chunk.parent for chunk in chunks}
    idle = [number for number, chunk in enumerate(chunks) if not chunk.embed and number not in parents]
    assert idle == [], "chunks that are neither embedded nor the context of one can never be found"
    assert {finding.place for finding in findings} <= {""}, "a finding's place is left empty: the caller knows it"
    assert {finding.kind for finding in findings} <= set(FindingKind)


def left_out(
    content: bytes, text: CanonicalText, chunks: Sequence[Chunk], grammar: Format, *, headings_in_text: bool
) -> str:
    """The text, white space aside, that no embedded chunk holds."""
    held = bytearray(content)

    def blank(start: int, end: int) -> None:
        held[start:end] = b" " * (end - start)

    blank(0, text.offset(text.body))
    for chunk in chunks:
        if chunk.embed:
            blank(chunk.span.start, chunk.span.end)
    if not headings_in_text and chunks:
        for section in outline.read(text, grammar).sections:
            blank(text.offset(section.start), text.offset(section.body))
    return "".join(char for char in held.decode() if char not in SPACES and char not in "\r\ufeff")


def _line(content: bytes, offset: int) -> int:
    """The 1-based line that a byte is on; a line end belongs to the line that it ends."""
    head = content[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    between = content[offset - 1 : offset + 1] == b"\r\n"
    return head.count(b"\n") + 1 - between

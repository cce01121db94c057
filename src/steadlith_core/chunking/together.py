"""Any policy over many documents: chunks, findings and the title that their headings give.

1. A policy that cuts documents together (`policies.BatchChunker`) is asked once for all; any other once for each.
2. What a policy says about parents is checked, whoever wrote it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from steadlith_core.chunking import arena
from steadlith_core.chunking.router import RouterChunker
from steadlith_core.chunking.scan import scan
from steadlith_core.chunking.structure import GRAMMARS
from steadlith_core.chunking.topology import checked
from steadlith_core.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_core.policies import Chunker, CutTexts
    from steadlith_core.records import Chunk, Finding, Format
    from steadlith_core.text.canonical import CanonicalText


class Cut(NamedTuple):
    """What became of one document. `title` is that of its first heading that has one, else empty."""

    title: str
    chunks: tuple[Chunk, ...]
    findings: tuple[Finding, ...]


def cut_all(chunker: Chunker, texts: Sequence[tuple[CanonicalText, Format]]) -> list[Cut | DocumentError]:
    """What becomes of each document, in order. One that the policy refuses is its error, and stops no other."""
    by_format: defaultdict[Format, list[int]] = defaultdict(list)
    for index, (_, format_) in enumerate(texts):
        by_format[format_].append(index)
    made: dict[int, Cut | DocumentError] = {}
    for format_, rows in by_format.items():
        made.update(zip(rows, _cut(chunker, [texts[index][0] for index in rows], format_), strict=True))
    return [made[index] for index in range(len(texts))]


def _cut(
    chunker: Chunker,
    texts: Sequence[CanonicalText],
    format: Format,  # noqa: A002
) -> Iterator[Cut | DocumentError]:
    if isinstance(chunker, RouterChunker):
        chunker = chunker.route(format)
    cut_many = getattr(chunker, "cut_many", None)
    if cut_many is None:
        for text, title in zip(texts, titles(texts, format), strict=True):
            try:
                chunks, findings = chunker.cut(text, format)
            except DocumentError as error:
                yield error
                continue
            yield Cut(title, checked(chunker.id, chunks), findings)
        return
    cuts: CutTexts
    for cuts in cut_many(texts, format):
        for index in range(len(cuts)):
            yield Cut(cuts.title(index), cuts.chunks(index), cuts.findings(index))


def titles(texts: Sequence[CanonicalText], format: Format) -> Iterator[str]:  # noqa: A002
    """The title of each document's first heading that has one, else empty; O(bytes)."""
    for group in arena.groups(len(text.data) for text in texts):
        packed = arena.pack(texts[group])
        lines, _ = scan(packed)
        outline = GRAMMARS[format](packed, lines)
        yield from (
            outline.title(*pair) for pair in zip(lines.bounds[:-1].tolist(), lines.bounds[1:].tolist(), strict=True)
        )

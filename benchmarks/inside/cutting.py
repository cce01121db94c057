"""Documents cut by our default policy, with the places of the cuts in their text. For scripts of ours only."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from steadlith_adapters.sources.filesystem.formats import Formats
from steadlith_core.chunking.structural import FACTORY
from steadlith_core.policies import Chunker
from steadlith_core.records import Chunk, Finding, Format
from steadlith_core.text import frontmatter
from steadlith_core.text.canonical import canonicalise
from steadlith_core.text.tokens import estimate

FORMATS = Formats()


class Document(NamedTuple):
    """A document's body, its chunks, and where each of them begins in the body, in code points."""

    path: str
    format: Format
    front: int
    body: str
    chunks: tuple[Chunk, ...]
    starts: tuple[int, ...]
    findings: tuple[Finding, ...]


def policy(least: int, most: int) -> Chunker:
    """Our default policy at other sizes."""
    return FACTORY.build({"min_tokens": least, "max_tokens": most})


def tokens(text: str) -> int:
    """The size of a text as the policy sees it."""
    return estimate(text)


def cut(chunker: Chunker, path: str, content: bytes) -> Document:
    """Cut one document; `front` counts the lines of its front matter."""
    how = FORMATS.of(path)
    text = canonicalise(content)
    end = frontmatter.read(text, how, ()).end
    chunks, findings = chunker.cut(replace(text, body=end), how)
    body = text.data[end:].decode()
    starts, at = [], 0
    for chunk in chunks:
        # Between chunks there is white space only, so that the next place of its text is the chunk's own.
        starts.append(body.index(chunk.text, at))
        at = starts[-1] + len(chunk.text)
    return Document(path, how, text.data[:end].count(b"\n"), body, chunks, tuple(starts), findings)


def folder(chunker: Chunker, folder: str) -> Iterator[Document]:
    """Every document below a folder, in order."""
    found = sorted(Path(above, name) for above, _, names in os.walk(folder) for name in names)
    for path in found:
        yield cut(chunker, path.relative_to(folder).as_posix(), path.read_bytes())

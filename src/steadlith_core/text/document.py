"""A document as it comes from a source: bytes to canonical text with its front matter told from its body."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_core.errors import DocumentError
from steadlith_core.records import FindingKind
from steadlith_core.text import frontmatter
from steadlith_core.text.canonical import canonicalise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.records import Format
    from steadlith_core.text.canonical import CanonicalText
    from steadlith_core.text.frontmatter import FrontMatter

SNIFFED = 8192
"""Bytes at a file's start in which a NUL says that this is not text."""


def read(content: bytes, format: Format, kept: Sequence[str] = ()) -> tuple[CanonicalText, FrontMatter]:  # noqa: A002
    """The text of a document, its body told from its front matter, of which the fields `kept` are read.

    Raises `DocumentError` (binary, undecodable, front_matter) if its bytes cannot be used.
    """
    if b"\x00" in content[:SNIFFED]:
        at = content.index(b"\x00")
        message = f"looks binary (a NUL byte at offset {at}); leave it out with an `exclude` pattern"
        raise DocumentError(FindingKind.BINARY, message)
    text = canonicalise(content)
    front = frontmatter.read(text, format, kept)
    return replace(text, body=front.end), front

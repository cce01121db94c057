"""Records: documents that come as fields, not as a file, and the hashes by which their keepers know them.

1. A record is constructed valid: reference, kind, source reference and content hash are not blank, the format is known.
2. `normalise` trims every field, fills in what was left out, and computes the content hash only where none was given:
   a hash that a caller supplies is trusted verbatim.
3. The content hash leaves out where a record is found (`ref`, `source_ref`); the fingerprint of a corpus is that of its
   pairs of reference and content hash, in any order.
4. Both are SHA-256 over lines, each part quoted so that no value can imitate another field. White space, quoting and
   what counts as printable are those of Unicode 15.0 on every Python: the hashes are other programs' names, too.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field, fields
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from steadlith_core.text import unicode14

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MARKDOWN = "markdown"
PLAINTEXT = "plaintext"
FORMATS = (MARKDOWN, PLAINTEXT)
USUAL_KIND = "artifact"

WHITE_SPACE = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"  # noqa: E501
"""What a trim takes away: the property White_Space, which has been the same since Unicode 6.3."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record. Raises `ValueError` for fields that make none; make it with `normalise`."""

    ref: str
    kind: str
    title: str
    source_ref: str
    body_format: str
    body_text: str
    content_hash: str
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in TEXTS:
            _check_text(name, getattr(self, name))
        for key, value in self.metadata.items():
            _check_text("a metadata key", key)
            _check_text(f"metadata {key!r:.80}", value)
        for name in ("ref", "kind", "source_ref", "content_hash"):
            if not trim(getattr(self, name)):
                raise ValueError(f"record {self.ref!r:.200}: {name} is empty")
        if self.body_format not in FORMATS:
            raise ValueError(
                f"record {self.ref!r:.200}: body_format {self.body_format!r:.80} is none of {', '.join(FORMATS)}"
            )


FIELDS = tuple(each.name for each in fields(Record))
TEXTS = tuple(name for name in FIELDS if name != "metadata")


def trim(text: str) -> str:
    """`text` without the white space at its ends."""
    return text.strip(WHITE_SPACE)


def normalise(
    ref: str,
    *,
    kind: str = "",
    title: str = "",
    source_ref: str = "",
    body_format: str = "",
    body_text: str = "",
    content_hash: str = "",
    metadata: Mapping[str, str] | None = None,
) -> Record:
    """A record of these fields, trimmed, with what is empty filled in. Raises `ValueError` as `Record` does."""
    for value in (ref, kind, title, source_ref, body_format, body_text, content_hash):
        _check_text("a field", value)
    ref = trim(ref)
    kept = _normalised_metadata(ref, metadata or {})
    kind, title, body = trim(kind) or USUAL_KIND, trim(title) or ref, trim(body_text)
    body_format = trim(body_format) or MARKDOWN
    return Record(
        ref=ref,
        kind=kind,
        title=title,
        source_ref=trim(source_ref) or ref,
        body_format=body_format,
        body_text=body,
        content_hash=trim(content_hash) or content_hash_of(kind, title, body_format, body, kept),
        metadata=kept,
    )


def content_hash_of(kind: str, title: str, body_format: str, body_text: str, metadata: Mapping[str, str]) -> str:
    """What a record says, wherever it is found: hexadecimal SHA-256."""
    parts = {"kind": kind, "title": title, "body_format": body_format, "body_text": body_text}
    lines = [f"{quoted(key)}={quoted(value)}" for key, value in parts.items()]
    lines += (f"{quoted(f'metadata.{key}')}={quoted(value)}" for key, value in metadata.items())
    return _hash_of_lines(lines)


def corpus_fingerprint(records: Iterable[Record]) -> str:
    """Which records a corpus holds, in any order; all of them are normalised before (rule 2)."""
    return fingerprint_of_pairs((record.ref, record.content_hash) for record in records)


def fingerprint_of_pairs(pairs: Iterable[tuple[str, str]]) -> str:
    """The same from references and content hashes alone. Raises `ValueError` for a blank one: nothing is filled in."""
    lines = []
    for ref, content_hash in pairs:
        ref, content_hash = trim(ref), trim(content_hash)  # noqa: PLW2901 -- the pair as it counts
        if not ref or not content_hash:
            raise ValueError(f"a pair of reference {ref!r:.200} and content hash {content_hash!r:.80} has a blank part")
        lines.append(f"{ref}:{content_hash}")
    return _hash_of_lines(lines)


def quoted(text: str) -> str:
    """`text` as Go's %q writes it: in double quotes, in printable characters and backslash escapes."""
    return f'"{_ODD.sub(_escaped_run, text)}"'


# Everything but printable ASCII that stands for itself.
_ODD = re.compile(r"[^ !#-\[\]-~]+")
_SHORT = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}
# Printable in 15.0 and unassigned in 14.0; every later version agrees on what both have assigned.
_NEW_IN_15 = """
0CF3 0ECE 10EFD-10EFF 1123F-11241 11B00-11B09 11F00-11F10 11F12-11F3A 11F3E-11F59 1342F 13440-13455 1B132 1B155
1D2C0-1D2D3 1DF25-1DF2A 1E030-1E06D 1E08F 1E4D0-1E4F9 1F6DC 1F774-1F776 1F77B-1F77F 1F7D9 1FA75-1FA77 1FA87-1FA88
1FAAD-1FAAF 1FABB-1FABD 1FABF 1FACE-1FACF 1FADA-1FADB 1FAE8 1FAF7-1FAF8 2B739 31350-323AF
"""


def _escaped_run(run: re.Match[str]) -> str:
    return "".join(map(_escaped, run[0]))


@lru_cache(maxsize=1 << 14)
def _escaped(char: str) -> str:
    short = _SHORT.get(char)
    if short is not None:
        return short
    if _is_printable(char):
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_printable(char: str) -> bool:
    if _within(char, unicode14.UNASSIGNED):
        return _within(char, _NEW_IN_15)
    # Letters, marks, numbers, punctuation and symbols; of the spaces only the one that never gets here.
    return unicodedata.category(char)[0] in "LMNPS"


def _within(char: str, table: str) -> bool:
    return bisect_right(_edges(table), ord(char)) % 2 == 1


@lru_cache(maxsize=2)
def _edges(table: str) -> tuple[int, ...]:
    """Where the ranges of a table begin and where they are over, in turn."""
    ranges = (word.split("-") for word in table.split())
    return tuple(edge for ends in ranges for edge in (int(ends[0], 16), int(ends[-1], 16) + 1))


def _normalised_metadata(ref: str, metadata: Mapping[str, str]) -> dict[str, str]:
    kept: dict[str, str] = {}
    for key, value in metadata.items():
        _check_text("a metadata key", key)
        _check_text(f"metadata {key!r:.80}", value)
        name = trim(key)
        if name in kept:
            raise ValueError(f"record {ref!r:.200}: two metadata keys are {name!r:.80} once they are trimmed")
        if name:
            kept[name] = trim(value)
    return kept


def _check_text(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{what} is {value!r:.80}, not text")  # noqa: TRY004 -- a value of the data, not of the call
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} holds half of a surrogate pair (at {error.start}), so it is no text") from None


def _hash_of_lines(lines: Iterable[str]) -> str:
    # Python orders text by code point, which is the order of its UTF-8 bytes.
    return sha256("\n".join(sorted(lines)).encode("utf-8")).digest().hex()  # noqa: FURB181 -- digest.py owns `hexdigest`

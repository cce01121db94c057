"""A record as a document: its path, its text, what is said of it besides.

1. The path is the record's reference in Unicode composition; a reference that could name anything but a place below
   the source is refused.
2. Metadata may not name what the record says of itself in fields of their own.
3. Fields are text. An unknown field is refused: a typing mistake never becomes a record without text.
4. The stamp tells all that a document is made of: equal stamps, equal text and attributes, whatever hash the record
   brought along.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steadlith_adapters.sources.filesystem.names import document_name
from steadlith_core.digest import hash_fields
from steadlith_core.records import Content, FindingKind, Format, Stamp
from steadlith_core.state.identity import content_digest
from steadlith_core.text.record import FIELDS, MARKDOWN, PLAINTEXT, TEXTS, Record, normalise, trim

if TYPE_CHECKING:
    from steadlith_core.ports import FormatRule

FORMATS = {MARKDOWN: Format.MARKDOWN, PLAINTEXT: Format.TEXT}
RESERVED = ("title", "kind", "source_ref", "format")


class Refused(Exception):
    """A record that is no document: why, and which path it stands for if that can be told."""

    def __init__(self, kind: FindingKind, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.path = path


@dataclass(frozen=True, slots=True)
class RecordDocument:
    """A record as the engine sees it."""

    path: str
    format: Format
    content: Content
    stamp: Stamp


def document_of(value: Record | Mapping[str, Any]) -> RecordDocument:
    """The document that a record, or a table of its fields, is. Raises `Refused`."""
    if isinstance(value, Record):
        value = {name: getattr(value, name) for name in FIELDS}
    if not isinstance(value, Mapping):
        raise Refused(FindingKind.UNDECODABLE, f"is {value!r:.80}, not an object with the fields of a record")
    given = {key: field for key, field in value.items() if field is not None}
    path = _path(given.get("ref"))
    record = _record(given, path)
    attributes = {"title": record.title, "kind": record.kind, "source_ref": record.source_ref}
    content = Content(record.body_text.encode("utf-8"), {**attributes, **record.metadata})
    format_ = FORMATS[record.body_format]
    identity = hash_fields("record-stamp", record.content_hash, content_digest(content), str(format_))
    return RecordDocument(path, format_, content, Stamp(identity, changed_at=0))


def is_path(path: str) -> bool:
    """Whether `path` names a place below a source."""
    return "\0" not in path and not any(part in ("", ".", "..") for part in path.split("/"))


def format_rule() -> FormatRule:
    """What names tell of records: their formats stand in them, so each is taken for the usual one."""
    return lambda path: Format.MARKDOWN if is_path(path) else None


def _path(ref: Any) -> str:
    if not isinstance(ref, str) or not trim(ref):
        raise Refused(FindingKind.UNDECODABLE, f"has no reference (ref = {ref!r:.80}), so no document id can name it")
    ref = trim(ref)
    try:
        ref.encode("utf-8")
    except UnicodeEncodeError:
        message = f"has a reference with half of a surrogate pair ({ref!r:.200}), so no document id can name it"
        raise Refused(FindingKind.UNDECODABLE, message) from None
    if not is_path(ref):
        raise Refused(
            FindingKind.LINK_OUTSIDE,
            f"has the reference {ref!r:.200}, which names no document below the source; "
            "a reference has no NUL, no slash at either end, and no empty, `.` or `..` part",
        )
    return document_name(ref)


def _record(given: Mapping[str, Any], path: str) -> Record:
    for key, field in given.items():
        if key not in FIELDS:
            message = f"has an unknown field {key!r:.80} (known: {', '.join(FIELDS)}); put what is yours into metadata"
            raise Refused(FindingKind.FRONT_MATTER, message, path)
        if key in TEXTS and not isinstance(field, str):
            message = f"has {key} = {field!r:.80}, which is not text; write it in quotes"
            raise Refused(FindingKind.FRONT_MATTER, message, path)
    metadata = given.get("metadata", {})
    if not isinstance(metadata, Mapping) or not all(isinstance(field, str) for field in metadata.values()):
        message = f"has metadata = {metadata!r:.80}; expected an object whose values are text"
        raise Refused(FindingKind.FRONT_MATTER, message, path)
    try:
        record = normalise(**given)
    except ValueError as error:
        raise Refused(FindingKind.FRONT_MATTER, f"is not usable: {error}", path) from error
    for key in RESERVED:
        if key in record.metadata:
            message = f"has a metadata key {key!r}, which the record says of itself; rename the key"
            raise Refused(FindingKind.FRONT_MATTER, message, path)
    return record

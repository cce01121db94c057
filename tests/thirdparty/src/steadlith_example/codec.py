"""The records of a store as JSON and back: no pickle, which would run whatever a file says."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from steadlith_core.digest import Digest
from steadlith_core.records import DocumentId, Generation, Recipe, Space, Span
from steadlith_core.rows import DocumentVersion, EntryRow, Placement, TrieNode, VectorRow

RECORDS = {
    kind.__name__: kind
    for kind in (
        *(DocumentId, DocumentVersion, EntryRow, Generation, Placement),
        *(Recipe, Space, Span, TrieNode, VectorRow),
    )
}
"""What may come out of a file."""


def dump(value: Any) -> bytes:
    """The bytes of a value: equal values that were filled in the same order have equal bytes."""
    return json.dumps(_plain(value), separators=(",", ":")).encode()


def load(data: bytes) -> Any:
    """The value of bytes. Raises `ValueError`, `KeyError` or `TypeError` for what `dump` never made."""
    return _made(json.loads(data))


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case Digest():
            return {"Digest": value.hex()}
        case bytes():
            return {"bytes": b64encode(value).decode()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case Mapping():
            return {"map": [[_plain(key), _plain(held)] for key, held in value.items()]}
        case _:
            return {type(value).__name__: [_plain(getattr(value, field.name)) for field in fields(value)]}


def _made(plain: Any) -> Any:
    if isinstance(plain, list):
        return tuple(_made(each) for each in plain)
    if not isinstance(plain, dict):
        return plain
    ((kind, held),) = plain.items()
    match kind:
        case "Digest":
            return Digest(bytes.fromhex(held))
        case "bytes":
            return b64decode(held)
        case "map":
            return {_made(key): _made(each) for key, each in held}
        case _:
            return RECORDS[kind](*map(_made, held))

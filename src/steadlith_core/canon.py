"""Canonical bytes: the only encoding whose output is hashed.

1. Injective: two different values never share their bytes, so a digest of them names the value.
2. One encoding per value: no option, no float, maps in one order.
3. `decode` accepts exactly what `encode` makes and refuses everything else.

Every value is one type byte, an 8-byte big-endian payload length, and the payload (format.md 1).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

Value: TypeAlias = "str | bytes | bool | int | Sequence[Value] | Mapping[str, Value] | None"

TEXT, BYTES, INTEGER, BOOLEAN, NONE, LIST, MAP = b"t", b"b", b"i", b"o", b"n", b"l", b"m"
HEADER = 9
_TYPE_AND_SIZE = struct.Struct(">cQ")
_SIZES = tuple(size.to_bytes(8, "big") for size in range(256))
MAX_DEPTH = 64


def encode(value: Value) -> bytes:
    """Canonical bytes of `value`. `TypeError` for a float or any other type, naming it."""
    known = _ENCODERS.get(type(value))  # the exact types first: this is the hottest function of planning
    if known is not None:
        return known(value)
    for kind, make in _KINDS:
        if isinstance(value, kind):
            _ENCODERS[type(value)] = make  # a digest, an enum of text: known from now on
            return make(value)
    message = f"no canonical encoding for {type(value).__name__}: {value!r}"
    raise TypeError(message)


def decode(data: bytes) -> Value:
    """The value whose canonical bytes are `data`; `ValueError` for anything that `encode` cannot have made."""
    value, end = _decode(data, 0, len(data), 0)
    if end != len(data):
        message = f"{len(data) - end} bytes after the canonical value"
        raise ValueError(message)
    return value


def list_of(encoded: bytes) -> bytes:
    """Canonical bytes of a list, from those of its items one after the other."""
    return _frame(LIST, encoded)


def _frame(kind: bytes, payload: bytes) -> bytes:
    size = len(payload)
    return kind + (_SIZES[size] if size < len(_SIZES) else size.to_bytes(8, "big")) + payload


def _text(value: str) -> bytes:
    return _frame(TEXT, value.encode("utf-8"))


def _bytes(value: bytes) -> bytes:
    return _frame(BYTES, value)


def _boolean(value: bool) -> bytes:
    return _frame(BOOLEAN, b"\x01" if value else b"\x00")


def _none(_value: None) -> bytes:
    return _frame(NONE, b"")


def _number(value: int) -> bytes:
    return _frame(INTEGER, _integer(value))


def _list(value: Sequence[Value]) -> bytes:
    return _frame(LIST, b"".join(map(encode, value)))


def _integer(value: int) -> bytes:
    # format.md 1.3: a sign byte (0 for zero and positive, 1 for negative), then the magnitude, big-endian, shortest.
    magnitude = abs(value)
    sign = b"\x01" if value < 0 else b"\x00"
    return sign + magnitude.to_bytes((magnitude.bit_length() + 7) // 8, "big")


def _map(value: Mapping[str, Value]) -> bytes:
    # format.md 1.5: entries ordered by the UTF-8 bytes of their keys.
    for key in value:
        if not isinstance(key, str):
            message = f"a canonical map has text keys, got {key!r}"
            raise TypeError(message)
    keys = sorted(value, key=lambda key: key.encode("utf-8"))
    return _frame(MAP, b"".join(encode(key) + encode(value[key]) for key in keys))


_ENCODERS: dict[type, Callable[[Any], bytes]] = {
    str: _text,
    bytes: _bytes,
    bool: _boolean,  # a bool is an int in Python, and not here
    int: _number,
    type(None): _none,
    list: _list,
    tuple: _list,
    dict: _map,
}
_KINDS: tuple[tuple[type, Callable[[Any], bytes]], ...] = (
    (str, _text),
    (bytes, _bytes),
    (int, _number),
    (Mapping, _map),
    (Sequence, _list),
)
"""For subclasses (a digest is bytes, an enum of text is text) and other mappings and sequences."""


def _decode(data: bytes, at: int, end: int, depth: int) -> tuple[Value, int]:
    if depth > MAX_DEPTH:
        message = f"canonical value nested deeper than {MAX_DEPTH}"
        raise ValueError(message)
    if end - at < HEADER:
        message = f"canonical value cut short at byte {at}"
        raise ValueError(message)
    kind, size = _TYPE_AND_SIZE.unpack_from(data, at)
    start = at + HEADER
    stop = start + size
    if stop > end:
        message = f"canonical value at byte {at} claims {size} bytes, {end - start} are there"
        raise ValueError(message)
    if kind == TEXT:  # most values are
        return data[start:stop].decode("utf-8"), stop
    if kind in (LIST, MAP):
        items: list[Value] = []
        inner = start
        while inner < stop:
            item, inner = _decode(data, inner, stop, depth + 1)
            items.append(item)
        return (items if kind == LIST else _pairs(items)), stop
    return _decode_scalar(kind, data[start:stop], at), stop


def _decode_scalar(kind: bytes, payload: bytes, at: int) -> Value:
    if kind == BYTES:
        return payload
    if kind == INTEGER:
        return _decode_integer(payload)
    if kind == BOOLEAN and payload in (b"\x00", b"\x01"):
        return payload == b"\x01"
    if kind == NONE and not payload:
        return None
    message = f"no canonical type {kind!r} with a payload of {len(payload)} bytes (byte {at})"
    raise ValueError(message)


def _decode_integer(payload: bytes) -> int:
    value = int.from_bytes(payload[1:], "big") * (-1 if payload[:1] == b"\x01" else 1)
    if payload != _integer(value):
        message = f"not the shortest form of an integer: {payload!r}"
        raise ValueError(message)
    return value


def _pairs(items: list[Value]) -> dict[str, Value]:
    if len(items) % 2:
        message = "a canonical map with a key and no value"
        raise ValueError(message)
    result: dict[str, Value] = {}
    last: bytes | None = None
    for key, value in zip(items[::2], items[1::2], strict=True):
        if not isinstance(key, str):
            message = f"a canonical map has text keys, got {key!r}"
            raise ValueError(message)  # noqa: TRY004 -- the bytes are wrong, not a caller's type
        coded = key.encode("utf-8")
        if last is not None and coded <= last:
            message = f"map keys out of order or twice at {key!r}"
            raise ValueError(message)
        last = coded
        result[key] = value
    return result

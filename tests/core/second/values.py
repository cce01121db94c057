"""docs/format.md, section 1: canonical values."""


def encode(value):
    if value is None:
        return _item(b"n", b"")  # 1.4
    if value is True or value is False:
        return _item(b"o", b"\x01" if value else b"\x00")  # 1.4
    if isinstance(value, str):
        return _item(b"t", value.encode("utf-8"))  # 1.1
    if isinstance(value, bytes):
        return _item(b"b", value)  # 1.2
    if isinstance(value, int):
        return _item(b"i", (b"\x01" if value < 0 else b"\x00") + _magnitude(abs(value)))  # 1.3
    if isinstance(value, dict):  # 1.5: ordered by the UTF-8 bytes of the keys
        keys = sorted(value, key=lambda key: key.encode("utf-8"))
        return _item(b"m", b"".join(encode(key) + encode(value[key]) for key in keys))
    if isinstance(value, list):
        return _item(b"l", b"".join(encode(item) for item in value))  # 1.6
    raise TypeError(value)


def decode(data):
    """The value; ValueError for anything but the one encoding of a value."""
    items = _items(data)
    if len(items) != 1:
        raise ValueError("not one value")
    return items[0]


def _item(kind, payload):
    return kind + len(payload).to_bytes(8, "big") + payload


def _magnitude(number):
    digits = []
    while number:
        digits.insert(0, number % 256)
        number //= 256
    return bytes(digits)


def _items(data):
    """The values that stand one after the other in some bytes."""
    items = []
    while data:
        if len(data) < 9:
            raise ValueError("cut short")
        kind, length = data[:1], int.from_bytes(data[1:9], "big")
        payload, data = data[9 : 9 + length], data[9 + length :]
        if len(payload) != length:
            raise ValueError("cut short")
        items.append(_value(kind, payload))
    return items


def _value(kind, payload):
    value = _likely(kind, payload)
    if encode(value) != _item(kind, payload):  # every value has one encoding
        raise ValueError("not the encoding of its value")
    return value


def _likely(kind, payload):
    match kind:
        case b"n":
            return None
        case b"o":
            return payload == b"\x01"
        case b"t":
            return payload.decode("utf-8")
        case b"b":
            return payload
        case b"i":
            return int.from_bytes(payload[1:], "big") * (1 if payload[:1] == b"\x00" else -1)
        case b"l":
            return _items(payload)
        case b"m":
            items = _items(payload)
            if all(isinstance(key, str) for key in items[0::2]):
                return dict(zip(items[0::2], items[1::2], strict=True))
    raise ValueError("no canonical value")

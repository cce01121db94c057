"""docs/format.md, section 18: cache files. What is refused is `Bad`."""

import math
import struct

from . import identities


class Bad(Exception):
    pass


def written(entries):
    """`entries` are (key, numbers), in any order."""
    head = bytes.fromhex("8b534c5601")  # 18.1
    records = []
    for key, numbers in sorted(entries):  # 18.2
        vector = struct.pack(f"<{len(numbers)}f", *numbers)
        checksum = identities.of_bytes("cache-entry", key + vector)  # 18.3
        records.append(len(numbers).to_bytes(4, "big") + key + vector + checksum)
    end = bytes(4) + len(records).to_bytes(8, "big")
    return b"".join([head, *records, end, _chain(head, records, end)])


def read(data):
    """(key, numbers) of every entry."""
    head, at, entries, records = data[:5], 5, [], []
    _need(head == bytes.fromhex("8b534c5601"))  # 18.1
    while True:
        dimensions = int.from_bytes(_cut(data, at, 4), "big")
        if dimensions == 0:
            break
        _need(dimensions <= 65536)  # 18.2
        record = _cut(data, at, 68 + 4 * dimensions)
        key, vector, checksum = record[4:36], record[36:-32], record[-32:]
        _need(identities.of_bytes("cache-entry", key + vector) == checksum)  # 18.3
        numbers = struct.unpack(f"<{dimensions}f", vector)
        _need(all(map(math.isfinite, numbers)) and any(numbers))  # 18.5
        _need(not entries or entries[-1][0] < key)
        entries.append((key, numbers))
        records.append(record)
        at += len(record)
    end = _cut(data, at, 12)
    _need(int.from_bytes(end[4:], "big") == len(entries))
    _need(data[at + 12 :] == _chain(head, records, end))
    return entries


def _chain(head, records, end):
    chain = identities.of_bytes("cache-file", head)  # 18.4
    for record in records:
        chain = identities.of_bytes("cache-file", chain + record[:4] + record[-32:])
    return identities.of_bytes("cache-file", chain + end)


def _cut(data, at, size):
    _need(at + size <= len(data))
    return data[at : at + size]


def _need(holds):
    if not holds:
        raise Bad

"""The records of one folder, and the block of bytes that the fingerprint file keeps them in.

1. A block is columns in the order of the names, behind a seal. A record is read from it when it is asked for, and what
   did not change is copied as bytes: a folder costs what changed in it, whatever it holds.
2. The same records make the same bytes, however they came about.
"""

from __future__ import annotations

import json
import struct
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

from steadlith_core.digest import SIZE, Digest, hasher
from steadlith_core.records import Format

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

_HEAD = struct.Struct(">8sIII")
_SEAL_SIZE = 8
_NOT_RECORDED = bytes(SIZE)
_FORMATS = ("", Format.MARKDOWN, Format.RST, Format.TEXT, Format.CODE)
"""Kept by number: a new format goes to the end."""
seal = hasher("fingerprints")


class Refusal(NamedTuple):
    """Why a document's bytes cannot be used: the finding's kind and message."""

    kind: str
    message: str


class Record(NamedTuple):
    """One document: the identity of its stamp (empty: to be read), the digest of its recorded source with the format
    that it is recorded under (none if it is not in the index), and why its present bytes are refused, if they are.
    """

    identity: bytes
    digest: Digest | None
    format: str = ""
    refusal: Refusal | None = None


class Tally(NamedTuple):
    """How many names a folder has, how many of them are recorded, and how many refused."""

    names: int
    recorded: int
    refused: int


class Block:
    """A block, read as far as it is asked."""

    def __init__(self, data: bytes) -> None:
        _, count, listed, written = _HEAD.unpack_from(data)
        start = _HEAD.size + listed
        self.names = data[_HEAD.size : start].decode().split("\0") if count else []
        self._sizes = data[start : start + count]
        self._data = data
        self._identities = start + count
        self._written = written

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each name stands."""
        return dict(zip(self.names, range(len(self.names)), strict=True))

    @cached_property
    def refused(self) -> Mapping[str, Refusal]:
        """Why each refused document is so, by name."""
        written = self._data[len(self._data) - self._written :]
        return {name: Refusal(*why) for name, why in json.loads(written).items()} if written else {}

    @cached_property
    def recorded(self) -> int:
        """How many have a digest."""
        digests = self.columns(0, len(self.names)).digests
        return sum(digests[at : at + SIZE] != _NOT_RECORDED for at in range(0, len(digests), SIZE))

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(self._sizes, initial=self._identities))

    def identities(self) -> dict[str, bytes]:
        """The identity of each name: all that a walk needs of an unchanged folder."""
        data, ends = self._data, self._ends
        return {name: data[start:end] for name, start, end in zip(self.names, ends, ends[1:], strict=False)}

    def columns(self, start: int, end: int) -> Columns:
        """The bytes of the records [start, end)."""
        digests = self._ends[-1]
        formats = digests + SIZE * len(self.names)
        return Columns(
            self._sizes[start:end],
            self._data[self._ends[start] : self._ends[end]],
            self._data[digests + SIZE * start : digests + SIZE * end],
            self._data[formats + start : formats + end],
        )

    def record(self, name: str) -> Record:
        """One of them."""
        at = self.places[name]
        _, identity, digest, format_ = self.columns(at, at + 1)
        known = None if digest == _NOT_RECORDED else Digest(digest)
        return Record(identity, known, _FORMATS[format_[0]], self.refused.get(name))


class Columns(NamedTuple):
    """Records side by side, but for names and refusals: how long each identity is, identities, digests, formats."""

    sizes: bytes
    identities: bytes
    digests: bytes
    formats: bytes


def _columns_of(record: Record) -> Columns:
    format_ = bytes([_FORMATS.index(record.format)])
    return Columns(bytes([len(record.identity)]), record.identity, record.digest or _NOT_RECORDED, format_)


@dataclass(frozen=True, slots=True)
class Records:
    """The documents of one folder by name: those of a block, but for the `changed` ones (none: it went)."""

    block: Block = field(default_factory=lambda: NOTHING)
    changed: dict[str, Record | None] = field(default_factory=dict)

    def get(self, name: str) -> Record | None:
        """The record of a name, if it has one."""
        if name in self.changed:
            return self.changed[name]
        return self.block.record(name) if name in self.block.places else None

    def put(self, name: str, record: Record) -> None:
        """Give a name another record."""
        self.changed[name] = record

    def drop(self, name: str) -> None:
        """Forget a name. Harmless where it is not known."""
        self.changed[name] = None

    def copy(self) -> Records:
        """The same, to be changed apart."""
        return Records(self.block, dict(self.changed))

    @property
    def names(self) -> AbstractSet[str]:
        """All names."""
        if not self.changed:
            return self.block.places.keys()
        there = {name for name, record in self.changed.items() if record is not None}
        return (self.block.places.keys() - self.changed.keys()) | there

    @property
    def refused(self) -> Mapping[str, Refusal]:
        """Why each refused document is so, by name."""
        found = {name: why for name, why in self.block.refused.items() if name not in self.changed}
        changed = ((name, record.refusal) for name, record in self.changed.items() if record is not None)
        return {**found, **{name: why for name, why in changed if why is not None}}

    def recorded(self) -> Iterator[str]:
        """The names of documents that are in the index."""
        for name in self.names:
            record = self.get(name)
            if record is not None and record.digest is not None:
                yield name

    def tally(self) -> Tally:
        """What they come to."""
        replaced = [self.block.record(name) for name in self.changed if name in self.block.places]
        now = [record for record in self.changed.values() if record is not None]
        recorded = self.block.recorded - sum(record.digest is not None for record in replaced)
        recorded += sum(record.digest is not None for record in now)
        return Tally(len(self.block.names) - len(replaced) + len(now), recorded, len(self.refused))

    def encode(self) -> bytes:
        """Their block."""
        names: list[str] = []
        columns: list[Columns] = []
        done = 0
        for name in sorted(self.changed):
            at = bisect_left(self.block.names, name, done)
            names += self.block.names[done:at]
            columns.append(self.block.columns(done, at))
            record = self.changed[name]
            if record is not None:
                names.append(name)
                columns.append(_columns_of(record))
            done = at + (name in self.block.places)
        names += self.block.names[done:]
        columns.append(self.block.columns(done, len(self.block.names)))
        return _pack(names, columns, self.refused)


def encode(found: Mapping[str, Record]) -> bytes:
    """The block of these records."""
    refused = {name: record.refusal for name, record in found.items() if record.refusal is not None}
    names = sorted(found)
    return _pack(names, [_columns_of(found[name]) for name in names], refused)


def _pack(names: list[str], columns: list[Columns], refused: Mapping[str, Refusal]) -> bytes:
    listed = "\0".join(names).encode()
    written = json.dumps(dict(sorted(refused.items()))).encode() if refused else b""
    head = _HEAD.pack(bytes(_SEAL_SIZE), len(names), len(listed), len(written))[_SEAL_SIZE:]
    body = b"".join((head, listed, *chain.from_iterable(zip(*columns, strict=True)), written))
    return seal(body)[:_SEAL_SIZE] + body


NOTHING: Block = Block(encode({}))


def is_whole(block: bytes) -> bool:
    """Whether a block is as it was written."""
    return seal(block[_SEAL_SIZE:])[:_SEAL_SIZE] == block[:_SEAL_SIZE]

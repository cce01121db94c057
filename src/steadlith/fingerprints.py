"""The fingerprint file: what the last apply saw of every document, so that an unchanged one costs one `stat`.

1. Disposable: whatever is wrong with it, it counts as absent, and the next plan reads more and says the same; only that
   an index or a root folder was replaced since is then not told.
2. Written by apply alone, whole or not at all, beside the configuration in `.steadlith/`.
3. It holds every recorded document. One whose stamp cannot be believed later has no identity: it is read again.
   That is so when it changed no earlier than `taken_at`, the file's own mtime when the look began: within one tick of
   that clock another change would leave no trace. Times of a file server whose clock lags behind this file's are
   believed too early: put `.steadlith` on the same file system as the documents there, or plan with `--no-stat-cache`.
4. Read by the folder: what a plan keeps in memory of unchanged folders is their names in the index of this file.

Layout: a magic, the offset of the index; one block a folder (blocks.py); the index, JSON, and its digest.
"""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from steadlith.blocks import Tally, is_whole, seal
from steadlith.files import Replacement
from steadlith_core.digest import SIZE, Digest
from steadlith_core.errors import SteadlithError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import BinaryIO

MAGIC = b"STLFP\x00\x00\x02"
_START = struct.Struct(">8sQ")


class Damaged(SteadlithError):
    """A block of the file cannot be read: whoever meets it goes on without the file. Never leaves `observe`."""


class Place(NamedTuple):
    """Where a folder's block is, what decided its names, and what it holds."""

    rules: bytes
    offset: int
    length: int
    tally: Tally


@dataclass(frozen=True, slots=True)
class Header:
    """What the file was written after: a head, under a configuration."""

    taken_at: int
    lineage: str
    generation: int
    state_root: Digest
    plan: Digest | None
    config: Digest


class Fingerprints:
    """A fingerprint file, open for reading."""

    def __init__(self, stream: BinaryIO, header: Header, places: Mapping[str, bytes | None], folders: _Index) -> None:
        self._stream = stream
        self.header = header
        self.places = places
        self._folders = folders

    @classmethod
    def open(cls, path: Path) -> Fingerprints | None:
        """The file at `path`; none if there is none, or none that can be used."""
        try:
            stream = path.open("rb")
        except OSError:
            return None
        try:
            return cls(stream, *_read_index(stream))
        except (OSError, ValueError, KeyError, TypeError, RecursionError, struct.error):
            stream.close()
            return None

    def close(self) -> None:
        """Release the file."""
        self._stream.close()

    def sources(self) -> Iterable[str]:
        """The names of the sources that were seen."""
        return self._folders.keys()

    def folders(self, source: str) -> Mapping[str, Place]:
        """The folders of a source that hold documents."""
        return self._folders.get(source, {})

    def block(self, place: Place) -> bytes:
        """A folder's block as it is in the file. Raises `Damaged`."""
        try:
            self._stream.seek(place.offset)
            data = self._stream.read(place.length)
        except OSError as error:
            message = f"the fingerprint file cannot be read ({error.strerror})"
            raise Damaged(message) from error
        if len(data) != place.length or not is_whole(data):
            message = "the fingerprint file is damaged"
            raise Damaged(message)
        return data


_Index: TypeAlias = "Mapping[str, Mapping[str, Place]]"


def _read_index(stream: BinaryIO) -> tuple[Header, Mapping[str, bytes | None], _Index]:
    magic, offset = _START.unpack(stream.read(_START.size))
    if magic != MAGIC or not offset:
        message = "not a fingerprint file of this version"
        raise ValueError(message)
    stream.seek(offset)
    data = stream.read()
    if seal(data[SIZE:]) != data[:SIZE]:
        message = "the index of the fingerprint file is damaged"
        raise ValueError(message)
    body = json.loads(data[SIZE:])
    header = Header(
        body["taken_at"],
        body["lineage"],
        body["generation"],
        Digest.parse(body["state_root"]),
        Digest.parse(body["plan"]) if body["plan"] else None,
        Digest.parse(body["config"]),
    )
    places = {name: bytes.fromhex(place) if place else None for name, place in body["places"].items()}
    folders = {
        name: {
            path: Place(bytes.fromhex(rules), offset, length, Tally(*counts))
            for path, (rules, offset, length, *counts) in rows.items()
        }
        for name, rows in body["folders"].items()
    }
    return header, places, folders


class Draft:
    """A new fingerprint file on its way. Made before the first document is looked at; `taken_at` is that moment."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._new = Replacement(path)
        self._stream = self._new.stream
        self.taken_at = os.fstat(self._stream.fileno()).st_mtime_ns
        self._folders: dict[str, dict[str, list[str | int]]] = {}
        self._stream.write(_START.pack(MAGIC, 0))

    def put(self, source: str, folder: str, rules: bytes, block: bytes, counts: Tally) -> None:
        """Write the block of one folder."""
        rows = self._folders.setdefault(source, {})
        rows[folder] = [rules.hex(), self._stream.tell(), len(block), *counts]
        self._stream.write(block)

    def finish(self, header: Header, places: Mapping[str, bytes | None]) -> None:
        """Write the index, and put the file where it belongs."""
        index = json.dumps(
            {
                "taken_at": header.taken_at,
                "lineage": header.lineage,
                "generation": header.generation,
                "state_root": str(header.state_root),
                "plan": str(header.plan) if header.plan else None,
                "config": str(header.config),
                "places": {name: place.hex() if place else None for name, place in places.items()},
                "folders": self._folders,
            }
        ).encode()
        offset = self._stream.tell()
        self._stream.write(seal(index) + index)
        self._stream.seek(0)
        self._stream.write(_START.pack(MAGIC, offset))
        self._new.finish()

    def drop(self) -> None:
        """Leave no trace of a draft that was not finished. Harmless afterwards."""
        self._new.drop()

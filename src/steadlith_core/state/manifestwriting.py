"""Writing a manifest: documents in order in, pieces of bytes out (format.md 16).

1. Deterministic: the same index gives the same bytes, on every machine and by every version of this format.
2. It streams: what is kept is one document and the latest texts and context hashes that a reference may name.
3. Nothing is written that a reader would refuse, but for roots that do not follow: those take all documents to see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.state.manifest import (
    MAGIC,
    MAX_COUNT,
    MAX_HEADER,
    MAX_KEPT,
    MAX_NAME,
    MAX_TEXT,
    VERSION,
    Order,
    Window,
    checksum,
    encode_header,
    need,
)
from steadlith_core.state.tree import distance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId
    from steadlith_core.state.manifest import Header, ManifestChunk, ManifestDocument


def pack(header: Header, documents: Iterable[ManifestDocument]) -> Iterator[bytes]:
    """The bytes of the manifest, in pieces: its head, each document, the checksum.

    Raises `ManifestError`, before the first piece or at any, for what cannot be written: documents out of order, other
    counts than the header's, a name or a value beyond the format's limits.
    """
    fields = encode_header(header)
    need(len(fields) <= MAX_HEADER, f"a header has at most {MAX_HEADER} bytes, this one {len(fields)}")
    piece = MAGIC + bytes((VERSION,)) + number(len(fields)) + fields
    so_far = checksum(piece)
    yield piece
    order, writer = Order(header), _Writer()
    for document in documents:
        order.take(document)
        piece = writer.document(document)
        so_far = checksum(so_far + piece)
        yield piece
    order.end()
    yield so_far


def number(value: int) -> bytes:
    """Seven bits a byte, the lowest first; all bytes but the last have the high bit set (format.md 16.1)."""
    coded = bytearray()
    while value > 127:
        coded.append(value & 127 | 128)
        value >>= 7
    coded.append(value)
    return bytes(coded)


class _Writer:
    """What the documents so far have left for the next to refer to."""

    def __init__(self) -> None:
        self._id: DocumentId | None = None
        self._texts: Window[bytes] = Window()
        self._contexts: Window[Digest] = Window()

    def document(self, document: ManifestDocument) -> bytes:
        need(len(document.chunks) < MAX_COUNT, f"{document.id}: {len(document.chunks)} chunks cannot be counted")
        need(len(document.metadata) < MAX_COUNT, f"{document.id}: its metadata cannot be counted")
        parts = [self._name(document.id), document.root, document.source_digest, number(len(document.metadata))]
        # format.md 16.3: entries ordered by the UTF-8 bytes of their keys, as in 1.5.
        pairs = sorted((_coded(key, "a key"), _coded(value, "a value")) for key, value in document.metadata.items())
        parts += (self._text(text) for pair in pairs for text in pair)
        parts.append(number(len(document.chunks)))
        parts += (self._chunk(position, chunk) for position, chunk in enumerate(document.chunks))
        self._id = document.id
        return b"".join(parts)

    def _name(self, id: DocumentId) -> bytes:  # noqa: A002
        path, before = _coded(id.path, "a path", MAX_NAME), b""
        head = b"\x00"
        if self._id is None or self._id.source != id.source:
            source = _coded(id.source, "a source's name", MAX_NAME)
            head = b"\x01" + number(len(source)) + source
        else:
            before = self._id.path.encode("utf-8")
        shared = common(before, path)
        return head + number(shared) + number(len(path) - shared) + path[shared:]

    def _text(self, text: bytes) -> bytes:
        place = self._texts.place(text)
        if place is not None:
            return number(place + 1)
        if len(text) <= MAX_KEPT:
            self._texts.keep(text)
        return b"\x00" + number(len(text)) + text

    def _chunk(self, position: int, chunk: ManifestChunk) -> bytes:
        context = chunk.context_hash
        shape = number(distance(position, chunk.parent) << 1 | (context is None))
        return chunk.chunk_hash + chunk.text_hash + chunk.entry_hash + shape + self._context(context)

    def _context(self, context: Digest | None) -> bytes:
        if context is None:
            return b""
        place = self._contexts.place(context)
        if place is not None:
            return number(place + 1)
        self._contexts.keep(context)
        return b"\x00" + context


def common(left: bytes, right: bytes) -> int:
    """How many bytes both begin with."""
    shortest = min(len(left), len(right))
    for at in range(shortest):
        if left[at] != right[at]:
            return at
    return shortest


def _coded(text: str, what: str, most: int = MAX_TEXT) -> bytes:
    coded = text.encode("utf-8")
    need(len(coded) <= most, f"{what} has at most {most} bytes, this one {len(coded)}: {text[:40]!r}...")
    return coded

"""Reading a manifest: pieces of bytes in, documents out, each checked (format.md 16).

1. A manifest is untrusted. Whatever the bytes are, reading them ends in documents or in `ManifestError`, with memory
   and time that grow with the bytes and with nothing that they claim.
2. Only the writer's bytes are accepted: each number in its shortest form, each reference where one is possible.
3. A document is given out once its own root follows; that all of them are the corpus is known after the last.
4. No root binds a text hash, an entry hash or a context hash to its chunk, nor says how documents were cut: the
   checksum guards these against accidents, and nothing but the sources against a liar (format.md 16.8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from steadlith_core.digest import SIZE, Digest
from steadlith_core.records import DocumentId
from steadlith_core.rows import TrieRow
from steadlith_core.state.manifest import (
    MAGIC,
    MAX_COUNT,
    MAX_HEADER,
    MAX_KEPT,
    MAX_NAME,
    MAX_TEXT,
    VERSION,
    ManifestChunk,
    ManifestDocument,
    Order,
    Window,
    checksum,
    decode_header,
    need,
    refuse,
)
from steadlith_core.state.manifestwriting import common
from steadlith_core.state.moving import build
from steadlith_core.state.roots import corpus_root, sources_root
from steadlith_core.state.trie import document_key
from steadlith_core.text.canonical import NORMALIZER_ID

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from steadlith_core.state.manifest import Header
    from steadlith_core.state.moving import Moved

    Thing = TypeVar("Thing", bound=Hashable)

LONGEST_NUMBER = 9
"""Bytes of a number: 63 bits (format.md 16.1)."""


class Unpacking:
    """One pass over a manifest. `header` is there at once; `documents` may be gone through once.

    `rows` are those of the corpus trie, and `trie` is that trie, after the last document.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._stream = _Stream(pieces)
        self.header: Header = self._head()
        self.rows: list[TrieRow] = []
        self.trie: Moved | None = None

    def documents(self) -> Iterator[ManifestDocument]:
        """The documents in order of (source, path); in the end all roots are checked."""
        order, reader = Order(self.header), _Reader(self._stream)
        for _ in range(self.header.documents):
            document = reader.document()
            order.take(document)
            self._stream.seal()
            self.rows.append(TrieRow(document_key(document.id), document.root, document.source_digest))
            yield document
        order.end()
        self._end()

    def _head(self) -> Header:
        stream = self._stream
        need(stream.take(len(MAGIC), "the magic") == MAGIC, "it does not begin as one")
        version = stream.byte("the version")
        need(version == VERSION, f"of version {version}; this version reads {VERSION}")
        header = decode_header(stream.sized("the header", MAX_HEADER))
        stream.seal()
        return header

    def _end(self) -> None:
        found = self._stream.sealed
        need(self._stream.digest("the checksum") == found, "it was changed: the checksum is another")
        self._stream.end()
        self.trie = build(self.rows)
        top, header = self.trie.after, self.header
        normalizer = header.recipe.normalizer_id if header.recipe else NORMALIZER_ID
        for name, said, follows in (
            ("corpus root", header.corpus_root, corpus_root(top.count, top.digest, normalizer_id=normalizer)),
            ("sources root", header.sources_root, sources_root(top)),
        ):
            need(said == follows, f"its documents lead to the {name} {follows}, not {said}")


class _Stream:
    """A place in bytes that come in pieces. What was read since the last seal is kept, to be part of the checksum."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._data = bytearray()
        self._at = 0
        self._before = 0
        self.sealed = b""

    def take(self, size: int, what: str) -> bytes:
        end = self._at + size
        while len(self._data) < end:
            piece = next(self._pieces, None)
            if piece is None:
                there = len(self._data) - self._at
                refuse(f"cut short at byte {self._before + self._at}: {what} has {size} bytes, {there} are there")
            self._data += piece
        taken = bytes(self._data[self._at : end])
        self._at = end
        return taken

    def byte(self, what: str) -> int:
        if self._at < len(self._data):  # nearly always, and this is asked more often than anything
            self._at += 1
            return self._data[self._at - 1]
        return self.take(1, what)[0]

    def number(self, what: str) -> int:
        value = self.byte(what)
        if value < 128:
            return value
        value &= 127
        for place in range(1, LONGEST_NUMBER):
            byte = self.byte(what)
            value |= (byte & 127) << 7 * place
            if byte < 128:
                need(byte > 0, f"{what} is not in its shortest form")
                return value
        return refuse(f"{what} has more than {LONGEST_NUMBER} bytes")

    def digest(self, what: str) -> Digest:
        return Digest(self.take(SIZE, what))

    def sized(self, what: str, most: int) -> bytes:
        size = self.number(f"the size of {what}")
        need(size <= most, f"{what} has at most {most} bytes, this one claims {size}")
        return self.take(size, what)

    def seal(self) -> None:
        """The piece ends here: take it into the checksum, and forget it."""
        self.sealed = checksum(self.sealed + self._data[: self._at])
        self._before += self._at
        del self._data[: self._at]
        self._at = 0

    def end(self) -> None:
        left = len(self._data) - self._at
        need(not left and not any(self._pieces), "there are bytes after its end")


class _Reader:
    """What the documents so far have left for the next to refer to."""

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream
        self._source: str | None = None
        self._path = b""
        self._texts: Window[str] = Window()
        self._contexts: Window[Digest] = Window()

    def document(self) -> ManifestDocument:
        stream = self._stream
        id_ = self._name()
        root, source_digest = stream.digest("a document's root"), stream.digest("a source's digest")
        metadata = self._metadata(id_)
        count = stream.number("the count of chunks")
        need(count < MAX_COUNT, f"{id_}: {count} chunks cannot be counted")
        chunks = tuple(self._chunk(position) for position in range(count))
        return ManifestDocument(id_, root, source_digest, metadata, chunks)

    def _name(self) -> DocumentId:
        stream = self._stream
        new = stream.byte("whether the source is another")
        need(new <= 1, f"whether the source is another is 0 or 1, got {new}")
        if new:
            source = _text(stream.sized("a source's name", MAX_NAME))
            need(source != self._source, f"the source {source!r} is said to be another, and is the same")
            self._source, self._path = source, b""
        need(self._source is not None, "the first document names no source")
        shared = stream.number("how much of the path is shared")
        need(shared <= len(self._path), f"{shared} bytes shared with a path of {len(self._path)}")
        rest = stream.sized("a path", MAX_NAME)
        path = self._path[:shared] + rest
        need(len(path) <= MAX_NAME, f"a path has at most {MAX_NAME} bytes, this one {len(path)}")
        need(common(self._path, path) == shared, f"more of the path is shared than is said: {path!r:.80}")
        self._path = path
        assert self._source is not None  # needed above
        return DocumentId(self._source, _text(path))

    def _metadata(self, id: DocumentId) -> dict[str, str]:  # noqa: A002
        metadata: dict[str, str] = {}
        last: str | None = None
        for _ in range(self._stream.number("the count of metadata")):
            key, value = self._referred(), self._referred()
            if last is not None and key <= last:  # text in Python is in the order of its UTF-8 bytes
                refuse(f"{id}: metadata out of order, or one is there twice, at {key!r:.80}")
            metadata[key] = value
            last = key
        return metadata

    def _referred(self) -> str:
        reference = self._stream.number("a reference to a text")
        if reference:
            return _kept(self._texts, reference, "text")
        coded = self._stream.sized("a text", MAX_TEXT)
        text = _text(coded)
        need(self._texts.place(text) is None, f"a text is written out that a reference can name: {text!r:.80}")
        if len(coded) <= MAX_KEPT:
            self._texts.keep(text)
        return text

    def _chunk(self, position: int) -> ManifestChunk:
        # One look for the three: this is where a large manifest spends its time.
        three = self._stream.take(3 * SIZE, "a chunk's identities")
        shape = self._stream.number("a chunk's shape")
        back, bare = shape >> 1, shape & 1
        need(back <= position, f"chunk {position} has no parent {back} places before it")
        return ManifestChunk(
            chunk_hash=Digest(three[:SIZE]),
            text_hash=Digest(three[SIZE : 2 * SIZE]),
            entry_hash=Digest(three[2 * SIZE :]),
            context_hash=None if bare else self._context(),
            parent=position - back if back else -1,
        )

    def _context(self) -> Digest:
        reference = self._stream.number("a reference to a context hash")
        if reference:
            return _kept(self._contexts, reference, "context hash")
        context = self._stream.digest("a context hash")
        need(self._contexts.place(context) is None, f"{context} is written out, and a reference can name it")
        self._contexts.keep(context)
        return context


def _kept(window: Window[Thing], reference: int, what: str) -> Thing:
    found = window.at(reference - 1)
    if found is None:
        refuse(f"a reference to {what} {reference}, which is not there")
    return found


def _text(coded: bytes) -> str:
    try:
        return coded.decode("utf-8")
    except UnicodeDecodeError:
        return refuse(f"a text is no UTF-8: {coded!r:.80}")

"""steadlith 1.x: its index, which holds texts and vectors, and its cache, which may hold what a row of it lost.

1. Active rows only: what 1.x marked as gone stays gone.
2. A row is believed if its record digest leads to it, and a text in any case only if its chunk hash does. Where a row's
   digest does not, its vector may be damaged: then the cache's is taken, and without one the row is passed over.
3. Documents whose chunks do not lead to their root are told, and so is a corpus that its roots do not lead to.
4. Offsets count code points of a source that may have changed since: they order the chunks and decide nothing else.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from steadlith.foreign import databases, whole
from steadlith.foreign.rows import Passed, Why, packed_vector, row
from steadlith_core.errors import ImportFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from sqlite3 import Connection

    from steadlith.foreign.rows import Read
    from steadlith.foreign.whole import Whole

SCHEMA = "2"
CHUNK = ("cairn-chunk-identity-v1", "cairn-normalizer-v1")
BOOKKEEPING = frozenset(
    {
        *("boundary_kind", "chunk_hash", "chunk_index", "chunker_id", "chunker_params_hash", "end_offset", "end_word"),
        *("mtime_ns", "normalizer_version", "path", "raw_end_word", "size", "snap_kind", "start_offset", "start_word"),
        "token_count",
    }
)
"""Keys that 1.x itself notes of every chunk: no metadata of the document."""

_COLUMNS = (
    *("instance_id", "document_id", "position", "chunk_hash", "text", "start_offset", "end_offset", "token_count"),
    *("vector", "dimensions", "model_id", "params_hash", "metadata_json", "record_digest"),
)
_ACTIVE = f"SELECT {', '.join(_COLUMNS)} FROM chunks WHERE valid_to IS NULL ORDER BY document_id, position"  # noqa: S608
_CACHED = "SELECT vector FROM embeddings WHERE chunk_hash = ? AND model_id = ? AND params_hash = ?"


@dataclass(frozen=True, slots=True)
class Index:
    """One index, and the cache beside it if it is given."""

    file: Path
    dimensions: int
    cache: Path | None = None
    name: str = "steadlith-1"

    def rows(self) -> Iterator[Read]:
        """Every active row, and what its roots say of it."""
        with self._opened() as database:
            self._checked(database)
            documents = {name: (root, count) for name, root, count in database.execute(_DOCUMENTS)}
            roots: list[tuple[str, str]] = []
            for name, rows in groupby(database.execute(_ACTIVE), key=itemgetter(1)):
                found = [dict(zip(_COLUMNS, each, strict=True)) for each in rows]
                root = _document_root(each["chunk_hash"] for each in found)
                roots.append((str(name), root))
                if documents.get(name) != (root, len(found)):
                    yield Passed(f"{name}", Why.DAMAGED, "its chunks do not lead to the root that is recorded for it")
                yield from map(self._read, found)
            said = self._said(database)
            if said.get("corpus_root") != _corpus_root(roots):
                yield Passed(self.file.name, Why.DAMAGED, "its documents do not lead to its corpus root")

    def whole(self) -> Whole:
        """The files, and what the index says of itself."""
        with self._opened() as database:
            self._checked(database)
            said = self._said(database)
        files = [self.file] if self.cache is None else [self.file, self.cache]
        keys = {"model_id": "model", "generation": "generation", "corpus_root": "corpus root"}
        return whole.of_files(files, {name: said[key] for key, name in keys.items() if key in said})

    def _opened(self) -> AbstractContextManager[Connection]:
        return databases.opened(self.file)

    def _said(self, database: Connection) -> Mapping[str, str]:
        rows = database.execute("SELECT key, value FROM index_meta WHERE key <> 'manifest_json'")
        return {str(key): str(value) for key, value in rows}

    def _checked(self, database: Connection) -> None:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"index_meta", "documents", "chunks"} <= tables:
            raise ImportFileError(f"{self.file} is no index of steadlith 1.x")
        version = self._said(database).get("schema_version")
        if version != SCHEMA:
            raise ImportFileError(f"{self.file} has schema {version!r}; an index of steadlith 1.0 has {SCHEMA!r}")

    def _read(self, found: Mapping[str, Any]) -> Read:
        place = f"{found['document_id']}#{found['position']}"
        try:
            metadata = json.loads(found["metadata_json"])
            sound = _record_digest(found) == found["record_digest"]
            named = _chunk_hash(found, metadata) == found["chunk_hash"]
        except (TypeError, ValueError, AttributeError, RecursionError, KeyError) as error:
            return Passed(place, Why.DAMAGED, f"its row is not as steadlith 1.x writes it ({error})")
        if not named:
            return Passed(place, Why.DAMAGED, "its text is not the one that its chunk hash is of")
        vector = found["vector"] if sound else self._cached(found)
        if vector is None:
            return Passed(place, Why.DAMAGED, "its row was changed since it was written, and no cache has its vector")
        own = {key: value for key, value in metadata.items() if key not in BOOKKEEPING}
        at = found["start_offset"]
        return row(place, found["instance_id"], found["document_id"], found["text"], vector, own, self.dimensions, at)

    def _cached(self, found: Mapping[str, Any]) -> bytes | None:
        """The vector of a damaged row as the cache has it, if that is one."""
        if self.cache is None:
            return None
        with databases.opened(self.cache) as database:
            key = (found["chunk_hash"], found["model_id"], found["params_hash"])
            answer = database.execute(_CACHED, key).fetchone()
        vector = None if answer is None else packed_vector(answer[0], self.dimensions)
        return vector if isinstance(vector, bytes) else None


_DOCUMENTS = "SELECT document_id, root_hash, chunk_count FROM documents"


def _hash(domain: str, fields: Iterable[Any]) -> str:
    """Their hash: SHA-256 over length and domain, then length and bytes of each field. What is damaged has one too."""
    digest = hashlib.sha256()
    digest.update(len(domain).to_bytes(4, "big") + domain.encode("ascii"))
    for field in fields:
        data = field if isinstance(field, bytes) else str(field).encode("utf-8", "surrogateescape")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def _record_digest(found: Mapping[str, Any]) -> str:
    return _hash("cairn-index-record-v1", (found[column] for column in _COLUMNS[:-1]))


def _chunk_hash(found: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    by = (metadata["chunker_id"], metadata["chunker_params_hash"])
    return _hash("cairn-chunk-v1", (*CHUNK, *by, found["text"]))


def _document_root(chunk_hashes: Iterable[str]) -> str:
    return _tree([_hash("cairn-merkle-leaf-v1", (each,)) for each in chunk_hashes])


def _corpus_root(roots: Sequence[tuple[str, str]]) -> str:
    named = (_hash("cairn-corpus-document-v1", pair) for pair in sorted(roots))
    return _tree([_hash("cairn-merkle-leaf-v1", (each,)) for each in named])


def _tree(level: list[str]) -> str:
    """Their tree: pairs from the left, an odd one out paired with nothing."""
    if not level:
        return _hash("cairn-merkle-empty-v1", ())
    while len(level) > 1:
        pairs = zip(level[::2], [*level[1::2], ""], strict=False)
        level = [_hash("cairn-merkle-node-v1", pair) for pair in pairs]
    return level[0]

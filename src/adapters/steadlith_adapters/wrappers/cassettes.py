"""The bytes of a cassette: which texts an embedder was asked for, as digests, and what it answered.

1. A line of JSON says whose answers these are; a cache file (format.md 18) holds them; a digest of all that ends it.
2. An answer's key is the digest of identity, side (document or query) and text: no text is in the file, and the answers
   of one model are never taken for another's.
3. The same answers give the same bytes, in whatever order they were recorded.
4. A cassette is believed as far as its digest goes: that finds accidents, not forgers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from steadlith_core import cachefile
from steadlith_core.digest import SIZE, Digest, hash_fields
from steadlith_core.errors import CacheFileError
from steadlith_core.ports import EmbedderIdentity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_core.vectors import Vector

FORMAT = "steadlith cassette 1"

Side: TypeAlias = Literal["document", "query"]


@dataclass(slots=True)
class Cassette:
    """An embedder's answers by key. The first answer to a text stays."""

    identity: EmbedderIdentity
    answers: dict[Digest, Vector] = field(default_factory=dict)

    def key(self, side: Side, text: str) -> Digest:
        """What the answer to a text is kept under (rule 2)."""
        params = dict(self.identity.document_params)
        data = text.encode("utf-8", "surrogatepass")
        return hash_fields("cassette-answer", self.identity.model_id, params, side, data)

    def dump(self) -> bytes:
        """Its bytes."""
        body = _line(self.identity) + b"".join(cachefile.pack(sorted(self.answers.items())))
        return body + hash_fields("cassette", body)

    @classmethod
    def load(cls, data: bytes) -> Cassette:
        """Read its bytes. Raises `CacheFileError`."""
        body, digest = data[:-SIZE], data[-SIZE:]
        line, newline, answers = body.partition(b"\n")
        if not newline or hash_fields("cassette", body) != digest:
            message = "it is no cassette, or it was cut short or changed: its digest is another"
            raise CacheFileError(message)
        found = cls(_identity(line))
        for batch in cachefile.Unpacking([answers]).batches():
            found.answers.update(batch)
        return found


def _line(identity: EmbedderIdentity) -> bytes:
    said = {
        "format": FORMAT,
        "model_id": identity.model_id,
        "dimensions": identity.dimensions,
        "document_params": dict(identity.document_params),
        "max_tokens": identity.max_tokens,
        "max_bytes": identity.max_bytes,
        "local": identity.local,
    }
    return json.dumps(said, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _identity(line: bytes) -> EmbedderIdentity:
    said: Mapping[str, Any]
    try:
        said = json.loads(line)
        if said["format"] != FORMAT:
            message = f"it is of the format {said['format']!r}; this version reads {FORMAT!r}"
            raise CacheFileError(message)
        return EmbedderIdentity(**{name: value for name, value in said.items() if name != "format"})
    except (ValueError, TypeError, KeyError) as error:
        message = f"its first line does not name an embedder ({error})"
        raise CacheFileError(message) from error

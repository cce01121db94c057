"""A document's version as it is packed, and what is answered from it: chunks and hits.

1. Occurrences, leaves, parents and spans stand in one order; position i of each is the same chunk.
2. A row that the version names and that is missing is damage, and says so: nothing is left out of an answer.
3. Of a document of many chunks, those that are answered are unpacked.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from steadlith_adapters.stores import packing
from steadlith_adapters.stores.columns import read_headings, read_metadata
from steadlith_adapters.stores.sqlite.schema import INDEX
from steadlith_core.digest import SIZE as DIGEST_SIZE
from steadlith_core.digest import Digest
from steadlith_core.records import DocumentId
from steadlith_core.rows import OccurrenceHit, RecordedChunk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steadlith_adapters.stores.sqlite.session import Session

T = TypeVar("T")
_VISIBLE = "{0}.valid_from <= ?1 AND {0}.valid_to > ?1"
_VERSION = f"""
    SELECT d.source, d.path, v.metadata, s.source_digest, v.occurrences, v.leaves, v.parents, s.positions
    FROM document d
    JOIN document_version v ON v.document = d.document AND {_VISIBLE.format("v")}
    JOIN span s ON s.document = v.document AND s.version = v.valid_from AND {_VISIBLE.format("s")}
    WHERE {{}}"""  # noqa: S608
_BY_NUMBER = _VERSION.format("d.document = ?2")
_BY_NAME = _VERSION.format("d.source = ?2 AND d.path = ?3")
_IDENTITIES = f"""
    SELECT o.occurrence, e.entry_hash, t.text_hash, e.context_hash IS NOT NULL
    FROM occurrence o JOIN entry e ON e.entry = o.entry JOIN text t ON t.text = e.text
    WHERE {_VISIBLE.format("o")} AND o.occurrence IN ({{}})"""  # noqa: S608
_PLACED = f"""
    SELECT v.occurrences FROM document d
    JOIN document_version v ON v.document = d.document AND {_VISIBLE.format("v")}
    WHERE d.key IN ({{}})"""  # noqa: S608
_EMBEDDED = f"""
    SELECT e.entry FROM occurrence o JOIN entry e ON e.entry = o.entry AND e.context_hash IS NOT NULL
    WHERE {_VISIBLE.format("o")} AND o.occurrence IN ({{}})"""  # noqa: S608
_ENTRY = "SELECT e.title, e.headings, t.body FROM entry e JOIN text t ON t.text = e.text WHERE e.entry = ?"


class Version(NamedTuple):
    """A document as one generation shows it; the four sequences run in parallel. `leaves` and `spans` are packed."""

    id: DocumentId
    metadata: Mapping[str, str]
    source_digest: Digest
    occurrences: tuple[int, ...]
    leaves: bytes
    parents: tuple[int, ...]
    spans: bytes


def holder(session: Session, generation: int, document: int) -> Version:
    """The version of a document that has occurrences at this generation."""
    version = _read(session, _BY_NUMBER, generation, document)
    if version is None:
        raise INDEX.damaged(session.path, f"document {document} has occurrences and no version that holds them")
    return version


def chunks(session: Session, generation: int, id: DocumentId) -> tuple[RecordedChunk, ...]:  # noqa: A002
    """The document's occurrences in source order; none where the generation does not show it."""
    version = _read(session, _BY_NAME, generation, id.source, id.path)
    if version is None:
        return ()
    identity = {
        occurrence: (Digest(text), Digest(entry), bool(embed))
        for occurrence, entry, text, embed in session.lookup(_IDENTITIES, version.occurrences, generation)
    }
    missing = [occurrence for occurrence in version.occurrences if occurrence not in identity]
    if missing:
        raise INDEX.damaged(session.path, f"occurrence {missing[0]} of {version.id} is missing")
    leaves, spans = packing.unpack_digests(version.leaves), packing.unpack_spans(version.spans)
    return tuple(
        RecordedChunk(occurrence, leaf, text, entry, span, parent, embed)
        for occurrence, leaf, parent, span in zip(version.occurrences, leaves, version.parents, spans, strict=True)
        for text, entry, embed in (identity[occurrence],)
    )


def entries(session: Session, generation: int, keys: Sequence[Digest]) -> tuple[int, ...]:
    """The embedded entries that a generation's occurrences in these documents use, ascending."""
    found: set[int] = set()
    for (ids,) in session.lookup(_PLACED, keys, generation):
        occurrences = session.decode(packing.unpack_ids, ids, "occurrences of a document")
        found.update(entry for (entry,) in session.lookup(_EMBEDDED, occurrences, generation))
    return tuple(sorted(found))


def hits(session: Session, entry: int, version: Version, occurrences: Sequence[int]) -> list[OccurrenceHit]:
    """The occurrences of an entry in one document, by position."""
    row = session.one(_ENTRY, entry)
    if row is None:
        raise INDEX.damaged(session.path, f"entry {entry} of {version.id} is missing")
    title, headings, body = row
    path = session.decode(read_headings, headings, f"headings of entry {entry}")
    asked = frozenset(occurrences)
    positions = [position for position, occurrence in enumerate(version.occurrences) if occurrence in asked]
    if len(positions) < len(asked):
        misplaced = min(asked.difference(version.occurrences))
        raise INDEX.damaged(session.path, f"occurrence {misplaced} has no place in {version.id}")
    return [
        OccurrenceHit(
            entry=entry,
            occurrence=version.occurrences[position],
            position=position,
            parent=version.parents[position],
            id=version.id,
            metadata=version.metadata,
            source_digest=version.source_digest,
            span=_at(packing.unpack_spans, version.spans, packing.SPAN.size, position),
            chunk_hash=_at(packing.unpack_digests, version.leaves, DIGEST_SIZE, position),
            title=title,
            headings=path,
            text=body,
        )
        for position in positions
    ]


def _read(session: Session, sql: str, generation: int, *document: Any) -> Version | None:
    """The version that a generation shows of a document, if it shows one."""
    row = session.one(sql, generation, *document)
    if row is None:
        return None
    source, path, metadata, source_digest, occurrences, leaves, parents, spans = row
    name = f"{source}:{path}"
    ids = session.decode(packing.unpack_ids, occurrences, f"occurrences of {name}")
    if not (len(leaves) == DIGEST_SIZE * len(ids) and len(spans) == packing.SPAN.size * len(ids)):
        raise INDEX.damaged(session.path, f"{name} has unequal numbers of occurrences, chunk hashes and spans")
    return Version(
        id=DocumentId(source, path),
        metadata=session.decode(read_metadata, metadata, f"metadata of {name}"),
        source_digest=session.decode(Digest, source_digest, f"source digest of {name}"),
        occurrences=ids,
        leaves=leaves,
        parents=session.decode(partial(packing.unpack_parents, count=len(ids)), parents, f"parents of {name}"),
        spans=spans,
    )


def _at(unpack: Callable[[bytes], tuple[T, ...]], packed: bytes, width: int, position: int) -> T:
    """One of the values of a packed column."""
    return unpack(packed[width * position : width * (position + 1)])[0]

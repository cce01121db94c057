"""A document's version as it is packed, and what is answered from it: chunks and hits.

1. Occurrences, leaves, parents and spans stand in one order; position i of each is the same chunk.
2. A row that the version names and that is missing is damage, and says so: nothing is left out of an answer.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.stores import packing
from steadlith_adapters.stores.columns import read_headings, read_metadata
from steadlith_adapters.stores.postgres import border
from steadlith_core.digest import Digest
from steadlith_core.records import DocumentId
from steadlith_core.rows import OccurrenceHit, RecordedChunk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_core.records import Span

_VERSION = """
    SELECT d.document, d.source, d.path, v.metadata, s.source_digest, v.occurrences, v.leaves, v.parents, s.positions
    FROM document d
    JOIN document_version v ON v.document = d.document AND v.valid_from <= %s AND v.valid_to > %s
    JOIN span s ON s.document = v.document AND s.version = v.valid_from AND s.valid_from <= %s AND s.valid_to > %s
    WHERE d.document = ANY(%s::bigint[])"""
_IDENTITIES = """
    SELECT o.occurrence, e.entry_hash, t.text_hash, e.context_hash IS NOT NULL
    FROM occurrence o JOIN entry e ON e.entry = o.entry JOIN text t ON t.text = e.text
    WHERE o.valid_from <= %s AND o.valid_to > %s AND o.occurrence = ANY(%s::bigint[])"""
_PLACED = """
    SELECT v.occurrences FROM document d
    JOIN document_version v ON v.document = d.document AND v.valid_from <= %s AND v.valid_to > %s
    WHERE d.key = ANY(%s::bytea[])"""
_EMBEDDED = """
    SELECT DISTINCT e.entry FROM occurrence o JOIN entry e ON e.entry = o.entry AND e.context_hash IS NOT NULL
    WHERE o.valid_from <= %s AND o.valid_to > %s AND o.occurrence = ANY(%s::bigint[])"""
_CONTENTS = """
    SELECT e.entry, e.title, e.headings, t.body FROM entry e JOIN text t ON t.text = e.text
    WHERE e.entry = ANY(%s::bigint[])"""


class Version(NamedTuple):
    """A document as one generation shows it; the four sequences run in parallel.

    `positions` leads from an occurrence to its place in them.
    """

    id: DocumentId
    metadata: Mapping[str, str]
    source_digest: Digest
    occurrences: tuple[int, ...]
    leaves: tuple[Digest, ...]
    parents: tuple[int, ...]
    spans: tuple[Span, ...]
    positions: Mapping[int, int]


def text(session: Session, data: bytes, what: str) -> str:
    """A text as it was put."""
    return session.decode(lambda raw: raw.decode("utf-8", "surrogatepass"), data, what)


def document_id(session: Session, source: bytes, path: bytes) -> DocumentId:
    """Whose row it is."""
    return DocumentId(text(session, source, "a document's source"), text(session, path, "a document's path"))


class Content(NamedTuple):
    """What an entry says."""

    title: str
    headings: tuple[str, ...]
    text: str


def read(session: Session, generation: int, documents: Sequence[int]) -> Mapping[int, Version]:
    """The versions that a generation shows of these documents, as far as it shows any."""
    rows = session.lookup(_VERSION, documents, *[generation] * 4)
    return {document: _version(session, *columns) for document, *columns in rows}


def _version(
    session: Session,
    source: bytes,
    path: bytes,
    metadata: bytes,
    source_digest: bytes,
    occurrences: bytes,
    leaves: bytes,
    parents: bytes,
    positions: bytes,
) -> Version:
    id_ = document_id(session, source, path)
    ids = session.decode(packing.unpack_ids, occurrences, f"occurrences of {id_}")
    unpack_parents = partial(packing.unpack_parents, count=len(ids))
    version = Version(
        id=id_,
        metadata=session.decode(read_metadata, metadata, f"metadata of {id_}"),
        source_digest=session.decode(Digest, source_digest, f"source digest of {id_}"),
        occurrences=ids,
        leaves=session.decode(packing.unpack_digests, leaves, f"chunk hashes of {id_}"),
        parents=session.decode(unpack_parents, parents, f"parents of {id_}"),
        spans=session.decode(packing.unpack_spans, positions, f"spans of {id_}"),
        positions={occurrence: position for position, occurrence in enumerate(ids)},
    )
    if not len(version.occurrences) == len(version.leaves) == len(version.spans):
        raise border.damaged(session.place, f"{id_} has unequal numbers of occurrences, chunk hashes and spans")
    return version


def holders(session: Session, generation: int, documents: Sequence[int]) -> Mapping[int, Version]:
    """The versions of documents that have occurrences at this generation."""
    versions = read(session, generation, documents)
    for document in documents:
        if document not in versions:
            raise border.damaged(session.place, f"document {document} has occurrences and no version that holds them")
    return versions


def chunks(session: Session, generation: int, document: int) -> tuple[RecordedChunk, ...]:
    """The document's occurrences in source order; none where the generation does not show it."""
    version = read(session, generation, [document]).get(document)
    if version is None:
        return ()
    identity = {
        occurrence: (Digest(text), Digest(entry), bool(embed))
        for occurrence, entry, text, embed in session.lookup(_IDENTITIES, version.occurrences, generation, generation)
    }
    missing = [occurrence for occurrence in version.occurrences if occurrence not in identity]
    if missing:
        raise border.damaged(session.place, f"occurrence {missing[0]} of {version.id} is missing")
    return tuple(
        RecordedChunk(occurrence, leaf, text, entry, span, parent, embed)
        for occurrence, leaf, parent, span in zip(
            version.occurrences, version.leaves, version.parents, version.spans, strict=True
        )
        for text, entry, embed in (identity[occurrence],)
    )


def entries(session: Session, generation: int, keys: Sequence[Digest]) -> tuple[int, ...]:
    """The embedded entries that a generation's occurrences in these documents use, ascending."""
    occurrences: set[int] = set()
    for (ids,) in session.lookup(_PLACED, [*map(bytes, keys)], generation, generation):
        occurrences.update(session.decode(packing.unpack_ids, ids, "occurrences of a document"))
    rows = session.lookup(_EMBEDDED, sorted(occurrences), generation, generation)
    return tuple(sorted({entry for (entry,) in rows}))


def contents(session: Session, asked: Sequence[int]) -> Mapping[int, Content]:
    """What these entries say, as far as they are there."""
    found = {}
    for entry, title, headings, body in session.lookup(_CONTENTS, asked):
        path = session.decode(read_headings, headings, f"headings of entry {entry}")
        named, whole = (text(session, each, f"title or text of entry {entry}") for each in (title, body))
        found[entry] = Content(named, path, whole)
    return found


def hits(
    session: Session, entry: int, content: Content | None, version: Version, occurrences: Sequence[int]
) -> list[OccurrenceHit]:
    """The occurrences of an entry in one document, by position."""
    if content is None:
        raise border.damaged(session.place, f"entry {entry} of {version.id} is missing")
    misplaced = [occurrence for occurrence in occurrences if occurrence not in version.positions]
    if misplaced:
        raise border.damaged(session.place, f"occurrence {misplaced[0]} has no place in {version.id}")
    return [
        OccurrenceHit(
            entry=entry,
            occurrence=version.occurrences[position],
            position=position,
            parent=version.parents[position],
            id=version.id,
            metadata=version.metadata,
            source_digest=version.source_digest,
            span=version.spans[position],
            chunk_hash=version.leaves[position],
            title=content.title,
            headings=content.headings,
            text=content.text,
        )
        for position in sorted(version.positions[occurrence] for occurrence in occurrences)
    ]

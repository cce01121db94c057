"""A document's version as it is packed, and what is answered from it: chunks and hits.

1. Occurrences, leaves, parents and spans stand in one order; position i of each is the same chunk.
2. A row that the version names and that is missing is damage, and says so: nothing is left out of an answer.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.stores import packing
from steadlith_adapters.stores.columns import read_headings, read_metadata
from steadlith_adapters.stores.sqlite.schema import INDEX
from steadlith_core.digest import Digest
from steadlith_core.records import DocumentId
from steadlith_core.rows import OccurrenceHit, RecordedChunk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.records import Span

_VISIBLE = "{0}.valid_from <= ?1 AND {0}.valid_to > ?1"
_VERSION = f"""
    SELECT d.source, d.path, v.metadata, s.source_digest, v.occurrences, v.leaves, v.parents, s.positions
    FROM document d
    JOIN document_version v ON v.document = d.document AND {_VISIBLE.format("v")}
    JOIN span s ON s.document = v.document AND s.version = v.valid_from AND {_VISIBLE.format("s")}
    WHERE d.document = ?2"""  # noqa: S608
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


def read(session: Session, generation: int, document: int) -> Version | None:
    """The version that a generation shows of a document, if it shows one."""
    row = session.one(_VERSION, generation, document)
    if row is None:
        return None
    source, path, metadata, source_digest, occurrences, leaves, parents, positions = row
    name = f"{source}:{path}"
    ids = session.decode(packing.unpack_ids, occurrences, f"occurrences of {name}")
    unpack_parents = partial(packing.unpack_parents, count=len(ids))
    version = Version(
        id=DocumentId(source, path),
        metadata=session.decode(read_metadata, metadata, f"metadata of {name}"),
        source_digest=session.decode(Digest, source_digest, f"source digest of {name}"),
        occurrences=ids,
        leaves=session.decode(packing.unpack_digests, leaves, f"chunk hashes of {name}"),
        parents=session.decode(unpack_parents, parents, f"parents of {name}"),
        spans=session.decode(packing.unpack_spans, positions, f"spans of {name}"),
        positions={occurrence: position for position, occurrence in enumerate(ids)},
    )
    if not len(version.occurrences) == len(version.leaves) == len(version.spans):
        raise INDEX.damaged(session.path, f"{name} has unequal numbers of occurrences, chunk hashes and spans")
    return version


def holder(session: Session, generation: int, document: int) -> Version:
    """The version of a document that has occurrences at this generation."""
    version = read(session, generation, document)
    if version is None:
        raise INDEX.damaged(session.path, f"document {document} has occurrences and no version that holds them")
    return version


def chunks(session: Session, generation: int, document: int) -> tuple[RecordedChunk, ...]:
    """The document's occurrences in source order; none where the generation does not show it."""
    version = read(session, generation, document)
    if version is None:
        return ()
    identity = {
        occurrence: (Digest(text), Digest(entry), bool(embed))
        for occurrence, entry, text, embed in session.lookup(_IDENTITIES, version.occurrences, generation)
    }
    missing = [occurrence for occurrence in version.occurrences if occurrence not in identity]
    if missing:
        raise INDEX.damaged(session.path, f"occurrence {missing[0]} of {version.id} is missing")
    return tuple(
        RecordedChunk(occurrence, leaf, text, entry, span, parent, embed)
        for occurrence, leaf, parent, span in zip(
            version.occurrences, version.leaves, version.parents, version.spans, strict=True
        )
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
    misplaced = [occurrence for occurrence in occurrences if occurrence not in version.positions]
    if misplaced:
        raise INDEX.damaged(session.path, f"occurrence {misplaced[0]} has no place in {version.id}")
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
            title=title,
            headings=path,
            text=body,
        )
        for position in sorted(version.positions[occurrence] for occurrence in occurrences)
    ]

"""Document versions as a write opens and closes them, and the claims they stage for `settle`.

1. A document has at most one open version, and a version at most one open row of spans.
2. Closed rows end at, and new rows begin at, the generation being written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.stores import packing
from steadlith_adapters.stores.sqlite.schema import INDEX, OPEN
from steadlith_core import canon
from steadlith_core.digest import SIZE as DIGEST_SIZE
from steadlith_core.errors import AdapterError
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.digest import Digest
    from steadlith_core.records import DocumentId, Span
    from steadlith_core.rows import DocumentVersion

_INSERT_VERSION = """
    INSERT INTO document_version(document, valid_from, valid_to, root, seal, metadata, occurrences, leaves, parents)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_INSERT_SPAN = """
    INSERT INTO span(document, version, valid_from, valid_to, source_digest, seal, positions)
    VALUES (?, ?, ?, ?, ?, ?, ?)"""
_FIND_OPEN = """
    SELECT v.document, v.valid_from, v.occurrences FROM document d
    JOIN document_version v ON v.document = d.document AND v.valid_to = ?
    WHERE d.source = ? AND d.path = ?"""
_CLOSE_VERSION = "UPDATE document_version SET valid_to = ? WHERE document = ? AND valid_from = ?"
_CLOSE_SPAN = "UPDATE span SET valid_to = ? WHERE document = ? AND version = ? AND valid_to = ?"


_CLOSE_ALL = (
    "UPDATE span SET valid_to = ? WHERE document = ? AND valid_to = ?",
    "UPDATE document_version SET valid_to = ? WHERE document = ? AND valid_to = ?",
)
_NUMBER = "SELECT document FROM document WHERE source = ? AND path = ?"
_NEW = "INSERT INTO document(source, path, key) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING document"
_CLAIMED_ELSEWHERE = "SELECT occurrence FROM claim WHERE document <> ? AND occurrence IN ({})"
_COUNT = f"""
    SELECT count(*), coalesce(sum(length(v.leaves)), 0) FROM document_version v
    JOIN document d ON d.document = v.document
    JOIN span s ON s.document = v.document AND s.version = v.valid_from AND s.valid_to = {OPEN}
    WHERE v.valid_to = {OPEN}"""  # noqa: S608


class _Version(NamedTuple):
    """Which row: a document's version is known by the generation it began at."""

    document: int
    since: int


def close(session: Session, id: DocumentId, generation: int) -> int | None:  # noqa: A002
    """Close the open version, if there is one, and release its occurrences; returns how many they are."""
    found = _open_version(session, id)
    if found is None:
        return None
    version, ids = found
    session.run_many("INSERT OR IGNORE INTO released VALUES (?)", [(occurrence,) for occurrence in ids])
    session.run(_CLOSE_VERSION, generation, *version)
    session.run(_CLOSE_SPAN, generation, *version, OPEN)
    return len(ids)


def end(session: Session, id: DocumentId, generation: int) -> bool:  # noqa: A002
    """Close all that is open of a document, read or not; whether anything was. Its occurrences are released later."""
    row = session.one(_NUMBER, id.source, id.path)
    if row is None:
        return False
    for sql in _CLOSE_ALL:
        session.run(sql, generation, row[0], OPEN)
    return session.changed() > 0


def count(session: Session) -> tuple[int, int]:
    """How many documents and chunks the open rows hold."""
    documents, size = session.run(_COUNT)[0]
    return documents, size // DIGEST_SIZE


def open(session: Session, version: DocumentVersion, ids: Sequence[int], generation: int) -> None:  # noqa: A001
    """Open a version whose placements have these occurrence ids; the document's open version is closed already."""
    document = _document(session, version.id)
    entries = [placement.entry_hash for placement in version.placements]
    claims = [(occurrence, document, entry) for occurrence, entry in zip(ids, entries, strict=True)]
    if session.run_many("INSERT INTO claim VALUES (?, ?, ?) ON CONFLICT DO NOTHING", claims) < len(ids):
        elsewhere = {claimed for (claimed,) in session.lookup(_CLAIMED_ELSEWHERE, ids, document)}
        twice = next(each for at, each in enumerate(ids) if each in elsewhere or each in ids[:at])
        message = f"occurrence {twice} is placed twice in one write (the second time in {version.id})"
        raise AdapterError(message)
    packed = packing.pack_ids(ids)
    session.run(
        _INSERT_VERSION,
        document,
        generation,
        OPEN,
        version.root,
        packing.seal(packed, packing.pack_digests(entries)),
        canon.encode(version.metadata),
        packed,
        packing.pack_digests(placement.chunk_hash for placement in version.placements),
        packing.pack_parents([placement.parent for placement in version.placements]),
    )
    spans = [placement.span for placement in version.placements]
    _open_span(session, _Version(document, generation), version.source_digest, spans, generation)


def respan(
    session: Session,
    id: DocumentId,  # noqa: A002
    source_digest: Digest,
    spans: Sequence[Span],
    generation: int,
) -> None:
    """Give the open version other spans."""
    found = _open_version(session, id)
    if found is None:
        message = f"{id} is not in the index, so it has no spans to change"
        raise AdapterError(message)
    version, ids = found
    if len(ids) != len(spans):
        message = f"{id} has {len(ids)} chunks, got {len(spans)} spans"
        raise AdapterError(message)
    session.run(_CLOSE_SPAN, generation, *version, OPEN)
    _open_span(session, version, source_digest, spans, generation)


def _document(session: Session, id: DocumentId) -> int:  # noqa: A002
    # By its name, which is what everybody reads: another document's row at this key would be damage.
    row = session.one(_NUMBER, id.source, id.path) or session.one(_NEW, id.source, id.path, document_key(id))
    if row is None:
        raise INDEX.damaged(session.path, f"another document is kept at the key of {id}")
    number: int = row[0]
    return number


def _open_version(session: Session, id: DocumentId) -> tuple[_Version, tuple[int, ...]] | None:  # noqa: A002
    row = session.one(_FIND_OPEN, OPEN, id.source, id.path)
    if row is None:
        return None
    document, since, packed = row
    return _Version(document, since), session.decode(packing.unpack_ids, packed, f"occurrences of {id}")


def _open_span(
    session: Session, version: _Version, source_digest: Digest, spans: Sequence[Span], generation: int
) -> None:
    positions = packing.pack_spans(spans)
    seal = packing.seal(source_digest, positions)
    session.run(_INSERT_SPAN, *version, generation, OPEN, source_digest, seal, positions)

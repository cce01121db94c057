"""Documents: their names, their versions with the occurrences that these list, and where the chunks stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.stores import packing, whose
from steadlith_adapters.stores.columns import read_metadata
from steadlith_adapters.stores.sqlite.schema import OPEN
from steadlith_core.digest import SIZE as DIGEST_SIZE
from steadlith_core.records import DocumentId, DriftKind
from steadlith_core.rows import Problem
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.stores.sqlite.session import Session

_NAMES = f"""
    SELECT d.source, d.path, d.key,
           EXISTS (SELECT 1 FROM document_version v WHERE v.document = d.document AND v.valid_to = {OPEN})
    FROM document d"""  # noqa: S608
_VERSIONS = """
    SELECT d.source, d.path, v.document, v.valid_from, v.valid_to, v.root, v.seal, v.metadata, v.occurrences,
           v.leaves, v.parents
    FROM document_version v LEFT JOIN document d ON d.document = v.document"""
# An occurrence is open for as long as the version that lists it.
_LISTED = """
    SELECT o.occurrence, e.entry_hash, e.context_hash IS NOT NULL
    FROM occurrence o JOIN entry e ON e.entry = o.entry JOIN text t ON t.text = e.text
    WHERE o.valid_from <= ?1 AND o.valid_to >= ?2 AND o.document = ?3 AND o.occurrence IN ({})"""
_STRAYS = f"""
    SELECT d.source, d.path, o.document, o.held, v.document IS NOT NULL, coalesce(length(v.occurrences), 0)
    FROM (SELECT document, count(*) AS held FROM occurrence WHERE valid_to = {OPEN} GROUP BY document) o
    LEFT JOIN document_version v ON v.document = o.document AND v.valid_to = {OPEN}
    LEFT JOIN document d ON d.document = o.document"""  # noqa: S608
_SPANS = """
    SELECT d.source, d.path, s.document, s.valid_from, min(s.valid_to, coalesce(v.valid_to, s.valid_to)),
           s.source_digest, s.positions, s.seal, length(v.leaves)
    FROM span s LEFT JOIN document_version v ON v.document = s.document AND v.valid_from = s.version
    LEFT JOIN document d ON d.document = s.document"""
_UNSPANNED = """
    SELECT d.source, d.path, v.document, v.valid_from, v.valid_to
    FROM document_version v LEFT JOIN document d ON d.document = v.document
    WHERE (SELECT count(*) FROM span s
           WHERE s.document = v.document AND s.version = v.valid_from AND s.valid_to = v.valid_to) <> 1"""


class _Version(NamedTuple):
    source: str | None
    path: str | None
    document: int
    since: int
    until: int
    root: bytes
    seal: bytes
    metadata: bytes
    occurrences: bytes
    leaves: bytes
    parents: bytes


def names(session: Session) -> Iterator[Problem]:
    """Every document stands at the key that its name gives."""
    for source, path, key, used in session.stream(_NAMES):
        id_ = DocumentId(source, path)
        if document_key(id_) != key:
            problem = whose.shown(DriftKind.DOCUMENT, at_head=used)
            yield problem(f"{id_} is kept at another document's key", document=id_)


def versions(session: Session) -> Iterator[Problem]:
    """Every version has the root that its chunks and metadata give, and the occurrences that it was committed with."""
    for row in session.stream(_VERSIONS):
        version = _Version(*row)
        id_ = whose.document(version.source, version.path)
        problem = whose.shown(DriftKind.DOCUMENT, at_head=version.until == OPEN)
        for message in _of_version(session, version):
            name = id_ or f"document {version.document}"
            yield problem(f"{name} as of generation {version.since}: {message}", document=id_)


def strays(session: Session) -> Iterator[Problem]:
    """No occurrence is open that its document does not list."""
    for source, path, number, held, shown, size in session.stream(_STRAYS):
        id_ = whose.document(source, path)
        name = id_ or f"document {number}"
        if not shown:
            yield Problem(DriftKind.DOCUMENT, f"{name} has {held} open occurrences and no version that lists them", id_)
        elif held > size // packing.ID_SIZE:
            message = f"{name} has {held} open occurrences and lists {size // packing.ID_SIZE}"
            yield Problem(DriftKind.DOCUMENT, message, id_)


def spans(session: Session) -> Iterator[Problem]:
    """Every version has spans from its beginning to its end, one for each chunk, as they were committed."""
    for source, path, number, since, until, source_digest, positions, sealed, leaves in session.stream(_SPANS):
        problem = whose.shown(DriftKind.SPANS, at_head=until == OPEN)
        id_ = whose.document(source, path)
        what = f"{id_ or f'document {number}'}: its spans since generation {since}"
        if leaves is None:
            yield problem(f"{what} are of no version", document=id_)
        elif packing.seal(source_digest, positions) != sealed:
            yield problem(f"{what} are not those that were committed", document=id_)
        elif len(positions) // packing.SPAN.size != leaves // DIGEST_SIZE:
            yield problem(f"{what} are not one for each chunk", document=id_)
    for source, path, number, since, until in session.run(_UNSPANNED):
        problem = whose.shown(DriftKind.SPANS, at_head=until == OPEN)
        id_ = whose.document(source, path)
        name = id_ or f"document {number}"
        yield problem(f"{name} as of generation {since}: its spans do not end where it ends", document=id_)


def _of_version(session: Session, version: _Version) -> Iterator[str]:
    if version.path is None:
        yield "its name is missing"
    try:
        ids = packing.unpack_ids(version.occurrences)
        chunks = packing.unpack_digests(version.leaves)
        fields = read_metadata(version.metadata)
        parents = packing.unpack_parents(version.parents, count=len(chunks))
    except ValueError as error:
        yield f"its occurrences, chunk hashes, parents or metadata cannot be read ({error})"
        return
    rows = session.lookup(_LISTED, ids, version.since, version.until, version.document)
    entries: dict[int, tuple[bytes, bool]] = {each: (entry, bool(embed)) for each, entry, embed in rows}
    missing = [each for each in ids if each not in entries]
    if missing:
        yield f"occurrence {missing[0]}, its entry or its text is missing"
        return
    found = [entries[each] for each in ids]
    if packing.seal(version.occurrences, b"".join(entry for entry, _ in found)) != version.seal:
        yield "its occurrences are not those that were committed"
    ordinary = not version.parents and all(embed for _, embed in found)
    topology = () if ordinary else [(parent, embed) for parent, (_, embed) in zip(parents, found, strict=False)]
    if len(found) != len(chunks) or document_root(chunks, fields, topology) != version.root:
        yield "its root does not follow from its chunks and metadata"

"""Documents: their names, their versions with the occurrences that these list, and where the chunks stand."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.stores import packing, whose
from steadlith_adapters.stores.columns import read_metadata
from steadlith_adapters.stores.postgres.schema import OPEN
from steadlith_adapters.stores.postgres.session import batches
from steadlith_core.digest import SIZE as DIGEST_SIZE
from steadlith_core.records import DriftKind
from steadlith_core.rows import Problem
from steadlith_core.state.tree import document_root
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_adapters.stores.postgres.session import Session

SIZE = 200
"""Versions whose occurrences are looked up together."""
_NAMES = f"""
    SELECT d.source, d.path, d.key,
           EXISTS (SELECT 1 FROM document_version v WHERE v.document = d.document AND v.valid_to = {OPEN})
    FROM document d"""  # noqa: S608
_VERSIONS = """
    SELECT d.source, d.path, v.document, v.valid_from, v.valid_to, v.root, v.seal, v.metadata, v.occurrences,
           v.leaves, v.parents
    FROM document_version v LEFT JOIN document d ON d.document = v.document"""
_LISTED = """
    SELECT o.document, o.valid_from, o.valid_to, o.occurrence, e.entry_hash, e.context_hash IS NOT NULL
    FROM occurrence o JOIN entry e ON e.entry = o.entry JOIN text t ON t.text = e.text
    WHERE o.occurrence = ANY(%s::bigint[])"""
_STRAYS = f"""
    SELECT d.source, d.path, o.document, o.held, v.document IS NOT NULL, coalesce(length(v.occurrences), 0)
    FROM (SELECT document, count(*) AS held FROM occurrence WHERE valid_to = {OPEN} GROUP BY document) o
    LEFT JOIN document_version v ON v.document = o.document AND v.valid_to = {OPEN}
    LEFT JOIN document d ON d.document = o.document"""  # noqa: S608
_SPANS = """
    SELECT d.source, d.path, s.document, s.valid_from, least(s.valid_to, coalesce(v.valid_to, s.valid_to)),
           s.source_digest, s.positions, s.seal, length(v.leaves)
    FROM span s LEFT JOIN document_version v ON v.document = s.document AND v.valid_from = s.version
    LEFT JOIN document d ON d.document = s.document"""
_UNSPANNED = """
    SELECT d.source, d.path, v.document, v.valid_from, v.valid_to
    FROM document_version v LEFT JOIN document d ON d.document = v.document
    WHERE (SELECT count(*) FROM span s
           WHERE s.document = v.document AND s.version = v.valid_from AND s.valid_to = v.valid_to) <> 1"""


class _Version(NamedTuple):
    source: bytes | None
    path: bytes | None
    document: int
    since: int
    until: int
    root: bytes
    seal: bytes
    metadata: bytes
    occurrences: bytes
    leaves: bytes
    parents: bytes


_Listed = dict[tuple[int, int], list[tuple[int, int, bytes, bool]]]
"""From document and occurrence to (valid_from, valid_to, entry hash, is embedded)."""


def names(session: Session) -> Iterator[Problem]:
    """Every document stands at the key that its name gives."""
    for source, path, key, used in session.stream(_NAMES):
        id_ = whose.document(source, path)
        if id_ is None or document_key(id_) != key:
            problem = whose.shown(DriftKind.DOCUMENT, at_head=used)
            yield problem(f"{id_ or source} is kept at another document's key", document=id_)


def versions(session: Session) -> Iterator[Problem]:
    """Every version has the root that its chunks and metadata give, and the occurrences that it was committed with."""
    for batch in batches(session.stream(_VERSIONS), SIZE):
        some = [_Version(*row) for row in batch]
        listed = _listed(session, some)
        for version in some:
            id_ = whose.document(version.source, version.path)
            problem = whose.shown(DriftKind.DOCUMENT, at_head=version.until == OPEN)
            for message in _of_version(listed, version):
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


def _listed(session: Session, some: Sequence[_Version]) -> _Listed:
    """The occurrences of versions, by document and id."""
    ids: set[int] = set()
    for version in some:
        with suppress(ValueError):  # said of the version itself
            ids |= set(packing.unpack_ids(version.occurrences))
    found: _Listed = {}
    for document, since, until, occurrence, entry, embed in session.lookup(_LISTED, sorted(ids)):
        found.setdefault((document, occurrence), []).append((since, until, entry, embed))
    return found


def _of_version(listed: _Listed, version: _Version) -> Iterator[str]:
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
    entries = {
        each: (entry, embed)
        for each in ids
        for since, until, entry, embed in listed.get((version.document, each), ())
        # An occurrence is open for as long as the version that lists it.
        if since <= version.since and until >= version.until
    }
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

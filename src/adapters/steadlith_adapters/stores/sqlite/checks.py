"""What an index file can see is wrong with itself, one sentence each, naming the row.

1. The shallow level reads structure, head and counts; the full one every hash, seal, checksum and lexical row.
2. A check that cannot go on says so and does not stop the next one.
3. Identities are computed anew from what is stored; nothing vouches for itself.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite import generations, packing, vectors
from steadlith_adapters.stores.sqlite.rows import read_headings, read_metadata
from steadlith_adapters.stores.sqlite.schema import OPEN
from steadlith_core.digest import SIZE as DIGEST_SIZE
from steadlith_core.digest import Digest
from steadlith_core.errors import SteadlithError
from steadlith_core.records import DriftKind
from steadlith_core.rows import Problem
from steadlith_core.state.identity import entry_hash, text_hash
from steadlith_core.state.tree import document_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steadlith_adapters.stores.sqlite.session import Session

_ENTRIES_OF_VERSION = """
    SELECT o.occurrence, e.entry_hash, e.context_hash IS NOT NULL FROM occurrence o JOIN entry e ON e.entry = o.entry
    WHERE o.valid_from <= ?1 AND o.valid_to > ?1 AND o.document = ?2 AND o.occurrence IN ({})"""
_VERSIONS = """
    SELECT d.source || ':' || d.path, v.document, v.valid_from, v.root, v.seal, v.metadata, v.occurrences,
           v.leaves, v.parents
    FROM document_version v JOIN document d ON d.document = v.document"""
_SPANS = """
    SELECT d.source || ':' || d.path, s.valid_from, s.source_digest, s.positions, s.seal, length(v.leaves)
    FROM span s JOIN document_version v ON v.document = s.document AND v.valid_from = s.version
    JOIN document d ON d.document = v.document"""
_UNSPANNED = """
    SELECT d.source || ':' || d.path, v.valid_from
    FROM document_version v JOIN document d ON d.document = v.document
    WHERE (SELECT count(*) FROM span s
           WHERE s.document = v.document AND s.version = v.valid_from AND s.valid_to = v.valid_to) <> 1"""
_WRONG_LIVENESS = f"""
    SELECT e.entry, e.entry_hash, e.live FROM entry e
    WHERE e.live <> (e.context_hash IS NOT NULL
                     AND EXISTS (SELECT 1 FROM occurrence o WHERE o.entry = e.entry AND o.valid_to = {OPEN}))"""  # noqa: S608
_UNINDEXED = "SELECT entry FROM entry WHERE live = 1 AND entry NOT IN (SELECT rowid FROM lexical)"
_OVERINDEXED = "SELECT rowid FROM lexical WHERE rowid NOT IN (SELECT entry FROM entry WHERE live = 1)"
_VECTORS = """
    SELECT t.rowid, t.live, t.vector, v.checksum, e.live
    FROM {table} t LEFT JOIN vector v ON v.space = ? AND v.entry = t.rowid LEFT JOIN entry e ON e.entry = t.rowid"""
_LOST_VECTORS = "SELECT entry FROM vector WHERE space = ? AND entry NOT IN (SELECT rowid FROM {table})"
_UNEMBEDDED = """
    SELECT count(*) FROM entry e
    WHERE e.live = 1 AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.space = ? AND v.entry = e.entry)"""


def problems(session: Session, *, full: bool) -> Iterator[Problem]:
    """Run the checks of a level in order."""
    for check in (*SHALLOW, *FULL) if full else SHALLOW:
        try:
            for message in check(session):
                yield Problem(DriftKind.HEAD, message)
        except SteadlithError as error:
            yield Problem(DriftKind.HEAD, str(error))


def _structure(session: Session) -> Iterator[str]:
    for (line,) in session.run("PRAGMA quick_check"):
        if line != "ok":
            yield f"the file's structure is damaged: {line}"


def _generations(session: Session) -> Iterator[str]:
    last = session.value("SELECT max(number) FROM generation")
    head = session.one("SELECT generation, next_occurrence FROM head")
    if (head[0] if head else None) != last:
        yield f"the head points at generation {head[0] if head else None}, the last one committed is {last}"
    used = session.value("SELECT coalesce(max(occurrence), 0) FROM occurrence")
    if head and head[1] <= used:
        yield f"the head would give out occurrence {head[1]} again; {used} is in use"
    for number in generations.unsealed(session):
        yield f"generation {number} is not as it was committed: its seal does not match its columns"


def _counts(session: Session) -> Iterator[str]:
    head = generations.read_head(session)
    yield from _count_at(session, head.generation, head.documents, head.chunks)
    # A version keeps its list of occurrences; the rows themselves are counted apart.
    rows = session.value("SELECT count(*) FROM occurrence WHERE valid_to = ?", OPEN)
    if rows != head.chunks:
        yield f"the head counts {head.chunks} chunks, {rows} occurrences are open"


def _past_counts(session: Session) -> Iterator[str]:
    for generation in generations.read_history(session)[:-1]:
        yield from _count_at(session, generation.number, generation.documents, generation.chunks)


def _count_at(session: Session, generation: int, documents: int, chunks: int) -> Iterator[str]:
    found = session.run(
        "SELECT count(*), coalesce(sum(length(occurrences)), 0) FROM document_version "
        "WHERE valid_from <= ?1 AND valid_to > ?1",
        generation,
    )[0]
    counted = (found[0], found[1] // packing.ID_SIZE)
    if counted != (documents, chunks):
        yield (
            f"generation {generation} was committed with {documents} documents and {chunks} chunks, "
            f"the file holds {counted[0]} and {counted[1]}"
        )


def _texts(session: Session) -> Iterator[str]:
    for name, body in session.stream("SELECT text_hash, CAST(body AS BLOB) FROM text"):
        # Replacement characters change the hash, so bytes that are not UTF-8 are found like any other change.
        if text_hash(body.decode("utf-8", "replace")) != name:
            yield f"text {Digest(name).short} does not match its hash"


def _entries(session: Session) -> Iterator[str]:
    sql = (
        "SELECT e.entry_hash, t.text_hash, e.title, e.headings, e.context_hash "
        "FROM entry e JOIN text t ON t.text = e.text"
    )
    for name, text, title, headings, context in session.stream(sql):
        key = Digest(name)
        path = session.decode(read_headings, headings, f"headings of entry {key.short}")
        if entry_hash(Digest(text), title, path, Digest(context) if context else None) != key:
            yield f"entry {key.short} does not match its hash"


def _versions(session: Session) -> Iterator[str]:
    for name, document, since, root, sealed, metadata, occurrences, leaves, above in session.stream(_VERSIONS):
        what = f"{name} as of generation {since}"
        ids = session.decode(packing.unpack_ids, occurrences, f"occurrences of {what}")
        chunks = session.decode(packing.unpack_digests, leaves, f"chunk hashes of {what}")
        fields = session.decode(read_metadata, metadata, f"metadata of {what}")
        parents = session.decode(partial(packing.unpack_parents, count=len(chunks)), above, f"parents of {what}")
        rows = session.lookup(_ENTRIES_OF_VERSION, ids, since, document)
        entries: dict[int, tuple[bytes, int]] = {each: (entry, embed) for each, entry, embed in rows}
        found = [entries.get(each, (b"", 1)) for each in ids]
        if packing.seal(occurrences, b"".join(entry for entry, _ in found)) != sealed:
            yield f"{what}: its occurrences are not those that were committed"
        topology = [(parent, bool(embed)) for parent, (_, embed) in zip(parents, found, strict=False)]
        if len(found) != len(chunks) or document_root(chunks, fields, topology) != root:
            yield f"{what}: its root does not follow from its chunks and metadata"


def _spans(session: Session) -> Iterator[str]:
    for name, since, source_digest, positions, sealed, leaves in session.stream(_SPANS):
        if packing.seal(source_digest, positions) != sealed:
            yield f"{name}: its spans since generation {since} are not those that were committed"
        elif len(positions) // packing.SPAN.size != leaves // DIGEST_SIZE:
            yield f"{name}: its spans since generation {since} are not one for each chunk"
    for name, since in session.run(_UNSPANNED):
        yield f"{name} as of generation {since}: its spans do not end where it ends"


def _liveness(session: Session) -> Iterator[str]:
    for entry, name, live in session.run(_WRONG_LIVENESS):
        state = "live without an open occurrence" if live else "in use but not live"
        yield f"entry {Digest(name).short} (row {entry}) is {state}"


def _lexical(session: Session) -> Iterator[str]:
    for (line,) in session.run("PRAGMA integrity_check('lexical')"):
        if line != "ok":
            yield f"the lexical index is damaged: {line}"
    for (entry,) in session.run(_UNINDEXED):
        yield f"entry {entry} is live and has no lexical row"
    for (entry,) in session.run(_OVERINDEXED):
        yield f"entry {entry} is not live and has a lexical row"


def _vectors(session: Session) -> Iterator[str]:
    head = generations.read_head(session)
    for space in head.recipe.spaces if head.recipe else ():
        table = vectors.find(session, space)
        bare = session.value(_UNEMBEDDED, table.number if table else 0)
        if bare:
            yield f"{bare} live entries have no vector in the space of {space.model_id!r}"
    for table in vectors.find_all(session):
        session.load_vectors()
        sql = _VECTORS.format(table=table.name)
        for entry, live, vector, checksum, entry_live in session.stream(sql, table.number):
            if checksum is None or entry_live is None:
                yield f"{table.name} holds a vector for row {entry}, which is no entry of its space"
            elif packing.vector_checksum(vector) != checksum:
                yield f"the vector of entry {entry} in {table.name} does not match its checksum"
            elif live != entry_live:
                yield f"the vector of entry {entry} in {table.name} has live={live}, the entry {entry_live}"
        for (entry,) in session.run(_LOST_VECTORS.format(table=table.name), table.number):
            yield f"the vector of entry {entry} is missing from {table.name}"


SHALLOW: tuple[Callable[[Session], Iterator[str]], ...] = (_structure, _generations, _counts)
FULL: tuple[Callable[[Session], Iterator[str]], ...] = (
    _past_counts,
    _texts,
    _entries,
    _versions,
    _spans,
    _liveness,
    _lexical,
    _vectors,
)

"""What a commit makes of what was staged: contents, versions, occurrences, liveness. All of it by sets.

1. The open occurrences of a document are those that its open version lists. One that its closed version lets go, and
   that no new version claims, is closed.
2. A claimed id whose document and entry are as they were keeps its row; otherwise its row is closed and one with the
   same id is opened. An id has at most one open row.
3. An entry is live if and only if it is embedded and an open occurrence uses it; its lexical row follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores import packing
from steadlith_adapters.stores.postgres import border, lexical
from steadlith_adapters.stores.postgres.schema import OPEN
from steadlith_core.digest import SIZE as DIGEST_SIZE
from steadlith_core.digest import Digest
from steadlith_core.errors import AdapterError

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.session import Session

_TEXTS = """
    INSERT INTO text(text_hash, body)
    SELECT text_hash, body FROM (
        SELECT DISTINCT ON (text_hash) text_hash, body, at FROM staged_text ORDER BY text_hash, at) s
    ORDER BY at ON CONFLICT (text_hash) DO NOTHING"""
_ENTRIES = """
    INSERT INTO entry(entry, entry_hash, text, title, headings, context_hash)
    SELECT s.entry, s.entry_hash, t.text, s.title, s.headings, s.context_hash
    FROM staged_entry s JOIN text t ON t.text_hash = s.text_hash ORDER BY s.entry"""

_ENDED = f"""
    CREATE TEMP TABLE ended ON COMMIT DROP AS
    SELECT v.document, v.valid_from, length(v.leaves) / {DIGEST_SIZE} AS chunks
    FROM (SELECT key FROM staged_version UNION ALL SELECT key FROM staged_close) k
    JOIN document d ON d.key = k.key JOIN document_version v ON v.document = d.document AND v.valid_to = {OPEN}"""  # noqa: S608
_NOT_THERE = """
    SELECT c.name FROM staged_close c WHERE NOT EXISTS (
        SELECT 1 FROM document d JOIN ended e ON e.document = d.document WHERE d.key = c.key) LIMIT 1"""
NAME = """
    INSERT INTO document(source, path, key) SELECT source, path, key FROM staged_version ORDER BY at
    ON CONFLICT (key) DO NOTHING"""
NUMBER = """
    UPDATE staged_version s SET document = d.document
    FROM document d WHERE d.key = s.key AND d.source = s.source AND d.path = s.path"""
_UNNUMBERED = "SELECT source, path FROM staged_version WHERE document IS NULL LIMIT 1"
CLOSE_VERSIONS = """
    UPDATE document_version v SET valid_to = %s FROM ended e
    WHERE v.document = e.document AND v.valid_from = e.valid_from"""
CLOSE_SPANS = f"""
    UPDATE span s SET valid_to = %s FROM ended e
    WHERE s.document = e.document AND s.version = e.valid_from AND s.valid_to = {OPEN}"""  # noqa: S608
OPEN_VERSIONS = f"""
    INSERT INTO document_version(document, valid_from, valid_to, root, seal, metadata, occurrences, leaves, parents)
    SELECT document, %s, {OPEN}, root, seal, metadata, occurrences, leaves, parents FROM staged_version ORDER BY at"""  # noqa: S608
OPEN_SPANS = f"""
    INSERT INTO span(document, version, valid_from, valid_to, source_digest, seal, positions)
    SELECT document, %s, %s, {OPEN}, source_digest, span_seal, positions FROM staged_version ORDER BY at"""  # noqa: S608
_RESPANNED = f"""
    FROM staged_respan r JOIN document d ON d.key = r.key
    JOIN document_version v ON v.document = d.document AND v.valid_to = {OPEN}"""
_WRONG_RESPAN = f"""
    SELECT r.name, r.chunks, length(v.leaves) / {DIGEST_SIZE} FROM staged_respan r
    LEFT JOIN document d ON d.key = r.key
    LEFT JOIN document_version v ON v.document = d.document AND v.valid_to = {OPEN}
    WHERE v.document IS NULL OR length(v.leaves) / {DIGEST_SIZE} <> r.chunks LIMIT 1"""  # noqa: S608
_CLOSE_RESPANNED = f"""
    UPDATE span s SET valid_to = %s FROM (SELECT v.document, v.valid_from {_RESPANNED}) e
    WHERE s.document = e.document AND s.version = e.valid_from AND s.valid_to = {OPEN}"""  # noqa: S608
_OPEN_RESPANNED = f"""
    INSERT INTO span(document, version, valid_from, valid_to, source_digest, seal, positions)
    SELECT v.document, v.valid_from, %s, {OPEN}, r.source_digest, r.seal, r.positions {_RESPANNED}"""
_MORE = f"""
    SELECT (SELECT count(*) FROM staged_version) - (SELECT count(*) FROM ended),
           (SELECT coalesce(sum(length(occurrences) / {packing.ID_SIZE}), 0) FROM staged_version)
           - (SELECT coalesce(sum(chunks), 0) FROM ended)"""  # noqa: S608

_TWICE = "SELECT occurrence FROM staged_claim GROUP BY occurrence HAVING count(*) > 1 LIMIT 1"
_UNKNOWN_ID = """
    SELECT c.occurrence FROM staged_claim c
    WHERE c.occurrence < %s AND NOT EXISTS (SELECT 1 FROM occurrence o WHERE o.occurrence = c.occurrence) LIMIT 1"""
_HELD_ELSEWHERE = f"""
    SELECT c.occurrence, d.source, d.path
    FROM staged_claim c JOIN occurrence o ON o.occurrence = c.occurrence AND o.valid_to = {OPEN}
    JOIN document d ON d.document = o.document
    WHERE o.document NOT IN (SELECT document FROM ended) LIMIT 1"""  # noqa: S608
_CLOSING = f"""
    CREATE TEMP TABLE closing ON COMMIT DROP AS
    SELECT o.occurrence, o.valid_from, o.entry
    FROM ended d JOIN occurrence o ON o.document = d.document
    LEFT JOIN (SELECT c.occurrence, c.entry_hash, s.document FROM staged_claim c JOIN staged_version s ON s.at = c.at) c
        ON c.occurrence = o.occurrence
    LEFT JOIN entry e ON e.entry = o.entry
    WHERE o.valid_to = {OPEN}
    AND (c.occurrence IS NULL OR c.document <> o.document OR e.entry_hash IS DISTINCT FROM c.entry_hash)"""  # noqa: S608
_CLOSE = """
    UPDATE occurrence o SET valid_to = %s FROM closing c
    WHERE o.occurrence = c.occurrence AND o.valid_from = c.valid_from"""
# Asked once what changes is closed: most claims are of what stays.
_UNOPENED = f"""
    NOT EXISTS (SELECT 1 FROM occurrence o WHERE o.occurrence = c.occurrence AND o.valid_to = {OPEN})"""  # noqa: S608
_UNKNOWN_ENTRY = f"""
    SELECT c.occurrence, c.entry_hash FROM staged_claim c LEFT JOIN entry e ON e.entry_hash = c.entry_hash
    WHERE {_UNOPENED} AND e.entry IS NULL LIMIT 1"""  # noqa: S608
_OPEN = f"""
    WITH opened AS (
        INSERT INTO occurrence(occurrence, valid_from, valid_to, document, entry)
        SELECT c.occurrence, %s, {OPEN}, s.document, e.entry
        FROM staged_claim c JOIN staged_version s ON s.at = c.at JOIN entry e ON e.entry_hash = c.entry_hash
        WHERE {_UNOPENED} ORDER BY c.occurrence RETURNING entry)
    INSERT INTO touched SELECT DISTINCT entry FROM (SELECT entry FROM opened UNION ALL SELECT entry FROM closing) t"""  # noqa: S608

IS_USED = f"EXISTS (SELECT 1 FROM occurrence o WHERE o.entry = e.entry AND o.valid_to = {OPEN})"  # noqa: S608
WRONG_LIVENESS = f"""
    SELECT e.entry, e.entry_hash, e.live FROM entry e
    WHERE e.live <> (e.context_hash IS NOT NULL AND {IS_USED})"""  # noqa: S608
_FLIPPED = f"""
    CREATE TEMP TABLE flipped ON COMMIT DROP AS
    SELECT e.entry, NOT e.live AS live FROM touched t JOIN entry e ON e.entry = t.entry
    WHERE e.context_hash IS NOT NULL AND e.live <> {IS_USED}"""  # noqa: S608
_DEAD = "(SELECT entry FROM flipped WHERE NOT live)"
_LIT = "(SELECT entry FROM flipped WHERE live)"


def contents(session: Session) -> None:
    """Keep the texts and entries that were put and are not there yet."""
    session.run(_TEXTS)
    session.run(_ENTRIES)


def documents(session: Session, generation: int) -> tuple[int, int]:
    """Close and open versions and spans; by how many documents and chunks the index has grown."""
    session.run(_ENDED)
    if row := session.one(_NOT_THERE):
        raise AdapterError(f"{row[0]} is not in the index, so it cannot be closed")
    session.run(CLOSE_VERSIONS, generation)
    session.run(CLOSE_SPANS, generation)
    open_versions(session, generation)
    respan(session, generation)
    more_documents, more_chunks = session.run(_MORE)[0]
    return int(more_documents), int(more_chunks)


def open_versions(session: Session, generation: int) -> None:
    """Open the versions that were put; what was open of their documents is closed already."""
    session.run(NAME)
    session.run(NUMBER)
    if row := session.one(_UNNUMBERED):
        name = b":".join(row).decode("utf-8", "replace")
        raise border.damaged(session.place, f"another document is kept at the key of {name}")
    session.run(OPEN_VERSIONS, generation)
    session.run(OPEN_SPANS, generation, generation)


def respan(session: Session, generation: int) -> None:
    """Give open versions the other spans that were put."""
    if row := session.one(_WRONG_RESPAN):
        name, given, held = row
        raise AdapterError(f"{name} has {'no' if held is None else held} chunks, got {given} spans")
    session.run(_CLOSE_RESPANNED, generation)
    session.run(_OPEN_RESPANNED, generation)


def occurrences(session: Session, generation: int, first_new: int) -> None:
    """Bring occurrences in line with the open versions; ids from `first_new` on were allocated in this write."""
    _refuse_impossible_claims(session, first_new)
    session.run(_CLOSING)
    session.run(_CLOSE, generation)
    if row := session.one(_UNKNOWN_ENTRY):
        raise AdapterError(f"occurrence {row[0]} is placed with entry {Digest(row[1]).short}, which was never put")
    session.run("CREATE TEMP TABLE touched(entry bigint) ON COMMIT DROP")
    session.run(_OPEN, generation)


def liveness(session: Session) -> None:
    """Make the entries that the occurrences touched live or not."""
    session.run(_FLIPPED)
    lexical.gather(session)
    lexical.remove(session, _DEAD)
    lexical.add(session, session.stream(f"{lexical.ROWS} JOIN {_LIT} f ON f.entry = e.entry ORDER BY e.entry"))
    lexical.count_in(session, _LIT)
    session.run("UPDATE entry e SET live = f.live FROM flipped f WHERE f.entry = e.entry")


def _refuse_impossible_claims(session: Session, first_new: int) -> None:
    if row := session.one(_TWICE):
        raise AdapterError(f"occurrence {row[0]} is placed twice in one write")
    if row := session.one(_UNKNOWN_ID, first_new):
        message = f"occurrence {row[0]} does not exist; new occurrences are placed with none, and get their id here"
        raise AdapterError(message)
    if row := session.one(_HELD_ELSEWHERE):
        name = b":".join(row[1:]).decode("utf-8", "replace")
        raise AdapterError(f"occurrence {row[0]} is held by {name}, which this write neither replaces nor closes")

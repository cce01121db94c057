"""A write that mends: nothing that is kept is believed, and whatever can be made anew is.

1. What is put replaces what is kept under its name; numbers stay where their rows do.
2. Rows that no reader can reach (of a document without a name, of a generation to come) go before anything is opened.
3. At the commit, an occurrence is open if and only if an open version lists it; liveness, lexical rows and the counts
   of words follow for all entries, and a vector that does not match its checksum goes: it counted as absent.
4. Closed rows stay as they are: what is damaged in older generations is not in any source.

It scans the index: a write that mends follows a check that did, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import border, lexical, packed, settle, soundness, spaces, versions
from steadlith_adapters.stores.postgres.schema import OPEN
from steadlith_core.digest import hasher
from steadlith_core.errors import AdapterError
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.session import Session

_UNREACHABLE = (
    "DELETE FROM {table} WHERE document NOT IN (SELECT document FROM document)",
    "DELETE FROM {table} WHERE valid_from >= {generation}",
    f"UPDATE {{table}} SET valid_to = {{generation}} WHERE valid_to > {{generation}} AND valid_to < {OPEN}",  # noqa: S608
)
_TEXTS = """
    INSERT INTO text(text_hash, body)
    SELECT text_hash, body FROM (
        SELECT DISTINCT ON (text_hash) text_hash, body, at FROM staged_text ORDER BY text_hash, at DESC) s
    ORDER BY at ON CONFLICT (text_hash) DO UPDATE SET body = excluded.body WHERE text.body <> excluded.body"""
_ENTRIES = """
    INSERT INTO entry(entry, entry_hash, text, title, headings, context_hash)
    SELECT s.entry, s.entry_hash, t.text, s.title, s.headings, s.context_hash
    FROM (SELECT DISTINCT ON (entry_hash) * FROM staged_entry ORDER BY entry_hash, at DESC) s
    JOIN text t ON t.text_hash = s.text_hash ORDER BY s.entry
    ON CONFLICT (entry_hash) DO UPDATE
    SET text = excluded.text, title = excluded.title, headings = excluded.headings,
        context_hash = excluded.context_hash"""
_ENDED = f"""
    CREATE TEMP TABLE ended ON COMMIT DROP AS
    SELECT v.document, v.valid_from
    FROM (SELECT key FROM staged_version UNION ALL SELECT key FROM staged_close) k
    JOIN document d ON d.key = k.key JOIN document_version v ON v.document = d.document AND v.valid_to = {OPEN}"""  # noqa: S608
_NOT_THERE = """
    SELECT c.name FROM staged_close c WHERE NOT EXISTS (
        SELECT 1 FROM document d JOIN ended e ON e.document = d.document WHERE d.key = c.key) LIMIT 1"""
# Their occurrences were opened by nobody who is left; they are let go as if the version that listed them ended.
_UNLISTED = f"""
    INSERT INTO ended SELECT DISTINCT o.document, -1 FROM occurrence o
    WHERE o.valid_to = {OPEN} AND NOT EXISTS (
        SELECT 1 FROM document_version v WHERE v.document = o.document AND v.valid_to = {OPEN})"""  # noqa: S608
_UNVERSIONED = f"""
    UPDATE span s SET valid_to = %s
    WHERE s.valid_to = {OPEN} AND NOT EXISTS (
        SELECT 1 FROM document_version v
        WHERE v.document = s.document AND v.valid_from = s.version AND v.valid_to = {OPEN})"""  # noqa: S608
_UNUSED_TEXTS = "SELECT text, text_hash, body FROM text WHERE text NOT IN (SELECT text FROM entry)"
_WRONG = "CREATE TEMP TABLE wrong(entry bigint PRIMARY KEY) ON COMMIT DROP"
_ALIVE = "UPDATE entry e SET live = NOT e.live FROM wrong w WHERE w.entry = e.entry"


def first_new(session: Session, generation: int) -> int:
    """An occurrence id never used; raises where no write can mend the index."""
    last = session.value("SELECT coalesce(max(number), 0) FROM generation")
    if last >= generation:
        # What the arms hold belongs to the last one; no write can tell it from what the head shows.
        raise border.damaged(session.place, f"its head is generation {generation - 1}, and {last} was committed")
    used: int = session.value("SELECT coalesce(max(occurrence), 0) FROM occurrence")
    return used + 1


def contents(session: Session) -> None:
    """Keep the texts and entries that were put, whatever was there under their names."""
    session.run(_TEXTS)
    session.run(_ENTRIES)


def documents(session: Session, generation: int, first_new_id: int) -> tuple[int, int]:
    """Close and open versions, spans and occurrences; how many documents and chunks the open rows hold."""
    for table in ("span", "document_version", "occurrence"):
        for sql in _UNREACHABLE:
            session.run(sql.format(table=table, generation=generation))
    _name_keys(session)
    session.run(_ENDED)
    if row := session.one(_NOT_THERE):
        raise AdapterError(f"{row[0]} is not in the index, so it cannot be closed")
    session.run(settle.CLOSE_VERSIONS, generation)
    session.run(_UNLISTED)
    session.run(settle.CLOSE_SPANS, generation)
    session.run(_UNVERSIONED, generation)
    settle.open_versions(session, generation)
    settle.respan(session, generation)
    settle.occurrences(session, generation, first_new_id)
    return versions.count(session)


def arms(session: Session) -> None:
    """Make what the arms search follow from the open occurrences."""
    _forget_unused_texts(session)
    session.run(_WRONG)
    session.run(f"INSERT INTO wrong SELECT entry FROM ({settle.WRONG_LIVENESS}) w")  # noqa: S608
    session.run(_ALIVE)
    session.run("DELETE FROM wrong")
    _mend_lexical(session)
    _mend_vectors(session)


def _name_keys(session: Session) -> None:
    """Give each document the key of its name: the name is what everybody reads."""
    wrong = [
        (number, bytes(document_key(packed.document_id(session, source, path))))
        for number, source, path, key in session.stream("SELECT document, source, path, key FROM document")
        if document_key(packed.document_id(session, source, path)) != key
    ]
    for number, _ in wrong:  # out of the way first: two of them may have each other's
        session.run("UPDATE document SET key = convert_to('wrong ' || document, 'UTF8') WHERE document = %s", number)
    for number, key in wrong:
        session.run("UPDATE document SET key = %s WHERE document = %s", key, number)


def _forget_unused_texts(session: Session) -> None:
    """Drop texts that no entry uses and that are not what their hash says: an entry was given the right one."""
    hash_one = hasher("text")
    damaged = [number for number, name, body in session.stream(_UNUSED_TEXTS) if hash_one(body) != name]
    session.run("DELETE FROM text WHERE text = ANY(%s::bigint[])", damaged)


def _mend_lexical(session: Session) -> None:
    wrong = sorted({entry for entry, _ in lexical.faults(session)})
    session.run("INSERT INTO wrong SELECT unnest(%s::bigint[])", wrong)
    session.run("DELETE FROM lexical l USING wrong w WHERE l.entry = w.entry")
    rows = session.stream(f"{lexical.ROWS} JOIN wrong w ON w.entry = e.entry WHERE e.live ORDER BY e.entry")
    lexical.add(session, rows)
    if next(lexical.miscounted(session), None) is not None:
        session.run("DELETE FROM word")
        lexical.count_in(session, "lexical")


def _mend_vectors(session: Session) -> None:
    tables = [table for table in spaces.find_all(session) if spaces.exist(session, table)]
    session.run("DELETE FROM vector WHERE space NOT IN (SELECT space FROM space)")
    for table in tables:
        for fault in tuple(soundness.faults(session, table)):
            soundness.mend(session, table, fault)

"""Compaction: what no kept generation shows is removed in one transaction, and its space given back after it.

1. A row is visible at some generation from `keep_from` on if and only if `valid_to > keep_from`; all else goes, with
   the entries, texts and documents that nothing visible uses, and the spaces that no kept recipe names.
2. The head is not moved. Every kept generation counts the same rows afterwards, or nothing is committed.
3. The vectors that stay are copied into new tables, with a graph of their own: deleting them would leave holes that the
   server's VACUUM mends in the graph one by one, for minutes.
4. No write runs meanwhile (`guards.WRITING`); readers go on.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.stores import heads
from steadlith_adapters.stores.postgres import ann, border, connection, generations, guards, returning, spaces, tags
from steadlith_adapters.stores.postgres.checks import history, references, whole
from steadlith_core.errors import GenerationGone, LockHeld
from steadlith_core.ports import Compaction, Removable
from steadlith_core.state.roots import space_id

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_adapters.stores.postgres.spaces import SpaceTable
    from steadlith_adapters.stores.postgres.target import Target
    from steadlith_core.records import Head

PATIENCE_MS = 1000
"""How long a write that is about to end is waited for."""
_USED = "EXISTS (SELECT 1 FROM occurrence o WHERE o.entry = e.entry AND o.valid_to > %s)"
_UNUSED_ENTRIES = f"SELECT e.entry FROM entry e WHERE NOT {_USED}"  # noqa: S608
_UNUSED_TEXTS = f"""
    SELECT t.text FROM text t WHERE NOT EXISTS (SELECT 1 FROM entry e WHERE e.text = t.text AND {_USED})"""  # noqa: S608

_COUNT_VERSIONS = """
    SELECT count(*),
           coalesce(sum(length(metadata) + length(occurrences) + length(leaves) + length(parents)), 0)::bigint
    FROM document_version WHERE valid_to <= %s"""
_COUNT_SPANS = "SELECT coalesce(sum(length(positions)), 0)::bigint FROM span WHERE valid_to <= %s"
_COUNT_TEXTS = f"SELECT count(*), coalesce(sum(length(body)), 0)::bigint FROM text WHERE text IN ({_UNUSED_TEXTS})"  # noqa: S608
_COUNT_VECTORS = f"SELECT count(*) FROM vector WHERE space = %s AND entry IN ({_UNUSED_ENTRIES})"  # noqa: S608

_REMOVE = (
    "DELETE FROM span WHERE valid_to <= %s",
    "DELETE FROM document_version WHERE valid_to <= %s",
    f"DELETE FROM text WHERE text IN ({_UNUSED_TEXTS})",  # noqa: S608
    f"DELETE FROM entry WHERE entry IN ({_UNUSED_ENTRIES})",  # noqa: S608
    "DELETE FROM occurrence WHERE valid_to <= %s",
    "DELETE FROM generation WHERE number < %s",
)
_REMOVE_VECTORS = f"DELETE FROM vector WHERE space = %s AND entry IN ({_UNUSED_ENTRIES})"  # noqa: S608
_REMOVE_DOCUMENTS = """
    DELETE FROM document d WHERE NOT EXISTS (SELECT 1 FROM document_version v WHERE v.document = d.document)"""
_REMOVE_CONFIGURATIONS = """
    DELETE FROM configuration c WHERE NOT EXISTS (
        SELECT 1 FROM generation g WHERE g.configuration = c.configuration)"""
_COPY = """
    INSERT INTO {new}(entry, vector)
    SELECT f.entry, f.vector FROM {old} f JOIN vector v ON v.space = %s AND v.entry = f.entry ORDER BY f.entry"""


class _Spaces(NamedTuple):
    kept: tuple[SpaceTable, ...]
    dropped: tuple[SpaceTable, ...]


def removable_now(session: Session, keep_from: int) -> Removable:
    """What compacting would remove, in one snapshot. Scans the index, but no vector."""
    with connection.transaction(session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"):
        return removable(session, keep_from)


def removable(session: Session, keep_from: int) -> Removable:
    """What compacting would remove, in the running transaction."""
    if not generations.is_kept(session, keep_from):
        message = f"{session.place}: generation {keep_from} is not kept, so nothing can be kept from it on"
        raise GenerationGone(message)
    versions, packed = session.run(_COUNT_VERSIONS, keep_from)[0]
    texts, written = session.run(_COUNT_TEXTS, keep_from)[0]
    of = _spaces(session, keep_from)
    vectors_gone = [(ann.count(session, table), table.row_bytes) for table in of.dropped] + [
        (session.value(_COUNT_VECTORS, table.number, keep_from), table.row_bytes) for table in of.kept
    ]
    known = packed + written + session.value(_COUNT_SPANS, keep_from)
    return Removable(
        generations=session.value("SELECT count(*) FROM generation WHERE number < %s", keep_from),
        versions=versions,
        occurrences=session.value("SELECT count(*) FROM occurrence WHERE valid_to <= %s", keep_from),
        entries=session.value(f"SELECT count(*) FROM ({_UNUSED_ENTRIES}) u", keep_from),  # noqa: S608
        texts=texts,
        vectors=sum(count for count, _ in vectors_gone),
        bytes=known + sum(count * each for count, each in vectors_gone) + returning.left_bytes(session),
    )


def compact(target: Target, expected: Head, keep_from: int, *, scrub: bool) -> Compaction:
    """See `Store.compact`; the index is there."""
    with closing(connection.writing(target)) as session:
        session.run("SELECT set_config('statement_timeout', '0', false)")
        with guards.alone(session, guards.key(target.schema, guards.WRITING), patience_ms=PATIENCE_MS) as taken:
            if not taken:
                raise LockHeld(f"{target.place}: another write is in progress; compact when it is done")
            before = returning.bytes_taken(session)
            with connection.transaction(session):
                session.run("SELECT 1 FROM head WHERE id = 1 FOR UPDATE")
                heads.refuse_compacting(generations.read_head(session), expected, session.place)
                removed = removable(session, keep_from)
                sound = _state(session)
                _remove(session, target, keep_from, scrub=scrub)
                _refuse_other(session, sound)
                if not removed.is_nothing:
                    returning.note(session, removed.bytes)
            given_back = returning.give_back(session, target, scrub=scrub)
            return Compaction(keep_from, removed, before, returning.bytes_taken(session), given_back)


def _spaces(session: Session, keep_from: int) -> _Spaces:
    """The spaces that recipes of kept generations name, and the others."""
    recipes = [each.recipe for each in generations.read_history(session) if each.number >= keep_from]
    named = {space_id(space) for recipe in recipes for space in recipe.spaces}
    kept = {number for number, id_ in session.run("SELECT space, space_id FROM space") if id_ in named}
    tables = spaces.find_all(session)
    return _Spaces(
        tuple(table for table in tables if table.number in kept),
        tuple(table for table in tables if table.number not in kept),
    )


def _state(session: Session) -> set[str]:
    """What is known to be wrong: rows that refer to nothing, generations that count other rows."""
    checks = (whole.counts, history.counts, references.missing)
    return {problem.message for check in checks for problem in check(session)}


def _refuse_other(session: Session, before: set[str]) -> None:
    """Nothing may be wrong that was not before."""
    for fault in sorted(_state(session) - before):
        what = f"nothing was removed, since what is left would not hold together ({fault})"
        raise border.damaged(session.place, what)


def _remove(session: Session, target: Target, keep_from: int, *, scrub: bool) -> None:
    of = _spaces(session, keep_from)
    for table in of.dropped:
        spaces.forget(session, table)
    for table in of.kept:
        session.run(_REMOVE_VECTORS, table.number, keep_from)
        if scrub or session.changed() or _is_unnoted(session, table):
            _rewrite(session, target, table)
    for statement in _REMOVE:
        session.run(statement, keep_from)
    session.run(_REMOVE_DOCUMENTS)
    session.run(_REMOVE_CONFIGURATIONS)
    tags.forget(session, keep_from)
    session.run("DELETE FROM word WHERE entries <= 0")
    session.run("UPDATE head SET oldest = %s", keep_from)


def _is_unnoted(session: Session, table: SpaceTable) -> bool:
    """Whether the table has rows that nothing names."""
    rows: int = session.value(f"SELECT count(*) FROM {table.full}")  # noqa: S608
    return rows != ann.count(session, table)


def _rewrite(session: Session, target: Target, table: SpaceTable) -> None:
    new = replace(table, version=table.version + 1)
    spaces.make(session, new)
    for old_name, new_name in zip(table.names, new.names, strict=True):
        session.run(_COPY.format(new=new_name, old=old_name), table.number)
        session.run(f"ANALYZE {new_name}")
    if ann.is_there(session, table) or (target.ann == "hnsw" and ann.count(session, new) >= target.ann_from):
        ann.make(session, new)
    session.run("UPDATE space SET version = %s WHERE space = %s", new.version, table.number)
    spaces.retire(session, table)

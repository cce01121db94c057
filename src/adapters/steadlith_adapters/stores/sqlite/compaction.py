"""Compaction: what no kept generation shows is removed in one transaction, and its space given back after it.

1. A row is visible at some generation from `keep_from` on if and only if `valid_to > keep_from`; all else goes, with
   the entries, texts and documents that nothing visible uses, and the spaces that no kept recipe names.
2. The head is not moved. Every kept generation counts the same rows afterwards, or nothing is committed.
3. It leaves a note of which generation is the oldest one on purpose (`compacted`): without it a missing one is damage.
4. With `scrub` what goes is overwritten, and the lexical index is made anew: FTS5 keeps the words of a row that left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.sqlite import opening
from steadlith_adapters.sqlite.places import bytes_taken
from steadlith_adapters.stores import heads
from steadlith_adapters.stores.sqlite import compacted, generations, lexical, returning, rewriting, spaces, told
from steadlith_adapters.stores.sqlite.checks import history, whole
from steadlith_adapters.stores.sqlite.connection import BUSY_MS, keep_log
from steadlith_adapters.stores.sqlite.migrating import migrate
from steadlith_adapters.stores.sqlite.schema import INDEX
from steadlith_adapters.stores.sqlite.session import Session
from steadlith_core.errors import GenerationGone
from steadlith_core.ports import Compaction, Removable
from steadlith_core.state.roots import space_id

if TYPE_CHECKING:
    from pathlib import Path

    from steadlith_adapters.stores.sqlite.spaces import SpaceTable
    from steadlith_core.records import Head

_USED = "EXISTS (SELECT 1 FROM occurrence o WHERE o.entry = e.entry AND o.valid_to > ?1)"
_UNUSED_ENTRIES = f"SELECT e.entry FROM entry e WHERE NOT {_USED}"  # noqa: S608
_UNUSED_TEXTS = f"SELECT text FROM text WHERE text NOT IN (SELECT e.text FROM entry e WHERE {_USED})"  # noqa: S608

_COUNT_VERSIONS = """
    SELECT count(*), coalesce(sum(length(metadata) + length(occurrences) + length(leaves) + length(parents)), 0)
    FROM document_version WHERE valid_to <= ?1"""
_COUNT_SPANS = "SELECT coalesce(sum(length(positions)), 0) FROM span WHERE valid_to <= ?1"
_COUNT_TEXTS = (
    f"SELECT count(*), coalesce(sum(length(CAST(body AS BLOB))), 0) FROM text WHERE text IN ({_UNUSED_TEXTS})"  # noqa: S608
)
_COUNT_VECTORS = f"SELECT count(*) FROM vector WHERE space = ?2 AND entry IN ({_UNUSED_ENTRIES})"  # noqa: S608

# No row goes before those that refer to it.
_REMOVE = (
    "DELETE FROM span WHERE valid_to <= ?1",
    "DELETE FROM document_version WHERE valid_to <= ?1",
    f"DELETE FROM text WHERE text IN ({_UNUSED_TEXTS})",  # noqa: S608
    f"DELETE FROM entry WHERE entry IN ({_UNUSED_ENTRIES})",  # noqa: S608
    "DELETE FROM occurrence WHERE valid_to <= ?1",
    "DELETE FROM generation WHERE number < ?1",
)
_REMOVE_VECTORS = f"DELETE FROM vector WHERE space = ?2 AND entry IN ({_UNUSED_ENTRIES})"  # noqa: S608
_REMOVE_DOCUMENTS = """
    DELETE FROM document WHERE NOT EXISTS (SELECT 1 FROM document_version v WHERE v.document = document.document)"""


class _Spaces(NamedTuple):
    kept: tuple[SpaceTable, ...]
    dropped: tuple[SpaceTable, ...]


def removable(session: Session, keep_from: int) -> Removable:
    """What compacting would remove, in the session's snapshot. Scans the index, but no vector."""
    _refuse_gone(session, keep_from)
    versions, packed = session.run(_COUNT_VERSIONS, keep_from)[0]
    texts, written = session.run(_COUNT_TEXTS, keep_from)[0]
    of = _spaces(session, keep_from)
    vectors_gone = [(_held(session, table), table.row_bytes) for table in of.dropped] + [
        (session.value(_COUNT_VECTORS, keep_from, table.number), table.row_bytes) for table in of.kept
    ]
    known = packed + written + session.value(_COUNT_SPANS, keep_from)
    return Removable(
        generations=session.value("SELECT count(*) FROM generation WHERE number < ?", keep_from),
        versions=versions,
        occurrences=session.value("SELECT count(*) FROM occurrence WHERE valid_to <= ?", keep_from),
        entries=session.value(f"SELECT count(*) FROM ({_UNUSED_ENTRIES})", keep_from),  # noqa: S608
        texts=texts,
        vectors=sum(count for count, _ in vectors_gone),
        bytes=known + sum(count * each for count, each in vectors_gone) + returning.free_bytes(session),
    )


def compact(path: Path, expected: Head, keep_from: int, *, scrub: bool) -> Compaction:
    """See `Store.compact`; the index is there."""
    before = bytes_taken(path)
    session = _writing(path, scrub=scrub)
    try:
        heads.refuse_compacting(generations.read_head(session), expected, session.path)
        removed = removable(session, keep_from)
        sound = _state(session)
        _remove(session, keep_from, scrub=scrub)
        _refuse_other(session, sound)
        session.run("COMMIT")
        given_back = returning.give_back(session, scrub=scrub)
    finally:
        session.close()
    return Compaction(keep_from, removed, before, bytes_taken(path), given_back)


def _writing(path: Path, *, scrub: bool) -> Session:
    connection = opening.for_writing(INDEX, path, busy_ms=BUSY_MS)
    session = Session(connection, str(path))
    with opening.closed_on_error(connection):
        keep_log(session)
        session.run("PRAGMA synchronous = FULL")
        # Looked at as a whole in `_state`: row by row, each text would be looked for in all entries.
        session.run("PRAGMA foreign_keys = OFF")
        session.run(f"PRAGMA secure_delete = {'ON' if scrub else 'OFF'}")
        session.run("BEGIN IMMEDIATE")
        migrate(session)
    return session


def _refuse_gone(session: Session, keep_from: int) -> None:
    if not generations.is_kept(session, keep_from):
        message = f"{session.path}: generation {keep_from} is not kept, so nothing can be kept from it on"
        raise GenerationGone(message)


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


def _held(session: Session, table: SpaceTable) -> int:
    count: int = session.value("SELECT count(*) FROM vector WHERE space = ?", table.number)
    return count


def _state(session: Session) -> set[object]:
    """What is known to be wrong: rows that refer to nothing, generations that count other rows."""
    faults = {problem.message for check in (whole.counts, history.counts) for problem in check(session)}
    return {*faults, *session.run("PRAGMA foreign_key_check")}


def _refuse_other(session: Session, before: set[object]) -> None:
    """Nothing may be wrong that was not before."""
    for fault in sorted(map(str, _state(session) - before)):
        raise INDEX.damaged(session.path, f"nothing was removed, since what is left would not hold together ({fault})")


def _remove(session: Session, keep_from: int, *, scrub: bool) -> None:
    of = _spaces(session, keep_from)
    for table in of.dropped:
        spaces.drop(session, table)
    for table in of.kept:
        session.run(_REMOVE_VECTORS, keep_from, table.number)
        if scrub or session.changed() or rewriting.has_dead_blocks(session, table):
            rewriting.rewrite(session, table)
    told.forget(session, keep_from)
    for statement in _REMOVE:
        session.run(statement, keep_from)
    session.run(_REMOVE_DOCUMENTS)
    rewriting.uncluster(session)
    if scrub:
        _index_anew(session)
    else:
        lexical.merge(session)
    compacted.note(session, keep_from)


def _index_anew(session: Session) -> None:
    session.run("INSERT INTO lexical(lexical) VALUES ('delete-all')")
    lexical.add_live(session, session)

"""What a commit makes of the versions that were put: occurrences closed and opened, entries live or not.

1. An occurrence whose closed version lets it go, and that no new version claims, is closed.
2. A claimed id whose document and entry are as they were keeps its row; otherwise its row is closed and one with the
   same id is opened. An id has at most one open row.
3. An entry is live if and only if it is embedded and an open occurrence uses it; its lexical row and its vectors'
   `live` follow.

The work is set-based over temporary tables, so that memory does not grow with the size of a commit.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite import hashes, lexical, vectors
from steadlith_adapters.stores.sqlite.schema import OPEN, is_same_hash
from steadlith_core.digest import Digest
from steadlith_core.errors import AdapterError

if TYPE_CHECKING:
    from steadlith_adapters.stores.sqlite.ahead import Ahead
    from steadlith_adapters.stores.sqlite.session import Session

LARGE = 1000
"""Entries from which on a commit that doubles the index merges its lexical rows."""
STAGE = (
    # what the new versions hold: filled by `versions.open`
    "CREATE TEMP TABLE claim(occurrence INTEGER PRIMARY KEY, document INTEGER NOT NULL, entry_hash BLOB NOT NULL)",
    # what the versions closed in this write held
    "CREATE TEMP TABLE released(occurrence INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE closing(occurrence INTEGER PRIMARY KEY, valid_from INTEGER NOT NULL)",
    "CREATE TEMP TABLE touched(entry INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE flipped(entry INTEGER PRIMARY KEY, live INTEGER NOT NULL)",
    vectors.LIT,
)

_NAMED = is_same_hash("e.entry_hash", "c.entry_hash")
# CROSS JOIN keeps the small temporary table outside: SQLite has no statistics about it.
# Asked once all others are open: to look for each entry by its hash, which lies anywhere, costs as much as opening.
_NOT_OPENED = f"""
    SELECT c.occurrence, c.entry_hash FROM claim c
    WHERE NOT EXISTS (SELECT 1 FROM occurrence o WHERE o.occurrence = c.occurrence AND o.valid_to = {OPEN})
    LIMIT 1"""  # noqa: S608
_UNKNOWN_ID = """
    SELECT c.occurrence FROM claim c
    WHERE c.occurrence < ? AND NOT EXISTS (SELECT 1 FROM occurrence o WHERE o.occurrence = c.occurrence) LIMIT 1"""
_HELD_ELSEWHERE = f"""
    SELECT c.occurrence, d.source || ':' || d.path
    FROM claim c CROSS JOIN occurrence o ON o.occurrence = c.occurrence AND o.valid_to = {OPEN}
    JOIN document d ON d.document = o.document
    WHERE c.occurrence NOT IN (SELECT occurrence FROM released) LIMIT 1"""  # noqa: S608
_CLOSING = f"""
    INSERT INTO closing
    SELECT o.occurrence, o.valid_from
    FROM released r CROSS JOIN occurrence o ON o.occurrence = r.occurrence AND o.valid_to = {OPEN}
    LEFT JOIN claim c ON c.occurrence = o.occurrence
    LEFT JOIN entry e ON e.entry = o.entry
    WHERE c.occurrence IS NULL OR c.document <> o.document OR e.entry_hash IS NOT c.entry_hash"""  # noqa: S608
_TOUCHED_BY_CLOSING = """
    INSERT OR IGNORE INTO touched
    SELECT o.entry FROM closing c
    CROSS JOIN occurrence o ON o.occurrence = c.occurrence AND o.valid_from = c.valid_from"""
_CLOSE = """
    UPDATE occurrence SET valid_to = ?
    WHERE (occurrence, valid_from) IN (SELECT occurrence, valid_from FROM closing)"""
_OPEN = f"""
    INSERT INTO occurrence(occurrence, valid_from, valid_to, document, entry)
    SELECT c.occurrence, ?, {OPEN}, c.document, e.entry
    FROM claim c CROSS JOIN entry e {{indexed}} ON e.entry {{side}} AND {_NAMED}
    WHERE NOT EXISTS (SELECT 1 FROM occurrence o WHERE o.occurrence = c.occurrence AND o.valid_to = {OPEN})
    ORDER BY c.occurrence"""  # noqa: S608
_TOUCHED_BY_OPENING = """
    INSERT OR IGNORE INTO touched
    SELECT o.entry FROM claim c CROSS JOIN occurrence o ON o.occurrence = c.occurrence AND o.valid_from = ?"""
_LIVENESS = f"""(e.context_hash IS NOT NULL
    AND EXISTS (SELECT 1 FROM occurrence o WHERE o.entry = e.entry AND o.valid_to = {OPEN}))"""  # noqa: S608
WRONG_LIVENESS = f"SELECT e.entry, e.entry_hash, e.live FROM entry e WHERE e.live <> {_LIVENESS}"  # noqa: S608
SET_LIVENESS = f"UPDATE entry AS e SET live = {_LIVENESS} WHERE e.entry = ?"  # noqa: S608
_FLIPPED = f"""
    INSERT INTO flipped
    SELECT e.entry, 1 - e.live FROM touched t CROSS JOIN entry e ON e.entry = t.entry
    WHERE e.context_hash IS NOT NULL
    AND e.live <> EXISTS (SELECT 1 FROM occurrence o WHERE o.entry = t.entry AND o.valid_to = {OPEN})"""  # noqa: S608
_LIVE_ROWS = """
    SELECT e.entry, e.title, e.headings, t.body
    FROM flipped f CROSS JOIN entry e ON e.entry = f.entry JOIN text t ON t.text = e.text
    WHERE f.live = 1 ORDER BY f.entry"""


def occurrences(session: Session, generation: int, first_new: int) -> None:
    """Bring occurrences in line with the open versions; ids from `first_new` on were allocated here."""
    _refuse_impossible_claims(session, first_new)
    session.run(_CLOSING)
    session.run(_TOUCHED_BY_CLOSING)
    session.run(_CLOSE, generation)
    for half in hashes.halves(session, "entry"):
        session.run(half.of(_OPEN), generation)
    _refuse_unknown_entries(session)
    session.run(_TOUCHED_BY_OPENING, generation)


def liveness(session: Session, before: int, ahead: Ahead | None) -> None:
    """Make the entries that the occurrences touched live or not, in an index that had `before` chunks, and whose words
    may be on their way.
    """
    session.run(_FLIPPED)
    if ahead is None or not ahead.put():
        _index_words(session, before)
    session.run("UPDATE entry SET live = 1 - live WHERE entry IN (SELECT entry FROM flipped)")
    vectors.flip(session)


def _index_words(session: Session, before: int) -> None:
    lexical.remove_many(session, session.run("SELECT entry FROM flipped WHERE live = 0"))
    doubles = session.value("SELECT count(*) FROM flipped WHERE live = 1") >= max(LARGE, before)
    with lexical.merged_at_the_end(session) if doubles else nullcontext():
        lexical.add_many(session, session.stream(_LIVE_ROWS))


def _refuse_impossible_claims(session: Session, first_new: int) -> None:
    if row := session.one(_UNKNOWN_ID, first_new):
        message = f"occurrence {row[0]} does not exist; new occurrences are placed with none, and get their id here"
        raise AdapterError(message)
    if row := session.one(_HELD_ELSEWHERE):
        message = f"occurrence {row[0]} is held by {row[1]}, which this write neither replaces nor closes"
        raise AdapterError(message)


def _refuse_unknown_entries(session: Session) -> None:
    if row := session.one(_NOT_OPENED):
        message = f"occurrence {row[0]} is placed with entry {Digest(row[1]).short}, which was never put"
        raise AdapterError(message)

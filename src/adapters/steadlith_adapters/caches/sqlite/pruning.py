"""What the cache's keeper asks: which entries were used when, what goes, and the space that it leaves.

1. A use is noted by the day, and written once a day: reading writes nothing.
2. What goes is chosen from notes alone, in one total order: the day of use, then the order of writing.
3. Removing is one transaction and leaves a word that space is due; giving it back rewrites the file, and may fail or be
   killed at any time: the next who prunes gives it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import apsw

from steadlith_adapters.caches.sqlite.rows import batches
from steadlith_adapters.caches.sqlite.schema import NOTE_MISSING, NOTES, SCHEMA_VERSION, version
from steadlith_adapters.sqlite.places import bytes_taken
from steadlith_core.ports import CacheStats, Tally
from steadlith_core.vectors import WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from steadlith_core.digest import Digest
    from steadlith_core.ports import PruneRule

STALE = """
select 1 from embedding join note using (id) where key in ({}) and day < ? limit 1
"""
TOUCH = "update note set day = ? where day < ? and id in (select id from embedding where key in ({}))"
COUNT = "select dimensions, count(*), sum(imported), min(day), max(day) from {} group by dimensions order by dimensions"

# Running sums over what stays, from the most recently used on: an entry goes if it and all before it are too much.
DOOMED = """
with noted as (
    select id, day, dimensions,
        coalesce(day < :before, 0) or (:imported and imported) as named from {notes}
), summed as (
    select id, dimensions, named,
        sum(case when named then 0 else dimensions end) over (
            order by coalesce(day, :latest) desc, id desc rows unbounded preceding
        ) as so_far from noted
)
select {what} from summed where named or so_far > :most
"""
LATEST = 1 << 40  # a day that never comes: what was never noted goes last

REMOVE = (
    "delete from embedding where id in (select id from temp.doomed)",
    "delete from note where id in (select id from temp.doomed)",
    "insert or ignore into due(id) select 1 where exists (select 1 from temp.doomed)",
)
DROP = (
    "delete from note where id in (select id from embedding where key in ({}))",
    "delete from embedding where key in ({})",
)
SPACE_BUSY_MILLISECONDS = 2_000
"""How long giving back waits for others: whoever prunes can do it again."""


def touch(connection: apsw.Connection, keys: Sequence[Digest], today: int) -> None:
    """Note that these were used today, inside the caller's transaction."""
    for some, places in batches(keys):
        connection.execute(TOUCH.format(places), (today, today, *some))


def is_stale(connection: apsw.Connection, keys: Sequence[Digest], today: int) -> bool:
    """Whether `touch` would write anything."""
    if version(connection) < SCHEMA_VERSION:
        return bool(keys)
    return any(connection.execute(STALE.format(places), (*some, today)).fetchall() for some, places in batches(keys))


def stats(connection: apsw.Connection, path: Path) -> CacheStats:
    """Counts of all entries."""
    rows: list[tuple[Any, ...]] = connection.execute(COUNT.format(NOTES[version(connection)])).fetchall()
    days = [day for *_, first, last in rows for day in (first, last) if day is not None]
    return CacheStats(
        entries=sum(count for _, count, *_ in rows),
        imported=sum(imported for _, _, imported, *_ in rows),
        vector_bytes=sum(dimensions * count * WIDTH for dimensions, count, *_ in rows),
        file_bytes=bytes_taken(path),
        widths={dimensions: count for dimensions, count, *_ in rows},
        oldest_use=min(days, default=None),
        latest_use=max(days, default=None),
    )


def prunable(connection: apsw.Connection, rule: PruneRule) -> Tally:
    """What the rule names."""
    counted = DOOMED.format(what="count(*), coalesce(sum(dimensions), 0)", notes=NOTES[version(connection)])
    row: tuple[Any, ...] = connection.execute(counted, _terms(rule)).fetchall()[0]
    count, dimensions = row
    return Tally(count, dimensions * WIDTH)


def prune(connection: apsw.Connection, rule: PruneRule, today: int) -> Tally:
    """Remove what the rule names, inside the caller's transaction."""
    connection.execute(NOTE_MISSING, (today,))
    tally = prunable(connection, rule)
    chosen = DOOMED.format(what="id", notes=NOTES[version(connection)])
    connection.execute("create temp table doomed(id integer primary key)")
    connection.execute("insert into temp.doomed " + chosen, _terms(rule))
    for statement in REMOVE:
        connection.execute(statement)
    connection.execute("drop table temp.doomed")
    return tally


def drop(connection: apsw.Connection, keys: Sequence[Digest]) -> int:
    """Remove these entries, inside the caller's transaction."""
    gone = 0
    for some, places in batches(keys):
        for statement in DROP:
            connection.execute(statement.format(places), some)
        gone += connection.changes()
    if gone:
        connection.execute("insert or ignore into due(id) values (1)")
    return gone


def reclaim(connection: apsw.Connection) -> str | None:
    """Give back the space that is due; why it is held back, if it is."""
    try:
        if connection.execute("select 1 from due").fetchall():
            connection.execute("vacuum").fetchall()
            connection.execute("delete from due").fetchall()
        busy = connection.execute("pragma wal_checkpoint(truncate)").fetchall()[0][0]
    except (apsw.BusyError, apsw.LockedError):
        return "another process is writing to the cache; prune again when it is done"
    except apsw.FullError:
        return "the disk has no room for a second copy of what is kept; free some and prune again"
    return "another process is reading the cache; the rest is given back when it is done" if busy else None


def _terms(rule: PruneRule) -> dict[str, Any]:
    return {
        "before": rule.unused_before,
        "imported": rule.imported,
        "latest": LATEST,
        "most": LATEST if rule.max_bytes is None else rule.max_bytes // WIDTH,
    }

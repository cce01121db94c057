"""Rows of the cache: vectors by key with their checksums, in and out.

1. A checksum stands beside every vector, over key and vector; a row that does not match it is as good as absent.
2. So is one that no search could use: of other dimensions than are asked for, not finite, or zero.
3. Keys are asked for in their order: then neighbours in the index of keys are met while their page is at hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steadlith_adapters.caches.sqlite.schema import NOTE_NEW, one_number
from steadlith_core import vectors as vec
from steadlith_core.cachefile import entry_checksum
from steadlith_core.ports import Kept
from steadlith_core.vectors import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import apsw

    from steadlith_core.digest import Digest
    from steadlith_core.vectors import Vector

BATCH = 500
"""Keys a query: measured against one by one, a temporary table, and carray."""

GET = "select key, vector, checksum from embedding where key in ({})"
PAGE = "select key, vector, checksum from embedding where key > ? order by key limit {}"
# An equal row is not written again; a row that differs is a damaged one, or the same text from another batch.
PUT = """
insert into embedding(key, vector, checksum) values (?, ?, ?)
on conflict(key) do update set vector = excluded.vector, checksum = excluded.checksum
where vector is not excluded.vector or checksum is not excluded.checksum
"""
NOTE_AGAIN = """
insert into note(id, day, dimensions, imported)
select id, ?, length(vector) / 4, ? from embedding where key in ({})
on conflict(id) do update set
    day = max(day, excluded.day), dimensions = excluded.dimensions, imported = excluded.imported
"""
LAST = "select coalesce(max(id), 0) from embedding"


def batches(keys: Sequence[Digest]) -> Iterator[tuple[list[Digest], str]]:
    """Distinct keys in their order, `BATCH` at a time, with the place-holders for so many."""
    ordered = sorted(set(keys))
    for start in range(0, len(ordered), BATCH):
        some = ordered[start : start + BATCH]
        yield some, ",".join("?" * len(some))


def intact(connection: apsw.Connection, keys: Sequence[Digest], dimensions: int) -> dict[Digest, Vector]:
    """Those of `keys` that are there and can be used, of so many dimensions."""
    return _checked(connection, keys, lambda found: _of_width(found, dimensions))


def intact_of_any_width(connection: apsw.Connection, keys: Sequence[Digest]) -> dict[Digest, Vector]:
    """As `intact`, of whatever dimensions."""
    return _checked(connection, keys, vec.sound)


def put(connection: apsw.Connection, vectors: Mapping[Digest, Vector], today: int, *, imported: bool) -> None:
    """Write these rows with their notes, inside the caller's transaction."""
    # Ordered, so that the rows of one batch touch each page of the index once.
    rows = [(key, vector := vectors[key], entry_checksum(key + vector)) for key in sorted(vectors)]
    last = one_number(connection, LAST)
    connection.executemany(PUT, rows)
    connection.execute(NOTE_NEW, (today, imported, last))  # new rows have the ids after the last
    if len(rows) > connection.changes():  # and others were there
        for some, places in batches(list(vectors)):
            connection.execute(NOTE_AGAIN.format(places), (today, imported, *some))


def pages(connection: apsw.Connection, after: bytes) -> list[tuple[bytes, Vector, bytes]]:
    """The next rows after the key `after`, in the order of keys."""
    found: list[tuple[Any, ...]] = connection.execute(PAGE.format(BATCH), (after,)).fetchall()
    return [(key, vector, checksum) for key, vector, checksum in found]


def judged(rows: Sequence[tuple[Digest, Vector, bytes]]) -> Iterator[Kept]:
    """Each row with what is wrong with it."""
    usable = vec.sound([vector for _, vector, _ in rows])
    for (key, vector, checksum), good in zip(rows, usable, strict=True):
        if entry_checksum(key + vector) != checksum:
            yield Kept(key, vector, "does not match its checksum")
        elif not good:
            yield Kept(key, vector, vec.problems(vector, len(vector) // WIDTH)[0] if vector else "is empty")
        else:
            yield Kept(key, vector, None)


def _checked(
    connection: apsw.Connection,
    keys: Sequence[Digest],
    usable: Callable[[Sequence[Vector]], Sequence[bool]],
) -> dict[Digest, Vector]:
    found: dict[Digest, Vector] = {}
    for some, places in batches(keys):
        own = {key: key for key in some}  # the caller's digests: making new ones would be a tenth of the time
        answer: list[tuple[Any, ...]] = connection.execute(GET.format(places), some).fetchall()
        rows: list[tuple[Digest, Vector]] = [
            (own[key], vector) for key, vector, checksum in answer if entry_checksum(key + vector) == checksum
        ]
        good = usable([vector for _, vector in rows])
        found.update(rows if all(good) else [row for row, fine in zip(rows, good, strict=True) if fine])
    return found


def _of_width(found: Sequence[Vector], dimensions: int) -> Sequence[bool]:
    size = WIDTH * dimensions
    return [good and len(vector) == size for vector, good in zip(found, vec.sound(found), strict=True)]

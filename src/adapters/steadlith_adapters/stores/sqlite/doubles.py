"""Texts and entries that stand twice under one hash: which they are, and one made of them.

1. Only damage makes them: a write looks for a hash before it puts one. In a file of an older schema an index refuses
   it.
2. Rows whose hashes begin alike are looked at one by one; finding those reads the index alone.
3. Of an entry that stands twice, the one that is live stays, of others the first: what refers to another is led to it.
   The vectors of another go, and its lexical row, when the write settles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite import hashes
from steadlith_adapters.stores.sqlite.schema import prefix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_adapters.stores.sqlite.session import Session

# The inner query reads the indexes and no table; grouped at once, SQLite would look at every row.
_ALIKE = "SELECT begins FROM ({} ORDER BY 1) GROUP BY begins HAVING count(*) > 1"
_BEGIN = "SELECT {prefix} AS begins FROM {table} {indexed} WHERE {table} {side}"
_ROWS = "SELECT {rank}, {table}, {table}_hash FROM {table} {indexed} WHERE {table} {side} AND {prefix} = ?"
_RANK = {"text": "0", "entry": "-live"}
_MERGE = {
    "text": ("UPDATE entry SET text = ?1 WHERE text = ?2", "DELETE FROM text WHERE text = ?2"),
    "entry": (
        "UPDATE occurrence SET entry = ?1 WHERE entry = ?2",
        "DELETE FROM vector WHERE entry = ?2",
        "DELETE FROM entry WHERE entry = ?2",
    ),
}


def found(session: Session, table: str) -> Iterator[tuple[bytes, Sequence[int]]]:
    """Every hash that stands more than once in `text` or `entry`, with its rows; the one to keep is the first."""
    if not all(half.indexed for half in hashes.halves(session, table)):
        return
    for (begins,) in session.run(alike(session, table)):
        found = [row for sql in _each_half(session, table, _ROWS) for row in session.run(sql, begins)]
        rows: dict[bytes, list[int]] = {}
        for _, number, name in sorted(found):
            rows.setdefault(name, []).append(number)
        yield from ((name, numbers) for name, numbers in rows.items() if len(numbers) > 1)


def alike(session: Session, table: str) -> str:
    """What asks for the beginnings of hashes that stand more than once."""
    return _ALIKE.format(" UNION ALL ".join(_each_half(session, table, _BEGIN)))


def _each_half(session: Session, table: str, sql: str) -> list[str]:
    names = {"table": table, "prefix": prefix(f"{table}_hash"), "rank": _RANK[table]}
    return [half.of(sql, **names) for half in hashes.halves(session, table)]


def merge(session: Session) -> None:
    """Keep one row of each hash."""
    for table, statements in _MERGE.items():
        for _, (kept, *others) in tuple(found(session, table)):
            for other in others:
                for sql in statements:
                    session.run(sql, *((kept, other) if "?1" in sql else (None, other)))

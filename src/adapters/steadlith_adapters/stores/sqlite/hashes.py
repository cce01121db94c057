"""Rows by their hashes: which indexes hold them, what is asked of these, and when they are made anew.

1. Hashes lie anywhere, so each new one is a page of its index to write: of three indexes, four pages of ten of a small
   change. So a table has two. One holds the rows up to a number and is left alone; the other holds those that came
   since, a few pages that they share.
2. When these are an eighth of the others, both are made anew, and all is in the first one. Where nothing was settled
   yet, as after a first load, the second one holds all: then the two only change names, which reads no row.
3. Where the parting lies is said by the indexes' own definitions, and nowhere else. A file of an older schema has one
   index of each table, over whole hashes until schema 5: it is asked once. An index that is missing is damage; rows are
   found without it, slowly.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.stores.sqlite.schema import FORGET_TABLES, HASHED, PREFIX, by_hash
from steadlith_adapters.stores.sqlite.session import BATCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_adapters.stores.sqlite.session import Row, Session

FEW = 1000
"""Recent rows that are never too many."""
SHARE = 8
_DECLARED = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?"
_PARTED = re.compile(r"WHERE \w+ (<=|>) (\d+)$")


class Half(NamedTuple):
    """Rows of a table that one index holds, as a statement names them: `FROM t {indexed} WHERE number {side}`."""

    indexed: str
    side: str

    def of(self, sql: str, *marks: str, **names: str) -> str:
        """A statement about these rows alone."""
        return sql.format(*marks, **names, **self._asdict())


_WHOLE = Half("", "IS NOT NULL")


def halves(session: Session, table: str) -> Sequence[Half]:
    """The rows of `text`, `entry` or `vector` by the indexes over their hashes; all together they are all."""
    if table not in session.halves:
        session.halves[table] = _halves(session, table)
    return session.halves[table]


def _halves(session: Session, table: str) -> Sequence[Half]:
    declared = {name: session.one(_DECLARED, name) for name in HASHED[table].names}
    sides = {name: _PARTED.search(row[0]) for name, row in declared.items() if row and row[0]}
    if all(sides.get(name) for name in declared):
        return [Half(f"INDEXED BY {name}", f"{side[1]} {side[2]}") for name, side in sides.items() if side]
    usual = HASHED[table].names[0]
    return [Half(f"INDEXED BY {usual}", _WHOLE.side) if usual in sides and not sides[usual] else _WHOLE]


def find(session: Session, table: str, sql: str, hashes: Sequence[bytes], *bindings: object) -> Iterator[Row]:
    """Rows of a statement over `schema.is_one_of`, asked in batches of hashes; `bindings` come before them."""
    for start in range(0, len(hashes), BATCH):
        batch = hashes[start : start + BATCH]
        marks = ",".join("?" * len(batch))
        asked = (*bindings, *(each[:PREFIX] for each in batch), *batch)
        for half in halves(session, table):
            yield from session.run(half.of(sql, marks, marks), *asked)


def settle(session: Session) -> None:
    """Make the indexes anew of which too much is recent."""
    for table, hashed in HASHED.items():
        last: int = session.value(f"SELECT coalesce(max({hashed.number}), 0) FROM {hashed.number}")  # noqa: S608
        parted = [half for half in halves(session, table) if half.indexed]
        settled = _settled(session, table)
        if last - settled <= max(FEW, settled // SHARE):
            continue
        if len(parted) == 2 and not settled:
            _rename(session, table, last)
        else:
            for name in hashed.names:
                session.run(f"DROP INDEX IF EXISTS {name}")
            for statement in by_hash(table, last):
                session.run(statement)
        session.halves.clear()


def _rename(session: Session, table: str, last: int) -> None:
    """Every row is recent, up to this one: so the index of recent ones is what that of settled ones is to be."""
    session.run("PRAGMA writable_schema = ON")
    old, new = HASHED[table].names
    for name, called in ((old, "-"), (new, old), ("-", new)):
        session.run("UPDATE sqlite_schema SET name = ? WHERE type = 'index' AND name = ?", called, name)
    for name, statement in zip((old, new), by_hash(table, last), strict=True):
        session.run("UPDATE sqlite_schema SET sql = ? WHERE type = 'index' AND name = ?", statement, name)
    version: int = session.value("PRAGMA schema_version")
    session.run(f"PRAGMA schema_version = {version + 1}")  # so that other connections look again
    session.run(FORGET_TABLES)


def _settled(session: Session, table: str) -> int:
    return max((int(half.side.split()[1]) for half in halves(session, table) if half.indexed), default=0)

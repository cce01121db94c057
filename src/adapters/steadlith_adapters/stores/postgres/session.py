"""One connection to the server: the only module that runs SQL through psycopg.

1. Values travel in binary: bytes, numbers and vectors come back bit for bit.
2. Many rows go by COPY; many keys are asked for by one array.
3. Every error of the server leaves through the border.
4. On an index that nothing was ever committed to there is no connection: every question has no rows (`Nothing`).
"""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import count, islice
from typing import TYPE_CHECKING, Any, TypeVar

from psycopg.adapt import Dumper
from psycopg.pq import Format

from steadlith_adapters.stores.postgres import border

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import psycopg
    from psycopg.errors import Diagnostic

T = TypeVar("T")
Row = tuple[Any, ...]
BATCH = 4096
"""Keys per look-up, and rows per fetch of a long answer."""


class Sent(bytes):
    """A value in the form in which the server sends and receives it; its type is what the statement casts it to."""


class _SentDumper(Dumper):
    format = Format.BINARY
    oid = 0

    def dump(self, obj: Sent) -> bytes:
        return bytes(obj)


class Session:
    """An open connection and what is known about it. `vector` is the schema of pgvector, quoted; none without it."""

    __slots__ = ("_changed", "_connection", "_cursor", "_names", "place", "vector")

    def __init__(self, connection: psycopg.Connection[Row], place: str, vector: str | None) -> None:
        self._connection = connection
        connection.adapters.register_dumper(Sent, _SentDumper)
        self._cursor = connection.cursor(binary=True)
        self._names = count(1)
        self._changed = 0
        self.place = place
        self.vector = vector

    def run(self, sql: str, *values: Any) -> list[Row]:
        """All rows of one statement."""
        try:  # without a context manager: a write calls this many times
            cursor = self._cursor.execute(sql.encode(), values or None)
            self._changed = cursor.rowcount
            return cursor.fetchall() if cursor.description else []
        except border.RAISED as error:
            raise border.translate(self.place, error) from error

    def script(self, sql: str) -> None:
        """Several statements without values, in one message."""
        with border.translated(self.place):
            self._connection.execute(sql.encode())

    def one(self, sql: str, *values: Any) -> Row | None:
        """The first row of one statement, if there is one."""
        rows = self.run(sql, *values)
        return rows[0] if rows else None

    def value(self, sql: str, *values: Any) -> Any:
        """The first column of the one row that the statement always has."""
        return self.run(sql, *values)[0][0]

    def changed(self) -> int:
        """Rows that the last statement changed."""
        return self._changed

    def stream(self, sql: str, *values: Any) -> Iterator[Row]:
        """Rows a batch at a time, inside a transaction; other statements may run between them."""
        with border.translated(self.place):
            cursor = self._connection.cursor(f"stream_{next(self._names)}", binary=True)
            cursor.execute(sql.encode(), values or None)
        try:
            while True:
                with border.translated(self.place):
                    rows = cursor.fetchmany(BATCH)
                if not rows:
                    break
                yield from rows
        finally:
            with suppress(*border.RAISED):  # what matters was said, and the transaction's end closes it anyway
                cursor.close()

    def lookup(self, sql: str, keys: Sequence[Any], *values: Any) -> Iterator[Row]:
        """Rows of a statement whose last placeholder is an array of keys; `values` come before it."""
        for start in range(0, len(keys), BATCH):
            yield from self.run(sql, *values, list(keys[start : start + BATCH]))

    def copy(self, into: str, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """COPY rows of values of these types `into` a table with its columns."""
        with (
            border.translated(self.place),
            self._cursor.copy(f"COPY {into} FROM STDIN (FORMAT BINARY)".encode()) as copying,
        ):
            copying.set_types(types)
            for row in rows:
                copying.write_row(row)

    def copy_bytes(self, into: str, data: bytes) -> None:
        """COPY rows that are in the wire's own form already."""
        with (
            border.translated(self.place),
            self._cursor.copy(f"COPY {into} FROM STDIN (FORMAT BINARY)".encode()) as copying,
        ):
            copying.write(data)

    def rewrite(self, table: str) -> int:
        """Write a table anew without its dead rows, outside of any transaction; how many of them had to stay, since
        some snapshot of anybody's may still see them.
        """
        details: list[str] = []

        def listen(notice: Diagnostic) -> None:
            details.append(notice.message_detail or "")

        self._connection.add_notice_handler(listen)
        try:
            self.run(f"VACUUM (FULL, ANALYZE, VERBOSE) {table}")
        finally:
            self._connection.remove_notice_handler(listen)
        # "N dead row versions cannot be removed yet", in whatever language the server speaks.
        numbers = (re.match(r"\D*(\d+)", detail) for detail in details)
        return sum(int(found[1]) for found in numbers if found)

    def decode(self, read: Callable[[bytes], T], data: bytes, what: str) -> T:
        """A packed column read by `read`; damage is named as `what`."""
        try:
            return read(data)
        except ValueError as error:
            raise border.damaged(self.place, f"{what} cannot be read ({error})") from error

    @property
    def is_lost(self) -> bool:
        """Whether the connection is closed or broken."""
        return bool(self._connection.closed)

    def close(self) -> None:
        """End the connection; an open transaction is rolled back. Closing twice is harmless."""
        self._connection.close()


class Nothing(Session):
    """What a reader of an absent index asks: it answers every question with no rows."""

    __slots__ = ()

    def __init__(self, place: str) -> None:  # no connection to take over
        self.place = place
        self.vector = None

    def run(self, sql: str, *values: Any) -> list[Row]:
        """No rows."""
        del sql, values
        return []

    def stream(self, sql: str, *values: Any) -> Iterator[Row]:
        """No rows."""
        del sql, values
        return iter(())

    @property
    def is_lost(self) -> bool:
        """There is nothing to lose."""
        return False

    def close(self) -> None:
        """Nothing to end."""


def batches(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """The caller's rows, so many at a time: what it raises is raised here, and nothing is held for long."""
    rows = iter(rows)
    while batch := list(islice(rows, size)):
        yield batch


def numbers(entries: Iterable[int]) -> list[int]:
    """The numbers among these that an entry may have, each once: the server refuses what no column holds."""
    return [entry for entry in dict.fromkeys(entries) if 0 < entry < 2**63]

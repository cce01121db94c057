"""One connection to an index file: the only module that runs SQL through apsw.

1. Every statement runs to its end at once, unless `stream` is asked for: apsw stops at the first row otherwise.
2. Every error of SQLite leaves through the border.
3. sqlite-vec is loaded on first use, from its file, without importing the package (which would load numpy).
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from steadlith_adapters.sqlite.kind import RAISED
from steadlith_adapters.stores.sqlite.schema import INDEX
from steadlith_core.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from steadlith_adapters.stores.sqlite.hashes import Half

T = TypeVar("T")
D = TypeVar("D")
Row = tuple[Any, ...]
BATCH = 500
"""Keys per look-up statement; measured fastest among the ways to ask for many (storage.md 4)."""
LISTED = "(SELECT value FROM json_each(?))"
"""Any number of numbers as one binding, for what cannot be asked in batches; `listed` makes it."""


def listed(numbers: Sequence[int]) -> str:
    """The binding of `LISTED`."""
    return f"[{','.join(map(str, numbers))}]"


class Session:
    """An open connection and what is known about it."""

    __slots__ = ("_connection", "_vectors_loaded", "halves", "path")

    def __init__(self, connection: apsw.Connection, path: str) -> None:
        self._connection = connection
        self._vectors_loaded = False
        self.path = path
        self.halves: dict[str, Sequence[Half]] = {}
        """What `hashes` knows of this snapshot; to be forgotten before another one."""

    def run(self, sql: str, *bindings: Any) -> list[Row]:
        """All rows of one statement."""
        try:  # without a context manager: a write calls this many thousand times
            return self._connection.execute(sql, bindings).fetchall()
        except RAISED as error:
            raise INDEX.error(self.path, error) from error

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """One statement for each row of bindings; how many rows it changed in all."""
        before = self._connection.total_changes()
        try:
            self._connection.executemany(sql, rows)
        except RAISED as error:
            raise INDEX.error(self.path, error) from error
        return self._connection.total_changes() - before

    def one(self, sql: str, *bindings: Any) -> Row | None:
        """The first row of one statement, if there is one."""
        rows = self.run(sql, *bindings)
        return rows[0] if rows else None

    def value(self, sql: str, *bindings: Any) -> Any:
        """The first column of the one row that the statement always has."""
        return self.run(sql, *bindings)[0][0]

    def stream(self, sql: str, *bindings: Any) -> Iterator[Row]:
        """Rows one by one; the statement must not write, and must not read what is written meanwhile."""
        with INDEX.translated(self.path):
            yield from self._connection.execute(sql, bindings)

    def lookup(self, sql: str, keys: Sequence[Any], *bindings: Any) -> Iterator[Row]:
        """Rows of a statement ending in `IN ({})`, asked in batches of keys; `bindings` come before them."""
        for start in range(0, len(keys), BATCH):
            batch = keys[start : start + BATCH]
            yield from self.run(sql.format(",".join("?" * len(batch))), *bindings, *batch)

    def changed(self) -> int:
        """Rows that the last statement changed."""
        return self._connection.changes()

    def stemmer(self) -> Callable[[str], Iterable[Any]]:
        """What the lexical table's tokenizer makes of a text: its words in order, as they are kept."""
        with INDEX.translated(self.path):
            tokenizer = self._connection.fts5_tokenizer("porter", ["unicode61"])

        def stems(text: str) -> Iterable[Any]:
            with INDEX.translated(self.path):
                # Both reasons to tokenize give the same words here: neither porter nor unicode61 asks which it is.
                return tokenizer(
                    text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
                )

        return stems

    def lost_bytes(self) -> int:
        """How much the file is shorter than its header says; 0 while a log or a write may hold the rest, or without a
        file.
        """
        name = self._connection.filename
        with INDEX.translated(self.path):
            log = Path(f"{name}-wal")
            writes = self._connection.txn_state("main") == apsw.SQLITE_TXN_WRITE
            if not name or writes or (log.exists() and log.stat().st_size):
                return 0
            promised: int = self.value("PRAGMA page_count") * self.value("PRAGMA page_size")
            return max(0, promised - Path(name).stat().st_size)

    def decode(self, read: Callable[[D], T], data: D, what: str) -> T:
        """What was packed, read by `read`; damage is named as `what`."""
        try:
            return read(data)
        except ValueError as error:
            raise INDEX.damaged(self.path, f"{what} cannot be read ({error})") from error

    def load_vectors(self) -> None:
        """Make vec0 tables usable on this connection. Loading twice is harmless."""
        if self._vectors_loaded:
            return
        extension = _extension()
        if extension is None:
            message = (
                "this index has vectors, and sqlite-vec is not installed: "
                "`pip install sqlite-vec` (no wheel for musl Linux; plan, status and lexical search work without)"
            )
            raise AdapterError(message)
        with INDEX.translated(self.path):
            self._connection.enable_load_extension(True)
            try:
                self._connection.load_extension(extension)
            finally:
                self._connection.enable_load_extension(False)
        self._vectors_loaded = True

    def can_load_vectors(self) -> bool:
        """Whether vec0 tables are usable on this connection, loaded if need be."""
        try:
            self.load_vectors()
        except AdapterError:
            return False
        return True

    def copy_to(self, path: str) -> None:
        """Copy the snapshot of the running transaction, page by page, into a new file, durably."""
        with INDEX.translated(path):
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_EXCLUSIVE
            copy = apsw.Connection(path, flags=flags)
            try:
                copy.execute("PRAGMA synchronous = FULL").fetchall()
                with copy.backup("main", self._connection, "main") as copying:
                    copying.step()
            finally:
                copy.close(True)

    def is_frozen(self) -> bool:
        """Whether the file was opened as one that never changes, where nobody may write beside it."""
        return self._connection.readonly("main")

    def has_log(self) -> bool:
        """Whether the file is one with a write-ahead log."""
        return bool(self.value("PRAGMA journal_mode") == "wal")

    def checkpoint(self) -> None:
        """Fold the log into the file and empty it, unless a reader still needs it; a file without one gets it."""
        if self.has_log():
            self.run("PRAGMA busy_timeout = 0")
            self.run("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            self.run("PRAGMA locking_mode = NORMAL")  # given up once the next statement has ended, and no sooner
            self.run("PRAGMA journal_mode = WAL")

    def close(self) -> None:
        """End the connection; an open transaction is rolled back. Closing twice is harmless."""
        self._connection.close(True)


@cache
def _extension() -> str | None:
    spec = find_spec("sqlite_vec")
    folders = spec.submodule_search_locations if spec else None
    return str(Path(folders[0]) / "vec0") if folders else None

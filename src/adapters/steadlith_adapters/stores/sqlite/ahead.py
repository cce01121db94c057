"""The words of a first load, indexed by a thread while the rest of it is written.

1. FTS5 takes about as long as all else that a first load writes, and SQLite lets another thread work meanwhile. So the
   words of entries go to a temporary index as these are put, and the commit copies its tables into the file's.
2. The thread is given rows as it is done with others, never more than a few batches: memory stays that of a batch.
   A batch is one statement: two threads that ask Python for its lock at every row hold each other up.
3. It is an offer: where it fails (no room for a temporary file), the commit indexes all words itself.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite import lexical
from steadlith_adapters.stores.sqlite.apart import copy_table, lexical_index
from steadlith_adapters.stores.sqlite.schema import FORGET_TABLES
from steadlith_core.errors import SteadlithError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from steadlith_adapters.stores.sqlite.session import Session

WAITING = 2
"""Batches that the thread is given before it is done with the first of them."""
_COPIED = ("lexical_data", "lexical_idx", "lexical_docsize")
"""What FTS5 keeps of the rows; how the index is tuned stays the file's."""
_NEXT = f"{lexical.ROWS} WHERE e.entry > ? AND e.context_hash IS NOT NULL ORDER BY e.entry LIMIT ?"
_DEAD = """
    SELECT entry FROM entry WHERE context_hash IS NOT NULL AND entry NOT IN (SELECT entry FROM flipped)"""


class Ahead:
    """The lexical index of a file that has no entry yet but those that its first write puts."""

    __slots__ = ("_failed", "_index", "_last", "_running", "_session", "_thread")

    def __init__(self, session: Session) -> None:
        from concurrent.futures import ThreadPoolExecutor  # it loads what no plan needs

        self._session = session
        self._index = lexical_index()
        lexical.begin(self._index)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="words")
        self._running: deque[Future[object]] = deque()
        self._last = 0
        self._failed = False

    def feed(self, last: int) -> None:
        """Give the thread more of the entries that are put, up to this one, if it has nearly none left."""
        while self._running and self._running[0].done():
            self._wait()
        if len(self._running) < WAITING and last - self._last >= lexical.AT_ONCE:
            self._give()

    def merge(self) -> None:
        """Give it all that are left, and have it make one segment of all."""
        while self._give():
            if len(self._running) > WAITING:
                self._wait()
        self._start(lambda: lexical.merge(self._index))

    def put(self) -> bool:
        """Make the file's lexical index that of the entries in `flipped`; whether this was possible."""
        dead = self._session.run(_DEAD)
        if dead:
            self._start(lambda: lexical.remove_many(self._index, dead))
            self._start(lambda: lexical.merge(self._index))
        self._start(lambda: self._index.run("COMMIT"))
        while self._running:
            self._wait()
        if not self._failed:
            for table in _COPIED:
                copy_table(self._index, self._session, table)
            self._session.run(FORGET_TABLES)
        return not self._failed

    def close(self) -> None:
        """Stop the thread; harmless if it is."""
        self._thread.shutdown(cancel_futures=True)
        self._index.close()

    def _give(self) -> bool:
        """One batch for the thread; whether there was one."""
        if self._failed:
            return False
        rows = self._session.run(_NEXT, self._last, lexical.AT_ONCE)
        if rows:
            self._last = rows[-1][0]
            self._start(lambda: lexical.add_at_once(self._index, rows))
        return bool(rows)

    def _start(self, work: Callable[[], object]) -> None:
        self._running.append(self._thread.submit(work))

    def _wait(self) -> None:
        try:
            self._running.popleft().result()
        except SteadlithError:
            self._failed = True

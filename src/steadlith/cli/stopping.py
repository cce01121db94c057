"""SIGINT and SIGTERM while `apply` runs.

1. Until writing may begin, and while somebody plans and asks again, either signal interrupts at once.
2. From then on the first one asks the run to stop at the next safe point; the second one leaves at once.
3. A signal may come while a line is being written. A handler must not enter Python's buffered stderr then, so what it
   says goes to the file descriptor.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STDERR = 2


class Stopping:
    """What the signals mean now, and whether one came."""

    def __init__(self) -> None:
        self._gently = False
        self._asked = False

    def gently(self) -> None:
        """Writing may begin: from now on a signal is a request."""
        self._gently = True

    def at_once(self) -> None:
        """Nothing is written just now: a signal interrupts at once again."""
        self._gently = False

    def requested(self) -> bool:
        """Whether somebody asked to stop."""
        return self._asked

    def receive(self, _number: int, _frame: object) -> None:
        """The handler of both signals."""
        if not self._gently:
            raise KeyboardInterrupt
        if self._asked:
            os._exit(130)  # asked twice: leave now; the next run finds the old state, or resumes from the cache
        self._asked = True
        with suppress(OSError):  # nobody reads it
            os.write(STDERR, b"Stopping at the next safe point; ask again to leave at once.\n")


@contextmanager
def stopping() -> Iterator[Stopping]:
    """Handle both signals until the block ends."""
    state = Stopping()
    before = {number: signal.signal(number, state.receive) for number in SIGNALS}
    try:
        yield state
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

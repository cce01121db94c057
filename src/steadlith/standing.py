"""Stores that stay open between searches, for as long as their owner says.

1. Each is used by one caller at a time: who takes one takes it out, so many threads may search at once.
2. Its adapter sees to it that an idle connection that broke, or whose file was replaced, answers nobody.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from steadlith_core.ports import Store


class Standing:
    """Stores for reading, as many as were ever asked at once."""

    __slots__ = ("_idle", "_is_closed", "_make")

    def __init__(self, make: Callable[[], Store]) -> None:
        self._make = make
        self._idle: deque[Store] = deque()
        self._is_closed = False

    @contextmanager
    def one(self) -> Iterator[Store]:
        """A store that nobody else uses meanwhile; one that an error ended is not used again."""
        try:
            store = self._idle.pop()
        except IndexError:
            store = self._make()
        try:
            yield store
        except BaseException:
            store.close()
            raise
        self._idle.append(store)
        if self._is_closed:  # meanwhile
            self.close()

    def close(self) -> None:
        """Close all that are idle; those in use are when they are given back."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()

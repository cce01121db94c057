"""A call of a port as a value, and what may stand round it.

1. A wrapper is the port's methods written out: none is passed on that the port does not have, and none is missing.
2. What stands round a call decides whether it is performed, how often, and what becomes of its answer. It knows no
   adapter.
3. Of an answer that comes piece by piece the first piece is fetched inside the call, so that what fails at once fails
   there; what fails later fails where it is read.
4. Properties are values that an adapter has anyway; nothing stands round them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the port's method, and the arguments by their names. Rows that come one by one are `Counted`."""

    port: str
    method: str
    arguments: Mapping[str, object]

    @property
    def name(self) -> str:
        """How tables name it: `embedder.embed_documents`."""
        return f"{self.port}.{self.method}"


class Around(Protocol):
    """What stands round every call. `perform` makes the call; it may be made more than once, or not at all."""

    def __call__(self, call: Call, perform: Callable[[], T], /) -> T:
        """The answer that the caller gets."""
        ...


class Counted(Generic[T]):
    """Rows on their way to an adapter. `count` is how many it took, there once the call is over."""

    __slots__ = ("_rows", "count")

    def __init__(self, rows: Iterable[T]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[T]:
        for row in self._rows:
            self.count += 1
            yield row


def begun(pieces: Iterator[T]) -> Iterator[T]:
    """The same pieces, the first one fetched already (rule 3)."""
    for first in pieces:
        return chain((first,), pieces)
    return iter(())

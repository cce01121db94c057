"""Wrapper `recording`: what was called, in which order, with how much, how it ended, and how long it took.

1. No text and no secret enters a record: of an argument there is its kind and its size, of an error its class.
2. With `digests` the digests of texts and bytes are recorded too, so that two recordings can be compared. The digest of
   a short text tells it to whoever guesses it.
3. Threads may share a recorder. Calls are numbered as they begin; of more than `most` the latest are kept, and how many
   were forgotten is known.
4. The clock is an argument; without it nothing is timed, and equal runs make equal records.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from steadlith_adapters.wrappers.calls import Counted
from steadlith_core.digest import hash_fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from steadlith_adapters.wrappers.calls import Call

T = TypeVar("T")

MOST = 10_000


@dataclass(frozen=True, slots=True)
class Record:
    """One call. Either `answer` or `error` says how it ended; `seconds` are none without a clock."""

    number: int
    call: str
    arguments: Mapping[str, str]
    answer: str | None
    error: str | None
    seconds: float | None


class Recorder:
    """What stands round the calls of one adapter, or of several whose calls are to be seen in one order."""

    def __init__(self, *, most: int = MOST, digests: bool = False, clock: Callable[[], float] | None = None) -> None:
        self._records: deque[Record] = deque(maxlen=most)
        self._digests = digests
        self._clock = clock
        self._lock = threading.Lock()
        self._begun = self._ended = 0

    @property
    def records(self) -> tuple[Record, ...]:
        """The calls that ended, by their numbers."""
        with self._lock:
            return tuple(sorted(self._records, key=lambda record: record.number))

    @property
    def forgotten(self) -> int:
        """How many records there was no room for."""
        with self._lock:
            return self._ended - len(self._records)

    def __call__(self, call: Call, perform: Callable[[], T], /) -> T:
        """See `Around`."""
        with self._lock:
            self._begun += 1
            number = self._begun
        since = self._now()
        answer: str | None = None
        error: str | None = None
        try:
            given = perform()
            answer = self._said(given)
        except BaseException as raised:
            error = type(raised).__name__
            raise
        else:
            return given
        finally:
            until = self._now()
            seconds = None if since is None or until is None else until - since
            arguments = {name: self._said(value) for name, value in call.arguments.items()}
            with self._lock:
                self._ended += 1
                self._records.append(Record(number, call.name, arguments, answer, error, seconds))

    def _now(self) -> float | None:
        return self._clock() if self._clock else None

    def _said(self, value: object) -> str:
        said = described(value)
        digest = hash_fields("recorded", data).short if self._digests and (data := _bytes(value)) is not None else ""
        return f"{said} {digest}".rstrip()


def described(value: object) -> str:
    """The kind and the size of an argument or an answer: numbers as they are, of everything else only how much."""
    match value:
        case None | bool() | int() | float():
            return str(value)
        case str() | bytes():
            return f"{type(value).__name__} of {len(_raw(value))} bytes"
        case Counted():
            return f"rows: {value.count}"
        case Mapping() | Sequence() | AbstractSet():
            data = _bytes(value)
            return f"{len(value)} items" + (f", {len(data)} bytes" if data else "")
        case _:
            return type(value).__name__


def _raw(value: str | bytes) -> bytes:
    # surrogatepass: a query may come from an argument that was not UTF-8.
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _bytes(value: object) -> bytes | None:
    """All text and bytes of a value, none where there is neither."""
    if isinstance(value, str | bytes):
        return _raw(value)
    if isinstance(value, Mapping):
        value = [each for pair in value.items() for each in pair]
    if isinstance(value, Sequence) and all(isinstance(each, str | bytes) for each in value):
        return b"".join(map(_raw, value))
    return None

"""Wrapper `faults`: calls that fail when they are told to, for testing whatever calls.

1. A fault has its method, its turns among the calls of that method, and what goes wrong then.
2. An error *before* means that nothing happened; an error *after* that the call had its effect and its answer got lost.
3. A wrong answer is made of the right one, so that all else about it is plausible.
4. Calls are counted from 1, over all threads.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from steadlith_core import vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from steadlith_adapters.wrappers.calls import Call
    from steadlith_core.vectors import Vector

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong in the calls named `method` (`embedder.embed_documents`), at its `turns`.

    `before` and `after` are errors to raise instead of the call, and instead of its answer; `answer` makes another
    answer of the right one.
    """

    method: str
    turns: Callable[[int], bool]
    before: BaseException | None = None
    after: BaseException | None = None
    answer: Callable[[Any], Any] | None = None


def nth(number: int) -> Callable[[int], bool]:
    """The call of this number alone."""
    return lambda turn: turn == number


def every(step: int) -> Callable[[int], bool]:
    """Every so many-th call."""
    return lambda turn: turn % step == 0


class Faults:
    """What stands round the calls of an adapter with faults; without any it changes nothing."""

    def __init__(self, *faults: Fault) -> None:
        self._faults = faults
        self._turns = Counter[str]()
        self._lock = threading.Lock()

    def __call__(self, call: Call, perform: Callable[[], T], /) -> T:
        """See `Around`."""
        with self._lock:
            self._turns[call.name] += 1
            turn = self._turns[call.name]
        due = [fault for fault in self._faults if fault.method == call.name and fault.turns(turn)]
        for fault in due:
            if fault.before is not None:
                raise fault.before
        answer = perform()
        for fault in due:
            if fault.after is not None:
                raise fault.after
            if fault.answer is not None:
                answer = fault.answer(answer)
        return answer


def short(answer: Sequence[Any]) -> Sequence[Any]:
    """One fewer than were asked for."""
    return answer[:-1]


def without_last_number(answer: Sequence[Vector]) -> Sequence[Vector]:
    """Vectors of one dimension less."""
    return [vector[: -vectors.WIDTH] for vector in answer]


def not_a_number(answer: Sequence[Vector]) -> Sequence[Vector]:
    """The last vector begins with NaN."""
    return [*answer[:-1], vectors.pack([float("nan")]) + answer[-1][vectors.WIDTH :]]

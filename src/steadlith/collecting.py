"""The collector of cycles, while plans are made and applied.

1. Records live as long as their plan and make no cycles: looking for some among them was up to a quarter of the time.
   So it looks seldom. Not never: what adapters leave behind in a long run is found, 200,000 objects later.
2. How often it looks is a setting of the whole process: it is never made more frequent, nobody's choice to have none is
   overruled, and it is put back when the last one who asked for this has ended.
"""

from __future__ import annotations

import gc
from threading import Lock
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

SELDOM = (200_000, 20, 100)
"""As `gc.set_threshold` takes it."""


class _Seldom:
    """A context that may be entered again, and by several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before = gc.get_threshold()

    def __enter__(self) -> Self:
        with self._lock:
            if not self._inside:
                self._before = gc.get_threshold()
                if 0 < self._before[0] < SELDOM[0]:
                    gc.set_threshold(*SELDOM)
            self._inside += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and gc.get_threshold() == SELDOM:  # nobody chose another one meanwhile
                gc.set_threshold(*self._before)


collecting_seldom = _Seldom()
"""`with collecting_seldom: ...`"""

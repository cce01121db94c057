"""Wrapper `latency`: calls that take their time, for seeing what a slow adapter does to whoever waits for it.

1. The wait comes before the call. The clock is whose sleep is given.
2. Zero is no wait: a method that is not named is not slept for at all.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steadlith_adapters.wrappers.calls import Call

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds to wait before a call, by its name (`store.head`)."""

    seconds: Mapping[str, float] = field(default_factory=dict)
    sleep: Callable[[float], None] = time.sleep

    def __call__(self, call: Call, perform: Callable[[], T], /) -> T:
        """See `Around`."""
        if wait := self.seconds.get(call.name, 0.0):
            self.sleep(wait)
        return perform()

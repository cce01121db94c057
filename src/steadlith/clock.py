"""The one place that reads the clock, waits, and makes a lineage; everything else is told."""

from __future__ import annotations

import random
import time
import uuid
from datetime import UTC, date, datetime, timedelta

_FIRST_DAY = date(1970, 1, 1)


def utc_now() -> str:
    """Now, in UTC, RFC 3339 to the second."""
    return _written(_now())


def utc_before(days: int) -> str:
    """The moment so many days ago, as `utc_now` writes it."""
    return _written(_now() - timedelta(days=days))


def new_lineage() -> str:
    """A name for a new index that no other index has."""
    return str(uuid.uuid4())


def monotonic() -> float:
    """Seconds on a clock that only goes forward."""
    return time.monotonic()


def sleep(seconds: float) -> None:
    """Let time pass."""
    time.sleep(seconds)


def spread(seconds: float) -> float:
    """`seconds` and up to a quarter more, so that those who wait for the same thing come back one by one."""
    return seconds * (1 + random.random() / 4)  # noqa: S311 -- no secret


def today() -> int:
    """The day that it is in UTC, counted from 1970-01-01."""
    return (datetime.now(UTC).date() - _FIRST_DAY).days  # noqa: TID251 -- this is the place


def written_day(day: int) -> str:
    """A day so counted, as people write it."""
    return (_FIRST_DAY + timedelta(days=day)).isoformat()


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 -- this is the place


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

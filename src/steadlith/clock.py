"""The one place that reads the clock and makes a lineage; everything else is told."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime


def utc_now() -> str:
    """Now, in UTC, RFC 3339 to the second."""
    now = datetime.now(UTC)  # noqa: TID251 -- this is the place
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def new_lineage() -> str:
    """A name for a new index that no other index has."""
    return str(uuid.uuid4())

"""Whether a text or an entry stands twice under its hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores import whose
from steadlith_adapters.stores.sqlite import doubles
from steadlith_adapters.stores.sqlite.checks.contents import ENTRY_USED, TEXT_USED
from steadlith_core.records import DriftKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.rows import Problem


def texts(session: Session) -> Iterator[Problem]:
    """Every text is kept once."""
    for name, numbers in doubles.found(session, "text"):
        problem = whose.shown(DriftKind.TEXT, at_head=_any(session, TEXT_USED, numbers))
        yield problem(f"text {whose.short(name)} is kept {len(numbers)} times", text=whose.digest(name))


def entries(session: Session) -> Iterator[Problem]:
    """Every entry is kept once."""
    for name, numbers in doubles.found(session, "entry"):
        problem = whose.shown(DriftKind.ENTRY, at_head=_any(session, ENTRY_USED, numbers))
        yield problem(f"entry {whose.short(name)} is kept {len(numbers)} times", entry=whose.digest(name))


def _any(session: Session, sql: str, numbers: Sequence[int]) -> bool:
    return any(session.value(sql, number) for number in numbers)

"""Whether a text or an entry stands twice under its hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores import whose
from steadlith_adapters.stores.sqlite import doubles
from steadlith_adapters.stores.sqlite.schema import OPEN
from steadlith_core.records import DriftKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.rows import Problem

_ENTRY_USED = f"SELECT ? IN (SELECT entry FROM occurrence WHERE valid_to = {OPEN})"  # noqa: S608
_TEXT_USED = f"SELECT ? IN (SELECT e.text FROM entry e JOIN occurrence o ON o.entry = e.entry AND o.valid_to = {OPEN})"  # noqa: S608


def texts(session: Session) -> Iterator[Problem]:
    """Every text is kept once."""
    for name, numbers in doubles.found(session, "text"):
        problem = whose.shown(DriftKind.TEXT, at_head=_any(session, _TEXT_USED, numbers))
        yield problem(f"text {whose.short(name)} is kept {len(numbers)} times", text=whose.digest(name))


def entries(session: Session) -> Iterator[Problem]:
    """Every entry is kept once."""
    for name, numbers in doubles.found(session, "entry"):
        problem = whose.shown(DriftKind.ENTRY, at_head=_any(session, _ENTRY_USED, numbers))
        yield problem(f"entry {whose.short(name)} is kept {len(numbers)} times", entry=whose.digest(name))


def _any(session: Session, sql: str, numbers: Sequence[int]) -> bool:
    return any(session.value(sql, number) for number in numbers)

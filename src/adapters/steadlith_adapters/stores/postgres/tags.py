"""The names that generations were given: rows of their own, and no part of any generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import packed
from steadlith_adapters.stores.postgres.staging import utf8

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_adapters.stores.postgres.session import Session

_GIVE = "INSERT INTO tag VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET number = excluded.number"


def read(session: Session) -> Mapping[str, int]:
    """All names, with the generations that have them."""
    rows = session.run("SELECT name, number FROM tag ORDER BY name")
    return {packed.text(session, name, "a name"): number for name, number in rows}


def put(session: Session, name: str, number: int | None) -> None:
    """Give a generation a name, or take the name away."""
    if number is None:
        session.run("DELETE FROM tag WHERE name = %s", utf8(name))
    else:
        session.run(_GIVE, utf8(name), number)


def forget(session: Session, keep_from: int) -> None:
    """Take the names of generations before `keep_from` away."""
    session.run("DELETE FROM tag WHERE number < %s", keep_from)

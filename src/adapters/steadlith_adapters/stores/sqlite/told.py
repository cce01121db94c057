"""What a generation tells of itself beyond its state: why it was made, under which configuration; and its names.

1. A configuration's text is kept once, by its digest; generations name it.
2. A row is sealed like a generation's own. A file of an older schema has none, and says nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.stores import packing
from steadlith_core.digest import Digest, hash_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.records import Generation

_THERE = "SELECT 1 FROM sqlite_schema WHERE name = 'told'"
_ALL = """
    SELECT t.number, t.why, t.configuration, t.seal, c.body
    FROM told t LEFT JOIN configuration c ON c.configuration = t.configuration ORDER BY t.number"""
_TAG = "INSERT INTO tag(name, number) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET number = ?2"
_FORGET = ("DELETE FROM tag WHERE number < ?", "DELETE FROM told WHERE number < ?")
_FORGET_UNUSED = """
    DELETE FROM configuration WHERE configuration NOT IN
    (SELECT configuration FROM told WHERE configuration IS NOT NULL)"""


class Told(NamedTuple):
    """Why a generation was made, and the configuration that it was made under."""

    why: str
    configuration: str | None


def write(session: Session, generation: Generation) -> None:
    """Note what a generation says of itself."""
    name = None
    if generation.configuration is not None:
        name = _named(generation.configuration)
        session.run("INSERT INTO configuration VALUES (?, ?) ON CONFLICT DO NOTHING", name, generation.configuration)
    columns = (generation.number, generation.why, name)
    session.run("INSERT INTO told VALUES (?, ?, ?, ?)", *columns, packing.seal(*columns))


def read(session: Session) -> Mapping[int, Told]:
    """What every generation says, by number."""
    if session.one(_THERE) is None:
        return {}
    return {number: Told(why, body) for number, why, _, _, body in session.run(_ALL)}


def broken(session: Session) -> list[int]:
    """Generations of which what is told is not as it was committed."""
    if session.one(_THERE) is None:
        return []
    return [
        number
        for number, why, name, sealed, body in session.run(_ALL)
        if packing.seal(number, why, name) != sealed or (name is not None and (body is None or _named(body) != name))
    ]


def tags(session: Session) -> Mapping[str, int]:
    """Names of generations."""
    if session.one(_THERE) is None:
        return {}
    return dict(session.run("SELECT name, number FROM tag ORDER BY name"))


def tag(session: Session, name: str, number: int | None) -> None:
    """Give or take a name, inside the caller's transaction."""
    if number is None:
        session.run("DELETE FROM tag WHERE name = ?", name)
    else:
        session.run(_TAG, name, number)


def forget(session: Session, keep_from: int) -> None:
    """Remove what is told of generations before `keep_from`, inside the caller's transaction."""
    for statement in _FORGET:
        session.run(statement, keep_from)
    session.run(_FORGET_UNUSED)


def _named(body: str) -> Digest:
    return hash_fields("configuration", body)

"""Generations and the head: reading them, and the rows that a commit adds and swaps.

1. The head is read in one statement, so it is one commit's head even outside a transaction.
2. Every generation row is sealed over all of its columns; its configuration is kept once, by its digest.
3. The head is swapped only where it is still the one that the write began on: the row's lock decides who comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores import packing
from steadlith_adapters.stores.columns import read_counts
from steadlith_adapters.stores.postgres import border
from steadlith_adapters.stores.postgres.session import Nothing
from steadlith_adapters.stores.postgres.staging import utf8
from steadlith_core import canon
from steadlith_core.digest import Digest, hash_fields
from steadlith_core.records import Generation, Head
from steadlith_core.state import recipe as recipes
from steadlith_core.state.roots import empty_head

if TYPE_CHECKING:
    from steadlith_adapters.stores.postgres.session import Row, Session

_COLUMNS = (
    "number, parent, lineage, corpus_root, state_root, recipe, plan_digest, documents, chunks, at, summary, why, "
    "configuration, seal"
)
_READ = f"""
    SELECT {", ".join(f"g.{column}" for column in _COLUMNS.split(", "))}, c.body
    FROM generation g LEFT JOIN configuration c ON c.configuration = g.configuration"""  # noqa: S608
_HEAD = f"SELECT h.generation, g.* FROM head h LEFT JOIN ({_READ}) g ON g.number = h.generation"  # noqa: S608
_SWAP = """
    UPDATE head SET generation = %s, lineage = %s, state_root = %s, next_occurrence = %s
    WHERE id = 1 AND generation = %s AND lineage IS NOT DISTINCT FROM %s AND state_root IS NOT DISTINCT FROM %s"""


def read_head(session: Session) -> Head:
    """The head of the session's snapshot; the empty head before the first commit."""
    rows = session.run(_HEAD)
    if not rows:
        if isinstance(session, Nothing):
            return empty_head()
        raise border.damaged(session.place, "its head is missing")
    number, *row = rows[0]
    if number == 0:
        return empty_head()
    if row[0] is None:
        raise border.damaged(session.place, f"generation {number}, the head's, is missing")
    return _generation(session, tuple(row)).head


def read_history(session: Session) -> tuple[Generation, ...]:
    """All kept generations, oldest first."""
    return tuple(_generation(session, row) for row in session.run(f"{_READ} ORDER BY g.number"))


def read(session: Session, number: int) -> Generation | None:
    """A kept generation; none if it is not."""
    row = session.one(f"{_READ} WHERE g.number = %s", number)
    return _generation(session, row) if row else None


def is_kept(session: Session, number: int) -> bool:
    """Whether a generation can still be read."""
    # A number that no column holds would be an error of the server's.
    return 0 < number < 2**63 and session.one("SELECT 1 FROM generation WHERE number = %s", number) is not None


def unsealed(session: Session) -> list[int]:
    """Generations whose row or configuration is not as it was committed."""
    return [row[0] for row in session.run(f"{_READ} ORDER BY g.number") if not _is_whole(row)]


def is_sealed(session: Session, number: int) -> bool:
    """Whether a generation's row and configuration are as they were committed; false if there is none."""
    row = session.one(f"{_READ} WHERE g.number = %s", number)
    return row is not None and _is_whole(row)


def write(session: Session, generation: Generation) -> None:
    """Add the generation."""
    configuration = None
    if generation.configuration is not None:
        body = utf8(generation.configuration)
        configuration = _named(body)
        session.run("INSERT INTO configuration VALUES (%s, %s) ON CONFLICT DO NOTHING", configuration, body)
    columns = (
        generation.number,
        generation.parent,
        generation.lineage.encode(),
        bytes(generation.corpus_root),
        bytes(generation.state_root),
        recipes.encode(generation.recipe),
        bytes(generation.plan_digest),
        generation.documents,
        generation.chunks,
        generation.at.encode(),
        canon.encode(generation.summary),
        utf8(generation.why),
        configuration,
    )
    marks = ", ".join(["%s"] * (len(columns) + 1))
    session.run(f"INSERT INTO generation({_COLUMNS}) VALUES ({marks})", *columns, packing.seal(*columns))  # noqa: S608


def swap(session: Session, base: Head, generation: Generation, next_occurrence: int) -> bool:
    """Point the head at the generation, if it is still `base`; whether it was."""
    session.run(
        _SWAP,
        generation.number,
        generation.lineage.encode(),
        bytes(generation.state_root),
        next_occurrence,
        base.generation,
        base.lineage.encode() if base.lineage is not None else None,
        bytes(base.state_root) if base.generation else None,
    )
    return session.changed() == 1


def _is_whole(row: Row) -> bool:
    *columns, seal, body = row
    name = columns[-1]
    return packing.seal(*columns) == seal and (name is None or (body is not None and _named(body) == name))


def _named(body: bytes) -> bytes:
    """What a configuration is kept under."""
    return bytes(hash_fields("configuration", body))


def _generation(session: Session, row: Row) -> Generation:
    def read(_: bytes) -> Generation:
        return Generation(
            number=row[0],
            parent=row[1],
            lineage=row[2].decode(),
            corpus_root=Digest(row[3]),
            state_root=Digest(row[4]),
            recipe=recipes.decode(row[5]),
            plan_digest=Digest(row[6]),
            documents=row[7],
            chunks=row[8],
            at=row[9].decode(),
            summary=read_counts(row[10]),
            why=row[11].decode("utf-8", "surrogatepass"),
            configuration=None if row[14] is None else row[14].decode("utf-8", "surrogatepass"),
        )

    return session.decode(read, b"", f"generation {row[0]}")

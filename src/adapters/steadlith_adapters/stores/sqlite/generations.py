"""Generations and the head: reading them, and the row that a commit adds.

1. The head is read in one statement, so it is one commit's head even outside a transaction.
2. Every generation row is sealed over all of its columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steadlith_adapters.stores import packing
from steadlith_adapters.stores.columns import read_counts
from steadlith_adapters.stores.sqlite import told
from steadlith_core import canon
from steadlith_core.digest import Digest
from steadlith_core.records import Generation
from steadlith_core.state import recipe as recipes
from steadlith_core.state.roots import empty_head

if TYPE_CHECKING:
    from steadlith_adapters.stores.sqlite.session import Row, Session
    from steadlith_core.records import Head

_COLUMNS = "number, parent, lineage, corpus_root, state_root, recipe, plan_digest, documents, chunks, at, summary, seal"


def read_head(session: Session) -> Head:
    """The head of the session's snapshot; the empty head before the first commit."""
    row = session.one(f"SELECT {_COLUMNS} FROM head JOIN generation ON number = head.generation")  # noqa: S608
    if row is None:
        return empty_head()
    return _generation(session, row).head


def read_history(session: Session) -> tuple[Generation, ...]:
    """All kept generations, oldest first."""
    rows = session.run(f"SELECT {_COLUMNS} FROM generation ORDER BY number")  # noqa: S608
    more = told.read(session)
    made = (_generation(session, row) for row in rows)
    return tuple(replace(each, **more[each.number]._asdict()) if each.number in more else each for each in made)


def is_kept(session: Session, number: int) -> bool:
    """Whether a generation can still be read."""
    return session.one("SELECT 1 FROM generation WHERE number = ?", number) is not None


def unsealed(session: Session) -> list[int]:
    """Generations whose row is not as it was committed."""
    rows = session.run(f"SELECT {_COLUMNS} FROM generation ORDER BY number")  # noqa: S608
    return [row[0] for row in rows if packing.seal(*row[:-1]) != row[-1]]


def is_sealed(session: Session, number: int) -> bool:
    """Whether a generation's row is as it was committed; false if there is none."""
    row = session.one(f"SELECT {_COLUMNS} FROM generation WHERE number = ?", number)  # noqa: S608
    return row is not None and packing.seal(*row[:-1]) == row[-1]


def write(session: Session, generation: Generation, next_occurrence: int) -> None:
    """Add the generation and point the head at it."""
    columns = (
        generation.number,
        generation.parent,
        generation.lineage,
        generation.corpus_root,
        generation.state_root,
        recipes.encode(generation.recipe),
        generation.plan_digest,
        generation.documents,
        generation.chunks,
        generation.at,
        canon.encode(generation.summary),
    )
    marks = ", ".join("?" * (len(columns) + 1))
    session.run(
        f"INSERT INTO generation({_COLUMNS}) VALUES ({marks})",  # noqa: S608
        *columns,
        packing.seal(*columns),
    )
    told.write(session, generation)
    session.run(
        "INSERT INTO head(id, generation, next_occurrence) VALUES (1, ?1, ?2) "
        "ON CONFLICT (id) DO UPDATE SET generation = ?1, next_occurrence = ?2",
        generation.number,
        next_occurrence,
    )


def _generation(session: Session, row: Row) -> Generation:
    def read(_: bytes) -> Generation:
        return Generation(
            number=row[0],
            parent=row[1],
            lineage=row[2],
            corpus_root=Digest(row[3]),
            state_root=Digest(row[4]),
            recipe=recipes.decode(row[5]),
            plan_digest=Digest(row[6]),
            documents=row[7],
            chunks=row[8],
            at=row[9],
            summary=read_counts(row[10]),
        )

    return session.decode(read, b"", f"generation {row[0]}")

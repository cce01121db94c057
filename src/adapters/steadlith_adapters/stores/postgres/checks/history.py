"""Generations before the head: what nobody can mend from sources, and what as-of readers rely on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores import packing
from steadlith_adapters.stores.postgres import generations
from steadlith_core.records import DriftKind
from steadlith_core.rows import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.stores.postgres.session import Session

_PAST = "SELECT number, documents, chunks FROM generation WHERE number <> (SELECT generation FROM head) ORDER BY number"
_COUNT = """
    SELECT count(*), coalesce(sum(length(occurrences)), 0)::bigint FROM document_version
    WHERE valid_from <= %s AND valid_to > %s"""


_PARENTLESS = """
    SELECT number, parent FROM generation
    WHERE parent <> 0 AND number <> %s AND parent NOT IN (SELECT number FROM generation)
    ORDER BY number"""


def seals(session: Session) -> Iterator[Problem]:
    """Every generation that was not compacted away is there, its row as it was committed; the head's own is checked
    with the head.
    """
    current, oldest = session.one("SELECT generation, oldest FROM head") or (0, 0)
    for number in generations.unsealed(session):
        if number != current:
            message = f"generation {number} is not as it was committed: its seal does not match its columns"
            yield Problem(DriftKind.HISTORY, message)
    for number, parent in session.run(_PARENTLESS, oldest):
        message = f"generation {parent}, which generation {number} was committed on, is missing"
        yield Problem(DriftKind.HISTORY, message)


def counts(session: Session) -> Iterator[Problem]:
    """Every generation counts the rows that it shows."""
    for number, documents, chunks in session.run(_PAST):
        found, size = session.run(_COUNT, number, number)[0]
        if (found, size // packing.ID_SIZE) != (documents, chunks):
            message = (
                f"generation {number} was committed with {documents} documents and {chunks} chunks, "
                f"the schema holds {found} and {size // packing.ID_SIZE}"
            )
            yield Problem(DriftKind.HISTORY, message)

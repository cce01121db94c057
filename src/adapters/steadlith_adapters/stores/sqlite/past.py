"""The arms at a generation that is not the head: they answer as they did when it was.

1. What was live then is told by occurrences: an entry that one of them used, if it is to be embedded.
2. Vectors of what is live no more are kept beside the others, and all that were live are compared: no code chooses.
3. The lexical index holds what is live now, and each score in it depends on all that it holds. So one of then is made,
   by the same statements, of the texts of then: the same words, the same scores, at the cost of reading them all.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite import lexical, neighbours
from steadlith_adapters.stores.sqlite.apart import lexical_index
from steadlith_adapters.stores.sqlite.schema import TUNE_LEXICAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_adapters.stores.sqlite.spaces import SpaceTable
    from steadlith_core.rows import ArmHit
    from steadlith_core.vectors import Vector

_VISIBLE = "o.valid_from <= ?1 AND o.valid_to > ?1"
_LIVE = f"""
    SELECT entry FROM entry e
    WHERE e.context_hash IS NOT NULL AND e.entry IN (SELECT o.entry FROM occurrence o WHERE {_VISIBLE})
    ORDER BY entry"""  # noqa: S608
_ROWS = f"""{lexical.ROWS}
    WHERE e.context_hash IS NOT NULL AND e.entry IN (SELECT o.entry FROM occurrence o WHERE {_VISIBLE})
    ORDER BY e.entry"""  # noqa: S608
_CHUNKS = "SELECT chunks FROM generation WHERE number = ?"


def nearest(
    session: Session, generation: int, table: SpaceTable, query: Vector, limit: int, among: Sequence[int] | None
) -> tuple[ArmHit, ...]:
    """The entries of then of greatest cosine (among the candidates), `limit` at most, ties by entry."""
    there = [entry for (entry,) in session.run(_LIVE, generation)]
    if among is not None:
        there = sorted(frozenset(among).intersection(there))
    return neighbours.nearest_of(session, table, query, limit, there)


def search(
    session: Session, generation: int, terms: Sequence[str], limit: int, among: Sequence[int] | None
) -> tuple[ArmHit, ...]:
    """The best `limit` entries of then by BM25 over all that there were."""
    if not terms:
        return ()
    with closing(lexical_index()) as index:
        index.run("BEGIN")
        for statement in TUNE_LEXICAL:
            index.run(statement)
        lexical.add_many(index, session.stream(_ROWS, generation))
        index.run("COMMIT")
        return lexical.search(index, terms, limit, among, session.value(_CHUNKS, generation))

"""The arms at a generation that is not the head: they answer as they did when it was.

1. What was live then is told by occurrences: an entry that one of them used, if it is to be embedded.
2. Vectors of what is live no more are kept beside the others, and all that were live are compared: neither a code nor a
   graph chooses.
3. Words are kept of what is live now. So the words of the texts of then are made again, here, and counted; the rows
   that hold a word of the query go to the server, which scores them as it scores its own. It reads every text of then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import lexical, neighbours, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_adapters.stores.postgres.spaces import SpaceTable
    from steadlith_core.rows import ArmHit
    from steadlith_core.vectors import Vector

_THEN = """
    WHERE e.context_hash IS NOT NULL
        AND e.entry IN (SELECT o.entry FROM occurrence o WHERE o.valid_from <= %s AND o.valid_to > %s)"""
_LIVE = f"SELECT e.entry FROM entry e {_THEN}"  # noqa: S608
_ROWS = f"{lexical.ROWS} {_THEN}"


def nearest(
    session: Session, generation: int, table: SpaceTable, query: Vector, limit: int, among: Sequence[int] | None
) -> tuple[ArmHit, ...]:
    """The entries of then of greatest cosine (among the candidates), `limit` at most, ties by entry."""
    there = [entry for (entry,) in session.run(_LIVE, generation, generation)]
    if among is not None:
        there = sorted(frozenset(among).intersection(there))
    return neighbours.nearest_of(session, table, query, limit, there)


def search(
    session: Session, generation: int, terms: Sequence[str], limit: int, among: Sequence[int] | None
) -> tuple[ArmHit, ...]:
    """The best `limit` entries of then that hold any of the terms."""
    asked = lexical.asked_of(terms)
    if not asked:
        return ()
    wanted = {word for found in asked.values() for word in found}
    held = dict.fromkeys([lexical.ALL, *wanted], 0)
    rows: list[tuple[int, str]] = []
    for entry, *columns in session.stream(_ROWS, generation, generation):
        places = lexical.places_of(session, entry, *columns)
        found = wanted & places.keys()
        for word in (lexical.ALL, *found):
            held[word] += 1
        if found:
            rows.append((entry, words.written(places)))
    return lexical.ranked(session, asked, held, limit, among, rows)

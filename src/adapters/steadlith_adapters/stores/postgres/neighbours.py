"""The nearest vectors of a space: candidates by the server, scored here by their full vectors.

1. The score is the exact cosine in float64, and the order is (cosine, entry).
2. The server computes in float32. Of full vectors, candidates are taken with a margin that covers its error; of codes,
   all that are as near as the last one asked for: so what is found does not depend on where rows stand.
3. A full comparison orders by an expression that no index can answer; only where the graph was asked for, and the
   caller does not insist, is the order one that the graph can give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import ann, forms
from steadlith_adapters.stores.postgres.session import Sent, numbers
from steadlith_core import vectors
from steadlith_core.rows import ArmHit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_adapters.stores.postgres.session import Row, Session
    from steadlith_adapters.stores.postgres.spaces import SpaceTable
    from steadlith_core.vectors import Vector

MARGIN = 16
"""Neighbours asked for beyond the wanted ones at first; doubled while the last one may still belong to the answer."""
FEW = 10_000
"""Entries to choose from that are compared one by one, whatever there is: the graph would look at more."""
SIZE = 1000
"""Candidates whose vectors are fetched together."""

# Entry by entry, whatever the planner knows of a table that was just filled: it would rather read all of it.
_FULL = """
    SELECT a.entry, f.vector FROM unnest(%s::bigint[]) a(entry)
    CROSS JOIN LATERAL (SELECT vector FROM {full} f WHERE f.entry = a.entry LIMIT 1) f"""
_NEAREST = """
    SELECT s.entry, (s.vector {operator} %s::{type}){never} AS distance FROM {searched} s
    JOIN entry e ON e.entry = s.entry WHERE {those} ORDER BY distance FETCH FIRST %s ROWS {ties}"""
_LIVE = "e.live"
_OF = "s.entry = ANY(%s::bigint[])"


def nearest(
    session: Session,
    table: SpaceTable,
    query: Vector,
    limit: int,
    among: Sequence[int] | None = None,
    *,
    exact: bool = False,
    graph: bool = False,
) -> tuple[ArmHit, ...]:
    """The live entries of greatest cosine among the candidates, `limit` at most, ties by entry. With `graph` they are
    asked of the HNSW index, which is there; what it cannot fill is compared in full.
    """
    candidates: Sequence[int] = ()
    if graph and not exact and (among is None or len(among) > FEW):
        candidates = _by_graph(session, table, query, limit, among)
    if len(candidates) >= limit:
        pass
    elif table.form.coded and not exact:
        candidates = _by_code(session, table, query, limit, among)
    else:
        candidates = _by_vector(session, table, query, limit, among)
    return ranked(cosines(session, table, query, candidates), limit)


def nearest_of(
    session: Session, table: SpaceTable, query: Vector, limit: int, entries: Sequence[int]
) -> tuple[ArmHit, ...]:
    """As `nearest`, exactly, of these entries, live or not."""
    return ranked(cosines(session, table, query, _by_vector(session, table, query, limit, entries, those=_OF)), limit)


def ranked(scores: Mapping[int, float], limit: int) -> tuple[ArmHit, ...]:
    """The best of these scores, in the order of hits."""
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return tuple(ArmHit(entry, score) for entry, score in best[:limit])


def cosines(session: Session, table: SpaceTable, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:
    """Exact cosines of the entries that have a vector."""
    found: dict[int, float] = {}
    asked = numbers(entries)
    for start in range(0, len(asked), SIZE):
        rows = session.run(_FULL.format(full=table.full), asked[start : start + SIZE])
        kept = {entry: forms.read(value) for entry, value in rows}
        # Equal vectors are multiplied once, so that they tie exactly wherever they stand in the batch.
        distinct = list(dict.fromkeys(kept.values()))
        score = dict(zip(distinct, vectors.cosines(distinct, query), strict=True))
        found |= {entry: score[vector] for entry, vector in kept.items()}
    return found


def _by_vector(
    session: Session, table: SpaceTable, query: Vector, limit: int, among: Sequence[int] | None, *, those: str = ""
) -> Sequence[int]:
    """Live entries (`those` with this condition alone) among which the true `limit` nearest certainly are."""
    asked = limit + MARGIN
    value = forms.full([query], table.dimensions)[0]
    while True:
        rows = _ask(session, table, table.full, forms.FORMS["float32"], value, asked, among, ties="ONLY", those=those)
        if len(rows) < asked:
            return [entry for entry, _ in rows]
        edge = rows[limit - 1][1] + slack(table.dimensions)
        if rows[-1][1] > edge:
            return [entry for entry, distance in rows if distance <= edge]
        asked *= 2


def _by_code(
    session: Session, table: SpaceTable, query: Vector, limit: int, among: Sequence[int] | None
) -> Sequence[int]:
    """Live entries whose codes are as near as that of the last candidate."""
    (code,) = table.form.encode([query], table.dimensions)
    wanted = limit * table.form.oversample
    return [
        entry for entry, _ in _ask(session, table, table.searched, table.form, code, wanted, among, ties="WITH TIES")
    ]


def _by_graph(
    session: Session, table: SpaceTable, query: Vector, limit: int, among: Sequence[int] | None
) -> Sequence[int]:
    """Live entries that the graph finds near; how many it finds is not certain."""
    (value,) = table.form.encode([query], table.dimensions)
    wanted = limit * table.form.oversample + MARGIN
    ann.widen(session, wanted)
    rows = _ask(session, table, table.searched, table.form, value, wanted, among, ties="ONLY", never="")
    return [entry for entry, _ in rows]


def slack(dimensions: int) -> float:
    """How far apart distances of two vectors may be computed that are as far from the query."""
    # A sum of n float32 products, whose sizes add up to 1 at most, is off by at most n x 2^-24 on either side; the
    # rest covers lengths that are not exactly 1 (arguments.UNIT_TOLERANCE).
    return (dimensions + 8) * 2**-23 + 1e-5


def _ask(
    session: Session,
    table: SpaceTable,
    searched: str,
    form: forms.Form,
    value: bytes,
    most: int,
    among: Sequence[int] | None,
    *,
    ties: str,
    never: str = " + 0",
    those: str = "",
) -> list[Row]:
    sql = _NEAREST.format(
        searched=searched,
        operator=f"OPERATOR({session.vector}.{form.operator})",
        type=f"bit({table.dimensions})" if form.type == "bit" else f"{session.vector}.{form.type}",
        never=never,
        those=those or (_LIVE if among is None else f"{_LIVE} AND {_OF}"),
        ties=ties,
    )
    listed = [] if among is None else [numbers(among)]
    return session.run(sql, Sent(value), *listed, most)

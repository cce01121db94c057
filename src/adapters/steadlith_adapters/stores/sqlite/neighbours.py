"""The nearest vectors of a space: candidates from its vec0 table, scored by their full vectors.

1. The score is the exact cosine in float64, and the order is (cosine, entry).
2. vec0 computes in float32 and breaks ties as it likes. Of full vectors, candidates are taken with a margin that covers
   its error; of codes, all that are as near as the last one asked for: so what is found does not depend on where rows
   stand in the table.
3. What vec0 cannot answer (more than MAX_K, or more ties than that) and what is small is compared one by one.
"""

from __future__ import annotations

from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite.session import LISTED, listed
from steadlith_core import vectors
from steadlith_core.rows import ArmHit
from steadlith_core.vectors import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_adapters.stores.sqlite.spaces import SpaceTable
    from steadlith_core.vectors import Vector

MAX_K = 4096
"""The most neighbours that vec0 answers with."""
MARGIN = 16
"""Neighbours asked for beyond the wanted ones at first; doubled while the last one may still belong to the answer."""
SCANNED = 1024
"""Full vectors read together. Up to so many, comparing all costs no more than looking up one query's candidates."""
FEW = 256
"""Entries of a filter up to which each is looked up by itself: the table is read whole for more."""
TIE = 1e-9
"""How far apart cosines are that the sum of their products, in whatever order, tells apart."""
_LIVE = """
    SELECT f.rowid, f.vector FROM {full} f JOIN entry e ON e.entry = f.rowid
    WHERE e.live = 1 AND length(f.vector) = ?"""
_EVERY = "SELECT rowid, vector FROM {full} WHERE length(vector) = ?"
_AMONG = f"AND rowid IN {LISTED}"
# One point query each, in one statement: `rowid IN (...)` makes vec0 read its whole table.
_EACH = "SELECT value, (SELECT vector FROM {full} WHERE rowid = value) FROM json_each(?)"
_BESIDE = "SELECT rowid, vector FROM {full} WHERE length(vector) = ? AND rowid IN ({{}})"


def nearest(
    session: Session, table: SpaceTable, query: Vector, limit: int, among: Sequence[int] | None, *, exact: bool
) -> tuple[ArmHit, ...]:
    """The live entries of greatest cosine among the candidates, `limit` at most, ties by entry.

    With `among` only these are candidates; with `exact` no code chooses any.
    """
    if among is not None and len(among) <= FEW:
        found: Sequence[int] = _alive(session, among)
    elif exact and table.form.coded:
        found = _compared(session, table, query, limit, among)
    else:
        found = _candidates(session, table, query, limit, among)
    return _ranked(cosines(session, table, query, found), limit)


def nearest_of(
    session: Session, table: SpaceTable, query: Vector, limit: int, entries: Sequence[int]
) -> tuple[ArmHit, ...]:
    """As `nearest`, exactly, of these entries, live or not."""
    if len(entries) > FEW:
        entries = _compared(session, table, query, limit, entries, rows=_EVERY)
    return _ranked(cosines(session, table, query, entries), limit)


def _ranked(scores: Mapping[int, float], limit: int) -> tuple[ArmHit, ...]:
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return tuple(ArmHit(entry, score) for entry, score in best[:limit])


def cosines(session: Session, table: SpaceTable, query: Vector, entries: Sequence[int]) -> Mapping[int, float]:
    """Exact cosines of the entries that have a vector."""
    found = dict(_full(session, table, entries))
    # Equal vectors are multiplied once, so that they tie exactly wherever they stand in the batch.
    distinct = list(dict.fromkeys(found.values()))
    score = dict(zip(distinct, vectors.cosines(distinct, query), strict=True))
    return {entry: score[vector] for entry, vector in found.items()}


def _full(session: Session, table: SpaceTable, entries: Sequence[int]) -> Iterable[tuple[int, Vector]]:
    if table.form.coded:
        return session.lookup(_BESIDE.format(full=table.full), entries, WIDTH * table.dimensions)
    session.load_vectors()
    found = session.run(_EACH.format(full=table.full), listed(entries))
    return ((entry, vector) for entry, vector in found if vector is not None)


def _alive(session: Session, entries: Sequence[int]) -> Sequence[int]:
    rows = session.lookup("SELECT entry FROM entry WHERE live = 1 AND entry IN ({})", entries)
    return list(dict.fromkeys(entry for (entry,) in rows))


def _candidates(
    session: Session, table: SpaceTable, query: Vector, limit: int, among: Sequence[int] | None
) -> Sequence[int]:
    """Live entries to be scored: of full vectors, certainly the true `limit` nearest are among them."""
    coded, wanted = table.form.coded, limit * table.form.oversample
    asked = wanted + MARGIN
    if coded and asked <= MAX_K:
        # Distances between codes are few: about a third of the wanted ones may be as far as the last of them.
        asked = min(asked + wanted // 2, MAX_K)
    if coded and session.value(f"SELECT coalesce(max(rowid), 0) FROM {table.full}") <= SCANNED:  # noqa: S608
        return _compared(session, table, query, limit, among)
    session.load_vectors()
    passing, those = ("", []) if among is None else (_AMONG, [listed(among)])
    (code,) = table.form.encode([query], table.dimensions)
    while asked <= MAX_K:
        rows = session.run(
            f"SELECT rowid, distance FROM {table.name} "  # noqa: S608
            f"WHERE vector MATCH {table.form.value} AND k = ? AND live = 1 {passing}",
            code,
            asked,
            *those,
        )
        if len(rows) < asked:
            return [entry for entry, _ in rows]
        # Equal distances between codes are equal numbers, whatever their roots were rounded to.
        apart = [distance if coded else distance * distance for _, distance in rows]
        edge = sorted(apart)[wanted - 1]
        edge += 0.0 if coded else _slack(edge, table.dimensions)
        if max(apart) > edge:
            return [entry for (entry, _), each in zip(rows, apart, strict=True) if each <= edge]
        asked *= 2
    return _compared(session, table, query, limit, among)


def _slack(square: float, dimensions: int) -> float:
    # A sum of n float32 terms is off by at most n x 2^-24 of itself, on either side of the comparison; the rest covers
    # lengths that are not exactly 1 (arguments.UNIT_TOLERANCE).
    return square * (dimensions + 8) * 2**-23 + 1e-5


def _compared(
    session: Session, table: SpaceTable, query: Vector, limit: int, among: Sequence[int] | None, *, rows: str = _LIVE
) -> Sequence[int]:
    """The entries of `rows` that may be among the `limit` of greatest cosine, after comparing all."""
    if not table.form.coded:
        session.load_vectors()
    found = session.stream(rows.format(full=table.full), WIDTH * table.dimensions)
    if among is not None:
        those = frozenset(among)
        found = (row for row in found if row[0] in those)
    best: list[tuple[float, int]] = []
    edge = -inf
    while batch := list(islice(found, SCANNED)):
        scores = vectors.cosines([vector for _, vector in batch], query)
        # What is no number (damage) is not above any edge.
        best += ((score, entry) for score, (entry, _) in zip(scores, batch, strict=True) if score >= edge)
        if len(best) > limit:
            edge = sorted((score for score, _ in best), reverse=True)[limit - 1] - TIE
            best = [(score, entry) for score, entry in best if score >= edge]
    return [entry for _, entry in best]

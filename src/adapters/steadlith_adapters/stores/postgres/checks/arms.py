"""What the arms search: liveness, lexical rows, vectors. All of it can be made anew from texts and cache."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from steadlith_adapters.stores import whose
from steadlith_adapters.stores.postgres import generations, settle, soundness, spaces
from steadlith_adapters.stores.postgres import lexical as rows
from steadlith_core.records import DriftKind
from steadlith_core.rows import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_core.digest import Digest

MOST = 20
"""Miscounted words that are named; one cause may miscount them all."""
_UNEMBEDDED = """
    SELECT e.entry_hash FROM entry e
    WHERE e.live AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.space = %s AND v.entry = e.entry) ORDER BY e.entry"""


def liveness(session: Session) -> Iterator[Problem]:
    """An entry is live if and only if it is embedded and an open occurrence uses it."""
    for entry, name, live in session.stream(settle.WRONG_LIVENESS):
        state = "live without an open occurrence" if live else "in use but not live"
        message = f"entry {whose.short(name)} (row {entry}) is {state}"
        yield Problem(DriftKind.ENTRY, message, entry=whose.digest(name))


def lexical(session: Session) -> Iterator[Problem]:
    """Every live entry, and nothing else, has a lexical row with the words of its text; and words are counted so."""
    for entry, what in rows.faults(session):
        yield Problem(DriftKind.LEXICAL, f"entry {entry} {what}", entry=_hash_of(session, entry))
    for word in islice(rows.miscounted(session), MOST):
        yield Problem(DriftKind.LEXICAL, f"the word {word!r} is counted as of another number of entries than hold it")


def vectors(session: Session) -> Iterator[Problem]:
    """Every live entry has a vector in the head's spaces; every vector has its checksum and its entry's liveness."""
    head = generations.read_head(session)
    for space in head.recipe.spaces if head.recipe else ():
        found = spaces.find(session, space)
        for (name,) in session.stream(_UNEMBEDDED, found.number if found else 0):
            message = f"entry {whose.short(name)} is live and has no vector in the space of {space.model_id!r}"
            yield Problem(DriftKind.VECTOR, message, entry=whose.digest(name))
    for table in spaces.find_all(session):
        if not spaces.exist(session, table):
            continue  # said of the file as a whole
        for fault in soundness.faults(session, table):
            name = _hash_of(session, fault.entry)
            message = f"{table.full}: the vector of entry {fault.entry} {fault.what}"
            yield Problem(DriftKind.VECTOR, message, entry=name)


def _hash_of(session: Session, entry: int) -> Digest | None:
    row = session.one("SELECT entry_hash FROM entry WHERE entry = %s", entry)
    return whose.digest(row[0]) if row else None

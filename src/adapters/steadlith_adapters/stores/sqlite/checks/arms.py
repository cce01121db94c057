"""What the arms search: liveness, lexical rows, vectors. All of it can be made anew from texts and cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores import whose
from steadlith_adapters.stores.sqlite import generations, settle, soundness, spaces, wording
from steadlith_adapters.stores.sqlite.checks import remade
from steadlith_core.errors import SteadlithError
from steadlith_core.records import DriftKind
from steadlith_core.rows import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.digest import Digest

_UNEMBEDDED = """
    SELECT e.entry_hash FROM entry e
    WHERE e.live = 1 AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.space = ? AND v.entry = e.entry)"""


def liveness(session: Session) -> Iterator[Problem]:
    """An entry is live if and only if it is embedded and an open occurrence uses it."""
    for entry, name, live in session.stream(settle.WRONG_LIVENESS):
        state = "live without an open occurrence" if live else "in use but not live"
        message = f"entry {whose.short(name)} (row {entry}) is {state}"
        yield Problem(DriftKind.ENTRY, message, entry=whose.digest(name))


def lexical(session: Session) -> Iterator[Problem]:
    """Every live entry, and nothing else, has a lexical row with the words of its text."""
    if broken := wording.broken(session):
        yield Problem(DriftKind.LEXICAL, f"the lexical index is damaged: {broken}")
        return
    unindexed = wording.unindexed(session)
    for entry in unindexed:
        yield _lexical(session, entry, "is live and has no lexical row")
    for entry in wording.overindexed(session):
        yield _lexical(session, entry, "is not live and has a lexical row")
    if _is_remade(session):
        return
    told = frozenset(unindexed)
    for entry in wording.differing(session):
        if entry not in told:
            yield _lexical(session, entry, "has a lexical row of other words than its text")


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
        session.load_vectors()
        for fault in soundness.faults(session, table):
            name = _hash_of(session, fault.entry)
            message = f"{table.name}: the vector of entry {fault.entry} {fault.what}"
            yield Problem(DriftKind.VECTOR, message, entry=name)


def _is_remade(session: Session) -> bool:
    try:
        return remade.is_same(session)
    except SteadlithError:
        return False  # a text or a block that cannot be read: word by word it is named


def _lexical(session: Session, entry: int, what: str) -> Problem:
    return Problem(DriftKind.LEXICAL, f"entry {entry} {what}", entry=_hash_of(session, entry))


def _hash_of(session: Session, entry: int) -> Digest | None:
    row = session.one("SELECT entry_hash FROM entry WHERE entry = ?", entry)
    return whose.digest(row[0]) if row else None

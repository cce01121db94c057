"""Texts and entries: whether each is what its hash says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite.checks import whose
from steadlith_adapters.stores.sqlite.rows import read_headings
from steadlith_adapters.stores.sqlite.schema import OPEN
from steadlith_core.digest import Digest
from steadlith_core.records import DriftKind
from steadlith_core.state.identity import entry_hash, text_hash

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.rows import Problem

_USED = f"SELECT entry FROM occurrence WHERE valid_to = {OPEN}"  # noqa: S608
_TEXTS = f"""
    SELECT text_hash, CAST(body AS BLOB), text IN (SELECT text FROM entry WHERE entry IN ({_USED})) FROM text"""  # noqa: S608
_ENTRIES = f"""
    SELECT e.entry_hash, t.text_hash, e.title, e.headings, e.context_hash, e.entry IN ({_USED})
    FROM entry e LEFT JOIN text t ON t.text = e.text"""  # noqa: S608


def texts(session: Session) -> Iterator[Problem]:
    """Every text has the hash that it is kept under."""
    for name, body, used in session.stream(_TEXTS):
        # Replacement characters change the hash, so bytes that are not UTF-8 are found like any other change.
        if text_hash(body.decode("utf-8", "replace")) != name:
            problem = whose.shown(DriftKind.TEXT, at_head=used)
            yield problem(f"text {whose.short(name)} does not match its hash", text=whose.digest(name))


def entries(session: Session) -> Iterator[Problem]:
    """Every entry has the hash that it is kept under, and its text is there."""
    for name, text, title, headings, context, used in session.stream(_ENTRIES):
        problem = whose.shown(DriftKind.ENTRY, at_head=used)
        entry = whose.digest(name)
        if text is None:
            yield problem(f"the text of entry {whose.short(name)} is missing", entry=entry)
            continue
        try:
            path = read_headings(headings)
            found = entry_hash(Digest(text), title, path, Digest(context) if context else None)
        except ValueError as error:
            yield problem(f"entry {whose.short(name)} cannot be read ({error})", entry=entry)
            continue
        if found != name:
            yield problem(f"entry {whose.short(name)} does not match its hash", entry=entry)

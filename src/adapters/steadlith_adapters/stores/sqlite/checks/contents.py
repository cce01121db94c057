"""Texts and entries: whether each is what its hash says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores import whose
from steadlith_adapters.stores.columns import read_headings
from steadlith_adapters.stores.sqlite.schema import OPEN
from steadlith_core.digest import Digest, hasher
from steadlith_core.records import DriftKind
from steadlith_core.state.identity import entry_hash, entry_hash_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.rows import Problem

_USED = f"SELECT entry FROM occurrence WHERE valid_to = {OPEN}"  # noqa: S608
_TEXTS = "SELECT text, text_hash, CAST(body AS BLOB) FROM text"
TEXT_USED = f"SELECT EXISTS (SELECT 1 FROM entry WHERE text = ? AND entry IN ({_USED}))"  # noqa: S608
_ENTRIES = """
    SELECT e.entry, e.entry_hash, t.text_hash, e.title, e.headings, e.context_hash
    FROM entry e LEFT JOIN text t ON t.text = e.text"""
ENTRY_USED = f"SELECT ? IN ({_USED})"


def texts(session: Session) -> Iterator[Problem]:
    """Every text has the hash that it is kept under."""
    hash_one = hasher("text")  # of the bytes as they are kept: bytes that are not UTF-8 are found like any other change
    wrong = [(text, name) for text, name, body in session.stream(_TEXTS) if hash_one(body) != name]
    for text, name in wrong:
        problem = whose.shown(DriftKind.TEXT, at_head=session.value(TEXT_USED, text))
        yield problem(f"text {whose.short(name)} does not match its hash", text=whose.digest(name))


def entries(session: Session) -> Iterator[Problem]:
    """Every entry has the hash that it is kept under, and its text is there."""
    for number, name, text, title, headings, context in session.stream(_ENTRIES):
        wrong = _of_entry(name, text, title, headings, context)
        if wrong:
            problem = whose.shown(DriftKind.ENTRY, at_head=session.value(ENTRY_USED, number))
            yield problem(wrong, entry=whose.digest(name))


def _of_entry(name: bytes, text: bytes | None, title: str, headings: bytes, context: bytes | None) -> str | None:
    if text is None:
        return f"the text of entry {whose.short(name)} is missing"
    try:
        if entry_hash_of(text, title, headings, context or None) == name:
            return None  # sound, as most are: then the headings are what was committed, and need no reading
        path = read_headings(headings)
        found = entry_hash(Digest(text), title, path, Digest(context) if context else None)
    except ValueError as error:
        return f"entry {whose.short(name)} cannot be read ({error})"
    return None if found == name else f"entry {whose.short(name)} does not match its hash"

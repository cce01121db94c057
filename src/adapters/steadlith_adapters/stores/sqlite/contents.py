"""Texts and entries as a write keeps them: each once, by its hash.

1. No index refuses a hash a second time: it is looked for, and put if it is not there. Nobody else writes meanwhile.
2. Numbers are given here. Those of what was put last are remembered, since what is put next refers to it.
3. Texts of a batch are put in the order in which they fill pages; no number of a text means anything.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from steadlith_adapters.stores.sqlite import filling, hashes
from steadlith_adapters.stores.sqlite.schema import INDEX, is_one_of
from steadlith_core import canon
from steadlith_core.digest import SIZE as DIGEST_SIZE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.rows import EntryRow, TextRow

T = TypeVar("T")
REMEMBERED = 20_000
"""Hashes remembered of each kind: a few megabytes."""
LAST = 2**62
"""No file has a number as great, unless it is damaged."""
TEXT_RECORD = 8 + DIGEST_SIZE
"""Bytes of a text's record besides its body, at most."""
_FIND_TEXTS = f"SELECT text_hash, text FROM text {{indexed}} WHERE text {{side}} AND {is_one_of('text_hash')}"  # noqa: S608
_FIND_ENTRIES = f"""
    SELECT entry_hash, entry, live, context_hash IS NOT NULL FROM entry {{indexed}}
    WHERE entry {{side}} AND {is_one_of("entry_hash")}"""  # noqa: S608
PUT_TEXT = "INSERT INTO text(text, text_hash, body) VALUES (?, ?, ?)"
PUT_ENTRY = """
    INSERT INTO entry(entry, entry_hash, text, title, headings, context_hash) VALUES (?, ?, ?, ?, ?, ?)"""


class Entry(NamedTuple):
    """A kept entry; `embed` is whether it is to have vectors."""

    number: int
    live: int
    embed: int


class Contents:
    """What a write knows of texts and entries; rows are given a statement's worth at a time."""

    __slots__ = ("_entries", "_last_text", "_page_size", "_session", "_texts", "last_entry")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._page_size: int = session.value("PRAGMA page_size")
        self._last_text = _last(session, "text")
        self.last_entry = _last(session, "entry")
        self._texts: dict[bytes, int] = {}
        self._entries: dict[bytes, Entry] = {}

    def put_texts(self, rows: Sequence[TextRow]) -> None:
        """Keep texts; those that are there stay as they are."""
        there = dict(self.texts([row.text_hash for row in rows]))
        fresh = list({row.text_hash: row.text for row in rows if row.text_hash not in there}.items())
        records = [TEXT_RECORD + (len(body) if body.isascii() else len(body.encode())) for _, body in fresh]
        numbered = [
            (number, *fresh[position])
            for number, position in enumerate(filling.order(records, self._page_size), self._last_text + 1)
        ]
        self._session.run_many(PUT_TEXT, numbered)
        self._last_text += len(numbered)
        there.update((name, number) for number, name, _ in numbered)
        _remember(self._texts, there)

    def put_entries(self, rows: Sequence[EntryRow], texts: Mapping[bytes, int]) -> None:
        """Keep entries of texts whose numbers are given; those that are there stay as they are."""
        there = dict(self.entries([row.entry_hash for row in rows]))
        fresh = {row.entry_hash: row for row in rows if row.entry_hash not in there}
        numbered = list(enumerate(fresh.values(), self.last_entry + 1))
        self._session.run_many(
            PUT_ENTRY, [(number, row.entry_hash, *columns(row, texts[row.text_hash])) for number, row in numbered]
        )
        self.last_entry += len(numbered)
        for number, row in numbered:
            there[row.entry_hash] = Entry(number, 0, row.context_hash is not None)
        _remember(self._entries, there)

    def texts(self, names: Sequence[bytes]) -> Mapping[bytes, int]:
        """The numbers of the texts that are kept."""
        known, asked = _remembered(self._texts, names)
        return known | dict(hashes.find(self._session, "text", _FIND_TEXTS, asked))

    def entries(self, names: Sequence[bytes]) -> Mapping[bytes, Entry]:
        """The entries that are kept."""
        known, asked = _remembered(self._entries, names)
        return known | {
            name: Entry(*found) for name, *found in hashes.find(self._session, "entry", _FIND_ENTRIES, asked)
        }


def columns(row: EntryRow, text: int) -> tuple[int, str, bytes, bytes | None]:
    """What is kept of an entry besides its number and its hash."""
    return text, row.title, _headings(row.headings), row.context_hash


@lru_cache(maxsize=1024)
def _headings(path: tuple[str, ...]) -> bytes:
    """A heading path as it is kept; neighbours share theirs."""
    return canon.encode(path)


def _last(session: Session, table: str) -> int:
    number: int = session.value(f"SELECT coalesce(max({table}), 0) FROM {table}")  # noqa: S608
    if number >= LAST:
        raise INDEX.damaged(session.path, f"{table} {number} has a number that was never given")
    return number


def _remembered(memory: dict[bytes, T], names: Sequence[bytes]) -> tuple[dict[bytes, T], list[bytes]]:
    """What is remembered of these hashes, and those of which nothing is."""
    known = {name: memory[name] for name in names if name in memory}
    return known, [name for name in names if name not in known]


def _remember(memory: dict[bytes, T], found: Mapping[bytes, T]) -> None:
    if len(memory) + len(found) > REMEMBERED:
        memory.clear()
    memory.update(found)

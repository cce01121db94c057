"""Entries as they are put: their numbers, given before they are kept, so that vectors can go where they stay.

1. An entry that is kept already has its number; a new one gets the next of the sequence, which never goes back. Numbers
   of writes that end without a commit are left out.
2. In a write that mends, what it puts stands for what is kept.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import staging
from steadlith_core import canon
from steadlith_core.errors import AdapterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_core.rows import EntryRow, VectorRow

_KNOWN_TEXTS = """
    SELECT text_hash FROM text WHERE text_hash = ANY(%s::bytea[])
    UNION SELECT text_hash FROM staged_text WHERE text_hash = ANY(%s::bytea[])"""
_KNOWN_ENTRIES = """
    SELECT entry_hash, entry, context_hash IS NOT NULL, false FROM entry WHERE entry_hash = ANY(%s::bytea[])
    UNION ALL
    SELECT entry_hash, entry, context_hash IS NOT NULL, true FROM (
        SELECT DISTINCT ON (entry_hash) entry_hash, entry, context_hash FROM staged_entry
        WHERE entry_hash = ANY(%s::bytea[]) ORDER BY entry_hash, at DESC) staged"""
_NUMBERS = "SELECT nextval(pg_get_serial_sequence('entry', 'entry')) FROM generate_series(1, %s)"


def put(session: Session, rows: Sequence[EntryRow], at: Iterator[int], *, mend: bool) -> None:
    """Stage entries whose texts are there; of one name the first stands, unless this write mends: then the last."""
    hashes = list({bytes(row.text_hash) for row in rows})
    texts = {name for (name,) in session.run(_KNOWN_TEXTS, hashes, hashes)}
    for row in rows:
        if row.text_hash not in texts:
            message = f"entry {row.entry_hash.short} is of text {row.text_hash.short}, which was never put"
            raise AdapterError(message)
    numbers = {name: number for name, (number, _) in known(session, rows, mend=mend).items()}
    new = list(dict.fromkeys(bytes(row.entry_hash) for row in rows if row.entry_hash not in numbers))
    given = [number for (number,) in session.run(_NUMBERS, len(new))] if new else []
    numbers |= zip(new, given, strict=True)
    standing = {row.entry_hash: row for row in (rows if mend else reversed(rows))}
    fresh = frozenset(new)
    staged = [
        (
            next(at),
            numbers[name],
            name,
            row.text_hash,
            staging.utf8(row.title),
            _headings(row.headings),
            row.context_hash,
        )
        for name, row in standing.items()
        if mend or name in fresh
    ]
    staging.put(session, "staged_entry", staged)


def known(
    session: Session, rows: Sequence[EntryRow] | Sequence[VectorRow], *, mend: bool
) -> Mapping[bytes, tuple[int, bool]]:
    """The rows' entries, put before or in this write: (number, is embedded)."""
    hashes = list({bytes(row.entry_hash) for row in rows})
    found = session.run(_KNOWN_ENTRIES, hashes, hashes)
    # What stands comes last: what is put where this write mends, otherwise what is kept.
    found.sort(key=lambda each: each[3] == mend)
    return {name: (number, embed) for name, number, embed, _ in found}


@lru_cache(maxsize=1024)
def _headings(path: tuple[str, ...]) -> bytes:
    """A heading path as it is kept; neighbours share theirs."""
    return canon.encode(path)

"""A vec0 table as it lies in the file: the blocks that a search goes through (sqlite-vec 0.1.9).

1. A block has slots: whether each holds a row (`validity`, a bit each), whose it is (`rowids`), whether it is searched
   (`live`: a bit each, or eight bytes as an older release declared it), and the vectors or codes. In each byte the
   lowest bit is the first one.
2. Where a row stands is noted in `_rowids` as well; who asks for one row goes there. A search finds what the slots say.
   So a row is sound only where both agree, which vec0 itself does not look at.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_adapters.stores.sqlite.spaces import SpaceTable

PLACES = "SELECT rowid, chunk_id, chunk_offset FROM {}_rowids WHERE rowid IN ({{}})"
_LISTED = "SELECT rowid FROM {}_rowids"
# What is not bytes any more is damage, and is read as bytes.
_SLOTS = """
    SELECT c.chunk_id, c.size, CAST(c.validity AS BLOB), CAST(c.rowids AS BLOB),
           octet_length(m.data), octet_length(v.vectors){columns}
    FROM {table}_chunks c LEFT JOIN {table}_metadatachunks00 m ON m.rowid = c.chunk_id
    LEFT JOIN {table}_vector_chunks00 v ON v.rowid = c.chunk_id ORDER BY c.chunk_id"""
_VALUES = ", CAST(m.data AS BLOB), CAST(v.vectors AS BLOB)"
_ROWID = 8


class Row(NamedTuple):
    """What a search finds of an entry: whether it is live, and its vector or code."""

    entry: int
    live: int
    value: bytes


def misplaced(session: Session, table: SpaceTable) -> list[int]:
    """Entries that a search does not find where they are noted, or finds elsewhere; ascending."""
    unseen = {entry for (entry,) in session.run(_LISTED.format(table.name))}
    strays: set[int] = set()
    for block, *slots_of in session.stream(_SLOTS.format(table=table.name, columns="")):
        slots = _slots(table, *slots_of)
        entries = list({entry for _, entry in slots})
        places = {entry: place for entry, *place in session.lookup(PLACES.format(table.name), entries)}
        for slot, entry in slots:
            if places.get(entry) == [block, slot]:
                unseen.discard(entry)
            else:
                strays.add(entry)
    return sorted(unseen | strays)


def rows(session: Session, table: SpaceTable, but: Container[int]) -> Iterator[Sequence[Row]]:
    """Block by block what a search finds, `but` of these entries."""
    width = table.searched_bytes
    for _, size, *slots_of, live, values in session.stream(_SLOTS.format(table=table.name, columns=_VALUES)):
        slots = [(slot, entry) for slot, entry in _slots(table, size, *slots_of) if entry not in but]
        if slots:
            flags = _bits(live) if len(live) * 8 == size else struct.unpack(f"<{size}q", live)
            yield [Row(entry, flags[slot], values[width * slot : width * (slot + 1)]) for slot, entry in slots]


def _slots(
    table: SpaceTable, size: int, validity: bytes, rowids: bytes, flags: int | None, values: int | None
) -> list[tuple[int, int]]:
    """Each slot that holds a row, and whose it is; none of a block whose parts are not as long as it says."""
    lengths = (len(validity) * 8, len(rowids), values)
    if lengths != (size, size * _ROWID, size * table.searched_bytes) or flags not in {size // 8, size * _ROWID}:
        return []
    entries = struct.unpack(f"<{size}q", rowids)
    return [(slot, entries[slot]) for slot, valid in enumerate(_bits(validity)) if valid]


def _bits(data: bytes) -> list[int]:
    return [byte >> bit & 1 for byte in data for bit in range(8)]

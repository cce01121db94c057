"""Which vectors are searched: `live` of many rows of a vec0 table, set where vec0 keeps it.

1. An UPDATE through vec0 reads the row's whole vector before it sets one bit: of 500 rows in half a million that is 25
   of 190 ms. So the bits are set in the blocks themselves (`blocks`), a block at a time.
2. Where these tables are not as expected (`live integer`, as an older release declared it) vec0 does it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from steadlith_adapters.stores.sqlite.blocks import PLACES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_adapters.stores.sqlite.spaces import SpaceTable

_BITS = """
    SELECT m.rowid, m.data FROM {0}_metadatachunks00 m JOIN {0}_chunks c ON c.chunk_id = m.rowid
    WHERE 8 * length(m.data) = c.size AND m.rowid IN ({{}})"""
_SET = "UPDATE {}_metadatachunks00 SET data = ? WHERE rowid = ?"


class _Row(NamedTuple):
    entry: int
    place: int
    live: int


def set_many(session: Session, table: SpaceTable, rows: Sequence[tuple[int, int]]) -> None:
    """Make `live` of rows of a space what is given: (live, entry). Entries without a row are passed over."""
    chunks = _by_chunk(session, table, rows)
    bits: dict[int, bytes] = dict(session.lookup(_BITS.format(table.name), list(chunks)))
    session.run_many(_SET.format(table.name), [(_with(bits[chunk], chunks[chunk]), chunk) for chunk in bits])
    others = [(row.live, row.entry) for chunk in chunks if chunk not in bits for row in chunks[chunk]]
    session.run_many(f"UPDATE {table.name} SET live = ? WHERE rowid = ?", others)  # noqa: S608


def _by_chunk(session: Session, table: SpaceTable, rows: Sequence[tuple[int, int]]) -> dict[int, list[_Row]]:
    asked = {entry: live for live, entry in rows}
    found = defaultdict(list)
    for entry, chunk, place in session.lookup(PLACES.format(table.name), list(asked)):
        found[chunk].append(_Row(entry, place, asked[entry]))
    return found


def _with(bits: bytes, rows: Sequence[_Row]) -> bytes:
    changed = bytearray(bits)
    for row in rows:
        byte, bit = divmod(row.place, 8)
        changed[byte] = changed[byte] & ~(1 << bit) | row.live << bit
    return bytes(changed)

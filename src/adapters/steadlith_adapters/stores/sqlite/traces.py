"""What is left of a document in any kept generation: whether it is shown, and which vectors were made for it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.sqlite import hashes
from steadlith_adapters.stores.sqlite.schema import OPEN, is_same_hash
from steadlith_core.digest import Digest
from steadlith_core.ports import Traces
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.stores.sqlite.session import Session
    from steadlith_core.records import DocumentId

_NUMBER = "SELECT document FROM document WHERE key = ?"
# Entries that some open occurrence uses are in the head, whoever's they were; a key may belong to several entries.
# The joins in this order: without statistics SQLite would read all vectors, for each of them.
_KEYS = """
    SELECT DISTINCT v.vector_key
    FROM occurrence o CROSS JOIN space s CROSS JOIN vector v ON v.space = s.space AND v.entry = o.entry
    WHERE o.document = ?"""
_UNUSED = f"""NOT EXISTS (
        SELECT 1 FROM vector w {{indexed}}
        CROSS JOIN occurrence used ON used.entry = w.entry AND used.valid_to = {OPEN}
        WHERE w.space = v.space AND w.entry {{side}} AND {is_same_hash("w.vector_key", "v.vector_key")})"""  # noqa: S608


def traces(session: Session, ids: Sequence[DocumentId]) -> Traces:
    """See `Store.traces`."""
    session.run("BEGIN")
    numbers = {id_: session.one(_NUMBER, document_key(id_)) for id_ in ids}
    found = {id_: row[0] for id_, row in numbers.items() if row}
    unused = (half.of(_UNUSED) for half in hashes.halves(session, "vector"))
    sql = " AND ".join((_KEYS, *unused))
    keys = {Digest(key) for number in found.values() for (key,) in session.run(sql, number)}
    session.run("END")
    return Traces(frozenset(found), frozenset(keys))

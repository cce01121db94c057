"""What is left of a document in any kept generation: whether it is shown, and which vectors were made for it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres.schema import OPEN
from steadlith_core.digest import Digest
from steadlith_core.ports import Traces
from steadlith_core.state.trie import document_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.stores.postgres.session import Session
    from steadlith_core.records import DocumentId

_NUMBERS = "SELECT document, key FROM document WHERE key = ANY(%s::bytea[])"
# Entries that some open occurrence uses are in the head, whoever's they were; a key may belong to several entries.
_KEYS = f"""
    SELECT DISTINCT v.vector_key FROM occurrence o JOIN vector v ON v.entry = o.entry
    WHERE o.document = ANY(%s::bigint[]) AND NOT EXISTS (
        SELECT 1 FROM vector w JOIN occurrence used ON used.entry = w.entry AND used.valid_to = {OPEN}
        WHERE w.space = v.space AND w.vector_key = v.vector_key)"""  # noqa: S608


def traces(session: Session, ids: Sequence[DocumentId]) -> Traces:
    """See `Store.traces`."""
    keys = {bytes(document_key(id_)): id_ for id_ in ids}
    found = {number: keys[key] for number, key in session.lookup(_NUMBERS, list(keys))}
    vectors = {Digest(key) for (key,) in session.lookup(_KEYS, list(found))}
    return Traces(frozenset(found.values()), frozenset(vectors))

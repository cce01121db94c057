"""The corpus trie of the head, as rows: its nodes by prefix, and the documents below a prefix by their keys.

1. A node is kept as it was put; nothing is computed here, so what is read can be checked against what was committed.
2. Only the head has nodes: an older generation's are computed from its documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.digest import SIZE, Digest
from steadlith_core.rows import TrieNode, TrieRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steadlith_adapters.stores.postgres.session import Row, Session

_NODES = "SELECT prefix, documents, digest, sources FROM trie_node WHERE prefix = ANY(%s::text[])"
_ROWS = """
    SELECT d.key, v.root, s.source_digest
    FROM document d
    JOIN document_version v ON v.document = d.document AND v.valid_from <= %s AND v.valid_to > %s
    JOIN span s ON s.document = v.document AND s.version = v.valid_from AND s.valid_from <= %s AND s.valid_to > %s
    WHERE d.key BETWEEN %s AND %s ORDER BY d.key"""
_DROP = "DELETE FROM trie_node WHERE prefix = ANY(%s::text[])"
_PUT = """
    INSERT INTO trie_node SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bytea[], %s::bytea[])
    ON CONFLICT (prefix) DO UPDATE
    SET documents = excluded.documents, digest = excluded.digest, sources = excluded.sources"""


def nodes(session: Session, prefixes: Sequence[str]) -> dict[str, TrieNode]:
    """The nodes that are kept."""
    return {row[0]: read_node(session, row) for row in session.lookup(_NODES, prefixes)}


def read_node(session: Session, row: Row) -> TrieNode:
    """The node that a row of (prefix, documents, digest, sources) is."""
    prefix, documents, digest, sources = row
    what = f"the trie node at {prefix!r}"
    return TrieNode(documents, session.decode(Digest, digest, what), session.decode(Digest, sources, what))


def rows(session: Session, generation: int, prefix: str) -> tuple[TrieRow, ...]:
    """The documents of a generation whose key begins with `prefix`, in key order."""
    digits = 2 * SIZE
    first, last = (bytes.fromhex(prefix + fill * (digits - len(prefix))) for fill in "0f")
    return tuple(
        TrieRow(*(session.decode(Digest, digest, f"the row of key {row[0].hex()}") for digest in row))
        for row in session.run(_ROWS, *[generation] * 4, first, last)
    )


def put(session: Session, changed: Mapping[str, TrieNode | None], *, replace: bool) -> None:
    """Keep the nodes of `changed`, forget those that are none; with `replace`, all others too."""
    if replace:
        session.run("DELETE FROM trie_node")
    else:
        session.run(_DROP, [prefix for prefix, node in changed.items() if node is None])
    kept = {prefix: node for prefix, node in changed.items() if node is not None}
    session.run(
        _PUT,
        list(kept),
        [node.count for node in kept.values()],
        [bytes(node.digest) for node in kept.values()],
        [bytes(node.sources) for node in kept.values()],
    )

"""The corpus trie of the head, as rows: its nodes by prefix, and the documents below a prefix by their keys.

1. A node is kept as it was put; nothing is computed here, so what is read can be checked against what was committed.
2. Only the head has nodes: an older generation's are computed from its documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_core.digest import SIZE, Digest
from steadlith_core.rows import TrieNode, TrieRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steadlith_adapters.stores.sqlite.session import Row, Session

_NODES = "SELECT prefix, documents, digest, sources FROM trie_node WHERE prefix IN ({})"
_ROWS = """
    SELECT d.key, v.root, s.source_digest
    FROM document d
    JOIN document_version v ON v.document = d.document AND v.valid_from <= ?1 AND v.valid_to > ?1
    JOIN span s ON s.document = v.document AND s.version = v.valid_from AND s.valid_from <= ?1 AND s.valid_to > ?1
    WHERE d.key BETWEEN ?2 AND ?3 ORDER BY d.key"""
_PUT = "INSERT INTO trie_node VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET documents = ?2, digest = ?3, sources = ?4"


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
    found = session.run(_ROWS, generation, first, last)
    what = f"a document whose key begins with {prefix!r}"
    return session.decode(lambda found: tuple(TrieRow(*map(Digest, row)) for row in found), found, what)


def put(session: Session, changed: Mapping[str, TrieNode], dropped: Iterable[str]) -> None:
    """Keep `changed`, forget `dropped`."""
    for prefix in dropped:
        session.run("DELETE FROM trie_node WHERE prefix = ?", prefix)
    for prefix, node in changed.items():
        session.run(_PUT, prefix, node.count, node.digest, node.sources)


def replace(session: Session, kept: Mapping[str, TrieNode]) -> None:
    """Keep these nodes and no other."""
    session.run("DELETE FROM trie_node")
    put(session, kept, ())

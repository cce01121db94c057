"""The corpus trie: every node is computed anew from what is below it.

1. A leaf is made of its documents' rows, an inner node of its children; a node that holds for all of them, below a
   topmost one that leads to the root, is the one trie of these documents.
2. A node below none, or below a leaf, is too many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steadlith_adapters.stores.postgres import generations, trie
from steadlith_core.records import DriftKind
from steadlith_core.rows import Problem, TrieNode
from steadlith_core.state.moving import DIGITS, build, sources_node
from steadlith_core.state.trie import LEAF_CAPACITY, node_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith_adapters.stores.postgres.session import Session

_ALL = "SELECT prefix, documents, digest, sources FROM trie_node"
_UNREACHED = """
    SELECT n.prefix FROM trie_node n
    LEFT JOIN trie_node above ON above.prefix = substr(n.prefix, 1, length(n.prefix) - 1)
    WHERE n.prefix <> '' AND coalesce(above.documents, 0) <= %s"""


def nodes(session: Session) -> Iterator[Problem]:
    """Every node is what its documents make it."""
    generation = generations.read_head(session).generation
    for row in session.stream(_ALL):
        kept = trie.read_node(session, row)
        if kept != _made(session, generation, row[0], kept.count):
            message = f"the trie node at {row[0]!r} is not what the documents below it make"
            yield Problem(DriftKind.NODES, message)
    for (prefix,) in session.run(_UNREACHED, LEAF_CAPACITY):
        yield Problem(DriftKind.NODES, f"the trie node at {prefix!r} is below none that has children")


def _made(session: Session, generation: int, prefix: str, count: int) -> TrieNode:
    if count <= LEAF_CAPACITY:
        # More documents than a leaf holds make an inner node, which is not the one that is kept.
        return build(trie.rows(session, generation, prefix)).after
    return _inner(trie.nodes(session, [prefix + digit for digit in DIGITS]))


def _inner(below: Mapping[str, TrieNode]) -> TrieNode:
    ordered = [(int(name[-1], 16), below[name]) for name in sorted(below)]
    return TrieNode(
        sum(node.count for _, node in ordered),
        node_digest((nibble, node.digest) for nibble, node in ordered),
        sources_node((nibble, node.sources) for nibble, node in ordered),
    )

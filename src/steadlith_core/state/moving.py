"""Moving the corpus trie: from the nodes of one set of documents to those of another, by the nodes that changes touch.

1. Every node that is read is checked against its own digest, so a root is only moved from rows that lead to it.
2. What is put and what is dropped are exactly the differences between both tries in their one canonical shape.
3. The sources trie has the same shape, over the digests of the sources' bytes instead of the documents' roots.

Cost: O(changes x depth) nodes and the rows of touched leaves; building from nothing is O(n log n).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, Protocol

from steadlith_core.digest import Digest, hash_digests, hash_fields
from steadlith_core.errors import StoreCorrupt
from steadlith_core.rows import TrieNode
from steadlith_core.state.trie import EMPTY_TRIE_ROOT, LEAF_CAPACITY, leaf_digest, node_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steadlith_core.rows import TrieRow

DIGITS = "0123456789abcdef"


class Nodes(Protocol):
    """Where nodes and rows are read: the `nodes` and `rows` of a store's reader."""

    def nodes(self, prefixes: Sequence[str]) -> Mapping[str, TrieNode]:
        """See `Reader.nodes`."""
        ...

    def rows(self, prefix: str) -> Sequence[TrieRow]:
        """See `Reader.rows`."""
        ...


@dataclass(frozen=True, slots=True)
class Moved:
    """The topmost node before and after, and which nodes make the difference."""

    before: TrieNode
    after: TrieNode
    put: Mapping[str, TrieNode]
    dropped: frozenset[str]


def sources_leaf(rows: Iterable[TrieRow]) -> Digest:
    """H[sources-leaf] of the rows, which are in key order (format.md 5.4)."""
    return hash_digests("sources-leaf", (digest for row in rows for digest in (row.key, row.source_digest)))


def sources_node(children: Iterable[tuple[int, Digest]]) -> Digest:
    """H[sources-node] of the children that hold documents, in nibble order (format.md 5.4)."""
    return hash_fields("sources-node", [field for child in children for field in child])


EMPTY = TrieNode(0, EMPTY_TRIE_ROOT, sources_leaf(()))


class Nothing:
    """The trie of no documents."""

    def nodes(self, prefixes: Sequence[str]) -> Mapping[str, TrieNode]:  # noqa: ARG002 -- the protocol's name
        """There are none."""
        return {}

    def rows(self, prefix: str) -> Sequence[TrieRow]:  # noqa: ARG002 -- the protocol's name
        """There are none."""
        return ()


def move(trie: Nodes, changes: Mapping[Digest, TrieRow | None]) -> Moved:
    """The trie with each key's row replaced, added, or taken out (none).

    Raises `StoreCorrupt` when what is read is not what its node's digest was made of.
    """
    mover = _Mover(trie)
    before = trie.nodes([""]).get("")
    if not changes:
        return Moved(before or EMPTY, before or EMPTY, {}, frozenset())
    after = mover.move("", before, [_Change(key.hex(), changes[key]) for key in sorted(changes)])
    return Moved(before or EMPTY, after or EMPTY, mover.put, frozenset(mover.dropped))


def build(rows: Iterable[TrieRow]) -> Moved:
    """The trie of these documents, from nothing. `ValueError` for a key given twice."""
    by_key: dict[Digest, TrieRow | None] = {}
    for row in rows:
        if row.key in by_key:
            message = f"document key given twice: {row.key}"
            raise ValueError(message)
        by_key[row.key] = row
    return move(Nothing(), by_key)


class _Change(NamedTuple):
    digits: str
    row: TrieRow | None


class _Mover:
    """One move. `put` and `dropped` grow as nodes are made."""

    def __init__(self, trie: Nodes) -> None:
        self._trie = trie
        self._leaves: dict[str, Sequence[TrieRow]] = {}
        self.put: dict[str, TrieNode] = {}
        self.dropped: set[str] = set()

    def move(self, prefix: str, old: TrieNode | None, changes: list[_Change]) -> TrieNode | None:
        """The node at `prefix` after `changes`, which are in key order; none when nothing is left below it."""
        if old is None or old.count <= LEAF_CAPACITY:
            return self._build(prefix, old, _applied(self._rows(prefix, old), changes))
        children = self._children(prefix, old)
        before = frozenset(children)
        for digit, group in groupby(changes, key=lambda change: change.digits[len(prefix)]):
            child = self.move(prefix + digit, children.pop(digit, None), list(group))
            if child is not None:
                children[digit] = child
        if sum(child.count for child in children.values()) > LEAF_CAPACITY:
            return self._keep(prefix, old, _inner(children))
        # Rule 1 of the trie: what fits in a leaf is one. None of the children can be more than a leaf itself.
        rows = [row for digit in sorted(children) for row in self._rows(prefix + digit, children[digit])]
        for digit in children:
            self._drop(prefix + digit, existed=digit in before)
        return self._build(prefix, old, rows)

    def _build(self, prefix: str, old: TrieNode | None, rows: Sequence[TrieRow]) -> TrieNode | None:
        if not rows:
            self._drop(prefix, existed=old is not None)
            return None
        if len(rows) <= LEAF_CAPACITY:
            self._leaves[prefix] = rows
            return self._keep(prefix, old, _leaf(rows))
        children: dict[str, TrieNode] = {}
        for digit, group in groupby(rows, key=lambda row: row.key.hex()[len(prefix)]):
            child = self._build(prefix + digit, None, list(group))
            assert child is not None  # a group is never empty
            children[digit] = child
        return self._keep(prefix, old, _inner(children))

    def _keep(self, prefix: str, old: TrieNode | None, node: TrieNode) -> TrieNode:
        self.dropped.discard(prefix)
        if node != old:
            self.put[prefix] = node
        return node

    def _drop(self, prefix: str, *, existed: bool) -> None:
        self.put.pop(prefix, None)
        if existed:
            self.dropped.add(prefix)

    def _rows(self, prefix: str, node: TrieNode | None) -> Sequence[TrieRow]:
        if node is None:
            return ()
        if prefix in self._leaves:
            return self._leaves[prefix]
        rows = self._trie.rows(prefix)
        if _leaf(rows) != node:
            raise _differs(prefix, node, len(rows))
        return rows

    def _children(self, prefix: str, node: TrieNode) -> dict[str, TrieNode]:
        found = self._trie.nodes([prefix + digit for digit in DIGITS])
        children = {name[-1]: found[name] for name in sorted(found)}
        if _inner(children) != node:
            raise _differs(prefix, node, sum(child.count for child in children.values()))
        return children


def _applied(rows: Sequence[TrieRow], changes: Iterable[_Change]) -> list[TrieRow]:
    by_digits = {row.key.hex(): row for row in rows}
    for digits, row in changes:
        if row is None:
            by_digits.pop(digits, None)
        else:
            by_digits[digits] = row
    return [by_digits[digits] for digits in sorted(by_digits)]


def _leaf(rows: Sequence[TrieRow]) -> TrieNode:
    return TrieNode(len(rows), leaf_digest((row.key, row.root) for row in rows), sources_leaf(rows))


def _inner(children: Mapping[str, TrieNode]) -> TrieNode:
    ordered = [(int(digit, 16), children[digit]) for digit in sorted(children)]
    return TrieNode(
        sum(child.count for _, child in ordered),
        node_digest((nibble, child.digest) for nibble, child in ordered),
        sources_node((nibble, child.sources) for nibble, child in ordered),
    )


def _differs(prefix: str, node: TrieNode, found: int) -> StoreCorrupt:
    return StoreCorrupt(
        f"the documents whose keys begin with {prefix or '(nothing)'} are not those that were committed "
        f"({found} are there, {node.count} were counted); `steadlith plan --refresh=full` says which differ"
    )

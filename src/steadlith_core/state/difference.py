"""Comparing two corpora: which documents only one of them has, and which have other chunks, metadata or source bytes.

1. Equal nodes are skipped: O(differences x depth) nodes are looked at, whatever both hold besides.
2. A node is equal if both its digests are: the one over roots, and the one over the sources' bytes.
3. The answer is the set difference of both sets of rows, in key order; it depends on nothing else.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steadlith_core.digest import SIZE
from steadlith_core.state.moving import DIGITS, build
from steadlith_core.state.trie import LEAF_CAPACITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from steadlith_core.digest import Digest
    from steadlith_core.rows import TrieNode, TrieRow
    from steadlith_core.state.moving import Moved, Nodes


class WholeTrie:
    """A corpus trie with all its rows in memory; see `Nodes`. `ValueError` for a key given twice.

    `made` is the trie of the rows, where it is known already.
    """

    __slots__ = ("_nodes", "_rows", "top")

    def __init__(self, rows: Iterable[TrieRow], made: Moved | None = None) -> None:
        self._rows = sorted(rows, key=_key)
        made = made or build(self._rows)
        self._nodes = made.put
        self.top: TrieNode = made.after

    def nodes(self, prefixes: Sequence[str]) -> Mapping[str, TrieNode]:
        """See `Reader.nodes`."""
        return {prefix: self._nodes[prefix] for prefix in prefixes if prefix in self._nodes}

    def rows(self, prefix: str) -> Sequence[TrieRow]:
        """See `Reader.rows`."""
        first, last = (bytes.fromhex(prefix + fill * (2 * SIZE - len(prefix))) for fill in "0f")
        start = bisect_left(self._rows, first, key=_key)
        stop = bisect_left(self._rows, last, start, key=_key)
        if stop < len(self._rows) and self._rows[stop].key == last:
            stop += 1
        return self._rows[start:stop]


@dataclass(frozen=True, slots=True)
class Difference:
    """One key on which two corpora differ: its row in each, none where it is not there. Never two equal ones."""

    old: TrieRow | None
    new: TrieRow | None

    @property
    def key(self) -> Digest:
        """The document's key."""
        row = self.old or self.new
        assert row is not None  # one of them is there
        return row.key


def differences(old: Nodes, new: Nodes) -> list[Difference]:
    """Every key on which `old` and `new` differ, in key order."""
    return list(_below("", old, old.nodes([""]).get(""), new, new.nodes([""]).get("")))


def _below(prefix: str, old: Nodes, left: TrieNode | None, new: Nodes, right: TrieNode | None) -> Iterator[Difference]:
    if left == right:
        return
    if _is_leaf(left) or _is_leaf(right):
        yield from _merged(old.rows(prefix) if left else (), new.rows(prefix) if right else ())
        return
    prefixes = [prefix + digit for digit in DIGITS]
    lefts, rights = old.nodes(prefixes), new.nodes(prefixes)
    for below in prefixes:
        yield from _below(below, old, lefts.get(below), new, rights.get(below))


def _is_leaf(node: TrieNode | None) -> bool:
    return node is None or node.count <= LEAF_CAPACITY


def _merged(old: Sequence[TrieRow], new: Sequence[TrieRow]) -> Iterator[Difference]:
    lefts, rights = {row.key: row for row in old}, {row.key: row for row in new}
    for key in sorted(lefts.keys() | rights.keys()):
        left, right = lefts.get(key), rights.get(key)
        if left != right:
            yield Difference(left, right)


def _key(row: TrieRow) -> Digest:
    return row.key

"""The trie moved by a change equals the trie built from nothing, node for node."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core.digest import Digest, hash_fields
from steadlith_core.errors import StoreCorrupt
from steadlith_core.rows import TrieRow
from steadlith_core.state.moving import EMPTY, Nothing, build, move
from steadlith_core.state.trie import LEAF_CAPACITY, trie_root


class Kept:
    """What a store keeps: nodes as they were put, rows as they are."""

    def __init__(self, rows=()):
        self.documents = {row.key: row for row in rows}
        self.nodes_by_prefix = dict(build(rows).put)
        self.asked = []

    def nodes(self, prefixes):
        self.asked += prefixes
        return {prefix: self.nodes_by_prefix[prefix] for prefix in prefixes if prefix in self.nodes_by_prefix}

    def rows(self, prefix):
        self.asked.append(f"rows {prefix}")
        return [row for key, row in sorted(self.documents.items()) if key.hex().startswith(prefix)]

    def apply(self, changes):
        moved = move(self, changes)
        for prefix in moved.dropped:
            del self.nodes_by_prefix[prefix]
        self.nodes_by_prefix |= moved.put
        for key, row in changes.items():
            self.documents.pop(key, None)
            if row is not None:
                self.documents[key] = row
        return moved


def row(number, root=0, source=0, *, crowd=False):
    """A row whose key depends on `number`; a crowd shares its first byte, so that it fills one leaf and splits it."""
    key = hash_fields("key", number)
    return TrieRow(Digest(b"\xab" + key[1:]) if crowd else key, hash_fields("root", root), hash_fields("s", source))


numbers = st.integers(0, 120)
edits = st.dictionaries(st.tuples(numbers, st.booleans()), st.tuples(st.integers(0, 3), st.integers(0, 3)) | st.none())


@settings(max_examples=150, deadline=None)
@given(st.lists(edits, max_size=5))
def test_any_series_of_changes_leads_to_the_trie_of_what_is_there(series):
    kept = Kept()
    for edit in series:
        changes = {}
        for (number, crowd), value in edit.items():
            at = row(number, *(value or ()), crowd=crowd)
            changes[at.key] = at if value is not None else None
        moved = kept.apply(changes)
        fresh = build(kept.documents.values())
        assert moved.after == fresh.after
        assert kept.nodes_by_prefix == fresh.put
        assert moved.after.digest == trie_root((key, found.root) for key, found in kept.documents.items())
        assert moved.after.count == len(kept.documents)


def test_nothing_is_read_but_the_topmost_node_when_nothing_changes():
    kept = Kept([row(n) for n in range(500)])
    moved = move(kept, {})
    assert moved.before == moved.after == kept.nodes_by_prefix[""]
    assert (moved.put, moved.dropped, kept.asked) == ({}, frozenset(), [""])


def test_one_change_touches_one_path():
    kept = Kept([row(n) for n in range(5000)])
    changed = row(7, root=1)
    moved = kept.apply({changed.key: changed})
    depth = max(len(prefix) for prefix in moved.put)
    assert set(moved.put) == {changed.key.hex()[:at] for at in range(depth + 1)}
    assert sum(asked.startswith("rows") for asked in kept.asked) == 1


def test_other_bytes_with_the_same_root_move_only_the_sources():
    kept = Kept([row(n) for n in range(100)])
    respanned = row(7, source=1)
    moved = kept.apply({respanned.key: respanned})
    assert moved.after.digest == moved.before.digest
    assert moved.after.sources != moved.before.sources


def test_the_empty_trie_has_no_nodes():
    only = row(1)
    kept = Kept([only])
    moved = kept.apply({only.key: None})
    assert (moved.after, kept.nodes_by_prefix) == (EMPTY, {})
    assert move(Nothing(), {}).after == EMPTY


@pytest.mark.parametrize("count", [LEAF_CAPACITY, LEAF_CAPACITY + 1])
def test_a_leaf_splits_and_folds_at_its_capacity(count):
    rows = [row(n, crowd=True) for n in range(count)]
    kept = Kept(rows)
    assert (len(kept.nodes_by_prefix) > 1) is (count > LEAF_CAPACITY)
    kept.apply({rows[0].key: None})
    assert len(kept.nodes_by_prefix) == 1


@pytest.mark.parametrize("forget", ["row", "node", "root"])
def test_rows_and_nodes_that_are_not_those_that_were_committed_are_refused(forget):
    kept = Kept([row(n) for n in range(500)])
    changed = row(7, root=1)
    if forget == "row":
        del kept.documents[changed.key]
    elif forget == "node":
        del kept.nodes_by_prefix[changed.key.hex()[:1]]
    else:
        other = row(7, root=2)
        kept.documents[other.key] = other
    with pytest.raises(StoreCorrupt, match="--refresh=full"):
        move(kept, {changed.key: changed})


def test_a_key_given_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        build([row(1), row(1, root=1)])

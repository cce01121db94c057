import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_core.digest import Digest, hash_fields, hasher
from steadlith_core.state.tree import distance, document_root, leaf, leaves, leaves_root, tree_root

trees = st.lists(st.tuples(st.integers(-1, 9), st.booleans()), max_size=10).map(
    lambda rows: [(min(parent, index - 1), embed) for index, (parent, embed) in enumerate(rows)]
)
digests = st.binary(min_size=32, max_size=32).map(Digest)


def rfc6962(leaves):
    """RFC 6962 section 2.1, word for word."""
    if not leaves:
        return hasher("empty")(b"")
    if len(leaves) == 1:
        return hasher("leaf")(leaves[0])
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hasher("node")(rfc6962(leaves[:k]) + rfc6962(leaves[k:]))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 33, 100, 1000])
def test_the_tree_has_the_shape_of_rfc_6962(count):
    leaves = [Digest(i.to_bytes(32, "big")) for i in range(count)]
    assert leaves_root(leaves) == rfc6962(leaves)


@given(st.lists(digests, max_size=20), st.lists(digests, max_size=20))
def test_different_sequences_have_different_roots(left, right):
    assert (leaves_root(left) == leaves_root(right)) == (left == right)


def test_an_odd_child_is_not_duplicated():
    a, b, c = (Digest(bytes([i]) * 32) for i in range(3))
    assert leaves_root([a, b, c]) != leaves_root([a, b, c, c])


def test_the_document_root_binds_count_and_metadata():
    leaf = Digest(bytes(32))
    assert document_root([leaf], {}) != document_root([leaf, leaf], {})
    assert document_root([leaf], {"title": "a"}) != document_root([leaf], {"title": "b"})
    assert document_root([leaf], {"a": "1", "b": "2"}) == document_root([leaf], {"b": "2", "a": "1"})


def test_the_leaf_of_an_ordinary_chunk_is_its_hash_alone():
    chunk = Digest(b"\x01" * 32)
    assert leaf(chunk) == hasher("leaf")(chunk)
    assert leaf(chunk, 2) == hash_fields("branch", chunk, 2, True)
    assert leaf(chunk, embed=False) == hash_fields("branch", chunk, 0, False)
    assert len({leaf(chunk, back, embed=embed) for back in range(3) for embed in (True, False)}) == 6


@given(st.lists(digests, max_size=10), st.data())
def test_a_tree_of_ordinary_chunks_has_the_root_of_their_hashes(chunks, data):
    ordinary = [(-1, True)] * len(chunks)
    assert document_root(chunks, {}, ordinary) == document_root(chunks, {})
    assert tree_root(leaves(chunks, ordinary)) == leaves_root(chunks)


@given(trees, trees)
def test_other_parents_are_another_document(one, other):
    size = min(len(one), len(other))
    chunks = [Digest(bytes(32))] * size
    roots = document_root(chunks, {}, one[:size]), document_root(chunks, {}, other[:size])
    assert (roots[0] == roots[1]) == (one[:size] == other[:size])


@given(trees, st.integers(0, 5))
def test_an_edit_before_a_family_changes_none_of_its_leaves(tree, before):
    chunks = [Digest(bytes([index]) * 32) for index in range(before + len(tree))]
    shifted = [(-1, True)] * before + [(parent + before if parent >= 0 else -1, embed) for parent, embed in tree]
    assert list(leaves(chunks, shifted))[before:] == list(leaves(chunks[before:], tree))


def test_the_distance_leads_back_to_the_parent_and_is_nothing_without_one():
    assert [distance(5, parent) for parent in (-1, 0, 4)] == [0, 5, 1]


def test_a_topology_of_another_length_is_refused():
    with pytest.raises(ValueError, match="zip"):
        document_root([Digest(bytes(32))] * 2, {}, [(-1, False)])

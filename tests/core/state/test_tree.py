import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_core.digest import Digest, hasher
from steadlith_core.state.tree import document_root, leaves_root

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

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadlith_core.digest import Digest, hasher
from steadlith_core.state.auditpath import audit_path, climb, path_length
from steadlith_core.state.tree import tree_root


def leaves(count):
    return [Digest(number.to_bytes(32, "big")) for number in range(count)]


def split(count):
    k = 1
    while k * 2 < count:
        k *= 2
    return k


def mth(d):
    """RFC 6962 section 2.1, word for word, over leaves that are hashed already."""
    if len(d) == 1:
        return d[0]
    k = split(len(d))
    return hasher("node")(mth(d[:k]) + mth(d[k:]))


def rfc6962(m, d):
    """RFC 6962 section 2.1.1, word for word."""
    if len(d) == 1:
        return []
    k = split(len(d))
    if m < k:
        return [*rfc6962(m, d[:k]), mth(d[k:])]
    return [*rfc6962(m - k, d[k:]), mth(d[:k])]


@pytest.mark.parametrize("count", [*range(1, 34), 63, 64, 65])
def test_the_path_is_that_of_rfc_6962_and_leads_to_the_root(count):
    d = leaves(count)
    for index in range(count):
        path = audit_path(d, index)
        assert list(path) == rfc6962(index, d)
        assert len(path) == path_length(index, count)
        assert climb(d[index], index, count, path) == tree_root(d)


@given(st.integers(1, 1000).flatmap(lambda count: st.tuples(st.just(count), st.integers(0, count - 1))))
def test_any_leaf_of_any_tree_climbs_to_the_root(case):
    count, index = case
    d = leaves(count)
    assert climb(d[index], index, count, audit_path(d, index)) == tree_root(d)


@pytest.mark.parametrize(("index", "count"), [(0, 2**32 - 1), (2**32 - 2, 2**32 - 1), (2**31, 2**31 + 1), (0, 1)])
def test_a_path_has_at_most_one_sibling_for_each_bit_of_the_count(index, count):
    assert path_length(index, count) <= (count - 1).bit_length() <= 32


@pytest.mark.parametrize(("index", "count"), [(0, 0), (1, 1), (-1, 3), (3, 3)])
def test_a_leaf_that_is_not_there_has_no_path(index, count):
    with pytest.raises(ValueError, match=f"no leaf {index} in a tree of {count}"):
        audit_path(leaves(count), index)

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core.digest import Digest, hash_fields
from steadlith_core.records import DocumentId
from steadlith_core.state.trie import EMPTY_TRIE_ROOT, document_key, trie_root


def documents(count):
    return [(document_key(DocumentId("docs", f"{i}.md")), Digest(i.to_bytes(32, "big"))) for i in range(count)]


def recursive(rows, depth=0):
    """The canonical form as format.md 5 words it, without any care for speed."""
    rows = sorted(rows)
    if len(rows) <= 32:
        return hash_fields("trie-leaf", [part for row in rows for part in row])
    children = []
    for nibble in range(16):
        below = [row for row in rows if int(row[0].hex()[depth], 16) == nibble]
        if below:
            children += [nibble, recursive(below, depth + 1)]
    return hash_fields("trie-node", children)


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 64, 1000, 5000])
def test_the_trie_has_the_canonical_form(count):
    assert trie_root(documents(count)) == recursive(documents(count))


@settings(max_examples=30)
@given(st.randoms(use_true_random=False), st.integers(0, 400))
def test_the_root_does_not_depend_on_order(rng, count):
    rows = documents(count)
    root = trie_root(rows)
    rng.shuffle(rows)
    assert trie_root(iter(rows)) == root


def test_any_change_of_one_document_changes_the_root():
    rows = documents(200)
    root = trie_root(rows)
    rng = random.Random(7)
    for _ in range(20):
        at = rng.randrange(len(rows))
        key, value = rows[at]
        changed = [*rows[:at], (key, Digest(bytes(31) + b"\xff")), *rows[at + 1 :]]
        assert trie_root(changed) != root
        assert trie_root(rows[:at] + rows[at + 1 :]) != root
        assert value != bytes(31) + b"\xff"


def test_the_empty_trie_is_an_empty_leaf():
    assert trie_root([]) == EMPTY_TRIE_ROOT == hash_fields("trie-leaf", [])


def test_a_key_given_twice_is_refused():
    row = documents(1)[0]
    with pytest.raises(ValueError, match="given twice"):
        trie_root([row, row])


def test_two_sources_with_one_path_have_two_keys():
    assert document_key(DocumentId("a", "readme.md")) != document_key(DocumentId("b", "readme.md"))

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core.digest import Digest, hash_fields
from steadlith_core.errors import StoreCorrupt
from steadlith_core.rows import TrieNode, TrieRow
from steadlith_core.state.difference import WholeTrie, differences
from steadlith_core.state.proof import verify_document
from steadlith_core.state.proving import StoredTrie, Trie
from steadlith_core.state.tree import document_root

digits = st.sampled_from([0, 0, 0, 1, 15])
close = st.lists(digits, min_size=64, max_size=64).map(lambda n: Digest(bytes.fromhex("".join(f"{x:x}" for x in n))))
keys = close | st.integers(0, 200).map(lambda value: hash_fields("key", value))
values = st.integers(0, 2).map(lambda value: Digest(value.to_bytes(32, "big")))
corpora = st.dictionaries(keys, st.tuples(values, values), max_size=120)


def rows(corpus):
    return [TrieRow(key, *values) for key, values in corpus.items()]


def set_difference(old, new):
    found = {key: (old.get(key), new.get(key)) for key in sorted(old.keys() | new.keys())}
    return [
        tuple(value and TrieRow(key, *value) for value in pair) for key, pair in found.items() if pair[0] != pair[1]
    ]


def told(old, new):
    return [(each.old, each.new) for each in differences(WholeTrie(rows(old)), WholeTrie(rows(new)))]


@settings(max_examples=100, deadline=None)
@given(corpora, corpora)
def test_two_corpora_differ_by_their_set_difference_in_key_order(old, new):
    assert told(old, new) == set_difference(old, new)


@settings(max_examples=100, deadline=None)
@given(corpora, st.dictionaries(keys, st.none() | st.tuples(values, values), max_size=5))
def test_an_edited_corpus_differs_by_its_edits(old, edits):
    new = {key: value for key, value in {**old, **edits}.items() if value}
    found = told(old, new)
    assert found == set_difference(old, new)
    assert [(right, left) for left, right in found] == told(new, old)


def drawn(count, seed=1):
    raw = random.Random(seed).randbytes(96 * count)
    return [TrieRow(*(Digest(raw[at + n : at + n + 32]) for n in (0, 32, 64))) for at in range(0, len(raw), 96)]


class Counting:
    def __init__(self, trie):
        self.trie = trie
        self.asked = 0

    def nodes(self, prefixes):
        self.asked += len(prefixes)
        return self.trie.nodes(prefixes)

    def rows(self, prefix):
        self.asked += 1
        return self.trie.rows(prefix)


def test_equal_nodes_are_skipped():
    old = drawn(20_000)
    changed = [TrieRow(row.key, row.root, row.root) for row in old[:3]]
    tries = [Counting(WholeTrie(old)), Counting(WholeTrie([*changed, *old[3:]]))]
    assert [each.key for each in differences(*tries)] == sorted(row.key for row in changed)
    assert all(trie.asked < 3 * 4 * 17 for trie in tries)
    same = Counting(WholeTrie(old))
    assert differences(same, same) == []
    assert same.asked == 2


def test_a_whole_trie_answers_as_a_store_does():
    corpus = drawn(500)
    trie = WholeTrie(corpus)
    for prefix in ("", "a", "ab", "abc"):
        expected = sorted((row for row in corpus if row.key.hex().startswith(prefix)), key=lambda row: row.key)
        assert trie.rows(prefix) == expected
    assert trie.nodes([""])[""] == trie.top
    assert trie.nodes(["zz", "0", "f" * 64]).keys() == {"0"}
    highest = TrieRow(Digest(b"\xff" * 32), corpus[0].root, corpus[0].root)
    assert WholeTrie([*corpus, highest]).rows("f")[-1] == highest
    with pytest.raises(ValueError, match="given twice"):
        WholeTrie([corpus[0], corpus[0]])


@settings(max_examples=100, deadline=None)
@given(corpora, st.lists(keys, max_size=5))
def test_a_proof_from_stored_nodes_has_the_bytes_of_one_from_all_rows(corpus, others):
    stored = StoredTrie(WholeTrie(rows(corpus)))
    trie = Trie([(key, root) for key, (root, _) in corpus.items()])
    for key in [*list(corpus)[:10], *others]:
        assert stored.prove(key) == trie.prove(key)


@pytest.mark.parametrize("count", [0, 1, 32, 40, 3000])
def test_a_chunks_proof_from_stored_nodes_has_the_bytes_of_one_from_all_rows(count):
    chunks = [hash_fields("demo", number) for number in range(5)]
    topology = [(-1, True), (-1, False), (1, True), (1, True), (-1, True)]
    key, source = hash_fields("key", "own"), hash_fields("demo", "source")
    corpus = [*drawn(count), TrieRow(key, document_root(chunks, {"title": "T"}, topology), source)]
    counting = Counting(WholeTrie(corpus))
    stored, trie = StoredTrie(counting), Trie((row.key, row.root) for row in corpus)
    for index in range(5):
        made = stored.prove_chunk(key, chunks, {"title": "T"}, index, topology)
        assert made == trie.prove_chunk(key, chunks, {"title": "T"}, index, topology)
    assert counting.asked <= 5 * (2 + 16 * 4)
    verify_document(trie.corpus_root, key, corpus[-1].root, stored.prove(key))
    with pytest.raises(ValueError, match="the corpus has"):
        stored.prove_chunk(key, chunks, {}, 0, topology)
    with pytest.raises(ValueError, match="no leaf 5"):
        stored.prove_chunk(key, chunks, {"title": "T"}, 5, topology)


def test_nodes_that_are_no_trie_are_a_corrupt_store():
    class Lying:
        def nodes(self, prefixes):
            return {prefix: TrieNode(33, prefix_digest, prefix_digest) for prefix in prefixes if len(prefix) < 1}

        def rows(self, prefix):
            return ()

    prefix_digest = Digest(bytes(32))
    with pytest.raises(StoreCorrupt, match="do not belong together"):
        StoredTrie(Lying()).prove(prefix_digest)

from hypothesis import given
from hypothesis import strategies as st

from steadlith_core.retrieval.fusion import additive
from steadlith_core.rows import ArmHit

arms = st.dictionaries(st.integers(0, 9), st.floats(-1, 1)).map(lambda d: [ArmHit(k, v) for k, v in d.items()])


def test_scores_are_shares_of_each_arms_best():
    fused = additive([ArmHit(1, 0.8), ArmHit(2, 0.4)], [ArmHit(2, 6.0), ArmHit(3, 3.0)], {3: 0.2})
    assert [(hit.entry, round(hit.score, 6)) for hit in fused] == [(2, 1.5), (1, 1.0), (3, 0.75)]
    assert fused[1].lexical is None


def test_ties_are_ordered_by_entry():
    fused = additive([ArmHit(5, 0.5), ArmHit(2, 0.5)], [], {})
    assert [hit.entry for hit in fused] == [2, 5]


def test_an_entry_that_has_nothing_in_common_with_the_query_is_no_answer():
    assert additive([ArmHit(1, 0.0), ArmHit(2, -0.2)], [], {}) == ()
    found = additive([ArmHit(1, 0.0), ArmHit(2, 0.3), ArmHit(3, -0.2)], [ArmHit(3, 0.0)], {})
    assert [(hit.entry, hit.score, hit.lexical) for hit in found] == [(2, 1.0, None), (3, 0.0, 0.0)]


def test_a_negative_cosine_takes_nothing_from_what_the_words_say():
    fused = additive([ArmHit(1, 0.01), ArmHit(2, -0.5)], [ArmHit(2, 1.0), ArmHit(3, 0.9)], {3: -0.9})
    assert [(hit.entry, hit.score) for hit in fused] == [(1, 1.0), (2, 1.0), (3, 0.9)]


@given(arms, arms, st.randoms(use_true_random=False))
def test_the_order_is_total_and_does_not_depend_on_input_order(dense, lexical, rng):
    first = additive(dense, lexical, {})
    rng.shuffle(dense)
    rng.shuffle(lexical)
    assert additive(dense, lexical, {}) == first
    assert {hit.entry for hit in first} == {hit.entry for hit in (*(d for d in dense if d.score > 0), *lexical)}

"""What is said of an embedder's answers."""

from steadlith_core import vectors
from steadlith_core.applying import audit

UNIT = [vectors.pack([float(place == one) for place in range(4)]) for one in range(4)]
ZERO = vectors.pack([0.0] * 4)


def test_the_first_five_problems_are_told_and_the_others_counted():
    assert audit.answer_problems(2, 4, UNIT[:2]) == ()
    assert audit.answer_problems(3, 4, UNIT[:2]) == ("2 vectors came back for 3 texts",)
    found = audit.answer_problems(5, 4, [ZERO] * 5)
    assert [each.split()[1] for each in found] == ["0", "1", "2", "3", "4"]
    assert audit.answer_problems(7, 4, [ZERO] * 7) == (*found, "and 2 more")


def test_one_vector_for_different_texts_is_odd_and_for_one_text_is_not():
    assert audit.equality_doubt(UNIT[:1]) is None
    assert audit.equality_doubt(UNIT[:2]) is None
    assert "2 different texts" in audit.equality_doubt([UNIT[0]] * 2)


def test_a_text_that_alone_has_another_vector_is_doubted_and_where_it_is_said():
    assert audit.order_doubt(UNIT, 2, UNIT[2]) is None
    elsewhere = audit.order_doubt(UNIT, 2, UNIT[1])
    assert "text 2 of 4" in elsewhere
    assert elsewhere.endswith("(cosine distance 1.0000); it is nearest to vector 1, so the order may be wrong")
    drifted = vectors.unit(vectors.pack([0.1, 0.0, 1.0, 0.0]))
    assert "nearest" not in audit.order_doubt(UNIT, 2, drifted)


def test_a_probe_of_another_shape_is_another_model():
    assert audit.probe_problem(UNIT, UNIT) is None
    shape = "the model answers the probe texts with vectors of another shape than it did at first"
    assert audit.probe_problem(UNIT, UNIT[:3]) == shape
    assert audit.probe_problem(UNIT[:3], UNIT) == shape
    assert audit.probe_problem([*UNIT[:3], UNIT[3][:-4]], UNIT) == shape


def test_two_probes_that_moved_are_another_model_and_the_worst_is_told():
    one, two = [UNIT[1], *UNIT[1:]], [UNIT[1], UNIT[0], *UNIT[2:]]
    assert audit.probe_problem(one, UNIT) is None
    assert "2 of 4 probe texts" in audit.probe_problem(two, UNIT)
    assert "(worst cosine distance 1.0000)" in audit.probe_problem(two, UNIT)


def test_the_answer_to_the_probe_is_judged_before_it_is_compared():
    eight = UNIT * 2
    assert audit.probe_error(eight, None, 4) is None
    assert audit.probe_error(eight, eight, 4) is None
    assert "7 vectors came back for 8 texts" in str(audit.probe_error(eight[:7], None, 4))
    assert "another shape" in str(audit.probe_error(eight, eight[:7], 4))

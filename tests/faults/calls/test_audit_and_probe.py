"""What a provider answers is judged, and whether it is still the same model is asked when that can cost something."""

import pytest

from steadlith_core.applying.audit import PROBE_TEXTS
from steadlith_core.errors import EmbeddingError
from steadlith_core.events import Warned

PROBE = list(PROBE_TEXTS)


def warnings(shop):
    told = []
    shop.apply(report=told.append)
    return [event.message for event in told if isinstance(event, Warned)]


def test_the_probe_is_one_call_a_run_and_only_where_something_must_be_embedded(shop):
    shop.write("a", "b")
    shop.apply()
    assert [call == PROBE for call in shop.provider.calls] == [True, False]
    shop.apply()  # no changes
    (shop.docs / "a.txt").rename(shop.docs / "moved.txt")
    shop.apply()  # a move
    for path in (shop.root / ".steadlith").glob("index*"):
        path.unlink()
    shop.apply()  # everything anew, out of the cache
    assert len(shop.provider.calls) == 2
    shop.write("c", "d", "e", "f", "g")
    shop.apply()
    assert [call == PROBE for call in shop.provider.calls[2:]] == [True, False, False]


def test_a_model_that_changed_behind_its_name_embeds_nothing_more(shop):
    shop.write("a")
    shop.apply()
    shop.provider.lasting = 1, "another model"
    shop.write("b")
    with pytest.raises(EmbeddingError, match=r"changed behind its name: 8 of 8 probe texts"):
        shop.apply()
    assert shop.provider.calls[2:] == [PROBE]
    assert shop.open().head().generation == 1


@pytest.mark.parametrize("audit", ["usual", "strict"])
def test_one_vector_for_all_texts_is_a_warning_of_the_strict_audit_alone(shop, audit):
    shop.configure(embedding=f'audit = "{audit}"')
    shop.provider.faults[2] = "one vector for all"
    shop.write("a", "b", "c")
    found = warnings(shop)
    assert found == (
        ["the embedder answers 3 different texts with one and the same vector"] if audit == "strict" else []
    )
    assert shop.open().head().generation == 1


@pytest.mark.parametrize("audit", ["usual", "strict"])
def test_another_order_is_a_warning_of_the_strict_audit_alone(shop, audit):
    shop.configure(embedding=f'audit = "{audit}"')
    shop.provider.faults[2] = "another order"
    shop.write("a", "b", "c")
    found = warnings(shop)
    assert len(found) == (audit == "strict")
    assert all("nearest to vector 0, so the order may be wrong" in message for message in found)
    assert shop.open().head().generation == 1
    assert shop.provider.paid.total() == 3 + (audit == "strict")  # the comparison is one text a run


def test_a_strict_audit_has_nothing_to_say_of_a_good_answer(shop):
    shop.configure(embedding='audit = "strict"')
    shop.write("a", "b", "c")
    assert warnings(shop) == []

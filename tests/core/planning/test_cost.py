import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from steadlith_core.digest import hash_fields
from steadlith_core.planning import cost
from steadlith_core.planning.make import make_plan
from steadlith_core.text.tokens import ESTIMATOR_ID

RESULTS = Path(__file__).parents[3] / "benchmarks" / "tokens" / "RESULTS.md"


def planned(build, before, after, available=(), **changes):
    return make_plan(replace(build.world(before, after), available=frozenset(available)), build.terms(**changes)).plan


def test_paid_cached_and_rekeyed_are_counted_apart(build):
    other = build.recipe(chunker_params_hash=hash_fields("params", "q"))
    before = build.wanted("a", "ab")
    world = build.world([before], [build.wanted("a", "abaXY", other)], now=other)
    known = [chunk.vector_key for chunk in (*before.chunks, *build.wanted("x", "Y").chunks)]
    made = make_plan(replace(world, available=frozenset(known)), build.terms()).plan
    assert (made.counts["rekey"], made.counts["add"]) == (2, 3)
    # X is paid; Y is in the cache, and so is the vector of the second a.
    assert (made.cost.embeddings, made.cost.cached, made.cost.rekeyed) == (1, 2, 2)


def test_a_rekey_whose_vector_is_nowhere_is_paid_for(build):
    other = build.recipe(chunker_params_hash=hash_fields("params", "q"))
    world = build.world([build.wanted("a", "a")], [build.wanted("a", "a", other)], now=other)
    made = make_plan(replace(world, available=frozenset()), build.terms())
    assert (made.plan.cost.embeddings, made.plan.cost.cached, made.plan.cost.rekeyed) == (1, 0, 0)


def test_an_estimate_says_whose_it_is_and_how_far_it_is_off(build):
    made = planned(build, [], [build.wanted("a", "ab")]).cost
    assert (made.tokens, made.counted_by, made.error_percent) == (6, ESTIMATOR_ID, 15)
    made = planned(build, [], [build.wanted("a", "ab")], counted_by="tiktoken:x").cost
    assert (made.counted_by, made.error_percent) == ("tiktoken:x", None)


def test_the_error_that_is_shown_is_the_one_that_was_measured():
    unseen = RESULTS.read_text("utf-8").split("## Unseen documents")[1].split("##")[0]
    for group in ("english", "python"):
        mean, deviation = map(float, re.search(rf"\| {group} \|[^|]+\|[^|]+\| ([\d.]+) \| ([\d.]+)", unseen).groups())
        off = 100 * (abs(mean - 1) + 2 * deviation)
        assert off <= cost.USUAL_ERROR_PERCENT[ESTIMATOR_ID]


def test_money_is_rounded_to_a_millionth_and_unknown_without_a_price():
    price = cost.Price(Decimal("0.02"), "EUR", "2026-11-01")
    assert cost.amount(1_234_567, price) == "0.024691"
    assert cost.amount(25, price) == "0.000001"  # 0.0000005, rounded half up
    assert cost.amount(0, price) == "0.000000"
    assert cost.amount(5, None) is None


def test_a_mended_document_whose_vector_is_nowhere_is_embedded_and_paid_for(build):
    document = build.wanted("a", "xyx")
    world = build.world([document], [document])
    x, y, _ = document.chunks
    mended = replace(
        world,
        recorded={document.id: build.committed([document])[1][document.id]},
        chunks={document.id: build.committed([document])[2][document.id]},
        wanted={document.id: document},
        mended=frozenset({document.id}),
        available=frozenset({y.vector_key}),
    )
    made = make_plan(mended, build.terms())
    (change,) = made.plan.changes
    assert [(step.position, step.paid, str(step.reason)) for step in change.steps] == [
        (0, True, "drift"),
        (2, False, "drift"),
    ]
    assert (made.plan.cost.embeddings, made.plan.cost.cached, made.plan.cost.repeated) == (1, 0, 1)
    assert made.writes.inputs.keys() == {x.vector_key, y.vector_key}
    assert made.plan.base.corpus_root == made.plan.target.corpus_root
    whole = make_plan(replace(mended, available=frozenset({x.vector_key, y.vector_key})), build.terms())
    assert whole.plan.changes == ()
    assert [version.id for version in whole.writes.versions()] == [document.id]


def test_calls_are_rounded_up_and_who_pays_for_nothing_asks_no_probe(build):
    made = planned(build, [], [build.wanted("a", "abc")]).cost
    assert (made.embeddings, made.calls, made.probe_texts) == (3, 2, 8)
    document = build.wanted("a", "ab")
    made = planned(build, [], [document], [chunk.vector_key for chunk in document.chunks]).cost
    assert (made.embeddings, made.cached, made.calls, made.probe_texts) == (0, 2, 0, 0)


def test_what_is_not_told_is_nothing_and_estimated():
    made = cost.cost([2, 3], cached=1, batch_size=2, probe_texts=8, local=True, price=None)
    assert (made.rekeyed, made.repeated, made.tokens, made.counted_by) == (0, 0, 5, ESTIMATOR_ID)

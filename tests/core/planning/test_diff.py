import random
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steadlith_core.planning import diff as module
from steadlith_core.planning.diff import diff


def lcs_length(old, new):
    row = [0] * (len(new) + 1)
    for a in old:
        previous = 0
        for j, b in enumerate(new):
            row[j + 1], previous = (previous + 1 if a == b else max(row[j + 1], row[j])), row[j + 1]
    return row[-1]


letters = st.lists(st.integers(0, 6), max_size=25)


@settings(max_examples=300)
@given(letters, letters)
def test_every_position_has_one_fate(old, new):
    result = diff(old, new)
    olds = [pair[0] for pair in result.kept] + [pair[0] for pair in result.moved] + list(result.gone)
    news = [pair[1] for pair in result.kept] + [pair[1] for pair in result.moved] + list(result.new)
    assert sorted(olds) == list(range(len(old)))
    assert sorted(news) == list(range(len(new)))
    assert all(old[i] == new[j] for i, j in (*result.kept, *result.moved))


@settings(max_examples=300)
@given(letters, letters)
def test_kept_pairs_ascend_on_both_sides(old, new):
    kept = diff(old, new).kept
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(kept))


@settings(max_examples=300)
@given(letters, letters)
def test_nothing_new_is_also_gone(old, new):
    result = diff(old, new)
    assert not {old[i] for i in result.gone} & {new[j] for j in result.new}


@settings(max_examples=200)
@given(st.lists(st.integers(), unique=True, max_size=30), st.data())
def test_among_unique_values_the_kept_run_is_a_longest_one(old, data):
    new = data.draw(st.permutations(old)) if old else []
    assert len(diff(old, new).kept) == lcs_length(old, new)


def test_one_insertion_moves_nothing():
    old = list(range(1000))
    result = diff(old, ["new", *old])
    assert (len(result.kept), result.moved, result.gone, result.new) == (1000, (), (), (0,))


def test_a_block_move_moves_the_shorter_block():
    old = list(range(100))
    result = diff(old, old[10:] + old[:10])
    assert len(result.kept) == 90
    assert len(result.moved) == 10


def test_repeated_boilerplate_around_an_edit_is_kept():
    old = ["x", "a", "x", "b", "x", "c", "x"]
    new = ["x", "a", "x", "B", "x", "c", "x"]
    result = diff(old, new)
    assert (len(result.kept), result.moved, result.gone, result.new) == (6, (), (3,), (3,))


def test_a_gap_of_repeats_stays_within_the_cap(monkeypatch):
    monkeypatch.setattr(module, "MAX_PAIRS", 100)
    old, new = ["a", "b"] * 200, ["b", "a"] * 200
    result = diff(old, new)
    assert len(result.kept) >= 199
    assert not result.gone
    assert not result.new


def test_real_sized_edits_keep_what_an_exact_lcs_keeps():
    rng = random.Random(3)
    old = [rng.randrange(10**9) if rng.random() > 0.05 else rng.randrange(5) for _ in range(3000)]
    new = list(old)
    for _ in range(20):
        at = rng.randrange(len(new))
        rng.choice([lambda at=at: new.pop(at), lambda at=at: new.insert(at, rng.randrange(10**9))])()
    assert len(diff(old, new).kept) == lcs_length(old, new)


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_the_hash_seed_decides_nothing(seed):
    code = (
        "from steadlith_core.planning.diff import diff;"
        "a=[f't{i*7%13}' for i in range(60)];b=[f't{i*5%17}' for i in range(60)];print(diff(a,b))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
    )
    a, b = [f"t{i * 7 % 13}" for i in range(60)], [f"t{i * 5 % 17}" for i in range(60)]
    assert run.stdout.strip() == str(diff(a, b))

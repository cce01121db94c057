"""How often cycles are looked for, and by whom that is decided."""

import gc
from threading import Barrier, Thread

import pytest

from steadlith.collecting import SELDOM, collecting_seldom


@pytest.fixture(autouse=True)
def usual():
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_a_plan_and_an_apply_look_seldom_and_put_the_setting_back(site):
    looked = []
    site.write("a.md", "# One\n\nwords\n")
    with site.open() as index:
        plan = index.plan()
        index.apply(plan, report=lambda _event: looked.append(gc.get_threshold()))
    assert set(looked) == {SELDOM}
    assert gc.get_threshold() == (700, 10, 10)


def test_a_failure_puts_the_setting_back():
    with pytest.raises(ZeroDivisionError), collecting_seldom:
        raise ZeroDivisionError
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("chosen", [(0, 10, 10), (1_000_000, 5, 5)])
def test_whoever_collects_more_seldom_is_left_alone(chosen):
    gc.set_threshold(*chosen)
    with collecting_seldom:
        assert gc.get_threshold() == chosen
    assert gc.get_threshold() == chosen


def test_a_setting_that_was_chosen_meanwhile_stays():
    with collecting_seldom:
        gc.set_threshold(500, 5, 5)
    assert gc.get_threshold() == (500, 5, 5)


def test_it_is_put_back_by_the_last_of_several_threads():
    inside, first_left = Barrier(2), Barrier(2)
    after_the_first = []

    def first():
        with collecting_seldom:
            inside.wait(10)
        first_left.wait(10)

    thread = Thread(target=first)
    thread.start()
    with collecting_seldom:
        inside.wait(10)
        first_left.wait(10)
        after_the_first.append(gc.get_threshold())
    thread.join(10)
    assert after_the_first == [SELDOM]
    assert gc.get_threshold() == (700, 10, 10)

"""A commit's answer is lost: whatever became of it, the head is looked at, and nothing is written or paid for twice."""

import pytest
from faults.campaign import make_base

import steadlith
from steadlith.hands import Hands
from steadlith_core.applying import effects as fx
from steadlith_core.errors import AdapterError, OutcomeUnknown

FAULT = "a commit of which no answer comes"
HOW = "its answer is dropped, before or after it happens; the head can be read at once, later, or not by this run"


@pytest.fixture
def lost(monkeypatch):
    """Lose the answer of each commit, which `happens` or not; afterwards `looks` looks at the head fail."""
    performed, whole = [], Hands._do

    def lose(*, happens, looks):
        def do(hands, effect):
            performed.append(type(effect).__name__)
            if isinstance(effect, fx.Commit):
                if happens:
                    whole(hands, effect)
                raise OutcomeUnknown("the answer was lost")
            if isinstance(effect, fx.ReadHead) and "Commit" in performed and performed.count("ReadHead") <= 1 + looks:
                raise AdapterError("the disk does not answer")
            return whole(hands, effect)

        monkeypatch.setattr(Hands, "_do", do)
        return performed

    return lose


@pytest.mark.parametrize("looks", range(4))
@pytest.mark.parametrize("happens", [True, False], ids=["committed", "not committed"])
def test_the_head_is_looked_at_before_anything_is_tried_again(tmp_path, monkeypatch, lost, tried, happens, looks):
    monkeypatch.setattr("steadlith.clock.sleep", lambda _seconds: None)
    monkeypatch.setattr("steadlith.clock.spread", lambda _seconds: 0.0)
    site = make_base(tmp_path)
    plan = steadlith.open(site).plan()
    performed = lost(happens=happens, looks=looks)
    if happens and looks < 3:
        done = steadlith.open(site).apply(plan)
        assert (done.head.generation, done.already) == (1, False)
    else:
        with pytest.raises(AdapterError) as raised:
            steadlith.open(site).apply(plan)
        assert isinstance(raised.value, OutcomeUnknown) == (looks == 3)
        assert raised.value.exit_code == (6 if looks == 3 else 1)
        assert ("run again" if looks == 3 else "apply again") in str(raised.value)
    assert performed.count("Commit") == 1
    assert performed[-1] == "Release"
    monkeypatch.undo()
    again = steadlith.open(site).apply(plan)
    assert (again.already, again.embedded, again.head.generation) == (happens, 0, 1)
    assert steadlith.open(site).verify().ok
    tried(FAULT, HOW)

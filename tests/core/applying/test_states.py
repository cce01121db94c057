from steadlith_core.applying.states import TRANSITIONS, Signal, State


def test_every_state_is_reached_from_ready_and_leads_to_the_end():
    reached = {State.READY}
    for _ in State:
        reached |= {after for (before, _), after in TRANSITIONS.items() if before in reached}
    assert reached == set(State)
    ending = {State.ENDED}
    for _ in State:
        ending |= {before for (before, _), after in TRANSITIONS.items() if after in ending}
    assert ending == set(State)


def test_only_releasing_ends_a_run():
    assert {before for (before, _), after in TRANSITIONS.items() if after is State.ENDED} == {State.RELEASING}


def test_nothing_is_committed_before_sources_were_checked_and_vectors_resolved():
    before_commit = {before for (before, _), after in TRANSITIONS.items() if after is State.COMMITTING}
    assert before_commit == {State.RESOLVING, State.EMBEDDING}


def test_every_signal_is_used():
    assert {signal for _, signal in TRANSITIONS} == set(Signal)

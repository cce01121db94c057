"""Options of `apply` that say how long is waited, and what is held."""

import json

import pytest

from steadlith.index import Index


@pytest.fixture
def given(monkeypatch):
    """What `Index.apply` was called with."""
    calls, whole = [], Index.apply

    def apply(index, plan, **options):
        calls.append(options)
        return whole(index, plan, **options)

    monkeypatch.setattr(Index, "apply", apply)
    return calls


def test_times_are_passed_on(cli, folder, given):
    assert cli("apply", "--yes", "--lock-timeout", "2.5", "--max-retry-time", "90").code == 0
    assert (given[0]["lock_timeout"], given[0]["max_retry_time"]) == (2.5, 90.0)


def test_without_them_nobody_waits_for_the_lock_and_the_configuration_says_the_rest(cli, folder, given):
    assert cli("apply", "--yes").code == 0
    assert (given[0]["lock_timeout"], given[0]["max_retry_time"]) == (0.0, None)


@pytest.mark.parametrize("option", ["--lock-timeout", "--max-retry-time"])
@pytest.mark.parametrize("value", ["-1", "nan", "inf", "1e400", "soon", ""])
def test_a_time_that_is_none_is_a_usage_error(cli, folder, given, option, value):
    ran = cli("apply", "--yes", option, value)
    assert ran.code == 64
    assert option in ran.err
    assert given == []


def test_a_held_document_stays_out(cli, folder):
    ran = cli("apply", "--yes", "--hold", "docs:a.md", "--json")
    assert ran.code == 0
    done = json.loads(ran.out)
    assert (done["documents"], done["held"]) == (1, [{"source": "docs", "path": "a.md"}])
    assert "Held, and not looked at: docs:a.md." in cli("plan", "--hold", "a.md").out


def test_a_saved_plan_says_itself_what_it_holds(cli, saved):
    ran = cli("apply", str(saved), "--hold", "a.md")
    assert ran.code == 64
    assert "--hold is for a new plan" in ran.err


def test_a_held_name_of_no_source_is_a_usage_error(cli, folder):
    ran = cli("plan", "--hold", "")
    assert ran.code == 64
    assert "names no document" in ran.err

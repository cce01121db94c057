"""Signals during `apply`: at once while it plans, at a safe point while it writes."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from steadlith.cli.stopping import SIGNALS
from steadlith.index import Index
from steadlith_core.errors import Stopped

WRITING = """
import io, os, sys
from steadlith.cli.stopping import stopping

class Raw(io.RawIOBase):
    def writable(self):
        return True
    def write(self, data):
        os.kill(os.getpid(), {number})
        return os.write(2, data)

with stopping() as state:
    state.gently()
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(Raw()), write_through=True)
    sys.stderr.write("a line\\n")
    sys.stderr.flush()
    print("asked", state.requested(), flush=True)
    os._exit(0)  # before the stream above is flushed again
"""


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("arguments", [["--yes"], ["--yes", "--json"]])
def test_a_signal_while_planning_interrupts_at_once(cli, folder, monkeypatch, number, arguments):
    def plan(_index, **_options):
        os.kill(os.getpid(), number)
        time.sleep(30)

    monkeypatch.setattr(Index, "plan", plan)
    before = time.monotonic()
    ran = cli("apply", *arguments)
    assert time.monotonic() - before < 10
    assert ran.code == 130
    assert ran.err.strip() == "Interrupted."
    assert [json.loads(line)["exit_code"] for line in ran.out.splitlines()] == [130] * ("--json" in arguments)
    assert json.loads(cli("status", "--json").out)["generation"] == 0


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_applying_is_a_request(cli, folder, monkeypatch, number):
    def apply(_index, _plan, *, stop_requested, **_rest):
        assert not stop_requested()
        os.kill(os.getpid(), number)
        while not stop_requested():
            time.sleep(0.01)
        raise Stopped("stopped")

    monkeypatch.setattr(Index, "apply", apply)
    ran = cli("apply", "--yes")
    assert ran.code == 6
    assert "Stopping at the next safe point; ask again to leave at once." in ran.err


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_may_come_while_a_line_is_written(number):
    """Its handler entered the buffered stderr a second time, and the run ended with an internal error."""
    ran = subprocess.run(
        [sys.executable, "-c", WRITING.format(number=int(number))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "asked True\n"), ran.stderr
    assert ran.stderr.splitlines().count("Stopping at the next safe point; ask again to leave at once.") == 1


def test_afterwards_the_signals_mean_what_they_meant(cli, folder):
    before = [signal.getsignal(number) for number in SIGNALS]
    assert cli("apply", "--yes").code == 0
    assert [signal.getsignal(number) for number in SIGNALS] == before

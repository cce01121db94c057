"""A shop with a provider on the loopback, and a clock on which nobody has to wait."""

import threading
import time

import pytest
from faults.calls.provider import Provider
from faults.calls.shop import THIRD_PARTY, Shop

from steadlith import clock, wiring


@pytest.fixture
def provider():
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.close()
    thread.join()


@pytest.fixture
def shop(tmp_path, provider, monkeypatch):
    monkeypatch.syspath_prepend(THIRD_PARTY)
    wiring._points.cache_clear()
    yield Shop(tmp_path, provider)
    monkeypatch.undo()
    wiring._points.cache_clear()


class Clock:
    """A clock on which every sleep is over at once; `waited` is what was slept."""

    def __init__(self):
        self.waited = 0.0

    def monotonic(self):
        return time.monotonic() + self.waited

    def sleep(self, seconds):
        self.waited += seconds


@pytest.fixture
def ticking(monkeypatch):
    """Nobody has to wait, and it is known how long they would have."""
    made = Clock()
    monkeypatch.setattr(clock, "monotonic", made.monotonic)
    monkeypatch.setattr(clock, "sleep", made.sleep)
    return made

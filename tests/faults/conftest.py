"""How often each fault was tried."""

import pytest


@pytest.fixture
def tried():
    """Call `tried(fault, how, times=1)` for each fault that was tried, once its outcome was found to be right."""
    return lambda fault, how, times=1: None

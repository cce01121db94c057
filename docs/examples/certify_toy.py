import pytest

from steadlith_adapters.embedders.hash import FACTORY
from steadlith_conformance.embedders import EmbedderSuite


class TestToy(EmbedderSuite):
    @pytest.fixture
    def factory(self):
        return FACTORY

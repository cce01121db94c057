import pytest
from steadlith_conformance.embedders import EmbedderSuite

from steadlith_example.embedder import FACTORY


class TestExampleEmbedder(EmbedderSuite):
    @pytest.fixture
    def factory(self):
        return FACTORY

"""Every policy of ours keeps the kit's rules for chunkers, under the settings that a user gets."""

import pytest

from steadlith_conformance.chunkers import ChunkerSuite
from steadlith_core.chunking import cdc, late, packed, router, sections, semantic, structural


class TestStructural(ChunkerSuite):
    most_bytes = structural.MAX_TOKENS * structural.BYTES_PER_TOKEN

    @pytest.fixture
    def factory(self):
        return structural.FACTORY


class TestSmallStructural(ChunkerSuite):
    most_bytes = 96

    @pytest.fixture
    def factory(self):
        return structural.FACTORY

    @pytest.fixture
    def settings(self):
        return {"min_tokens": 6, "max_tokens": 24, "max_bytes": 96}


class TestCdc(ChunkerSuite):
    most_bytes = 16 * 90

    @pytest.fixture
    def factory(self):
        return cdc.FACTORY

    @pytest.fixture
    def settings(self):
        return {"min_words": 20, "max_words": 90, "divisor": 32, "backup_divisor": 8}


class TestMarkdown(ChunkerSuite):
    headings_in_text = False
    most_bytes = 16 * 320

    @pytest.fixture
    def factory(self):
        return sections.MARKDOWN


class TestLate(ChunkerSuite):
    headings_in_text = False

    @pytest.fixture
    def factory(self):
        return late.FACTORY

    @pytest.fixture
    def settings(self):
        return {"child_max_words": 40, "child_overlap_words": 8}


class TestSemantic(ChunkerSuite):
    most_bytes = 16 * 90

    @pytest.fixture
    def factory(self):
        return semantic.FACTORY

    @pytest.fixture
    def settings(self):
        return {"min_words": 20, "max_words": 90}


class TestRouter(ChunkerSuite):
    headings_in_text = False

    @pytest.fixture
    def factory(self):
        return router.FACTORY

    @pytest.fixture
    def settings(self):
        return {"kinds": {"markdown": {"policy": "markdown"}, "default": {"policy": "cdc"}}}


class Counted(ChunkerSuite):
    """Policies that count words from the document's start."""

    local = False
    most_bytes = 256

    @pytest.fixture
    def settings(self):
        return {"max_words": 5}


class TestFixed(Counted):
    @pytest.fixture
    def factory(self):
        return packed.FIXED


class TestPlain(Counted):
    @pytest.fixture
    def factory(self):
        return sections.PLAIN


class TestRecursive(Counted):
    @pytest.fixture
    def factory(self):
        return packed.RECURSIVE

    @pytest.fixture
    def settings(self):
        return {"target_words": 6, "overlap_words": 2}


class TestSentence(TestRecursive):
    @pytest.fixture
    def factory(self):
        return packed.SENTENCE


class TestWord(TestRecursive):
    @pytest.fixture
    def factory(self):
        return packed.WORD

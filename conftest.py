"""README.md and docs/ run as tests: every `>>>` in them must be true today."""

from doctest import ELLIPSIS

from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.rest import DocTestParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS), DocTestParser(optionflags=ELLIPSIS)],
    patterns=["README.md", "docs/*.md"],
).pytest()

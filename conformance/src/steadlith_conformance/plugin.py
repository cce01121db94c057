"""The pytest plug-in: options, levels, expected failures, the report. Loaded by pytest itself (`pytest11`).

1. A run without suites pays for the import of this module alone: it imports neither a suite nor Hypothesis.
2. A rule is silenced in the file of expected failures or not at all: a mark that skips one fails the run.
3. The entry point is named as the module, so that `-p steadlith_conformance.plugin` is the same plug-in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

# Not the package itself: this module has imported it already.
pytest.register_assert_rewrite(
    *(
        f"steadlith_conformance.{name}"
        for name in (
            *("cachefactories", "caches", "cacheupkeep", "chunkers", "chunksamples", "embedders", "formats", "places"),
            *("sources", "stores", "tokenizers"),
        )
    )
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, all of one group."""
    group = parser.getgroup("steadlith-conformance", "Steadlith's conformance kit")
    group.addoption("--conformance-report", metavar="FILE", help="write what every rule has shown to FILE, as JSON")
    group.addoption(
        "--conformance-strict", action="store_true", help="a SHOULD that is not kept fails the run, as a MUST does"
    )
    group.addoption(
        "--conformance-xfail", metavar="FILE", help="the TOML file of expected failures (else the ini value's)"
    )
    parser.addini("conformance_xfail", "TOML file of expected failures, relative to this file", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Open the run's book."""
    from steadlith_conformance.book import Book

    config.addinivalue_line("markers", "slow: rules and tests that take long; `-m 'not slow'` leaves them out")
    config.pluginmanager.register(Book(config), "steadlith-conformance-book")


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, tuple[str, Mapping[str, bool]]] | None:
    """A SHOULD that is not kept is neither a failure nor a pass."""
    if getattr(report, "conformance", {}).get("outcome") == "should_failed":
        return "should", "w", ("SHOULD", {"yellow": True})
    return None

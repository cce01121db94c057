"""The kit's suite over every saboteur of a kind, in one run of pytest of its own; what each rule said.

1. The honest adapter, wrapped like the others, is put to every rule.
2. A saboteur is put to the rules that it names; one of `FIRST` to the whole suite but for what takes long, and in a
   whole run every one is. What is marked `slow` is run for those alone that name it.
3. Hypothesis draws the same examples each time, and does not look for a smaller one: any failure will do.
"""

import importlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from sabotage.saboteurs import TABLES

HERE = Path(__file__).parent
HONEST = "honest"
DEMAND = "what this rule demands"
FIRST = {
    "no-op delete": "no_op_delete",
    "double insert": "double_insert",
    "stale read": "stale_head",
    "torn commit": "torn_commit",
    "truncated listing at 10,000": "listing_stops_at_ten_thousand",
    "lying capability, too much": "claims_a_larger_limit",
    "lying capability, too little": "offers_less_than_it_keeps",
    "silent post-filter": "silent_post_filter",
    "dead rows hiding live ones": "dead_hide_the_living",
    "NaN accepted": "nan_accepted",
    "resurrected tombstone": "resurrected_tombstone",
    "generation reused after abort": "generation_reused_after_abort",
    "non-deterministic ties": "non_deterministic_ties",
    "partial batch reported whole": "partial_batch_reported_whole",
    "lost update under race": "lost_update",
    "wrong generation read after compaction": "wrong_generation_read_after_compaction",
}
"""The classical ones among the stores."""

LONG = re.compile(
    "any_history|field_case_2[58]|filter|codes|put_again|full_comparison|dead_never|order_of_writing|space_is_given|"
    "graph|exact_means|goes_on|ten_thousand|large_index|appear_together|given_back|gives_back|moving_the_trie|"
    "every_live_record|many_documents|bm25|large_old"
)
"""Rules that take more than a moment."""


def run(kind, folder, *, whole=False):
    """What failed, and what ran, by saboteur."""
    target = folder / "verdicts.json"
    options = ["-q", "-n", "0", "--tb=native", "-p", "no:cacheprovider", "-p", "steadlith_conformance.plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(HERE / "arena.py"), *options],
        cwd=HERE.parents[2],
        env={**os.environ, "SABOTAGE_VERDICTS": str(target), "SABOTAGE_KIND": kind, "SABOTAGE_WHOLE": "1" * whole},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert target.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(target.read_text("utf-8"))


class Verdicts:
    """The plug-in of such a run."""

    def __init__(self, target):
        self.target = target
        self.whole = bool(os.environ.get("SABOTAGE_WHOLE"))
        self.failures = defaultdict(dict)
        self.ran = defaultdict(set)
        self.told = defaultdict(dict)
        self.items = {}
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("sabotage", derandomize=True, database=None, phases=phases, print_blob=False)
        settings.load_profile("sabotage")

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if self._is_run(item)]

    def _is_run(self, item):
        saboteur, rule = item.cls.saboteur, item.originalname
        if rule in saboteur.rules:
            return True
        if item.get_closest_marker("slow"):
            return False
        if saboteur.name == HONEST:
            return True
        return (self.whole or saboteur.name in FIRST.values()) and not LONG.search(rule)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        name, rule = item.cls.saboteur.name, item.originalname
        if call.when == "call":
            self.ran[name].add(rule)
        if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
            self.failures[name].setdefault(rule, call.excinfo.exconly())
            self.items[report.nodeid] = name, rule
        return report

    def pytest_runtest_logreport(self, report):
        """What the author of the adapter is told, as the kit's plug-in has completed it."""
        if report.nodeid in self.items and report.when == "call":
            name, rule = self.items[report.nodeid]
            self.told[name][rule] = str(getattr(report, "wasxfail", report.longrepr)).rpartition(DEMAND)[2]

    def pytest_sessionfinish(self):
        found = {
            "failures": self.failures,
            "told": self.told,
            "ran": {name: sorted(rules) for name, rules in self.ran.items()},
        }
        self.target.write_text(json.dumps(found), "utf-8")


def table(kind):
    """The saboteurs of a kind."""

    importlib.import_module(f"sabotage.{kind}_arena")
    return TABLES[kind].saboteurs


def suite(kind):
    """The kit's suite for a kind."""
    return importlib.import_module(f"sabotage.{kind}_arena").Arena.__mro__[1]

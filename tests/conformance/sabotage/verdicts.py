"""The kit's whole suite over every saboteur of a kind, in one run of pytest of its own; what each rule said.

1. A rule that takes long is run only for those that name it, and for the honest one.
2. Hypothesis draws the same examples each time, and does not look for a smaller one: any failure will do.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from sabotage.saboteurs import TABLES

HERE = Path(__file__).parent
LONG = {
    "test_any_history_reads_as_the_model_says",
    "test_candidates_are_found_by_their_codes_and_ordered_by_their_vectors",
    "test_root_and_rows_appear_together",
    "test_searching_goes_on_while_an_index_is_compacted",
    "test_the_dead_never_hide_the_living",
    "test_a_vector_that_is_put_again_is_found_where_it_is_now",
    "test_what_is_found_does_not_depend_on_the_order_of_writing",
    "test_every_live_record_is_found_by_its_own_vector_after_churn_and_compaction",
    "test_a_large_index_still_finds_what_is_rare_and_what_is_common",
    "test_what_is_known_never_changes_what_is_there",
    "test_space_is_given_back_and_nothing_that_stays_is_touched",
}


def run(kind, folder):
    """Failures by saboteur and rule."""
    target = folder / "verdicts.json"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(HERE / "arena.py"), "-q", "-n", "0", "--tb=native", "-p", "no:cacheprovider"],
        cwd=HERE.parents[2],
        env={**os.environ, "SABOTAGE_VERDICTS": str(target), "SABOTAGE_KIND": kind},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert target.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(target.read_text("utf-8"))


class Verdicts:
    """The plug-in of such a run."""

    def __init__(self, target):
        self.target = target
        self.failures = defaultdict(dict)
        self.ran = defaultdict(set)
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
        return rule not in LONG or saboteur.name == "honest"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        name, rule = item.cls.saboteur.name, item.originalname
        if call.when == "call":
            self.ran[name].add(rule)
        if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
            self.failures[name].setdefault(rule, call.excinfo.exconly())
        return report

    def pytest_sessionfinish(self):
        found = {"failures": self.failures, "ran": {name: sorted(rules) for name, rules in self.ran.items()}}
        self.target.write_text(json.dumps(found), "utf-8")


def table(kind):
    """The saboteurs of a kind."""
    import importlib

    importlib.import_module(f"sabotage.{kind}_arena")
    return TABLES[kind].saboteurs

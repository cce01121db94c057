"""The usual mistakes of docs/adapters.md, made on purpose in the example package: the kit names each by its rule."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tests" / "thirdparty"


class Mistake(NamedTuple):
    """What stands in the example, and what stands there with the mistake."""

    file: str
    right: str
    wrong: str


FILTER = "return _best(self.cosines(space, query, _searchable(state, among)), limit)"
UNFILTERED = "return tuple(hit for hit in self.dense(space, query, limit) if hit.entry in among)"

MISTAKES = {
    "test_a_filter_is_applied_before_the_best_are_taken": Mistake(
        "reader.py", FILTER, f"{FILTER.replace('among)', 'None)')} if among is None else {UNFILTERED[7:]}"
    ),
    "test_a_dead_entry_is_never_a_hit_however_near": Mistake(
        "reader.py", "{state.numbers[entry] for entry in state.live()}", "set(state.numbers.values())"
    ),
    "test_ties_are_ordered_by_entry_and_cut_there": Mistake(
        "reader.py", "key=lambda each: (-each[1], each[0])", "key=lambda each: (-each[1], -each[0])"
    ),
    "test_limits_out_of_range_are_refused": Mistake(
        "reader.py", "check_limit(limit, MAX_LIMIT)", "limit = max(1, min(limit, MAX_LIMIT))"
    ),
    "test_scores_after_a_delete_are_those_of_a_fresh_index": Mistake(
        "reader.py",
        "for key in state.live():\n            entry =",
        "for key in state.rows.entries:\n            entry =",
    ),
    "test_vectors_keys_and_cosines_are_those_that_were_put": Mistake(
        "writing.py",
        "self._new.put_vector(space, row)",
        "self._new.put_vector(space, replace(row, vector=_once_more(row.vector)))",
    ),
    "test_vectors_that_would_poison_a_space_are_refused": Mistake(
        "writing.py", "check_vectors(space, rows)\n", "pass\n"
    ),
    "test_texts_and_entries_come_back_exactly": Mistake(
        "writing.py", "self._texts[row.text_hash] = row.text", "self._texts[row.text_hash] = row.text.strip()"
    ),
    "test_ids_are_never_used_twice": Mistake(
        "writing.py",
        "self._next_occurrence, self._next_entry = base.next_occurrence, base.next_entry",
        "self._next_occurrence, self._next_entry = _highest(base) + 1, base.next_entry",
    ),
    "test_begin_refuses_a_head_that_moved": Mistake(
        "store.py", "if found.generation != wanted.generation or (found.generation and found != wanted):", "if False:"
    ),
    "test_of_racing_writers_exactly_one_wins": Mistake(
        "store.py", "if (states[-1].head, states[-1].files) != (base.head, base.files):", "if False:"
    ),
    "test_a_write_that_a_compaction_overtook_commits_a_whole_index_or_is_stale": Mistake(
        "store.py",
        "if (states[-1].head, states[-1].files) != (base.head, base.files):",
        "if states[-1].head != base.head:",
    ),
    "test_counts_that_do_not_fit_are_refused": Mistake(
        "writing.py", "if given != found or base.lineage not in {None, generation.lineage}:", "if False:"
    ),
    "test_a_root_that_the_nodes_do_not_lead_to_is_refused": Mistake(
        "writing.py", 'check_root(self._nodes.get(""), generation)', "pass"
    ),
    "test_nodes_are_replaced_and_dropped_with_the_documents_below_them": Mistake(
        "writing.py", "in list(self._nodes) if self._mend else dropped:", "in list(self._nodes) if self._mend else ():"
    ),
    "test_an_exception_in_a_put_iterator_ends_the_write": Mistake(
        "writing.py", "            self._ended = True\n            raise\n", "            raise\n"
    ),
    "test_what_is_within_documents_is_what_they_have_to_find": Mistake(
        "reader.py", " for entry in placed if state.rows.entries[entry].embed))", " for entry in placed))"
    ),
    "test_the_arms_of_an_old_generation_are_refused": Mistake(
        "reader.py", "if self.generation != self.head.generation:", "if False:"
    ),
    "test_a_closed_reader_refuses_every_call": Mistake("reader.py", "if self._closed:", "if False:"),
    "test_a_compacted_generation_is_gone_and_every_other_reads_as_it_was_committed": Mistake(
        "store.py", "        rows = used(states)\n", "        rows = used(states[-1:])\n"
    ),
    "test_a_text_is_replaced_and_found_by_its_words": Mistake(
        "writing.py", "if self._mend or row.text_hash not in", "if row.text_hash not in"
    ),
    "test_a_damaged_vector_is_neither_held_nor_given_out": Mistake(
        "state.py", "if self.checksums.get(at) != _checksum(row)", "if False"
    ),
    "test_a_second_write_does_as_the_store_says": Mistake("store.py", 'writers="cas"', 'writers="serialized"'),
    "test_a_text_has_one_vector_whatever_stands_beside_it": Mistake(
        "embedder.py",
        "[self.embed_query(text) for text in texts]",
        "[self.embed_query(text) for text in sorted(texts)]",
    ),
    "test_odd_and_long_texts_get_usable_vectors": Mistake(
        "embedder.py", "for at in range(len(data) - 1))", "for at in range(len(data) - 1) if data.strip())"
    ),
    "test_an_unknown_setting_is_refused_by_name": Mistake("embedder.py", "for key in settings:", "for key in ():"),
    "test_it_says_nothing_on_the_streams": Mistake(
        "embedder.py", "        return [self", '        print(f"{len(texts)} texts")\n        return [self'
    ),
}

BY_EXAMPLE = "TestExampleStore and not any_history and not moving_the_trie"
"""Without the rules that try random histories: of a store with many mistakes they seek the shortest for minutes."""

OURS = """

def _once_more(vector):
    import numpy as np

    return (np.frombuffer(vector, dtype="<f4") * np.float32(1.0000001)).tobytes()


def _highest(base):
    return max((each.occurrence for held in base.documents.values() for each in held.placements), default=0)
"""


def test_the_page_names_these_rules_and_no_others():
    table = (ROOT / "docs" / "adapters.md").read_text("utf-8").partition("### Which rule names which mistake")[2]
    assert set(re.findall(r"\| `(test_\w+)` \|", table)) == set(MISTAKES)


@pytest.mark.parametrize("rule", MISTAKES)
def test_the_example_is_free_of_it(rule):
    mistake = MISTAKES[rule]
    assert (PACKAGE / "src" / "steadlith_example" / mistake.file).read_text("utf-8").count(mistake.right) >= 1


def judged(folder, mistakes, *options):
    """The example with these mistakes, as the kit judges it: exit code, what it told, outcomes by rule."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for mistake in mistakes:
        file = folder / "src" / "steadlith_example" / mistake.file
        file.write_text(file.read_text("utf-8").replace(mistake.right, mistake.wrong), "utf-8")
    with (folder / "src" / "steadlith_example" / "writing.py").open("a", encoding="utf-8") as file:
        file.write(OURS)
    path = os.pathsep.join([str(folder / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "steadlith_conformance.plugin", "-p", "no:cacheprovider"),
            *("--conformance-report", "report.json", *options),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads((folder / "report.json").read_text("utf-8"))
    outcomes = {}
    for each in sorted(
        (each for adapter in report["adapters"] for each in adapter["rules"]),
        key=lambda each: each["outcome"] == "failed",
    ):
        outcomes[each["rule"]] = each["outcome"]  # of rules of one name the one that failed
    return done.returncode, done.stdout, outcomes


def demanded(rule):
    """How a failing rule begins to say what it demands."""
    return f"{rule.removeprefix('test_').replace('_', ' ')}."


@pytest.mark.slow
@pytest.mark.parametrize("rule", MISTAKES)
def test_the_kit_names_it_and_says_what_it_demands(tmp_path, rule):
    code, told, outcomes = judged(tmp_path / "package", [MISTAKES[rule]], "-k", rule)
    assert (code, outcomes[rule]) == (1, "failed"), told
    assert demanded(rule) in told


@pytest.mark.slow
def test_a_naive_store_with_all_of_them_passes_once_its_author_did_what_the_rules_say(tmp_path):
    """In each round the author mends what failing rules name, and nothing else; one mistake may hide another."""
    left = {rule: mistake for rule, mistake in MISTAKES.items() if mistake.file != "embedder.py"}
    del left["test_a_write_that_a_compaction_overtook_commits_a_whole_index_or_is_stale"]  # part of another one
    rounds = 0
    while left:
        code, told, outcomes = judged(tmp_path / "package", left.values(), "-m", "not slow", "-k", BY_EXAMPLE)
        named = [rule for rule in left if outcomes[rule] == "failed"]
        assert code == 1
        assert named, f"{sorted(left)} are left, and no rule says so:\n{told}"
        assert all(demanded(rule) in told for rule in named)
        for rule in named:
            del left[rule]
        rounds += 1
    assert rounds > 0
    code, told, _ = judged(tmp_path / "package", [], "-m", "not slow")
    assert code == 0, told

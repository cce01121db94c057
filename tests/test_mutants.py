"""A handful of mistakes in planning and applying, each of which a test must notice; the whole is `make mutants`.

1. A mistake is a text that stands once in its module and another one in its place, tried in a copy of the core.
2. Each is one that would cost somebody money, documents or an index.
"""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORE = ROOT / "src" / "steadlith_core"

MISTAKES = (
    (
        "a full batch is asked for again though it is kept",
        "applying/batches.py",
        "        self._in_flight.discard(number)\n        self.kept += len(self._batches[number])",
        "        self._queue.append(number)\n        self.kept += len(self._batches[number])",
        "tests/core/applying/test_every_way.py",
    ),
    (
        "more calls than allowed are in flight",
        "applying/batches.py",
        "len(self._in_flight) < self.calls.concurrency",
        "len(self._in_flight) <= self.calls.concurrency",
        "tests/core/applying",
    ),
    (
        "a lock that is lost is not given back",
        "applying/states.py",
        "(State.COMMITTING, Signal.BAD): State.RELEASING",
        "(State.COMMITTING, Signal.BAD): State.ENDED",
        "tests/core/applying/test_every_way.py",
    ),
    (
        "an embedding that was promised for nothing is paid for",
        "applying/recheck.py",
        "surprise = [key for key in misses if key not in promised]",
        "surprise = [key for key in misses if key in promised and not promised]",
        "tests/core/applying",
    ),
    (
        "a guard that was not overridden stops nothing",
        "applying/recheck.py",
        "tripped.override not in allowed",
        "tripped.override in allowed",
        "tests/core/applying",
    ),
    (
        "one removal too many passes",
        "planning/guards.py",
        "    if len(removed) > allowed:",
        "    if len(removed) > allowed + 1:",
        "tests/core/planning/test_guards.py",
    ),
    (
        "a vector that somebody has is paid for",
        "planning/make.py",
        "if chunk.vector_key in self.available:",
        "if chunk.vector_key in self._bought:",
        "tests/core/planning/test_make.py",
    ),
    (
        "what stands twice in a document is one position short",
        "planning/diff.py",
        "        i, j = old_position + 1, new_position + 1\n    return kept + _common",
        "        i, j = old_position + 1, new_position + 2\n    return kept + _common",
        "tests/core/planning/test_diff.py",
    ),
    (
        "an answer with too few vectors is taken",
        "applying/audit.py",
        "if len(answer) != asked:",
        "if len(answer) > asked:",
        "tests/core/applying",
    ),
    (
        "a model that changed behind its name is believed",
        "applying/audit.py",
        "if len(off) < PROBE_MISSES:",
        "if len(off) <= len(now):",
        "tests/core/applying",
    ),
)


@pytest.mark.parametrize(
    ("module", "right", "wrong", "tests"), [each[1:] for each in MISTAKES], ids=[m[0] for m in MISTAKES]
)
def test_a_mistake_is_noticed(tmp_path, module, right, wrong, tests):
    shutil.copytree(CORE, tmp_path / CORE.name, ignore=shutil.ignore_patterns("__pycache__"))
    place = tmp_path / CORE.name / module
    source = place.read_text("utf-8")
    assert source.count(right) == 1, f"{module} has other words now: choose the mistake anew"
    place.write_text(source.replace(right, wrong), "utf-8")
    paths = [tmp_path, ROOT / "src", ROOT / "src" / "adapters", ROOT / "conformance" / "src"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "--tb=no", "-p", "no:cacheprovider", tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "CI": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stdout[-2000:]
    assert "FAILED" in done.stdout


@pytest.fixture(scope="module")
def maker():
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "scripts" / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SOURCE = '''"""Documentation with 1 number."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from x import y


def answer(values: "list[1]", limit=3):
    """Not (a or b)."""
    if limit < 1 and not values:
        raise ValueError(f"{limit + 1} is wrong")
    for value in sorted(values):
        if value is None:
            continue
        total = max(value, limit) + pow(value, limit)
    return [total[1:], {"a": 1, "b": 2}] if total in values else None
'''


def test_every_mutant_is_another_program_with_a_name_of_its_own(maker):
    found = maker.mutants(SOURCE)
    whole = ast.unparse(ast.parse(SOURCE))
    assert len({mutant.name for mutant in found}) == len({mutant.source for mutant in found}) == len(found)
    assert whole not in {mutant.source for mutant in found}
    assert {mutant.kind for mutant in found} >= {
        *("comparison", "and/or", "negation", "constant", "min/max/any/all", "call left out", "swapped arguments"),
        *("swapped branches", "negated condition", "slice left out", "statement left out", "nothing returned"),
        *("loop control", "row left out"),
    }
    for mutant in found:
        ast.parse(mutant.source)
        assert '"""Documentation with 1 number."""' in mutant.source
        assert "f'{limit + 1} is wrong'" in mutant.source or mutant.kind == "statement left out"


def test_a_larger_sample_holds_the_smaller(maker):
    found = maker.mutants(SOURCE)
    few, more = maker.sample(found, 5, "salt"), maker.sample(found, 9, "salt")
    assert (len(few), len(more)) == (5, 9)
    assert all(mutant in more for mutant in few)
    assert maker.sample(found, 5, "salt") == few != maker.sample(found, 5, "pepper")


def test_what_cannot_be_noticed_is_a_mutant_still_and_has_a_reason(maker):
    for each in tomllib.loads((ROOT / "scripts" / "equivalent.toml").read_text("utf-8"))["equivalent"]:
        names = {mutant.name for mutant in maker.mutants((CORE / each["module"]).read_text("utf-8"))}
        assert each["mutant"] in names, f"{each['module']} has no such mutant any more: {each['mutant']}"
        assert each["reason"]

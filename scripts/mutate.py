"""Change the core in small ways, one at a time, and see whether its tests notice: `make mutants`.

    python scripts/mutate.py              a sample of every module's mutants, then docs/mutation.md
    python scripts/mutate.py --all        every mutant
    python scripts/mutate.py --only NAME  the mutants whose module or name holds this

1. A mutant is tried in a copy of the core that is found before the real one; no file of the checkout changes.
2. What was tried is kept in `.mutants/`: a run that was stopped goes on where it was. A changed module is tried anew,
   and so is a survivor when tests have changed; what was noticed once stays noticed.
3. The tests of the module come first, then those of the whole room, then some of the engine's; the first that fails
   ends it. Hypothesis draws the same few examples each time, and does not shrink what fails.
4. A survivor that no test can tell from the original stands in `scripts/equivalent.toml`, with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import sys
import time
import tomllib
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis.stateful  # noqa: F401 -- so that the children need not: half of a short run is imports
import numpy as np  # noqa: F401
import pytest
from hypothesis import Phase, settings
from mutants import Mutant, mutants, sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).parent.parent
CORE = ROOT / "src" / "steadlith_core"
WORK = ROOT / ".mutants"
TRIED = WORK / "tried.jsonl"
OUTPUT = WORK / "output.txt"
PAGE = ROOT / "docs" / "mutation.md"
EQUIVALENT = ROOT / "scripts" / "equivalent.toml"
ROOMS = ("planning", "applying")

SHARE, LEAST = 4, 8
"""One mutant in so many is tried of each module, and at least so many of them."""
SECONDS = 60
"""A mutant that takes longer is one that runs for ever: it was noticed."""
SALT = "1"
EXAMPLES = 30

WHOLE = {
    "planning": ("tests/core/planning/test_make.py", "tests/core/planning"),
    "applying": ("tests/core/applying",),
}
LATER = ("tests/engine/test_plan_settings.py", "tests/cli/test_showing.py", "tests/engine/test_untrusted_plans.py")

TRIAL = "tests/core/applying/test_waiting.py"
"""What must pass before anything is changed, so that a mistake of the set-up is not taken for a good test."""

KILLED, SURVIVED, ENDLESS, EQUAL = "killed", "survived", "endless", "equivalent"


def pytest_configure(config: pytest.Config) -> None:
    """Rule 3: this module is a plug-in of the runs that it starts."""
    del config
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", max_examples=EXAMPLES, derandomize=True, database=None, phases=phases)
    settings.load_profile("mutants")


def modules() -> list[Path]:
    """The modules that are changed."""
    return [path for room in ROOMS for path in sorted((CORE / room).glob("*.py")) if path.name != "__init__.py"]


def tests_of(module: Path) -> list[str]:
    """What is run for a module, in this order: its own tests, those of its room that name it, those that plan or apply
    as a whole, and what the engine and the command line say of it.
    """
    room = ROOT / "tests" / "core" / module.parent.name
    named = re.compile(rf"{module.parent.name}(\.| import .*\b){module.stem}\b")
    near = [path for path in sorted(room.glob("test_*.py")) if named.search(path.read_text("utf-8"))]
    own = [path for path in (room / f"test_{module.stem}.py",) if path.exists()]
    paths = [str(path.relative_to(ROOT)) for path in (*own, *near)]
    return list(dict.fromkeys([*paths, *WHOLE[module.parent.name], *LATER]))


def chosen(module: Path, *, every: bool) -> list[Mutant]:
    """The mutants of a module that are tried."""
    found = mutants(module.read_text("utf-8"))
    return found if every else sample(found, max(LEAST, len(found) // SHARE), f"{SALT} {_name(module)}")


def attempt(module: Path, mutant: Mutant) -> tuple[str, str]:
    """What became of a mutant, and the test that noticed it."""
    place = WORK / "src" / module.relative_to(CORE.parent)
    original = place.read_text("utf-8")
    try:
        place.write_text(mutant.source, "utf-8")
        ended = _tested(tests_of(module))
    finally:
        place.write_text(original, "utf-8")
    if ended is None:
        return ENDLESS, ""
    if ended == 0:
        return SURVIVED, ""
    output = OUTPUT.read_text("utf-8")
    lines = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return KILLED, lines[0].split()[1] if lines else "import"


def _tested(tests: Sequence[str]) -> int | None:
    """The exit code of a run of these tests in a child that has imported pytest already; none if it took too long."""
    child = os.fork()
    if child == 0:
        code = 1  # also where pytest itself breaks
        try:
            code = _run_tests(tests)
        finally:
            os._exit(code)
    for _ in range(SECONDS * 20):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _run_tests(tests: Sequence[str]) -> int:
    os.setsid()
    places = [WORK / "src", ROOT / "src", ROOT / "src" / "adapters", ROOT / "conformance" / "src", ROOT / "scripts"]
    sys.path[:0] = map(str, places)
    os.environ |= {"PYTHONPATH": os.pathsep.join(map(str, places)), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    os.chdir(ROOT)
    file = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    options = [
        "-x",
        "-q",
        "-n",
        "0",
        "-p",
        "mutate",
        "-p",
        "no:cacheprovider",
        "--tb=no",
        "-m",
        "not slow and not faults",
    ]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what was imported before the fork
    try:
        return int(pytest.main([*options, *tests]))
    finally:
        sys.stdout.flush()


def _name(module: Path) -> str:
    return f"{module.parent.name}/{module.name}"


def _digest(paths: Iterable[Path]) -> str:
    files = (each for path in paths for each in (sorted(path.glob("*.py")) if path.is_dir() else [path]))
    return blake2b(b"\0".join(each.read_bytes() for each in files), digest_size=8).hexdigest()


def _known() -> dict[str, Mapping[str, str]]:
    if not TRIED.exists():
        return {}
    return {each["key"]: each for each in map(json.loads, TRIED.read_text("utf-8").splitlines())}


def _equivalent() -> Mapping[str, str]:
    return {
        f"{each['module']} {each['mutant']}": each["reason"]
        for each in tomllib.loads(EQUIVALENT.read_text("utf-8"))["equivalent"]
    }


def run(wanted: Sequence[tuple[Path, Mutant]]) -> Iterator[tuple[Path, Mutant, Mapping[str, str]]]:
    """Every verdict, known or found now."""
    shutil.rmtree(WORK / "src", ignore_errors=True)
    shutil.copytree(CORE, WORK / "src" / CORE.name, ignore=shutil.ignore_patterns("__pycache__"))
    if _tested([TRIAL]) != 0:
        sys.exit(f"the tests of the core as it is fail:\n{OUTPUT.read_text('utf-8')}")
    known, excused = _known(), _equivalent()
    states = {module: (_digest([module]), _digest(ROOT / path for path in tests_of(module))) for module, _ in wanted}
    for module, mutant in wanted:
        name, (state, tests) = f"{_name(module)} {mutant.name}", states[module]
        found = known.get(f"{state} {name}")
        stale = found is not None and found["verdict"] == SURVIVED and found["tests"] != tests
        if name not in excused and (found is None or stale):
            verdict, by = attempt(module, mutant)
            found = {"key": f"{state} {name}", "verdict": verdict, "tests": tests, "by": by}
            with TRIED.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
            if verdict != KILLED:
                print(f"{verdict}: {_name(module)}:{mutant.line} {mutant.name}", flush=True)
        yield module, mutant, {"verdict": EQUAL, "by": ""} if name in excused or found is None else found


def page(verdicts: Mapping[str, Counter[str]], made: Mapping[str, int], left: Sequence[str]) -> str:
    """The table of docs/mutation.md."""
    lines = [
        "| module | mutants | tried | killed | endless | equivalent | survived |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    kinds = (KILLED, ENDLESS, EQUAL, SURVIVED)
    for name, counts in verdicts.items():
        lines.append(
            f"| `{name}` | {made[name]} | {counts.total()} | " + " | ".join(str(counts[kind]) for kind in kinds) + " |"
        )
    total = sum(verdicts.values(), Counter[str]())
    lines.append(
        f"| **all** | {sum(made.values())} | {total.total()} | " + " | ".join(str(total[kind]) for kind in kinds) + " |"
    )
    return "\n".join([*lines, *(["", "Survivors:", "", *(f"- {each}" for each in left)] if left else [])])


def main() -> None:
    """Try them, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--all", action="store_true", help="every mutant, not a sample")
    parser.add_argument(
        "--only", default="", metavar="NAME", help="those whose module or name holds this; writes no page"
    )
    options = parser.parse_args()
    WORK.mkdir(exist_ok=True)
    wanted = [
        (module, mutant)
        for module in modules()
        for mutant in chosen(module, every=options.all)
        if options.only in f"{_name(module)} {mutant.name}"
    ]
    verdicts: dict[str, Counter[str]] = {}
    left = []
    for module, mutant, found in run(wanted):
        verdicts.setdefault(_name(module), Counter())[found["verdict"]] += 1
        if found["verdict"] == SURVIVED:
            left.append(f"`{_name(module)}` {mutant.name}")
    made = {_name(module): len(mutants(module.read_text("utf-8"))) for module in modules()}
    print(page(verdicts, made, left))
    if not options.only:
        begin, end = "<!-- mutants -->\n", "<!-- /mutants -->\n"
        before, rest = PAGE.read_text("utf-8").split(begin)
        PAGE.write_text(f"{before}{begin}{page(verdicts, made, left)}\n{end}{rest.split(end)[1]}", "utf-8")
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()

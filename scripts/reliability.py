"""Write what a fault campaign has counted into docs/reliability.md: `scripts/reliability.py FOLDER` after it ran.

FOLDER is where the tests left their counts (STEADLITH_TRIED). What was found is written by hand, in
tests/faults/found.toml. A fault that has a line there and was not tried, or the other way round, ends this with 1,
after the page was written.
"""

import json
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reliability.md"
FOUND = ROOT / "tests" / "faults" / "found.toml"
KILL_LOOP = "a kill of one of two competing applies at a random moment"
"""Its varieties are the states in which the kill found the run: they have a table of their own."""


def gathered(folder: Path) -> Counter[tuple[str, str, str]]:
    """How often by (fault, variety, how); all processes of the run together."""
    times: Counter[tuple[str, str, str]] = Counter()
    for path in sorted(folder.glob("*.json")):
        for row in json.loads(path.read_text("utf-8")):
            fault, _, variety = row["fault"].partition(": ")
            times[fault, variety, row["how"]] += row["times"]
    return times


def faults_table(times: Counter[tuple[str, str, str]], found: dict[str, str]) -> list[str]:
    """A row for each fault and way, in the order of found.toml."""
    rows: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for (fault, variety, how), count in times.items():
        rows[fault][how][variety] += count
    lines = ["| fault | how injected | times tried | what was found |", "|---|---|---|---|"]
    for fault, text in found.items():
        for how, varieties in sorted(rows[fault].items()) or [("not tried in this run", Counter())]:
            kinds = f" of {len(varieties)} kinds" if len(varieties) > 1 and fault != KILL_LOOP else ""
            lines.append(f"| {fault} | {how} | {varieties.total():,}{kinds} | {text} |")
    return lines


def kills_table(times: Counter[tuple[str, str, str]]) -> list[str]:
    """Kills by the state that the run was in, in the order in which they were told."""
    kills = [(variety, count) for (fault, variety, _), count in times.items() if fault == KILL_LOOP]
    return ["| the run was | kills |", "|---|---|", *(f"| {state} | {count:,} |" for state, count in kills)]


def commit() -> str:
    """The commit that was tried."""
    asked = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def replaced(page: str, name: str, lines: list[str]) -> str:
    """The page with these lines between its two marks."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.split(begin)
    return f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{rest.split(end)[1]}"


def main() -> None:
    times = gathered(Path(sys.argv[1]))
    found = tomllib.loads(FOUND.read_text("utf-8"))["found"]
    table = [*faults_table(times, found), "", f"Counted by `make faults` at commit {commit()}."]
    page = replaced(PAGE.read_text("utf-8"), "faults", table)
    PAGE.write_text(replaced(page, "kills", kills_table(times)), "utf-8")
    faults = {fault for fault, _, _ in times}
    print(f"{len(faults)} faults, tried {times.total():,} times")
    wrong = [
        *(f"not tried: {fault}" for fault in found if fault not in faults),
        *(f"no line in found.toml: {fault}" for fault in sorted(faults - found.keys())),
    ]
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

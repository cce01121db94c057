"""Write the tables of docs/conformance.md from the kit; `--check` fails when one is stale."""

import re
import sys
from pathlib import Path

from steadlith_conformance.cachefactories import CacheFactorySuite
from steadlith_conformance.caches import CacheSuite
from steadlith_conformance.checks import CHECKS
from steadlith_conformance.chunkers import ChunkerSuite
from steadlith_conformance.embedders import EmbedderSuite
from steadlith_conformance.formats import FILES, FormatSuite
from steadlith_conformance.sources import SourceSuite
from steadlith_conformance.stores import StoreFactorySuite, StoreSuite
from steadlith_conformance.stores.honesty import VALUES
from steadlith_conformance.suite import Level
from steadlith_conformance.tokenizers import TokenizerSuite

PAGE = Path(__file__).parent.parent / "docs" / "conformance.md"
SUITES = (
    StoreSuite,
    StoreFactorySuite,
    CacheSuite,
    CacheFactorySuite,
    EmbedderSuite,
    SourceSuite,
    ChunkerSuite,
    TokenizerSuite,
    FormatSuite,
)


def named(rules: tuple[str, ...] | str) -> str:
    if isinstance(rules, str):
        return f"not seen: {rules}"
    return ", ".join(f"`{name.removeprefix('test_')}`" for name in rules) or "nothing"


def suites() -> str:
    rows = ["| suite | MUST | SHOULD |", "|---|---|---|"]
    for suite in SUITES:
        levels = [rule.level for rule in suite.rules.values()]
        name = f"{suite.__module__}.{suite.__name__}".replace(".suite.", ".").replace(".factories.", ".")
        rows.append(f"| `{name}` | {levels.count(Level.MUST)} | {levels.count(Level.SHOULD)} |")
    return "\n".join(rows)


def checks() -> str:
    rows = ["| | check | rules of the kit | tests of this repository |", "|---|---|---|---|"]
    for number, check in CHECKS.items():
        tests = ", ".join(f"`{path}`" for path in check.elsewhere)
        rows.append(f"| {number} | {check.demand} | {named(check.rules) if check.rules else ''} | {tests} |")
    return "\n".join(rows)


def capabilities() -> str:
    rows = [
        "| capability | value | fails if it is claimed and not so | fails if it is so and not claimed |",
        "|---|---|---|---|",
    ]
    for name, values in VALUES.items():
        for value, honesty in values.items():
            shown = str(value).lower() if isinstance(value, bool) else f'"{value}"'
            rows.append(f"| `{name}` | `{shown}` | {named(honesty.claimed)} | {named(honesty.unclaimed)} |")
    return "\n".join(rows)


def formats() -> str:
    rows = ["| file | pins | questions |", "|---|---|---|"]
    rows += [
        f"| `{name}.json` | {pins} | {', '.join(f'`{each}`' for each in asks)} |"
        for name, (pins, asks) in FILES.items()
    ]
    return "\n".join(rows)


TABLES = {"suites": suites, "checks": checks, "capabilities": capabilities, "formats": formats}


def written(page: str) -> str:
    for name, made in TABLES.items():
        start, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        page = re.sub(f"{start}.*?{end}", lambda _: f"{start}\n{made()}\n{end}", page, flags=re.DOTALL)  # noqa: B023
    return page


def main() -> None:
    page = PAGE.read_text("utf-8")
    if "--check" not in sys.argv:
        PAGE.write_text(written(page), "utf-8")
    elif written(page) != page:
        sys.exit("docs/conformance.md: a table is stale; run scripts/conformance_tables.py")
    else:
        print("docs/conformance.md: the tables are current")


if __name__ == "__main__":
    main()

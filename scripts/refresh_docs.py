"""Bring the printed output in README.md and docs/ up to date, after a change that was meant.

1. Console blocks are run as the tests run them (conftest.py). A line that still holds is kept as it is written, `...`
   included; any other is replaced by what is printed now.
2. A hash that changed in one place is changed everywhere behind it on the page, in commands too.
3. Read the diff: this makes the pages true, not good.
"""

import re
import sys
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from conftest import commands, run, served, setup, teardown  # noqa: E402 -- the tests' own way of running a page

BLOCK = re.compile(r"(?<=```console\n).*?(?=\n```)", re.DOTALL)
HEX = re.compile(r"[0-9a-f]{12,64}")


def refreshed(name: str, page: str) -> str:
    """The page with its console blocks as they print today."""
    namespace: dict[str, Any] = {}
    setup(namespace)
    at = 0
    while (block := BLOCK.search(page, at)) is not None:
        done = []
        rest = page[block.end() :]
        text = block[0]
        for number, _ in enumerate(list(commands(text))):
            command, expected = list(commands(text))[number]
            printed = run(command, namespace["folder"], served(name, namespace)).strip("\n")
            lines = merged(expected.split("\n"), printed.split("\n"))
            for old, new in renamed(expected.split("\n"), lines):
                text, rest = text.replace(old, new), rest.replace(old, new)
            done.append("\n".join([f"$ {command}", *lines]).rstrip("\n"))
        page = page[: block.start()] + "\n".join(done) + rest
        at = block.start() + len("\n".join(done))
    teardown(namespace)
    return page


def merged(expected: list[str], printed: list[str]) -> list[str]:
    """What is printed now, in the words of what was expected where they still match."""
    holds = OutputChecker().check_output
    if holds("\n".join(expected) + "\n", "\n".join(printed) + "\n", ELLIPSIS):
        return expected
    if len(expected) != len(printed):
        return printed
    pairs = zip(expected, printed, strict=True)
    return [old if holds(old + "\n", new + "\n", ELLIPSIS) else new for old, new in pairs]


def renamed(before: list[str], after: list[str]) -> list[tuple[str, str]]:
    """Hashes that stand in the place of others now."""
    found = []
    for old, new in zip(before, after, strict=False):
        if HEX.sub("#", old) == HEX.sub("#", new):
            found += [pair for pair in zip(HEX.findall(old), HEX.findall(new), strict=True) if pair[0] != pair[1]]
    return found


def main() -> None:
    for name in sys.argv[1:] or ["README.md", *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/*.md"))]:
        page = ROOT / name
        before = page.read_text("utf-8")
        after = refreshed(name, before)
        if after != before:
            page.write_text(after, "utf-8")
            print(f"{name}: refreshed")


if __name__ == "__main__":
    main()

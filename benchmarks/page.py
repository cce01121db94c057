"""The page: what was measured, as Markdown, with what is needed to measure it again."""

import os
import platform
import subprocess
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from contenders import OURS, PEER_VERSION
from results import Results
from sections import (
    applying,
    caching,
    cold,
    floor,
    judged,
    memory,
    migrating,
    million,
    offline,
    planning,
    replay,
    sequence,
    servers,
    single,
    sizes,
    spaces,
    spine,
    startup,
    structure,
)
from tables import Verdict, table


class Section(NamedTuple):
    """A part of the page: `measure`, `verdicts` and `render` of its module."""

    title: str
    module: ModuleType


SECTIONS = {
    "cold": Section("Cold core", cold),
    "single": Section("One document at a time", single),
    "memory": Section("One large file", memory),
    "replay": Section("Replay of real histories", replay),
    "floor": Section("Distance to the floor", floor),
    "sizes": Section("Sizes and atomic blocks", sizes),
    "structure": Section("Headings and sentences", structure),
    "sequence": Section("Sequence diff", sequence),
    "judged": Section("Retrieval by size of chunk", judged),
    "spaces": Section("Quantization", spaces),
    "startup": Section("Start-up", startup),
    "spine": Section("Plan, apply, search", spine),
    "planning": Section("Plans over 2,000 documents", planning),
    "million": Section("A million documents", million),
    "applying": Section("Apply and the store", applying),
    "caching": Section("The embedding cache", caching),
    "offline": Section("Proofs, differences, manifests", offline),
    "migrating": Section("Migrations and going back", migrating),
    "servers": Section("A server beside the file", servers),
}

INTRODUCTION = f"""\
Written by `make bench`; do not edit. *Ours* is this checkout, *peer* is `steadlith=={PEER_VERSION}`, installed
unchanged into an environment of its own. Both run on the same documents, by the same Python, in turns, each section in
one run of the script; where something is embedded, by their own hash embedders at 256 dimensions unless a section says
otherwise. Every figure is the median of the runs named above its table; wall, CPU and memory each have their own
median. CPU is user and system time of the whole process, start-up included, unless a section says otherwise: on a
shared machine it is the firmer figure. *Written* counts the bytes of the process's write calls, *to disk* those that
became dirty pages of a disk. Nothing here is a test: no figure fails a build.
"""

LATER = (
    "search in 100,000 vectors of 384 dimensions, exact, warm: within 1.5 times of numpy's matrix product",
    "known-item recall@5 with four rare keywords: at least 98 %",
    "SciFact nDCG@10",
)
"""Budgets that these scripts do not measure yet."""


def render(results: Results, *, quick: bool) -> str:
    """The whole page, out of what is there."""
    here = {name: section for name, section in SECTIONS.items() if name in results}
    parts = ["# Benchmarks", INTRODUCTION]
    if quick:
        parts.append("**A quick run: a sample of everything. Not for comparison.**")
    parts += ["## This run", _facts(results), "## Bars", *_bars(results, here)]
    for name, section in here.items():
        parts += [f"## {section.title}", *section.module.render(results[name]["data"])]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _facts(results: Results) -> str:
    sqlite = subprocess.run(
        [OURS.python, "-c", "import apsw; print(apsw.sqlite_lib_version())"], capture_output=True, check=True, text=True
    ).stdout.strip()
    rows = [
        ("ours", f"steadlith {version('steadlith')}"),
        ("peer", f"steadlith {PEER_VERSION}"),
        ("machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores ({_processor()})"),
        ("Python", platform.python_version()),
        ("SQLite of ours", sqlite),
        ("again with", "`make bench`; one section: `.venv/bin/python benchmarks/run.py --only NAME`"),
    ]
    circumstances = [
        (name, each["date"], each["commit"], f"{each['load']:.1f}", f"{each['took']:.0f} s")
        for name, each in results.items()
        if name in SECTIONS
    ]
    names = ("section", "date", "commit", "load average at its start (above 1: other work ran beside it)", "took")
    return table(("", ""), rows) + "\n\n" + table(names, circumstances)


def _bars(results: Results, here: dict[str, Section]) -> Iterable[str]:
    verdicts: list[Verdict] = []
    for name, section in here.items():
        data = results[name]["data"]
        verdicts += section.module.verdicts(data) if data else ()
    met = sum(each.met for each in verdicts)
    yield (
        "What was asked for, and what this run says; *beyond* is a second, harder bar. "
        f"{met} of {len(verdicts)} are met."
    )
    rows = [(each.work, each.bar, each.measured, each.said) for each in verdicts]
    yield table(("what", "bar", "measured", ""), rows)
    yield "Not measured yet: " + "; ".join(LATER) + "."


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")

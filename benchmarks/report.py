"""The report: what was measured, as Markdown, with what is needed to measure it again."""

import os
import platform
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import budgets
import spine
import startup
from contenders import BOTH, OURS, PEER, PEER_VERSION
from places import ROOT
from process import Usage
from replay import Replay
from spine import Spine

INTRODUCTION = f"""\
Written by `make bench`; do not edit. *Ours* is this checkout, *peer* is `steadlith=={PEER_VERSION}`, installed
unchanged into an environment of its own. Both run on the same documents, by the same Python, in turns, in one run of
the script, with their own hash embedder at 256 dimensions. Every figure is the median of the runs named above its
table; wall, CPU and memory each have their own median. CPU is user and system time of the whole process, start-up
included: on a shared machine it is the firmer figure. *Written* counts the bytes of the process's write calls, *to
disk* those that became dirty pages of a disk. Nothing here is a test: no figure fails a build.
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """All results of one run of the script."""

    starts: dict[str, Usage]
    spines: list[Spine]
    replays: list[Replay]
    large: int
    memory: dict[str, Usage]
    load: float
    quick: bool


def render(measured: Measured) -> str:
    """The whole page."""
    parts = ["# Benchmarks", INTRODUCTION]
    if measured.quick:
        parts.append("**A quick run: one corpus, the first commits, a smaller file. Not for comparison.**")
    parts += ["## This run", _facts(measured), "## Budgets", _budgets(measured), "## Start-up", _starts(measured)]
    parts += ["## Plan, apply, search", *(part for each in measured.spines for part in _spine(each))]
    parts += ["## Replay of real histories", *_replays(measured), "## One large file", _memory(measured)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _facts(measured: Measured) -> str:
    cores = len(os.sched_getaffinity(0))
    commit = _git("rev-parse", "--short", "HEAD")
    dirty = " and changes not yet committed" if _git("status", "--porcelain", "--", "src") else ""
    sqlite = subprocess.run(
        [OURS.python, "-c", "import apsw; print(apsw.sqlite_lib_version())"], capture_output=True, check=True, text=True
    ).stdout.strip()
    rows = (
        ("date", time.strftime("%Y-%m-%d")),
        ("ours", f"steadlith {version('steadlith')}, commit {commit}{dirty}"),
        ("peer", f"steadlith {PEER_VERSION}"),
        ("machine", f"{platform.system()} {platform.machine()}, {cores} cores ({_processor()})"),
        ("load average at the start", f"{measured.load:.1f} (above 1: other work ran beside this)"),
        ("Python", platform.python_version()),
        ("SQLite of ours", sqlite),
        ("again with", "`make bench`, or `.venv/bin/python benchmarks/run.py`"),
    )
    return _table(("", ""), rows)


def _budgets(measured: Measured) -> str:
    main = measured.spines[-1]
    verdicts = budgets.judge(measured.starts, main, measured.large, measured.memory)
    rows = [(each.work, each.budget, each.measured, "yes" if each.met else "**no**") for each in verdicts]
    short = sum(not each.met for each in verdicts)
    said = (
        f"What a quiet machine should reach, and what this run did, on `{main.corpus.name}` where a corpus is needed. "
        f"{len(verdicts) - short} of {len(verdicts)} are met, {short} fell short. {budgets.KNOWN}"
    )
    left = "Not measured yet: " + "; ".join(budgets.LATER) + "."
    return "\n\n".join((said, _table(("work", "budget", "measured", "met"), rows), left))


def _starts(measured: Measured) -> str:
    rows = []
    for name, used in measured.starts.items():
        bare = measured.starts[startup.PEER_BARE if name in startup.OF_PEER else startup.BARE]
        rows.append((name, _ms(used.wall), _ms(used.wall - bare.wall), _ms(used.cpu)))
    table = _table(("process", "wall", "beyond bare", "CPU"), rows)
    return f"{startup.ROUNDS} runs each, files in the page cache.\n\n{table}"


def _spine(one: Spine) -> Iterable[str]:
    corpus = one.corpus
    yield f"### {corpus.name}"
    yield (
        f"{corpus.what}: {len(corpus.documents)} documents, {corpus.size / 1e6:.1f} MB. {spine.ROUNDS} runs of each "
        "step, each a process of its own that prints totals. An apply includes the plan that it carries out."
    )
    rows = []
    for step, each in one.steps.items():
        ours, peer = each[OURS.name], each[PEER.name]
        rows += [_step(step, "ours", ours, ""), _step("", "peer", peer, f"{peer.cpu / ours.cpu:.1f}")]
    yield _table(("step", "", "wall", "CPU", "peer's CPU : ours", "peak memory", "written", "to disk"), rows)
    yield (
        f"Search in process, {spine.QUERIES} queries of four words from the documents, asked in turns; *slow* is the "
        "90th percentile. Ours asks a dense and a lexical arm, the peer has the dense one only."
    )
    rows = [
        (
            each.name,
            f"{(found := one.search[each.name]).chunks:,}",
            *map(_ms, (found.first, found.warm, found.slow, found.cpu, found.embedding)),
            _mb(one.disk[each.name]),
        )
        for each in BOTH
    ]
    yield _table(
        (
            "",
            "chunks",
            "first",
            "warm",
            "slow",
            "warm, CPU",
            "of it the query's vector",
            "files after apply from empty",
        ),
        rows,
    )


def _step(step: str, who: str, used: Usage, ratio: str) -> tuple[str, ...]:
    return (
        step,
        who,
        f"{used.wall:.2f} s",
        f"{used.cpu:.2f} s",
        ratio,
        _mb(used.memory),
        _mb(used.written),
        _mb(used.to_disk),
    )


def _replays(measured: Measured) -> Iterable[str]:
    if not measured.replays:
        yield "Left out: the histories in `../shared/data` were absent."
        return
    yield (
        "Bytes of chunk text that would have been embedded after the first snapshot, each distinct text counted once "
        "over the whole history. Smaller chunks alone make an edit cheaper; the last row shows ours at chunks about as "
        "large as the peer's. *Mean* is that of the first snapshot, *largest* that of all. One run each: the counts do "
        "not vary."
    )
    for each in measured.replays:
        base = each.cuts[0].embedded_bytes
        yield f"### {each.history}"
        size = f"{each.version_bytes / 1e6:.1f} MB"
        yield f"{each.commits} commits, {each.versions:,} versions of documents, {size} to cut."
        rows = [
            (
                cut.name,
                f"{cut.embedded_bytes / 1e6:.2f} MB",
                f"{cut.embedded_bytes / base:.2f}",
                f"{cut.embedded_texts:,}",
                f"{cut.mean:,.0f} B",
                f"{cut.largest:,} B",
                f"{cut.usage.cpu:.1f} s",
            )
            for cut in each.cuts
        ]
        names = ("chunker, its sizes", "embedded", "relative", "texts", "mean", "largest", "CPU to cut all")
        yield _table(names, rows)


def _memory(measured: Measured) -> str:
    rows = [
        (
            name,
            f"{used.wall:.1f} s",
            f"{used.cpu:.1f} s",
            _mb(used.memory),
            f"{used.memory / measured.large:.1f}",
        )
        for name, used in measured.memory.items()
    ]
    return (
        f"Plan from empty of one Markdown file of {measured.large / 1e6:.0f} MB, made up by the script; one "
        "run each.\n\n" + _table(("", "wall", "CPU", "peak memory", "times the file"), rows)
    )


def _table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.1 else f"{seconds * 1000:.1f} ms"


def _mb(size: float) -> str:
    return f"{size / 1e6:.0f} MB" if size >= 1e7 else f"{size / 1e6:.2f} MB"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, text=True).stdout.strip()

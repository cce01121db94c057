"""Replay of real histories: how much text an index would have had embedded, commit by commit.

1. Every distinct chunk text counts once over the whole history, and not at all if the first snapshot had it.
2. Both contenders cut the same versions of the same documents, each version once: what a chunk is does not depend
   on when it was made, so the order of the commits does not matter after the first.
"""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from contenders import OURS, PEER
from corpus import clone
from places import ROOT, WORK
from process import Usage, run

DEFAULTS = (192, 512)
HISTORIES = {"fastapi-commits": (480, 1232), "peps-commits": (360, 920)}
"""Minimum and maximum in estimated tokens at which our chunks are about as large as the peer's."""
QUICK_COMMITS = 40


@dataclass(frozen=True, slots=True)
class Cut:
    """What one chunker made of a history. `mean` is that of the distinct texts of the first snapshot, in UTF-8."""

    name: str
    embedded_bytes: int
    embedded_texts: int
    mean: float
    largest: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Replay:
    """One history by all chunkers; the peer's comes first."""

    history: str
    commits: int
    versions: int
    version_bytes: int
    cuts: list[Cut]


def measure(*, quick: bool) -> list[Replay]:
    """The histories that are here; an empty list without the data."""
    return [_replay(name, folder, quick=quick) for name in HISTORIES if (folder := clone(name))]


def _replay(name: str, folder: Path, *, quick: bool) -> Replay:
    print(f"  {name}: reading the history", flush=True)
    commits = _git(folder, "rev-list", "--reverse", "HEAD").split()
    if quick:
        commits = commits[:QUICK_COMMITS]
    stream = WORK / f"{name}.jsonl"
    versions = size = 0
    with stream.open("w", encoding="utf-8") as out:
        for first, path, content in _versions(folder, commits):
            versions += 1
            size += len(content)
            out.write(json.dumps([first, path, content.decode()]) + "\n")

    def cut(called: str, command: list[str | Path]) -> Cut:
        print(f"  {name}: {called}", flush=True)
        usage, out = run([*command[:2], stream, *command[2:]], ROOT)
        return Cut(called, usage=usage, **json.loads(out))

    cuts = [cut("peer, its default", [PEER.python, PEER.inside("cut")])]
    for least, most in (DEFAULTS, HISTORIES[name]):
        called = f"ours, {least} to {most}" + (", the default" if (least, most) == DEFAULTS else "")
        cuts.append(cut(called, [OURS.python, OURS.inside("cut"), str(least), str(most)]))
    return Replay(name, len(commits), versions, size, cuts)


def _versions(folder: Path, commits: list[str]) -> Iterator[tuple[bool, str, bytes]]:
    """Every version of every document: whether the first snapshot has it, its path, its bytes."""
    wanted: dict[tuple[str, str], tuple[bool, str]] = {}
    for line in _git(folder, "ls-tree", "-r", "-z", commits[0]).split("\0")[:-1]:
        about, path = line.split("\t")
        wanted.setdefault((about.split()[2], Path(path).suffix), (True, path))
    for parent, commit in pairwise(commits):
        fields = _git(folder, "diff-tree", "-r", "-z", "--no-renames", "--diff-filter=AM", parent, commit).split("\0")
        for about, path in zip(fields[::2], fields[1::2], strict=False):
            wanted.setdefault((about.split()[3], Path(path).suffix), (False, path))
    batch = subprocess.Popen(["git", "cat-file", "--batch"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert batch.stdin
    assert batch.stdout
    for (blob, _), (first, path) in wanted.items():
        batch.stdin.write(f"{blob}\n".encode())
        batch.stdin.flush()
        size = int(batch.stdout.readline().split()[2])
        yield first, path, batch.stdout.read(size + 1)[:-1]
    batch.stdin.close()
    batch.wait()


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout

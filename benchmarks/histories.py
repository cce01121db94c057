"""Real histories: the versions of every document, commit by commit, read from a clone in one go."""

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

NAMES = ("fastapi-commits", "peps-commits")
QUICK_COMMITS = 40


class Version(NamedTuple):
    """A version of a document: whether the first snapshot has it, its path, its bytes."""

    first: bool
    path: str
    content: bytes


class Change(NamedTuple):
    """A document before and after a commit that changed it."""

    path: str
    old: bytes
    new: bytes


def commits(folder: Path, *, quick: bool) -> list[str]:
    """Oldest first."""
    found = git(folder, "rev-list", "--reverse", "HEAD").split()
    return found[:QUICK_COMMITS] if quick else found


def versions(folder: Path, commits: list[str]) -> Iterator[Version]:
    """Every version of every document once: what a chunk is does not depend on when its text was there."""
    wanted: dict[tuple[str, str], tuple[bool, str]] = {}
    for line in git(folder, "ls-tree", "-r", "-z", commits[0]).split("\0")[:-1]:
        about, path = line.split("\t")
        wanted.setdefault((about.split()[2], Path(path).suffix), (True, path))
    for parent, commit in pairwise(commits):
        for _, new, path in _changed(folder, parent, commit, "AM"):
            wanted.setdefault((new, Path(path).suffix), (False, path))
    blobs = read(folder, (blob for blob, _ in wanted))
    for (_, (first, path)), content in zip(wanted.items(), blobs, strict=True):
        yield Version(first, path, content)


def changes(folder: Path, commits: list[str]) -> Iterator[Change]:
    """Every edit of a document that was there before, in order."""
    found = [
        (old, new, path)
        for parent, commit in pairwise(commits)
        for old, new, path in _changed(folder, parent, commit, "M")
    ]
    blobs = read(folder, (blob for old, new, _ in found for blob in (old, new)))
    for (_, _, path), old, new in zip(found, blobs, blobs, strict=True):
        yield Change(path, old, new)


def snapshots(folder: Path) -> Mapping[str, bytes]:
    """Every distinct content that any snapshot has, by a path of its own: a larger corpus out of a small one."""
    found: dict[str, str] = {}
    for commit in commits(folder, quick=False):
        for line in git(folder, "ls-tree", "-r", "-z", commit).split("\0")[:-1]:
            about, path = line.split("\t")
            blob = about.split()[2]
            found.setdefault(blob, f"{Path(path).with_suffix('')}-{blob[:8]}{Path(path).suffix}")
    return dict(zip(found.values(), read(folder, found), strict=True))


def read(folder: Path, blobs: Iterable[str]) -> Iterator[bytes]:
    """The contents of blobs, in order."""
    batch = subprocess.Popen(["git", "cat-file", "--batch"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert batch.stdin
    assert batch.stdout
    for blob in blobs:
        batch.stdin.write(f"{blob}\n".encode())
        batch.stdin.flush()
        size = int(batch.stdout.readline().split()[2])
        yield batch.stdout.read(size + 1)[:-1]
    batch.stdin.close()
    batch.wait()


def git(folder: Path, *arguments: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def _changed(folder: Path, parent: str, commit: str, kinds: str) -> Iterator[tuple[str, str, str]]:
    """(old blob, new blob, path) of each document that a commit changed."""
    fields = git(folder, "diff-tree", "-r", "-z", "--no-renames", f"--diff-filter={kinds}", parent, commit).split("\0")
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        yield about.split()[2], about.split()[3], path

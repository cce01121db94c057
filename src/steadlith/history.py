"""Histories: the same documents at one moment after another, oldest first, to replay what an index would have met.

1. A history is only read: nothing is checked out, written or fetched.
2. What is a document, and of which format, is for the source's rule to say; here a path and its bytes are one version.
3. Equal contents have equal names, so that a document which moves or comes back is known again without reading it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from steadlith import wiring
from steadlith.border import adapter
from steadlith.cutting import USUAL_SOURCE
from steadlith_core.errors import DocumentError, SourceError, UsageError
from steadlith_core.records import Finding, FindingKind, gather
from steadlith_core.state.identity import source_digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from steadlith_core.ports import FormatRule, Source
    from steadlith_core.records import Format


@dataclass(frozen=True, slots=True)
class Version:
    """One document at one moment. `content` names its bytes."""

    path: str
    format: Format
    content: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One moment: what is new or changed since the one before (in the first one everything), in path order.

    `documents` counts all that are there, changed or not.
    """

    name: str
    documents: int
    changed: tuple[Version, ...]
    findings: tuple[Finding, ...] = ()


class History(Protocol):
    """What can be replayed."""

    @property
    def moments(self) -> int:
        """How many snapshots there are."""
        ...

    def snapshots(self) -> Iterator[Snapshot]:
        """All snapshots, oldest first. Called once. Raises `SourceError`."""
        ...

    def read(self, version: Version) -> bytes:
        """The bytes of a version of the snapshot that was given last. Raises `DocumentError` or `SourceError`."""
        ...


@dataclass(frozen=True, slots=True)
class Stretch:
    """Which part of a history: the last `commits`, or what came after `since`; `below` a folder, or all."""

    commits: int | None = None
    since: str | None = None
    below: str = ""


@contextmanager
def history(place: Path, stretch: Stretch, formats: FormatRule) -> Iterator[History]:
    """The history at `place`: a git repository, bare or not, or a folder of snapshots.

    Raises `SourceError`, or `UsageError` for a stretch that there cannot be.
    """
    from steadlith.githistory import GitHistory, is_repository

    if is_repository(place):
        with GitHistory(place, stretch, formats) as found:
            yield found
    elif not place.is_dir():
        what = "is a file; clone a bundle first (git clone FILE FOLDER)" if place.exists() else "does not exist"
        raise SourceError(f"history {str(place)!r} {what}")
    elif stretch.since is not None:
        raise UsageError(f"--since {stretch.since}: {str(place)!r} is no git repository")
    else:
        yield FolderHistory(place, stretch)


class FolderHistory:
    """A folder whose sub-folders are snapshots, in the order of their names."""

    def __init__(self, place: Path, stretch: Stretch) -> None:
        try:
            names = sorted(each.name for each in place.iterdir() if each.is_dir() and not each.name.startswith("."))
        except OSError as error:
            raise SourceError(f"history {str(place)!r} cannot be listed: {error.strerror}") from error
        if not names:
            raise SourceError(
                f"history {str(place)!r} is neither a git repository nor a folder of snapshots: it has no sub-folders "
                "(for a folder inside a repository name the repository, and the folder with --path)"
            )
        self._names = names if stretch.commits is None else names[-stretch.commits - 1 :]
        self._place = place
        self._below = stretch.below
        self._origins: dict[str, tuple[Source, str]] = {}

    @property
    def moments(self) -> int:
        """How many sub-folders are replayed."""
        return len(self._names)

    def snapshots(self) -> Iterator[Snapshot]:
        """Each sub-folder as a source lists it; its `.gitignore` files do not count, as they do not in a commit."""
        before: dict[str, str] = {}
        for name in self._names:
            if not (self._place / name / self._below).is_dir():
                before = {}
                yield Snapshot(name, 0, ())
                continue
            where = f"{name}/{self._below}" if self._below else name
            with adapter(f"listing {where}"):
                factory = wiring.source_factory(USUAL_SOURCE, "source")
                settings = {"path": where, "gitignore": False}
                source = factory.build("history", settings, root=str(self._place), private=())
                listing = gather(source.list())
            now: dict[str, str] = {}
            changed: list[Version] = []
            findings = [replace(finding, place=f"{name}:{finding.place}") for finding in listing.findings]
            for entry in listing.entries:
                try:
                    with adapter(f"reading {where}/{entry.path}"):
                        content = str(source_digest(source.read(entry.path).body))
                except DocumentError as error:
                    findings.append(Finding(f"{name}:{entry.path}", FindingKind(error.kind), str(error)))
                    continue
                now[entry.path] = content
                if before.get(entry.path) != content:
                    changed.append(Version(entry.path, entry.format, content))
                    self._origins[content] = source, entry.path
            before = now
            yield Snapshot(name, len(now), tuple(changed), tuple(findings))
            self._origins.clear()

    def read(self, version: Version) -> bytes:
        """Read the file again: no text is kept."""
        source, path = self._origins[version.content]
        with adapter(f"reading {path}"):
            return source.read(path).body

"""One part of a listing while it is put together: the documents of one folder, and the words for what is odd there."""

from __future__ import annotations

import errno
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steadlith_adapters.sources.filesystem.names import printable
from steadlith_core.records import Finding, FindingKind, Listed, SourceEntry

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(slots=True)
class Part:
    """The folder `path`, listed under `rules`."""

    path: str
    rules: bytes = b""
    entries: list[SourceEntry] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def listed(self) -> Listed:
        """The part as it is handed out."""
        # Python orders text by code point, which is the order of its UTF-8 bytes.
        return Listed(
            folder=self.path,
            entries=tuple(sorted(self.entries, key=lambda entry: entry.path)),
            same=self.same,
            rules=self.rules,
            findings=tuple(sorted(self.findings)),
            unread=tuple(sorted(set(self.unread))),
        )

    def __bool__(self) -> bool:
        return bool(self.entries or self.same or self.findings or self.unread)

    def not_a_file(self, path: str) -> None:
        """A pipe, a socket or a device."""
        self._report(path, FindingKind.NOT_A_FILE, "is a pipe, a socket or a device, not a file; exclude or remove it")

    def too_large(self, path: str, size: int, most: int) -> None:
        """A file over the limit: it stays as it was recorded."""
        self.unread.append(path)
        self._report(
            path,
            FindingKind.TOO_LARGE,
            f"has {size} bytes, more than max_file_bytes = {most}; raise the limit or exclude it",
        )

    def link_outside(self, path: str, target: str) -> None:
        """A link that leaves the source."""
        # What stood at this path before, a file or a folder, is not known to be gone: it may have moved out.
        self.unread += [path, path + "/"]
        self._report(
            path,
            FindingKind.LINK_OUTSIDE,
            f"is a link that leaves the source (to {printable(target)}); links are followed only inside it: "
            "copy the file, exclude the link, or add the other folder as a source",
        )

    def twins(self, path: str) -> None:
        """Names that are one after Unicode composition: which of them a recorded document was cannot be told."""
        self.unread += [path, path + "/"]
        self._report(
            path,
            FindingKind.NAME_CONFLICT,
            "stands here more than once, spelled with different Unicode compositions; rename all but one",
        )

    def bad_name(self, name: str) -> None:
        """A name that no document id can have."""
        self._report(
            self.path + name,
            FindingKind.NAME_NOT_UTF8,
            "has a name that is not UTF-8, so no document id can name it; rename or exclude it",
        )

    def file_unread(self, path: str, error: OSError) -> None:
        """A file of which nothing is known."""
        self.unread.append(path)
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            self._report(path, FindingKind.VANISHED, "vanished while its folder was listed; run again")
        else:
            self._report(
                path, FindingKind.UNREADABLE_FILE, f"cannot be looked at ({error.strerror}); grant access or exclude it"
            )

    def folder_unread(self, error: OSError) -> None:
        """The folder itself, with all that is below it."""
        self.unread.append(self.path)
        self._report(
            self.path,
            FindingKind.UNREADABLE_FOLDER,
            f"cannot be listed ({error.strerror}), so its documents are kept as they are; grant access or exclude it",
        )

    def case_conflicts(self, paths: Iterable[str]) -> None:
        """Which of `paths` differ by case only: one finding for each."""
        by_fold: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            by_fold[path.casefold()].append(path)
        for alike in by_fold.values():
            for path in alike if len(alike) > 1 else ():
                others = ", ".join(repr(other) for other in sorted(alike) if other != path)
                self._report(
                    path,
                    FindingKind.NAME_CONFLICT,
                    f"differs only by case from {others}; on some disks only one of them can exist",
                )

    def _report(self, place: str, kind: FindingKind, message: str) -> None:
        self.findings.append(Finding(place, kind, message))


def differ_by_case(names: list[str]) -> bool:
    """Whether some of `names`, which are different, differ by case only."""
    # All at once: no name on disk holds a NUL, and folding looks at each code point by itself.
    return len(set("\0".join(names).casefold().split("\0"))) < len(names)

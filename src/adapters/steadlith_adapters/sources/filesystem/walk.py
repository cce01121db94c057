"""One walk over the folder: everything in scope, everything odd, and everything that could not be seen.

1. What cannot be known goes to `unread`, so that nothing of it is taken for deleted.
2. Nothing but folders and `.gitignore` files is opened: a FIFO cannot block a listing.
3. A link to a folder is never followed. If it leads inside the root, the documents there stand at their own paths.
4. A link to a file inside the root is a document of its own only if the target is not listed at its own path and
   is not excluded. A link that leads outside the root is a finding; a link to nothing is passed over.
5. The order of the answer is that of the paths' UTF-8 bytes, whatever order the disk keeps.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import defaultdict
from typing import TYPE_CHECKING

from steadlith_adapters.sources.filesystem.names import document_name, is_text, printable
from steadlith_core.errors import SourceError
from steadlith_core.records import Finding, FindingKind, Listed, Listing, SourceEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steadlith_adapters.sources.filesystem.scope import Folder, Scope
    from steadlith_adapters.sources.filesystem.settings import FolderSettings


class Walk:
    """A single listing. `folders` are those that were entered, by path."""

    def __init__(self, settings: FolderSettings, scope: Scope) -> None:
        self._settings = settings
        self._scope = scope
        self._entries: dict[str, SourceEntry] = {}
        self._findings: list[Finding] = []
        self._unread: list[str] = []
        self._links: list[tuple[Folder, str]] = []
        self._waiting: list[Folder] = []
        self.folders: dict[str, Folder] = {}

    def listing(self) -> Listing:
        """Walk, once. Raises `SourceError` if the root cannot be listed."""
        try:
            self._list_folder(self._scope.top())
        except OSError as error:
            raise SourceError(
                f"source {self._settings.name!r}: the folder {self._settings.root!r} cannot be listed "
                f"({error.strerror}: {error.filename!r}), so nothing is known about its documents; mount it, grant "
                "access, or take the source out of the configuration"
            ) from error
        while self._waiting:
            folder = self._waiting.pop()
            try:
                self._list_folder(folder)
            except OSError as error:
                self._folder_unread(folder.path, error)
        by_real = {folder.real: folder for folder in self.folders.values()}
        for folder, name in self._links:
            self._follow(folder, name, by_real)
        self._report_case_conflicts()
        # Python orders text by code point, which is the order of its UTF-8 bytes.
        return Listing(
            entries=tuple(self._entries[path] for path in sorted(self._entries)),
            findings=tuple(sorted(self._findings)),
            unread=tuple(sorted(set(self._unread))),
        )

    def _list_folder(self, folder: Folder) -> None:
        """List one folder and queue the folders in it. Raises `OSError` if it cannot be listed to its end."""
        with os.scandir(folder.real) as found:
            by_name: dict[str, list[os.DirEntry[str]]] = defaultdict(list)
            for entry in found:
                by_name[document_name(entry.name)].append(entry)
        self.folders[folder.path] = folder
        for name, entries in by_name.items():
            if len(entries) > 1:
                self._report_twins(folder, name, entries)
            else:
                self._look_at(folder, entries[0])

    def _look_at(self, folder: Folder, entry: os.DirEntry[str]) -> None:
        path = folder.path + document_name(entry.name)
        try:
            if entry.is_dir(follow_symlinks=False):
                self._queue(folder, entry.name)
            elif self._scope.admits(folder, entry.name):
                if not is_text(entry.name):
                    self._report_bad_name(folder, entry.name)
                elif entry.is_symlink():
                    self._links.append((folder, entry.name))
                else:
                    self._list_file(path, entry.stat(follow_symlinks=False))
        except OSError as error:
            self._file_unread(path, error)

    def _queue(self, parent: Folder, name: str) -> None:
        if not is_text(name):
            if not self._scope.excludes(parent, name, folder=True):
                self._report_bad_name(parent, name)
            return
        try:
            folder = self._scope.enter(parent, name)
        except OSError as error:
            self._folder_unread(f"{parent.path}{document_name(name)}/", error)
        else:
            if folder is not None:
                self._waiting.append(folder)

    def _list_file(self, path: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._report(
                path, FindingKind.NOT_A_FILE, "is a pipe, a socket or a device, not a file; exclude or remove it"
            )
        elif status.st_size > self._settings.max_file_bytes:
            self._unread.append(path)
            self._report(
                path,
                FindingKind.TOO_LARGE,
                f"has {status.st_size} bytes, more than max_file_bytes = {self._settings.max_file_bytes}; "
                "raise the limit or exclude it",
            )
        else:
            self._entries[path] = SourceEntry(path, self._settings.formats.of(path), status.st_size)

    def _follow(self, folder: Folder, name: str, by_real: dict[str, Folder]) -> None:
        path = folder.path + document_name(name)
        target = resolved(os.path.join(folder.real, name))  # noqa: PTH118 -- the disk's own spelling, untouched
        if not is_within(target, self._settings.root):
            # What stood at this path before, a file or a folder, is not known to be gone: it may have moved out.
            self._unread += [path, path + "/"]
            self._report(
                path,
                FindingKind.LINK_OUTSIDE,
                f"is a link that leaves the source (to {printable(target)}); links are followed only inside it: "
                "copy the file, exclude the link, or add the other folder as a source",
            )
            return
        try:
            status = os.lstat(target)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                self._file_unread(path, error)
            return
        home, _, own_name = target.rpartition(os.sep)
        home_folder = by_real.get(home)
        if stat.S_ISDIR(status.st_mode) or stat.S_ISLNK(status.st_mode) or home_folder is None:
            return  # rule 3; a loop of links; a target in a folder that is excluded
        own_path = home_folder.path + document_name(own_name)
        if own_path not in self._entries and not self._scope.excludes(home_folder, own_name, folder=False):
            self._list_file(path, status)

    def _report_twins(self, folder: Folder, name: str, entries: Iterable[os.DirEntry[str]]) -> None:
        """Names that are one after Unicode composition: which of them a recorded document was cannot be told."""
        path = folder.path + name
        if any(self._is_in_scope(folder, entry) for entry in entries):
            self._unread += [path, path + "/"]
            self._report(
                path,
                FindingKind.NAME_CONFLICT,
                "stands here more than once, spelled with different Unicode compositions; rename all but one",
            )

    def _is_in_scope(self, folder: Folder, entry: os.DirEntry[str]) -> bool:
        try:
            if entry.is_dir(follow_symlinks=False):
                return not self._scope.excludes(folder, entry.name, folder=True)
        except OSError:
            return True  # what it is cannot be known
        return self._scope.admits(folder, entry.name)

    def _report_case_conflicts(self) -> None:
        by_fold: dict[str, list[str]] = defaultdict(list)
        for path in self._entries:
            by_fold[path.casefold()].append(path)
        for paths in by_fold.values():
            for path in paths:
                others = ", ".join(repr(other) for other in sorted(paths) if other != path)
                if others:
                    self._report(
                        path,
                        FindingKind.NAME_CONFLICT,
                        f"differs only by case from {others}; on some disks only one of them can exist",
                    )

    def _report_bad_name(self, folder: Folder, name: str) -> None:
        self._report(
            folder.path + printable(name),
            FindingKind.NAME_NOT_UTF8,
            "has a name that is not UTF-8, so no document id can name it; rename or exclude it",
        )

    def _file_unread(self, path: str, error: OSError) -> None:
        self._unread.append(path)
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            self._report(path, FindingKind.VANISHED, "vanished while its folder was listed; run again")
        else:
            self._report(
                path, FindingKind.UNREADABLE_FILE, f"cannot be looked at ({error.strerror}); grant access or exclude it"
            )

    def _folder_unread(self, path: str, error: OSError) -> None:
        self._unread.append(path)
        self._report(
            path,
            FindingKind.UNREADABLE_FOLDER,
            f"cannot be listed ({error.strerror}), so its documents are kept as they are; grant access or exclude it",
        )

    def _report(self, place: str, kind: FindingKind, message: str) -> None:
        self._findings.append(Finding(place, kind, message))


def by_folder(listing: Listing) -> list[Listed]:
    """A listing in its parts."""
    folders: dict[str, list[SourceEntry]] = defaultdict(list)
    for entry in listing.entries:
        folders[entry.path[: entry.path.rfind("/") + 1]].append(entry)
    parts = [Listed(folder, tuple(entries)) for folder, entries in folders.items()]
    return [*parts, Listed("", findings=listing.findings, unread=listing.unread)]


def resolved(path: str) -> str:
    """`path` without links, as far as it exists; a loop of links stays (Path.resolve would raise)."""
    return os.path.realpath(path)


def is_within(path: str, root: str) -> bool:
    """Whether the real path `path` is the real path `root` or below it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)

"""The folder as a source: lists through the walk, reads through the same scope.

1. A path is untrusted (plan files name paths): one that leaves the root, or is out of scope, is refused unread.
2. A path is NFC; the name on disk may be spelled otherwise, and is looked up when it is.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from steadlith_adapters.sources.filesystem.links import below, is_within, resolved
from steadlith_adapters.sources.filesystem.names import document_name
from steadlith_adapters.sources.filesystem.reading import LinkMet, read_below
from steadlith_adapters.sources.filesystem.scope import Scope, format_rule
from steadlith_adapters.sources.filesystem.settings import read_rules, read_settings
from steadlith_adapters.sources.filesystem.stamps import PLACE, stamp_of
from steadlith_adapters.sources.filesystem.walk import Walk
from steadlith_core.errors import DocumentError
from steadlith_core.ports import nothing_known
from steadlith_core.records import Content, FindingKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_adapters.sources.filesystem.scope import Folder
    from steadlith_adapters.sources.filesystem.settings import FolderSettings
    from steadlith_core.ports import FormatRule, Known, Settings
    from steadlith_core.records import Listed, Stamp


class FilesystemSource:
    """Documents below one folder."""

    def __init__(self, settings: FolderSettings) -> None:
        self._settings = settings
        self._scope = Scope(settings)
        self._folders: dict[str, Folder] = {}

    def list(self, known: Known = nothing_known) -> Iterator[Listed]:
        """Everything in scope now. Raises `SourceError` if the root cannot be listed."""
        self._folders = {}
        return Walk(self._settings, self._scope, known, self._folders).parts()

    def read(self, path: str) -> Content:
        """The document at `path`. Raises `DocumentError`."""
        *above, last = _parts(path)
        folder = self._enter(above, path)
        name = _spelled(folder.real, last)
        if not self._scope.admits(folder, name):
            raise _out_of_scope(path)
        try:
            return self._read(_at(folder, name), path)
        except LinkMet:
            return self._read_through_link(_at(folder, name), path)

    def stamp(self, path: str) -> Stamp | None:
        """The stamp of what stands at `path` now; none for what is no file, or gone."""
        try:
            *above, last = _parts(path)
            folder = self._enter(above, path)
            place = _at(folder, _spelled(folder.real, last))
            status = os.lstat(place)
            if stat.S_ISREG(status.st_mode):
                return stamp_of(status)
            if stat.S_ISLNK(status.st_mode):
                return stamp_of(status, os.lstat(resolved(place)))
        except (DocumentError, OSError):
            pass
        return None

    def leaves_out(self, path: str) -> bool:
        """Whether the rules leave out the file (or the link to one) that stands at `path`."""
        try:
            *above, last = _parts(path)
            folder = self._folders.get("") or self._scope.top()
            for at, name in enumerate(above):
                spelled = _spelled(folder.real, name)
                inner = self._scope.enter(folder, spelled)
                if inner is None:
                    return _is_there(_at(folder, spelled), [*above[at + 1 :], last])
                folder = inner
            name = _spelled(folder.real, last)
            status = os.lstat(_at(folder, name))
            if stat.S_ISDIR(status.st_mode):
                return False
            if not self._scope.admits(folder, name):
                return True
            return stat.S_ISLNK(status.st_mode) and self._leaves_out_target(resolved(_at(folder, name)))
        except (DocumentError, OSError):
            return False

    def place(self) -> bytes | None:
        """Which folder the root is: another one at the same path has another device or inode."""
        try:
            status = os.stat(self._settings.root)  # noqa: PTH116 -- as everywhere here
        except OSError:
            return None
        return PLACE.pack(status.st_dev, status.st_ino)

    def _leaves_out_target(self, target: str) -> bool:
        root = self._settings.root
        if target == root or not is_within(target, root):
            return False
        *above, name = below(target, root)
        home = self._scope.lead(above, self._folders)
        return home is None or self._scope.excludes(home, name, folder=False)

    def _read_through_link(self, link: str, path: str) -> Content:
        root = self._settings.root
        target = resolved(link)
        if target == root or not is_within(target, root):
            raise DocumentError(FindingKind.LINK_OUTSIDE, f"{path!r} is a link that leaves the source; it is not read")
        *above, last = below(target, root)
        if self._scope.excludes(self._enter([document_name(part) for part in above], path), last, folder=False):
            raise _out_of_scope(path)
        try:
            return self._read(target, path)
        except LinkMet:
            raise DocumentError(FindingKind.CHANGED_WHILE_READING, f"{path!r} became another link; run again") from None

    def _read(self, real: str, path: str) -> Content:
        root = self._settings.root
        return Content(read_below(root, below(real, root), path=path, max_bytes=self._settings.max_file_bytes))

    def _enter(self, names: Sequence[str], path: str) -> Folder:
        """The folder that `names` lead to, by the rules that a listing obeys."""
        known = self._folders.get("".join(name + "/" for name in names))
        if known is not None:
            return known
        try:
            folder = self._folders.get("") or self._scope.top()
            for name in names:
                spelled = _spelled(folder.real, name)
                if os.path.islink(_at(folder, spelled)):  # noqa: PTH114 -- as in _spelled
                    raise DocumentError(
                        FindingKind.LINK_OUTSIDE, f"{path!r} leads through a link to a folder; it is not read"
                    )
                inner = self._scope.enter(folder, spelled)
                if inner is None:
                    raise _out_of_scope(path)
                folder = inner
        except NotADirectoryError as error:
            raise DocumentError(FindingKind.VANISHED, f"{path!r} is not there any more; run again") from error
        except OSError as error:
            raise DocumentError(
                FindingKind.UNREADABLE_FILE, f"{path!r} cannot be read: {error.strerror} ({error.filename!r})"
            ) from error
        self._scope.keep(folder, self._folders)
        return folder


class FilesystemFactory:
    """Makes folder sources."""

    def build(self, name: str, settings: Settings, *, root: str, private: Sequence[str]) -> FilesystemSource:
        """A source named `name`. Raises `ConfigError`."""
        return FilesystemSource(read_settings(name, settings, root=root, private=private))

    def formats(self, settings: Settings) -> FormatRule:
        """The rule of a source over `settings`, by names alone. Raises `ConfigError`."""
        return format_rule(read_rules("formats", settings))


def _parts(path: str) -> Sequence[str]:
    """The names in `path`. `DocumentError` for one that could lead anywhere but down from the root."""
    parts = path.split("/")
    native = os.sep != "/" and (os.sep in path or ":" in path)
    if native or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise DocumentError(
            FindingKind.LINK_OUTSIDE, f"{path!r} does not name a document below the source's folder; it is not read"
        )
    return parts


def _spelled(folder: str, name: str) -> str:
    """How the disk spells `name` in `folder`; `name` itself if nothing there is the same name in NFC."""
    if name.isascii() or os.path.lexists(os.path.join(folder, name)):  # noqa: PTH118 -- Path would change the name
        return name
    try:
        with os.scandir(folder) as entries:
            return next((entry.name for entry in entries if document_name(entry.name) == name), name)
    except OSError:
        return name  # opening it will tell what is wrong


def _at(folder: Folder, name: str) -> str:
    """Where `name`, as the disk spells it, stands in `folder`."""
    return os.path.join(folder.real, name)  # noqa: PTH118 -- Path would change the name


def _is_there(real: str, names: Sequence[str]) -> bool:
    """Whether a file, or a link, stands where `names` lead to from the folder `real`."""
    for name in names:
        real = os.path.join(real, _spelled(real, name))  # noqa: PTH118 -- as in _at
    return not stat.S_ISDIR(os.lstat(real).st_mode)


def _out_of_scope(path: str) -> DocumentError:
    return DocumentError(FindingKind.VANISHED, f"{path!r} is not a document of this source (excluded, ignored or ours)")


FACTORY = FilesystemFactory()

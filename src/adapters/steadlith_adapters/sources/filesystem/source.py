"""The folder as a source: lists through the walk, reads through the same scope.

1. A path is untrusted (plan files name paths): one that leaves the root, or is out of scope, is refused unread.
2. A path is NFC; the name on disk may be spelled otherwise, and is looked up when it is.
"""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING

from steadlith_adapters.sources.filesystem.names import document_name
from steadlith_adapters.sources.filesystem.reading import LinkMet, read_below
from steadlith_adapters.sources.filesystem.scope import Scope, format_rule
from steadlith_adapters.sources.filesystem.settings import read_rules, read_settings
from steadlith_adapters.sources.filesystem.walk import Walk, by_folder, is_within, resolved
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
        del known
        walk = Walk(self._settings, self._scope)
        listing = walk.listing()
        self._folders = walk.folders
        return iter(by_folder(listing))

    def stamp(self, path: str) -> Stamp | None:
        """See `Source.stamp`."""
        del path
        return None

    def leaves_out(self, path: str) -> bool:
        """See `Source.leaves_out`."""
        del path
        return False

    def place(self) -> bytes | None:
        """See `Source.place`."""
        return None

    def read(self, path: str) -> Content:
        """The document at `path`. Raises `DocumentError`."""
        *above, last = _parts(path)
        folder = self._enter(above, path)
        name = _spelled(folder.real, last)
        if not self._scope.admits(folder, name):
            raise _out_of_scope(path)
        try:
            return self._read((*folder.names, name), path)
        except LinkMet:
            return self._read_through_link(folder, name, path)

    def _read_through_link(self, folder: Folder, name: str, path: str) -> Content:
        root = self._settings.root
        target = resolved(os.path.join(folder.real, name))  # noqa: PTH118 -- the disk's own spelling, untouched
        if target == root or not is_within(target, root):
            raise DocumentError(FindingKind.LINK_OUTSIDE, f"{path!r} is a link that leaves the source; it is not read")
        *above, last = PurePath(target).relative_to(root).parts
        if self._scope.excludes(self._enter([document_name(part) for part in above], path), last, folder=False):
            raise _out_of_scope(path)
        try:
            return self._read((*above, last), path)
        except LinkMet:
            raise DocumentError(FindingKind.CHANGED_WHILE_READING, f"{path!r} became another link; run again") from None

    def _read(self, names: Sequence[str], path: str) -> Content:
        return Content(read_below(self._settings.root, names, path=path, max_bytes=self._settings.max_file_bytes))

    def _enter(self, names: Sequence[str], path: str) -> Folder:
        """The folder that `names` lead to, by the rules that a listing obeys."""
        known = self._folders.get("".join(name + "/" for name in names))
        if known is not None:
            return known
        try:
            folder = self._scope.top()
            for name in names:
                spelled = _spelled(folder.real, name)
                if os.path.islink(os.path.join(folder.real, spelled)):  # noqa: PTH114, PTH118 -- as in _spelled
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
        self._folders[folder.path] = folder
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


def _out_of_scope(path: str) -> DocumentError:
    return DocumentError(FindingKind.VANISHED, f"{path!r} is not a document of this source (excluded, ignored or ours)")


FACTORY = FilesystemFactory()

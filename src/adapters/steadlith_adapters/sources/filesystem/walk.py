"""One walk over the folder: everything in scope, everything odd, and everything that could not be seen.

1. What cannot be known goes to `unread`, so that nothing of it is taken for deleted.
2. Nothing but folders and `.gitignore` files is opened: a FIFO cannot block a listing.
3. A document that is known under the same rules and has the numbers that it had costs one stat: no rule is asked, and
   nothing is made of it.
4. A link that leads outside the root is a finding; one to nothing is passed over (`links.py` has the others).
"""

from __future__ import annotations

import errno
import os
import stat
from collections import defaultdict
from typing import TYPE_CHECKING

from steadlith_adapters.sources.filesystem.descent import Descent
from steadlith_adapters.sources.filesystem.links import is_within, own_document, resolved
from steadlith_adapters.sources.filesystem.names import document_name, is_text, printable
from steadlith_adapters.sources.filesystem.part import Part
from steadlith_adapters.sources.filesystem.stamps import IDENTITY, stamp_of
from steadlith_core.errors import SourceError
from steadlith_core.records import SourceEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith_adapters.sources.filesystem.scope import Folder, Scope
    from steadlith_adapters.sources.filesystem.settings import FolderSettings
    from steadlith_core.ports import Known
    from steadlith_core.records import Listed, Stamp

FILE_TYPE = 0o170000
REGULAR = 0o100000


class Walk(Descent[None]):
    """A single listing. `folders` takes up those that were entered, by path."""

    def __init__(self, settings: FolderSettings, scope: Scope, known: Known, folders: dict[str, Folder]) -> None:
        super().__init__(scope)
        self._settings = settings
        self._known = known
        self._folders = folders

    def parts(self) -> Iterator[Listed]:
        """Walk, once. Raises `SourceError` if the root cannot be listed."""
        try:
            first = self._list_folder(self._scope.top(), None, alike=False)
        except OSError as error:
            raise SourceError(
                f"source {self._settings.name!r}: the folder {self._settings.root!r} cannot be listed "
                f"({error.strerror}: {error.filename!r}), so nothing is known about its documents; mount it, grant "
                "access, or take the source out of the configuration"
            ) from error
        yield from self._below(first)

    def _list_folder(self, folder: Folder, where: None, *, alike: bool) -> Part:
        del where
        self._scope.keep(folder, self._folders)
        known = self._known(folder.path)
        identities: Mapping[str, bytes] = known.identities if known and known.rules == folder.rules else {}
        part = Part(folder.path, folder.rules)
        by_name: dict[str, list[os.DirEntry[str]]] = defaultdict(list)
        for entry in _sift(folder.real, identities, part.same):
            by_name[document_name(entry.name)].append(entry)
        odd = [name for name, entries in by_name.items() if len(entries) > 1 or entries[0].name != name]
        for name in set(odd).intersection(part.same):
            part.same.remove(name)
            part.twins(folder.path + name)
            del by_name[name]
        inside: list[tuple[str, None]] = []
        for name, entries in by_name.items():
            if len(entries) > 1:
                if any(self._is_in_scope(folder, entry) for entry in entries):
                    part.twins(folder.path + name)
            elif self._is_folder(part, folder, entries[0], name, identities):
                inside.append((entries[0].name, None))
        self._queue(folder, inside, alike=alike)
        self._compare(part, alike=alike)
        return part

    def _is_folder(
        self, part: Part, folder: Folder, entry: os.DirEntry[str], name: str, identities: Mapping[str, bytes]
    ) -> bool:
        """Whether there is a folder to enter; what else is in scope becomes part of `part`."""
        try:
            if entry.is_dir(follow_symlinks=False):
                if is_text(entry.name):
                    return True
                if not self._scope.excludes(folder, entry.name, folder=True):
                    part.bad_name(printable(entry.name))
            elif name in identities or self._scope.admits(folder, entry.name):
                if not is_text(entry.name):
                    part.bad_name(printable(entry.name))
                elif entry.is_symlink():
                    self._follow(part, folder, entry.name, identities.get(name))
                else:
                    status = entry.stat(follow_symlinks=False)
                    self._list_file(part, name, status, stamp_of(status), identities.get(name))
        except OSError as error:
            part.file_unread(folder.path + name, error)
        return False

    def _list_file(self, part: Part, name: str, status: os.stat_result, stamp: Stamp, identity: bytes | None) -> None:
        path = part.path + name
        if not stat.S_ISREG(status.st_mode):
            part.not_a_file(path)
        elif status.st_size > self._settings.max_file_bytes:
            part.too_large(path, status.st_size, self._settings.max_file_bytes)
        elif stamp.identity == identity:
            part.same.append(name)
        else:
            part.entries.append(SourceEntry(path, self._settings.formats.of(path), status.st_size, stamp))

    def _follow(self, part: Part, folder: Folder, name: str, identity: bytes | None) -> None:
        link = os.path.join(folder.real, name)  # noqa: PTH118 -- the disk's own spelling, untouched
        target = resolved(link)
        own_name = document_name(name)
        if not is_within(target, self._settings.root):
            part.link_outside(part.path + own_name, target)
            return
        try:
            status = own_document(target, self._settings, self._scope, self._folders)
            if status is not None:
                self._list_file(part, own_name, status, stamp_of(os.lstat(link), status), identity)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise

    def _is_in_scope(self, folder: Folder, entry: os.DirEntry[str]) -> bool:
        try:
            if entry.is_dir(follow_symlinks=False):
                return not self._scope.excludes(folder, entry.name, folder=True)
        except OSError:
            return True  # what it is cannot be known
        return self._scope.admits(folder, entry.name)


def _sift(real: str, identities: Mapping[str, bytes], same: list[str]) -> list[os.DirEntry[str]]:
    """What is in a folder, but for the unchanged documents, whose names go to `same` (rule 3)."""
    with os.scandir(real) as found:
        if not identities:
            return list(found)
        others: list[os.DirEntry[str]] = []
        identity_of, pack = identities.get, IDENTITY.pack
        unchanged, other = same.append, others.append
        for entry in found:
            name = entry.name
            identity = identity_of(name)
            if identity is not None:
                try:
                    now = entry.stat(follow_symlinks=False)
                except OSError:
                    other(entry)  # looked at again, and told
                    continue
                if (
                    pack(now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns) == identity
                    and now.st_mode & FILE_TYPE == REGULAR
                ):
                    unchanged(name)
                    continue
            other(entry)
        return others

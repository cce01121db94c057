"""One walk over a commit's tree: everything in scope, and everything odd.

1. A document that is known under the same rules and has the blob that it had is not looked at, not even its size.
2. Links and submodules are passed over. What a name must be, and which names conflict, is as in a folder on disk.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from steadlith_adapters.sources.filesystem.descent import Descent
from steadlith_adapters.sources.filesystem.names import document_name, is_text, printable
from steadlith_adapters.sources.filesystem.part import Part
from steadlith_adapters.sources.git.repository import Unusable
from steadlith_core.records import SourceEntry, Stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from steadlith_adapters.sources.filesystem.scope import Folder, Scope
    from steadlith_adapters.sources.filesystem.settings import FolderSettings
    from steadlith_adapters.sources.git.repository import Member, Repository
    from steadlith_core.ports import Known
    from steadlith_core.records import Listed


class TreeWalk(Descent[str]):
    """A single listing."""

    def __init__(self, settings: FolderSettings, scope: Scope, repository: Repository, known: Known) -> None:
        super().__init__(scope)
        self._settings = settings
        self._repository = repository
        self._known = known

    def parts(self, tree: str) -> Iterator[Listed]:
        """Walk down from the tree, once. Raises `OSError` if it cannot be listed, `GitFailed` at any part."""
        yield from self._below(self._list_folder(self._scope.top(), tree, alike=False))

    def _list_folder(self, folder: Folder, where: str, *, alike: bool) -> Part:
        by_name: dict[str, list[Member]] = defaultdict(list)
        for member in self._repository.tree(where):
            by_name[document_name(member.name)].append(member)
        known = self._known(folder.path)
        identities: Mapping[str, bytes] = known.identities if known and known.rules == folder.rules else {}
        part = Part(folder.path, folder.rules)
        inside: list[tuple[str, str]] = []
        files: list[tuple[str, str]] = []
        for name, members in by_name.items():
            member = members[0]
            if len(members) > 1:
                if any(self._is_in_scope(folder, member) for member in members):
                    part.twins(folder.path + name)
            elif member.is_file and identities.get(name) == bytes.fromhex(member.id):
                part.same.append(name)
            elif not is_text(member.name):
                if self._is_in_scope(folder, member):
                    part.bad_name(printable(member.name))
            elif member.is_folder:
                inside.append((member.name, member.id))
            elif member.is_file and (name in identities or self._scope.admits(folder, member.name)):
                files.append((name, member.id))
        self._list_files(part, files)
        self._queue(folder, inside, alike=alike)
        self._compare(part, alike=alike)
        return part

    def _list_files(self, part: Part, files: list[tuple[str, str]]) -> None:
        for (name, blob), size in zip(files, self._repository.sizes([blob for _, blob in files]), strict=True):
            path = part.path + name
            if size is None:
                part.file_unread(path, Unusable(blob))
            elif size > self._settings.max_file_bytes:
                part.too_large(path, size, self._settings.max_file_bytes)
            else:
                stamp = Stamp(bytes.fromhex(blob), changed_at=0)
                part.entries.append(SourceEntry(path, self._settings.formats.of(path), size, stamp))

    def _is_in_scope(self, folder: Folder, member: Member) -> bool:
        if member.is_folder:
            return not self._scope.excludes(folder, member.name, folder=True)
        return member.is_file and self._scope.admits(folder, member.name)

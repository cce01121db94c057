"""The way down a tree of folders, on a disk or in a commit.

1. A folder is listed once, before those in it, and forgotten: memory holds one folder's names, not the source's.
2. A folder that cannot be listed is a finding, and unread with all that is below it.
3. Names that differ by case only are findings. Across folders they are compared only below folders that differ so.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from steadlith_adapters.sources.filesystem.names import document_name
from steadlith_adapters.sources.filesystem.part import Part, differ_by_case

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from steadlith_adapters.sources.filesystem.scope import Folder, Scope
    from steadlith_core.records import Listed

Where = TypeVar("Where")


class Waiting(NamedTuple, Generic[Where]):
    """A folder that is not listed yet. `alike`: it or one above has a neighbour that differs by case only."""

    parent: Folder
    name: str
    where: Where
    alike: bool


class Descent(Generic[Where]):
    """A single listing. `where` is what a folder is found by, besides its name."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._waiting: list[Waiting[Where]] = []
        self._alike: list[str] = []

    def _list_folder(self, folder: Folder, where: Where, *, alike: bool) -> Part:
        """List one folder and queue the folders in it. Raises `OSError` if it cannot be listed to its end."""
        raise NotImplementedError

    def _below(self, last: Part) -> Iterator[Listed]:
        """The part of the root, and those of all that is below it, in the order of names."""
        while self._waiting:
            part = self._enter(self._waiting.pop())
            if part:
                if last:
                    yield last.listed()
                last = part
        last.case_conflicts(self._alike)
        if last:
            yield last.listed()

    def _enter(self, waiting: Waiting[Where]) -> Part | None:
        try:
            folder = self._scope.enter(waiting.parent, waiting.name)
            return None if folder is None else self._list_folder(folder, waiting.where, alike=waiting.alike)
        except OSError as error:
            part = Part(f"{waiting.parent.path}{document_name(waiting.name)}/")
            part.folder_unread(error)
            return part

    def _queue(self, parent: Folder, inside: Iterable[tuple[str, Where]], *, alike: bool) -> None:
        """Folders whose turn comes after this one's."""
        folders = sorted(inside, key=lambda each: each[0], reverse=True)
        folds = Counter(document_name(name).casefold() for name, _ in folders)
        self._waiting += (
            Waiting(parent, name, where, alike or folds[document_name(name).casefold()] > 1) for name, where in folders
        )

    def _compare(self, part: Part, *, alike: bool) -> None:
        """Look for names that differ by case only among the documents of a part."""
        names = [*part.same, *(entry.path[len(part.path) :] for entry in part.entries)]
        if alike:
            self._alike += [part.path + name for name in names]
        elif differ_by_case(names):
            part.case_conflicts(part.path + name for name in names)

"""Which paths below the root are documents: asked by the walk and by every read, so that both agree.

1. `.git`, `.steadlith` and our own files (`private` lists every one) are never in scope, whatever a pattern says.
   Nor is a name that begins with a dot, unless `hidden` is set: such files hold settings and secrets, not documents.
2. A file is in scope if `include` names it or a folder above it, and neither `exclude` nor a `.gitignore` does, and
   its type is not one of those that are never text (`formats.BINARY`).
3. An excluded folder is not entered; nothing below it can come back.
4. The root itself is never ignored: whoever names a folder means it.
5. Each folder says by a digest which rules its documents were chosen by: under equal rules nothing is asked again.
6. A folder whose `.gitignore` cannot be read is a folder that cannot be read: guessing could index a secret.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from steadlith_adapters.sources.filesystem.names import document_name, is_text, raw
from steadlith_adapters.sources.filesystem.rules import Rules
from steadlith_core.digest import hash_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_adapters.sources.filesystem.settings import FolderSettings
    from steadlith_core.ports import FormatRule
    from steadlith_core.records import Format

KEPT = 1024
RULES_BYTES = 16
IGNORE_FILE = ".gitignore"
# Compared without case: on a disk that ignores case, `.GIT` is the same folder.
PROTECTED = frozenset({".git", ".steadlith"})


@dataclass(frozen=True, slots=True)
class Level:
    """The rules of one folder, and how a document's path looks from there."""

    rules: Rules
    prefix: str
    skip: int

    def decide(self, path: str, *, folder: bool) -> bool | None:
        """What this level says about the document or folder at `path`."""
        return self.rules.decide(self.prefix + path[self.skip :], folder=folder)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder in scope: `path` as documents see it (empty, or ending in a slash), `real` as the disk spells it.

    `rules` is a digest of all that decides which names are documents here.
    """

    path: str
    real: str
    levels: tuple[Level, ...]
    included: bool
    rules: bytes


class Scope:
    """The rules of one source."""

    def __init__(self, settings: FolderSettings) -> None:
        self._settings = settings
        self._private = frozenset(settings.private)
        self._rules = _rules_of(settings)

    def top(self) -> Folder:
        """The root. Raises `OSError` when a `.gitignore` that counts cannot be read."""
        root = self._settings.root
        levels = (*self._levels_above(root), *self._levels_at(root, ""))
        rules = self._rules
        for level in levels:
            rules = _chained(rules, level)
        return Folder(path="", real=root, levels=levels, included=False, rules=rules)

    def enter(self, parent: Folder, name: str) -> Folder | None:
        """The folder `name` in `parent`; none if it is out of scope. Raises `OSError` as `top` does."""
        if self.excludes(parent, name, folder=True):
            return None
        path = parent.path + document_name(name)
        verdict = self._settings.include.decide(path, folder=True)
        real = os.path.join(parent.real, name)  # noqa: PTH118 -- once a folder, in the hot loop of the walk
        levels, rules = parent.levels, parent.rules
        for level in self._levels_at(real, path + "/"):
            levels, rules = (*levels, level), _chained(rules, level)
        return Folder(
            path=path + "/",
            real=real,
            levels=levels,
            included=parent.included if verdict is None else verdict,
            rules=rules,
        )

    def lead(self, names: Sequence[str], folders: dict[str, Folder]) -> Folder | None:
        """The folder that `names` lead to from the root, none if one of them is out of scope. Raises `OSError`."""
        folder = folders.get("") or self.top()
        for name in names:
            inner = folders.get(f"{folder.path}{document_name(name)}/")
            if inner is None or inner.real != os.path.join(folder.real, name):  # noqa: PTH118 -- as in `enter`
                if not is_text(name):
                    return None
                inner = self.enter(folder, name)
                if inner is None:
                    return None
                self.keep(inner, folders)
            folder = inner
        return folder

    @staticmethod
    def keep(folder: Folder, folders: dict[str, Folder]) -> None:
        """Remember a folder for the next question about it, and not more of them than are asked for together."""
        if len(folders) >= KEPT:
            folders.clear()
        folders[folder.path] = folder

    def admits(self, folder: Folder, name: str) -> bool:
        """Whether a file `name` in `folder` is a document."""
        path = folder.path + document_name(name)
        verdict = self._settings.include.decide(path, folder=False)
        included = folder.included if verdict is None else verdict
        return included and self._settings.formats.admits(path) and not self.excludes(folder, name, folder=False)

    def excludes(self, parent: Folder, name: str, *, folder: bool) -> bool:
        """Whether `name` in `parent` is ours, hidden, excluded or ignored."""
        if name.casefold() in PROTECTED or self._is_ours(parent.real, name):
            return True
        if name.startswith(".") and not self._settings.hidden:
            return True
        path = parent.path + document_name(name)
        if self._settings.exclude.decide(path, folder=folder):
            return True
        for level in reversed(parent.levels):
            verdict = level.decide(path, folder=folder)
            if verdict is not None:
                return verdict
        return False

    def _is_ours(self, folder: str, name: str) -> bool:
        return f"{folder.rstrip(os.sep)}{os.sep}{name}" in self._private

    def _levels_at(self, real: str, path: str) -> tuple[Level, ...]:
        rules = read_ignore_file(real) if self._settings.gitignore else None
        return () if rules is None else (Level(rules, prefix="", skip=len(path)),)

    def _levels_above(self, root: str) -> tuple[Level, ...]:
        """The ignore files from the top of the work tree down to the folder above the root."""
        if not self._settings.gitignore:
            return ()
        levels: list[Level] = []
        here = Path(root)
        while not (here / ".git").exists():
            if here == here.parent:
                return ()  # not in a work tree: nobody's ignore files apply
            here = here.parent
            rules = read_ignore_file(str(here))
            if rules is not None:
                levels.append(Level(rules, prefix=Path(root).relative_to(here).as_posix() + "/", skip=0))
        return tuple(reversed(levels))


def _rules_of(settings: FolderSettings) -> bytes:
    """A digest of all that is the same for every folder of a source."""
    home = settings.root.rstrip(os.sep) + os.sep
    return hash_fields(
        "listing-rules",
        settings.include.spelled(),
        settings.exclude.spelled(),
        settings.hidden,
        settings.gitignore,
        settings.formats.spelled(),
        settings.max_file_bytes,
        [raw(path.removeprefix(home)) for path in sorted(settings.private) if path.startswith(home)],
    )[:RULES_BYTES]


def _chained(rules: bytes, level: Level) -> bytes:
    return hash_fields("listing-rules", rules, raw(level.prefix), level.skip, level.rules.spelled())[:RULES_BYTES]


def format_rule(settings: FolderSettings) -> FormatRule:
    """Rules 1 to 3 as far as names and `settings` tell: no disk is asked, so no `.gitignore` and no file of ours."""
    scope = Scope(replace(settings, root="", gitignore=False, private=()))

    def rule(path: str) -> Format | None:
        *above, name = path.split("/")
        folder: Folder | None = scope.top()
        for part in above:
            folder = folder and scope.enter(folder, part)
        return settings.formats.of(path) if folder and scope.admits(folder, name) else None

    return rule


def read_ignore_file(folder: str) -> Rules | None:
    """The rules of the folder's `.gitignore`; none if there is no such regular file (as in git, a link is none)."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        file = os.open(os.path.join(folder, IGNORE_FILE), flags)  # noqa: PTH118 -- once a folder, in the hot loop
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            return None
        raise
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        with os.fdopen(file, "rb", closefd=False) as stream:
            return Rules.lenient(stream.read())
    finally:
        os.close(file)

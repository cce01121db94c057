"""A commit as a source: lists and reads one tree, whatever the work tree holds.

1. The name of a commit is resolved once a listing: what is read after it is of the same commit, even if the branch
   moved on.
2. A path is untrusted (plan files name paths): it is followed down from the tree name by name, through the same
   rules as a listing, and leads nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from steadlith_adapters.sources.filesystem.names import document_name
from steadlith_adapters.sources.filesystem.scope import Scope, format_rule
from steadlith_adapters.sources.git.repository import GitFailed, Repository, Unusable
from steadlith_adapters.sources.git.settings import read_git_settings, read_tree_rules
from steadlith_adapters.sources.git.walk import TreeWalk
from steadlith_core.errors import DocumentError, SourceError
from steadlith_core.ports import nothing_known
from steadlith_core.records import Content, FindingKind, Stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steadlith_adapters.sources.git.repository import Member
    from steadlith_adapters.sources.git.settings import GitSettings
    from steadlith_core.ports import FormatRule, Known, Settings
    from steadlith_core.records import Listed

KEPT = 256
"""Trees remembered between reads: documents are read folder by folder."""


class GitSource:
    """Documents of one tree of a repository."""

    def __init__(self, name: str, settings: GitSettings) -> None:
        self._name = name
        self._settings = settings
        self._scope = Scope(settings.rules)
        self._repository = Repository(settings.repository)
        self._tree: str | None = None
        self._members: dict[str, dict[str, Member]] = {}

    def list(self, known: Known = nothing_known) -> Iterator[Listed]:
        """Everything in scope in the commit that the name means now. Raises `SourceError` if it cannot be listed."""
        self._tree = None
        tree = self._listed_tree()
        try:
            yield from TreeWalk(self._settings.rules, self._scope, self._repository, known).parts(tree)
        except (GitFailed, Unusable) as error:
            self._stop(error)

    def read(self, path: str) -> Content:
        """The document at `path` in the listed commit. Raises `DocumentError`."""
        member = self._find(path)
        if member is None or not member.is_file:
            raise DocumentError(FindingKind.VANISHED, f"{path!r} is not a file of commit {self._settings.ref!r}")
        if not self._admits(path):
            raise DocumentError(
                FindingKind.VANISHED, f"{path!r} is not a document of this source (excluded, hidden or ours)"
            )
        try:
            return Content(self._repository.blob(member.id, self._settings.rules.max_file_bytes, path))
        except (GitFailed, Unusable) as error:
            raise DocumentError(FindingKind.UNREADABLE_FILE, f"{path!r} cannot be read ({error})") from error

    def stamp(self, path: str) -> Stamp | None:
        """The blob at `path` in the listed commit, which never changes."""
        try:
            member = self._find(path)
        except DocumentError:
            return None
        return Stamp(bytes.fromhex(member.id), changed_at=0) if member and member.is_file else None

    def leaves_out(self, path: str) -> bool:
        """Whether a file stands at `path` in the listed commit that the rules leave out."""
        try:
            member = self._find(path)
        except DocumentError:
            return False
        return member is not None and member.is_file and not self._admits(path)

    def place(self) -> bytes | None:
        """Nothing: a blob is the same in every clone."""
        return None

    def _listed_tree(self) -> str:
        if self._tree is None:
            self._members = {}
            try:
                commit = self._repository.commit(self._settings.ref)
                if commit is None:
                    self._stop(f"there is no commit {self._settings.ref!r} any more")
                self._tree = self._below(commit)
            except (GitFailed, Unusable) as error:
                self._stop(error)
        return self._tree

    def _below(self, tree: str) -> str:
        for name in self._settings.below:
            inner = next((each for each in self._repository.tree(tree) if each.name == name and each.is_folder), None)
            if inner is None:
                below = "/".join(self._settings.below)
                self._stop(f"commit {self._settings.ref!r} has no folder {below!r} (`below`)")
            tree = inner.id
        return tree

    def _stop(self, why: object) -> NoReturn:
        raise SourceError(
            f"source {self._name!r}: {self._settings.repository!r} cannot be listed: {why}; nothing is known about its "
            "documents; mend it, or take the source out of the configuration"
        ) from (why if isinstance(why, Exception) else None)

    def _find(self, path: str) -> Member | None:
        """What stands at `path`, whether the rules leave it out or not. `DocumentError` if that cannot be told."""
        tree, above = self._listed_tree(), ""
        member: Member | None = None
        for name in path.split("/"):
            if member is not None:
                if not member.is_folder:
                    return None
                tree = member.id
            member = self._inside(tree, above, path).get(name)
            if member is None:
                return None
            above += name + "/"
        return member

    def _inside(self, tree: str, folder: str, path: str) -> dict[str, Member]:
        """The members of a tree by the names that documents have."""
        members = self._members.get(folder)
        if members is None:
            try:
                found = self._repository.tree(tree)
            except (GitFailed, Unusable) as error:
                raise DocumentError(FindingKind.UNREADABLE_FILE, f"{path!r} cannot be read ({error})") from error
            members = {document_name(member.name): member for member in found}
            if len(self._members) >= KEPT:
                self._members.clear()
            self._members[folder] = members
        return members

    def _admits(self, path: str) -> bool:
        """By the names that documents have: patterns are compared in them, too."""
        *above, name = path.split("/")
        folder = self._scope.lead(above, {})
        return folder is not None and self._scope.admits(folder, name)


class GitFactory:
    """Makes git sources."""

    def build(self, name: str, settings: Settings, *, root: str, private: Sequence[str]) -> GitSource:
        """A source named `name`. Raises `ConfigError`."""
        return GitSource(name, read_git_settings(name, settings, root=root, private=private))

    def formats(self, settings: Settings) -> FormatRule:
        """The rule of a source over `settings`, by names alone. Raises `ConfigError`."""
        return format_rule(read_tree_rules("formats", settings))


FACTORY = GitFactory()

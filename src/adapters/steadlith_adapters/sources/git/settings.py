"""The settings of a git source, checked before anything is listed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from steadlith_adapters.settings import Table
from steadlith_adapters.sources.filesystem.settings import FolderSettings, read_rules
from steadlith_adapters.sources.git.repository import GitFailed, Repository, is_repository
from steadlith_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steadlith_core.ports import Settings

KEYS = ("path", "ref", "below", "include", "exclude", "hidden", "formats", "max_file_bytes")
USUAL_REF = "HEAD"


@dataclass(frozen=True, slots=True)
class GitSettings:
    """Which tree of which repository, and the rules by which its files are documents.

    `rules.root` is the folder in which a checkout would have the tree: by it our own files are recognised.
    """

    repository: str
    ref: str
    below: tuple[str, ...]
    rules: FolderSettings


def read_git_settings(name: str, settings: Settings, *, root: str, private: Sequence[str]) -> GitSettings:
    """Check `settings` of the source `name`; `root` is the folder that a relative path starts from."""
    table = Table(f"source {name!r}", settings)
    rules = read_tree_rules(name, settings)
    given = table.text("path", ".")
    place = Path(root, given)
    if not place.is_dir() or not is_repository(place):
        problem = "is not the top of one" if place.exists() else "does not exist"
        raise table.wrong(
            "path",
            given,
            f"a git repository, relative to {root!r} ({str(place)!r} {problem}; a folder inside a repository is named "
            "by `below`)",
        )
    repository = str(place.resolve())
    ref = table.text("ref", USUAL_REF)
    try:
        commit = Repository(repository).commit(ref)
    except GitFailed as error:
        raise ConfigError(f"source {name!r}: path = {given!r}: {error}") from error
    if commit is None:
        raise table.wrong("ref", ref, f"a branch, a tag or a commit of {repository!r} (it has no commit of that name)")
    below = _below(table)
    return GitSettings(
        repository=repository,
        ref=ref,
        below=below,
        rules=replace(
            rules,
            root=str(Path(repository, *below)),
            # The folder is resolved, the name is not: a private file may not exist yet.
            private=tuple(str(Path(path).parent.resolve() / Path(path).name) for path in private),
        ),
    )


def read_tree_rules(name: str, settings: Settings) -> FolderSettings:
    """What `settings` say of any tree, without a repository."""
    table = Table(f"source {name!r}", settings)
    table.only(*KEYS)
    table.text("ref", USUAL_REF)
    _below(table)
    shared = {key: value for key, value in settings.items() if key not in ("ref", "below")}
    return replace(read_rules(name, shared), gitignore=False)


def _below(table: Table) -> tuple[str, ...]:
    given = table.values.get("below", "")
    if given == "":
        return ()
    parts = tuple(table.text("below", "").removesuffix("/").split("/"))
    if any(part in ("", ".", "..") for part in parts):
        raise table.wrong("below", given, 'a folder of the repository, such as "docs/guide", from its top')
    return parts

"""Where links lead.

1. A link to a file is a document of its own only if the target is inside the root, is not excluded, and is not listed
   at its own path. What is listed there is said by the rules, so no link waits for another folder to be listed.
2. A link to a folder is never followed: if it leads inside the root, the documents there stand at their own paths.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from steadlith_adapters.sources.filesystem.names import is_text

if TYPE_CHECKING:
    from steadlith_adapters.sources.filesystem.scope import Folder, Scope
    from steadlith_adapters.sources.filesystem.settings import FolderSettings


def resolved(path: str) -> str:
    """`path` without links, as far as it exists; a loop of links stays (Path.resolve would raise)."""
    return os.path.realpath(path)


def is_within(path: str, root: str) -> bool:
    """Whether the real path `path` is the real path `root` or below it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def below(path: str, root: str) -> list[str]:
    """The names that lead from the real path `root` down to the real path `path`, which is below it."""
    return path[len(root.rstrip(os.sep)) + 1 :].split(os.sep)  # noqa: PTH206 -- Path would change the names


def own_document(
    target: str, settings: FolderSettings, scope: Scope, folders: dict[str, Folder]
) -> os.stat_result | None:
    """What the file is that a link to `target`, a real path inside the root, is a document of; none for no document.

    Raises `OSError` if it cannot be told, also when nothing is there.
    """
    status = os.lstat(target)
    if stat.S_ISDIR(status.st_mode) or stat.S_ISLNK(status.st_mode):
        return None  # rule 2; a loop of links
    *above, name = below(target, settings.root)
    home = scope.lead(above, folders)
    if home is None or scope.excludes(home, name, folder=False):
        return None
    usual = stat.S_ISREG(status.st_mode) and status.st_size <= settings.max_file_bytes and is_text(name)
    return None if usual and scope.admits(home, name) else status

"""A git repository, asked by the git command: which commit a name means, and what an object holds.

1. Two processes answer as long as the source lives: `cat-file --batch` gives objects, `cat-file --batch-check` their
   sizes. What is asked for is an object's id, one a line, so no name of a file ever gets into a command.
2. Nothing of the caller's environment, of a work tree or of an index plays a part; replaced objects are not
   followed, so that an id stands for its bytes; nothing is fetched and nothing is locked.
"""

from __future__ import annotations

import errno
import os
import subprocess
import threading
import weakref
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from steadlith_core.errors import DocumentError
from steadlith_core.records import FindingKind

if TYPE_CHECKING:
    from collections.abc import Sequence

DROPPED = frozenset(
    {
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE"),
        *("GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_GRAFT_FILE"),
        *("GIT_SHALLOW_FILE", "GIT_REPLACE_REF_BASE"),
    }
)
"""What an environment (a hook's) says of another repository than the one that is asked for."""

FIXED = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # a git that knows no GIT_NO_LAZY_FETCH cannot fetch either
    "GIT_TERMINAL_PROMPT": "0",
}
ASKED_TOGETHER = 400
"""Sizes asked for at once: the questions and the answers fit into a pipe, so neither side waits for the other."""


class Member(NamedTuple):
    """One name in a tree, its odd bytes escaped as in file names."""

    mode: bytes
    name: str
    id: str

    @property
    def is_folder(self) -> bool:
        """Whether this is a tree."""
        return self.mode == b"40000"

    @property
    def is_file(self) -> bool:
        """Whether this is a regular file: not a link, not a submodule."""
        return self.mode.startswith(b"100")


class GitFailed(Exception):
    """The git command said no, or cannot be started; the message is why."""


class Unusable(OSError):
    """The repository has no such object, or one that git would not have made: a partial or damaged clone."""

    def __init__(self, id: str) -> None:  # noqa: A002
        super().__init__(errno.EIO, f"the repository has no usable object {id}; is it a partial or damaged clone?")


class Repository:
    """The repository at `place`, the top of a work tree or a bare repository."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        weakref.finalize(self, _end, self._processes)

    def commit(self, ref: str) -> str | None:
        """The commit that `ref` means now, none if there is no such commit. Raises `GitFailed`."""
        arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        try:
            done = subprocess.run(  # noqa: S603 -- git by its name, arguments of our own, no shell
                self._command(arguments), env=_environment(self._place), capture_output=True, check=False
            )
        except OSError as error:
            raise _not_started(error) from error
        if done.returncode > 1:  # 1 is the quiet "there is none"; with 128 git refuses the repository itself
            raise GitFailed(done.stderr.decode("utf-8", "replace").strip() or f"git rev-parse ended {done.returncode}")
        return done.stdout.decode("ascii").strip() or None

    def tree(self, id: str) -> list[Member]:  # noqa: A002
        """The members of a tree, or of a commit's. Raises `Unusable` and `GitFailed`."""
        data = self._object(f"{id}^{{tree}}", id)
        digest_size = len(id) // 2
        members = []
        at = 0
        while at < len(data):
            # An entry of a tree: mode, a space, the name, NUL, the id in bytes.
            nul = data.find(b"\0", at)
            mode, _, name = data[at:nul].partition(b" ")
            at = nul + 1 + digest_size
            if nul < 0 or at > len(data) or name in (b"", b".", b"..") or b"/" in name:
                raise Unusable(id)
            members.append(Member(mode, name.decode("utf-8", "surrogateescape"), data[nul + 1 : at].hex()))
        return members

    def blob(self, id: str, max_bytes: int, path: str) -> bytes:  # noqa: A002
        """The bytes of a file. Raises `DocumentError` for too many, `Unusable` and `GitFailed`."""
        return self._object(id, id, max_bytes, path)

    def sizes(self, ids: Sequence[str]) -> list[int | None]:
        """The size of each object, none for one that is not there. Raises `GitFailed`."""
        found: list[int | None] = []
        with self._lock:
            for start in range(0, len(ids), ASKED_TOGETHER):
                asked = ids[start : start + ASKED_TOGETHER]
                answers = self._ask("--batch-check", "\n".join(asked))
                for _ in asked:
                    words = answers.readline().split()
                    if not words:
                        raise self._broken("--batch-check")
                    found.append(int(words[2]) if len(words) == 3 else None)
        return found

    def _object(self, asked: str, id: str, max_bytes: int | None = None, path: str = "") -> bytes:  # noqa: A002
        with self._lock:
            answers = self._ask("--batch", asked)
            words = answers.readline().split()
            if not words:
                raise self._broken("--batch")
            if len(words) != 3:
                raise Unusable(id)
            size = left = int(words[2])
            if max_bytes is not None and size > max_bytes:
                while left >= 0:  # the line feed after it is the one byte more
                    left -= len(answers.read(min(left + 1, 1 << 20))) or left + 1
                raise DocumentError(
                    FindingKind.TOO_LARGE,
                    f"{path!r} has {size} bytes, more than max_file_bytes = {max_bytes}; raise it or exclude it",
                )
            data = answers.read(size + 1)
            if len(data) != size + 1:
                raise self._broken("--batch")
            return data[:-1]

    def _ask(self, mode: str, lines: str) -> IO[bytes]:
        process = self._processes.get(mode)
        if process is not None and process.poll() is not None:
            self._broken(mode)
            process = None
        if process is None:
            process = self._processes[mode] = self._start("cat-file", mode)
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(lines.encode("ascii") + b"\n")
            process.stdin.flush()
        except OSError:
            raise self._broken(mode) from None
        return process.stdout

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 -- see `commit`
                self._command(arguments),
                env=_environment(self._place),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise _not_started(error) from error

    def _broken(self, mode: str) -> GitFailed:
        process = self._processes.pop(mode, None)
        if process is not None:
            _end({mode: process})
        return GitFailed(f"git cat-file {mode} ended early")

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return ["git", "--no-pager", "-C", self._place, *arguments]


def is_repository(place: Path) -> bool:
    """Whether `place` is the top of a git repository, bare or not."""
    bare = (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir()
    return bare or (place / ".git").exists()


def _environment(place: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in DROPPED}
    # A broken repository is an error, not a reason to look for another one above it.
    return kept | FIXED | {"GIT_CEILING_DIRECTORIES": str(Path(place).parent)}


def _not_started(error: OSError) -> GitFailed:
    return GitFailed(f"the git command cannot be started ({error.strerror}); install git, or put it on the PATH")


def _end(processes: dict[str, subprocess.Popen[bytes]]) -> None:
    for process in processes.values():
        process.kill()
        process.communicate()
    processes.clear()

"""A git repository as a history: the first parents of a branch, read by three git commands and nothing else.

1. `rev-list` names the commits, one `diff-tree` compares neighbours, one `cat-file` gives the contents; a work tree,
   an index and hooks play no part, so a bare repository is as good as any.
2. A document is a regular file: links and submodules are passed over. A name that is not UTF-8 is a finding.
3. A merge counts as one change to its first parent.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from itertools import pairwise
from typing import IO, TYPE_CHECKING, NamedTuple, Self

from steadlith.history import Snapshot, Version
from steadlith_core.errors import DocumentError, SourceError, UsageError
from steadlith_core.records import Finding, FindingKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import TracebackType

    from steadlith.history import Stretch
    from steadlith_core.ports import FormatRule

MAX_BYTES = 64 * 1024 * 1024
"""Of one document, as a folder of documents has it without settings."""

REGULAR = frozenset({b"100644", b"100755"})
SHORT = 10
REPOSITORY_VARIABLES = frozenset(
    {
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_PREFIX"),
        *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"),
    }
)
"""What a hook's environment says of another repository than the one that is asked for."""


class Change(NamedTuple):
    """One file of a commit as git tells it; no mode for one that is gone."""

    path: bytes
    mode: bytes
    blob: str


def is_repository(place: Path) -> bool:
    """Whether `place` is the top of a git repository, bare or not."""
    bare = (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir()
    return bare or (place / ".git").exists()


class GitHistory:
    """The commits of one stretch. A context manager: the process that gives contents ends with it."""

    def __init__(self, place: Path, stretch: Stretch, formats: FormatRule) -> None:
        self._place = place
        self._formats = formats
        self._below = f"{stretch.below}/".encode() if stretch.below else b""
        self._commits = self._named(stretch)
        self._contents: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._contents is not None:
            self._contents.kill()
            self._contents.communicate()

    @property
    def moments(self) -> int:
        """How many commits are replayed, the first one included."""
        return len(self._commits)

    def snapshots(self) -> Iterator[Snapshot]:
        """All of the first commit, then what each commit changed."""
        documents: set[str] = set()
        for commit, changes in self._changes():
            changed: list[Version] = []
            findings: list[Finding] = []
            for change in sorted(changes):
                path, problem = self._name(commit, change)
                if problem is not None:
                    findings.append(problem)
                format_ = self._formats(path) if path and change.mode in REGULAR else None
                if format_ is None:
                    documents.discard(path)
                else:
                    documents.add(path)
                    changed.append(Version(path, format_, change.blob))
            yield Snapshot(commit[:SHORT], len(documents), tuple(changed), tuple(findings))

    def read(self, version: Version) -> bytes:
        """The blob. Raises `DocumentError` for one that is larger than a document may be."""
        if self._contents is None:
            self._contents = self._start("cat-file", "--batch", stdin=subprocess.PIPE)
        asked, answered = self._contents.stdin, self._contents.stdout
        assert asked
        assert answered
        try:
            asked.write(version.content.encode() + b"\n")
            asked.flush()
        except BrokenPipeError:
            raise self._failed("cat-file --batch") from None
        head = answered.readline().split()
        if len(head) != 3:
            message = f"git has no content {version.content} of {version.path!r} (a partial or damaged clone?)"
            raise SourceError(message)
        size = int(head[2])
        if size > MAX_BYTES:
            while size >= 0:  # the line feed after it is the one byte more
                size -= len(answered.read(min(size + 1, 1 << 20))) or size + 1
            raise DocumentError(FindingKind.TOO_LARGE, f"{int(head[2])} bytes, more than {MAX_BYTES}")
        content = answered.read(size + 1)[:-1]
        if len(content) != size:
            raise self._failed("cat-file --batch")
        return content

    def _named(self, stretch: Stretch) -> list[str]:
        """The commits, oldest first; the one before those that were asked for is the first snapshot."""
        if stretch.since is not None:
            first = self._commit(stretch.since)
            return [first, *self._lines("rev-list", "--first-parent", "--reverse", f"{first}..HEAD")]
        if not self._exists("HEAD"):
            raise SourceError(f"history {str(self._place)!r}: there is no commit on the branch that is checked out")
        limit = [] if stretch.commits is None else [f"--max-count={stretch.commits + 1}"]
        return self._lines("rev-list", "--first-parent", "--reverse", *limit, "HEAD")

    def _commit(self, revision: str) -> str:
        found = self._exists(f"{revision}^{{commit}}")
        if not found:
            raise UsageError(f"--since {revision!r} names no commit of {str(self._place)!r}")
        return found

    def _exists(self, revision: str) -> str:
        done = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", revision)
        if done.returncode > 1:  # 1 is the quiet "there is none"; git refuses a repository of somebody else with 128
            raise self._failed("rev-parse", done.stderr)
        return done.stdout.decode().strip()

    def _changes(self) -> Iterator[tuple[str, list[Change]]]:
        """Every commit with its changes, in one pass; a commit that changed nothing has none."""
        first = self._commits[0]
        below = ["--", self._below.decode().rstrip("/")] if self._below else []
        yield first, list(_listed(self._answer("ls-tree", "-r", "-z", "--full-tree", first, *below)))
        found = self._differences(below)
        commit, changes = next(found, ("", []))
        for _, expected in pairwise(self._commits):
            if commit == expected:
                yield commit, changes
                commit, changes = next(found, ("", []))
            else:
                yield expected, []

    def _differences(self, below: list[str]) -> Iterator[tuple[str, list[Change]]]:
        with tempfile.TemporaryFile() as pairs:  # git may answer more than a pipe holds before it has read all
            pairs.writelines(f"{commit} {parent}\n".encode() for parent, commit in pairwise(self._commits))
            pairs.seek(0)
            raw = ("--stdin", "-r", "-z", "--no-renames", "--no-abbrev")
            with self._start("diff-tree", *raw, *below, stdin=pairs) as process:
                assert process.stdout
                try:
                    yield from _compared(_tokens(process.stdout))
                    if process.wait():
                        raise self._failed("diff-tree")
                finally:
                    process.kill()

    def _name(self, commit: str, change: Change) -> tuple[str, Finding | None]:
        """The path of a document, empty for what cannot be one."""
        if not change.path.startswith(self._below):
            return "", None
        name = change.path[len(self._below) :]
        try:
            return name.decode(), None
        except UnicodeDecodeError:
            shown = name.decode("utf-8", "backslashreplace")
        if change.mode not in REGULAR:
            return "", None
        message = "the name is not UTF-8; passed over"
        return "", Finding(f"{commit[:SHORT]}:{shown}", FindingKind.NAME_NOT_UTF8, message)

    def _lines(self, *arguments: str) -> list[str]:
        return self._answer(*arguments).decode().split()

    def _answer(self, *arguments: str) -> bytes:
        done = self._run(*arguments)
        if done.returncode:
            raise self._failed(arguments[0], done.stderr)
        return done.stdout

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(  # noqa: S603 -- git by its name, arguments of our own, no shell
                _command(self._place, arguments), env=_environment(), capture_output=True, check=False
            )
        except OSError as error:
            raise _no_git(error) from error

    def _start(self, *arguments: str, stdin: int | IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603 -- see _run
                _command(self._place, arguments),
                env=_environment(),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise _no_git(error) from error

    def _failed(self, what: str, said: bytes = b"") -> SourceError:
        why = said.decode("utf-8", "replace").strip() or "it ended early"
        return SourceError(f"history {str(self._place)!r}: git {what}: {why}")


def _command(place: Path, arguments: Iterable[str]) -> list[str]:
    return ["git", "--no-pager", "--literal-pathspecs", "-C", str(place), *arguments]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in REPOSITORY_VARIABLES}
    return kept | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}


def _no_git(error: OSError) -> SourceError:
    return SourceError(f"the git command cannot be started ({error.strerror}); a git history needs it")


def _listed(answer: bytes) -> Iterator[Change]:
    """From `ls-tree -z`: `mode type blob<TAB>path`."""
    for line in answer.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _, blob = about.split()
        yield Change(path, mode, blob.decode())


def _tokens(stream: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while piece := stream.read(1 << 16):
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole


def _compared(tokens: Iterator[bytes]) -> Iterator[tuple[str, list[Change]]]:
    """From `diff-tree --stdin -z`: a commit, then `:mode mode blob blob status` and a path for each of its changes."""
    commit, changes = "", list[Change]()
    for token in tokens:
        if token.startswith(b":"):
            _, mode, _, blob, _ = token.split()
            changes.append(Change(next(tokens), mode, blob.decode()))
        else:
            if commit:
                yield commit, changes
            commit, changes = token.decode(), []
    if commit:
        yield commit, changes

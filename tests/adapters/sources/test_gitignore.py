"""Ignore rules: what git says is what we say."""

import random
import shutil
import subprocess
import time

import pytest

from steadlith_adapters.sources.filesystem import FACTORY
from steadlith_adapters.sources.filesystem.patterns import compile_pattern
from steadlith_core.records import gather

NAMES = ("a", "b", "foo", "x.md", "y.txt", "build", "a b", "[x]", "!x", "#c", "tail ")
FOLDERS = ("a", "b", "foo", "build")
# Not among them: `a**/b`. gitignore(5) calls its stars plain ones, and git itself takes them for folders.
PLAIN = r"""
foo foo/ /foo *.md !*.md * !*/ /* !/a a/ !a/ foo/* foo/** !foo/b **/b a/**/b !a/b build !build/ /a/* !x.md *.txt b/x.md
!b/x.md **/ a/b/ !/foo/ */ foo/**/ x.m[!x] [ab] !b ? a*/ foo/**/b a? **/foo/* !**/x.md *.md/ [!a] x*t fo*/** !fo*/b **
!** /** / ! [z-a] [[:alpha:]] [^[:punct:]]* [[:nope:]] a**b **a b**/ x.[a-m]d x.[]m]d [ ***/b [a/b] \!x \#c a\/b
\* [\]a] foo\
"""
PATTERNS = (*PLAIN.split(), "# comment", "", " a", "a ", "a\\ b", "tail\\ ", "foo\r", "\ufefffoo")

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git to compare with")


def git(root, *arguments):
    command = ["git", "-c", "core.excludesFile=/dev/null", "-C", str(root), *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode()


def seen_by_git(root):
    return sorted(git(root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")[:-1])


def seen_by_us(root, **settings):
    return [
        entry.path
        for entry in gather(
            FACTORY.build("docs", {"hidden": True, **settings}, root=str(root), private=()).list()
        ).entries
    ]


def make_random_tree(root, chance):
    root.mkdir()
    git(root, "init", "-q")
    folders = [root]
    for _ in range(8):
        folder = chance.choice(folders) / chance.choice(FOLDERS)
        if not folder.is_file():
            folder.mkdir(exist_ok=True)
            folders.append(folder)
    for folder in folders:
        for name in NAMES:
            if chance.random() < 0.5 and not (folder / name).exists():
                (folder / name).touch()
    written = {}
    for folder in {root, chance.choice(folders)}:
        lines = [chance.choice(PATTERNS) for _ in range(chance.randint(1, 4))]
        (folder / ".gitignore").write_bytes("\n".join(lines).encode() + b"\n")
        written[str(folder)] = lines
    return written


def compare(tmp_path, seeds):
    for seed in seeds:
        root = tmp_path / f"tree{seed}"
        written = make_random_tree(root, random.Random(seed))
        assert seen_by_us(root) == seen_by_git(root), (seed, written)
        shutil.rmtree(root)


@needs_git
def test_random_trees_are_seen_as_git_sees_them(tmp_path):
    compare(tmp_path, range(60))


@needs_git
@pytest.mark.slow
def test_many_random_trees_are_seen_as_git_sees_them(tmp_path):
    compare(tmp_path, range(1000, 1500))


@needs_git
def test_ignore_files_above_the_source_count_up_to_the_top_of_the_work_tree(tmp_path):
    (tmp_path / ".gitignore").write_text("*.txt\n")  # above the repository: not git's business
    top = tmp_path / "repo"
    source = top / "docs" / "guide"
    source.mkdir(parents=True)
    git(top, "init", "-q")
    (top / ".gitignore").write_text("drafts/\n/docs/guide/secret.md\n*.log\n")
    (top / "docs" / ".gitignore").write_text("!keep.log\n/guide/only-here.md\n")
    for name in ("a.md", "b.txt", "secret.md", "only-here.md", "x.log", "keep.log"):
        (source / name).touch()
    (source / "drafts").mkdir()
    (source / "drafts" / "d.md").touch()
    assert seen_by_us(source) == ["a.md", "b.txt", "keep.log"]


def test_ignore_files_can_be_switched_off_but_git_itself_stays_out(tmp_path):
    (tmp_path / ".gitignore").write_text("*\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").touch()
    (tmp_path / "a.md").touch()
    assert seen_by_us(tmp_path) == []
    assert seen_by_us(tmp_path, gitignore=False, include=["**", ".git/"]) == [".gitignore", "a.md"]


def test_a_folder_that_is_ignored_can_be_the_source_itself(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "a.md").touch()
    assert seen_by_us(tmp_path / "build") == ["a.md"]


def test_an_ignore_file_that_is_a_link_or_a_folder_counts_for_nothing(tmp_path):
    (tmp_path / "rules").write_text("*.md\n")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / ".gitignore").symlink_to("../rules")
    (tmp_path / "one" / "a.md").touch()
    (tmp_path / "two" / ".gitignore").mkdir(parents=True)
    (tmp_path / "two" / "b.md").touch()
    assert [path for path in seen_by_us(tmp_path) if path.endswith(".md")] == ["one/a.md", "two/b.md"]


def test_a_pattern_matches_a_name_however_the_disk_composes_it(tmp_path):
    (tmp_path / "cafe\u0301.md").touch()
    assert seen_by_us(tmp_path, include=["caf\u00e9.md"]) == ["caf\u00e9.md"]
    (tmp_path / ".gitignore").write_text("cafe\u0301.md\n")
    assert seen_by_us(tmp_path, include=["*.md"]) == []


@pytest.mark.parametrize(
    ("line", "path"),
    [("*a" * 12 + "*b", "a" * 255), ("/" + "**/a/" * 12 + "*b", "a/" * 100 + "a"), ("**/" * 30 + "x*y*z", "xy/" * 200)],
)
def test_no_pattern_makes_matching_slow(line, path):
    pattern = compile_pattern(line)
    before = time.process_time()
    assert not pattern.names(path, path.rpartition("/")[2], folder=False)
    assert time.process_time() - before < 1

"""A commit as a source: the rules of the kit, and what only a repository can hold."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from steadlith_adapters.sources.filesystem import FACTORY as FILESYSTEM
from steadlith_adapters.sources.git import FACTORY, repository
from steadlith_conformance.sources import SourceSuite
from steadlith_core.errors import ConfigError, DocumentError, SourceError
from steadlith_core.records import FindingKind, Format, KnownFolder, gather

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")

WHO = {
    f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in (("NAME", "a"), ("EMAIL", "b"))
}
ENVIRONMENT = {**os.environ, **WHO, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(root, *arguments, given=b""):
    command = ["git", "-c", "core.autocrlf=false", "-c", "init.defaultBranch=main", "-C", str(root), *arguments]
    return (
        subprocess.run(command, input=given, env=ENVIRONMENT, check=True, capture_output=True).stdout.decode().strip()
    )


def commit(root):
    git(root, "add", "--all", "--force")
    git(root, "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")


def put(root, *names, data=b"text\n"):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def tree(root, *members):
    """A commit of a tree that no work tree could hold: (mode, name in bytes, content or a tree's id)."""
    lines = []
    for mode, name, content in members:
        id_ = content if isinstance(content, str) else git(root, "hash-object", "-w", "--stdin", given=content)
        kind = {"040000": "tree", "160000": "commit"}.get(mode, "blob")
        lines.append(f"{mode} {kind} {id_}\t".encode() + name + b"\0")
    return git(root, "mktree", "-z", "--missing", given=b"".join(lines))


def commit_tree(root, id_):
    git(root, "update-ref", "HEAD", git(root, "commit-tree", id_, "-m", ""))


def source(root, private=(), **settings):
    return FACTORY.build("docs", settings, root=str(root), private=[str(path) for path in private])


def paths(listing):
    return [entry.path for entry in listing.entries]


def kinds(listing):
    return [(finding.place, finding.kind) for finding in listing.findings]


def refused(origin, path):
    with pytest.raises(DocumentError) as caught:
        origin.read(path)
    return caught.value.kind


@pytest.fixture
def repo(tmp_path):
    git(tmp_path, "init", "-q")
    return tmp_path


class TestGit(SourceSuite):
    @pytest.fixture
    def put(self, repo):
        def change(documents):
            for path, data in documents.items():
                put(repo, path, data=data)
            commit(repo)

        return change

    @pytest.fixture
    def make_source(self, repo, put):
        def make(documents):
            put(documents)
            return source(repo)

        return make

    @pytest.fixture
    def remove(self, repo):
        def take_away(path):
            (repo / path).unlink()
            commit(repo)

        return take_away

    @pytest.fixture
    def lose_root(self, repo):
        return lambda: shutil.rmtree(repo)


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "named"),
        [
            ({"pth": "."}, "pth"),
            ({"gitignore": True}, "gitignore"),
            ({"path": "missing"}, "'missing'"),
            ({"path": "deep"}, "below"),
            ({"ref": "nobody"}, "ref = 'nobody'"),
            ({"ref": "--all"}, "ref = '--all'"),
            ({"ref": "HEAD:a.md"}, "ref = 'HEAD:a.md'"),
            ({"ref": ""}, "ref = ''"),
            ({"below": "../x"}, "below = '../x'"),
            ({"below": "/"}, "below = '/'"),
            ({"below": 3}, "below = 3"),
            ({"exclude": ["[a"]}, "never closed"),
            ({"max_file_bytes": 0}, "max_file_bytes = 0"),
        ],
    )
    def test_a_wrong_setting_is_named_with_its_value(self, repo, settings, named):
        put(repo, "a.md", "deep/b.md")
        commit(repo)
        with pytest.raises(ConfigError, match=named):
            source(repo, **settings)

    def test_a_repository_without_a_commit_is_told(self, repo):
        with pytest.raises(ConfigError, match="ref = 'HEAD'"):
            source(repo)

    def test_a_broken_repository_is_not_looked_for_above(self, repo):
        put(repo, "a.md")
        commit(repo)
        (repo / "inner" / ".git").mkdir(parents=True)
        with pytest.raises(ConfigError, match="path = 'inner'"):
            source(repo, path="inner")

    def test_without_git_the_way_out_is_told(self, repo, monkeypatch):
        put(repo, "a.md")
        commit(repo)
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(ConfigError, match="install git"):
            source(repo)

    def test_the_environment_of_a_hook_does_not_lead_elsewhere(self, repo, tmp_path_factory, monkeypatch):
        put(repo, "a.md")
        commit(repo)
        other = tmp_path_factory.mktemp("other")
        git(other, "init", "-q")
        monkeypatch.setenv("GIT_DIR", str(other / ".git"))
        monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
        origin = source(repo)
        assert paths(gather(origin.list())) == ["a.md"]
        assert origin.read("a.md").body == b"text\n"

    def test_bare_repositories_refs_and_folders_are_read(self, repo, tmp_path_factory):
        put(repo, "docs/guide/a.md", "docs/b.md", "c.md")
        commit(repo)
        git(repo, "tag", "one")
        put(repo, "docs/guide/a.md", data=b"newer")
        commit(repo)
        bare = tmp_path_factory.mktemp("bare")
        git(bare, "clone", "-q", "--bare", str(repo), "repo.git")
        old = source(bare, path="repo.git", ref="one", below="docs")
        assert paths(gather(old.list())) == ["b.md", "guide/a.md"]
        assert old.read("guide/a.md").body == b"text\n"
        new = source(bare, path="repo.git", ref="main", below="docs/guide/")
        assert paths(gather(new.list())) == ["a.md"]
        assert new.read("a.md").body == b"newer"
        assert refused(new, "c.md") == FindingKind.VANISHED

    def test_the_rules_are_those_of_a_folder_but_for_gitignore(self, repo):
        put(repo, "a.md", "a.txt", "docs/b.md", "docs/old/d.md", ".hidden.md", "pic.png", ".steadlith/x.md", "x.tpl")
        put(repo, ".gitignore", data=b"a.md\n")
        commit(repo)
        for settings in ({}, {"hidden": True}, {"include": ["*.md"], "exclude": ["old"]}, {"formats": {".tpl": "rst"}}):
            folder = FILESYSTEM.build("docs", {**settings, "gitignore": False}, root=str(repo), private=())
            here, there = gather(source(repo, **settings).list()), gather(folder.list())
            assert [(e.path, e.format, e.size) for e in here.entries] == [
                (e.path, e.format, e.size) for e in there.entries
            ]
        rule = FACTORY.formats({"exclude": ["old"], "ref": "x", "below": "y"})
        assert (rule("a.md"), rule("docs/old/d.md"), rule(".hidden.md")) == (Format.MARKDOWN, None, None)

    def test_our_own_files_are_no_documents(self, repo):
        put(repo, "docs/a.md", "docs/steadlith.toml")
        commit(repo)
        private = [repo / "docs" / "steadlith.toml"]
        assert paths(gather(source(repo, private=private).list())) == ["docs/a.md"]
        origin = source(repo, private=private, below="docs")
        assert paths(gather(origin.list())) == ["a.md"]
        assert refused(origin, "steadlith.toml") == FindingKind.VANISHED
        assert origin.leaves_out("steadlith.toml")


class TestCommits:
    def test_a_listing_and_its_reads_are_of_one_commit(self, repo):
        put(repo, "a.md", "b.md")
        commit(repo)
        origin = source(repo)
        gather(origin.list())
        put(repo, "a.md", data=b"newer and longer")
        (repo / "b.md").unlink()
        commit(repo)
        assert origin.read("a.md").body == b"text\n"
        assert origin.read("b.md").body == b"text\n"
        assert paths(gather(origin.list())) == ["a.md"]
        assert origin.read("a.md").body == b"newer and longer"

    def test_what_is_not_committed_does_not_count(self, repo):
        put(repo, "a.md")
        commit(repo)
        put(repo, "a.md", "b.md", data=b"not committed")
        origin = source(repo)
        assert paths(gather(origin.list())) == ["a.md"]
        assert origin.read("a.md").body == b"text\n"

    def test_a_commit_or_a_folder_that_is_gone_stops_the_listing(self, repo):
        put(repo, "docs/a.md")
        commit(repo)
        git(repo, "branch", "side")
        origin, below = source(repo, ref="side"), source(repo, below="docs")
        git(repo, "branch", "-D", "side")
        shutil.rmtree(repo / "docs")
        commit(repo)
        with pytest.raises(SourceError, match="side"):
            gather(origin.list())
        with pytest.raises(SourceError, match="docs"):
            gather(below.list())

    def test_the_same_bytes_have_the_same_stamp_in_every_clone(self, repo, tmp_path_factory):
        put(repo, "a.md", "deep/b.md")
        commit(repo)
        other = tmp_path_factory.mktemp("clone")
        git(other, "clone", "-q", str(repo), "repo")
        known = {part.folder: part for part in source(repo).list()}
        learned = {
            folder: KnownFolder(part.rules, {e.path[len(folder) :]: e.stamp.identity for e in part.entries})
            for folder, part in known.items()
        }
        parts = list(source(other, path="repo").list(learned.get))
        assert [(part.folder, list(part.same), part.entries) for part in parts] == [
            ("", ["a.md"], ()),
            ("deep/", ["b.md"], ()),
        ]

    def test_a_replaced_object_is_not_followed(self, repo):
        put(repo, "a.md")
        commit(repo)
        old = git(repo, "rev-parse", "HEAD:a.md")
        git(repo, "replace", old, git(repo, "hash-object", "-w", "--stdin", given=b"other"))
        assert source(repo).read("a.md").body == b"text\n"


class TestOddities:
    def test_links_and_submodules_are_passed_over(self, repo):
        put(repo, "a.md")
        (repo / "link.md").symlink_to("a.md")
        commit(repo)
        inner = git(repo, "rev-parse", "HEAD")
        git(repo, "update-index", "--add", "--cacheinfo", f"160000,{inner},module")
        git(repo, "commit", "-q", "-m", "module")
        origin = source(repo)
        listing = gather(origin.list())
        assert (paths(listing), listing.findings, listing.unread) == (["a.md"], (), ())
        for path in ("link.md", "module", "module/a.md"):
            assert refused(origin, path) == FindingKind.VANISHED
            assert origin.stamp(path) is None
            assert not origin.leaves_out(path)

    def test_odd_names_are_read_and_impossible_ones_are_findings(self, repo):
        inner = tree(repo, ("100644", b"x.md", b"inner"))
        odd = [b"tab\t.md", b"line\nfeed.md", b'"quoted".md', b"-dash.md", b":colon.md", "e\u0301.md".encode(), b" .md"]
        members = [("100755" if name[:1] == b"-" else "100644", name, name) for name in odd]
        bad = [("100644", b"caf\xe9.md", b""), ("040000", b"d\xff", inner), ("040000", b"e\xff", inner)]
        commit_tree(repo, tree(repo, *members, *bad))
        origin = source(repo, exclude=["e\udcff"])
        listing = gather(origin.list())
        composed = {name.decode().replace("e\u0301", "\u00e9"): name for name in odd}
        assert paths(listing) == sorted(composed)
        assert {path: origin.read(path).body for path in composed} == composed
        assert kinds(listing) == [("caf\\xe9.md", FindingKind.NAME_NOT_UTF8), ("d\\xff", FindingKind.NAME_NOT_UTF8)]

    def test_names_that_conflict_are_told_as_in_a_folder(self, repo):
        inner = tree(repo, ("100644", b"x.md", b"1"), ("100644", b"y.md", b"2"))
        other = tree(repo, ("100644", b"X.md", b"3"))
        file = ("100644", b"f")
        commit_tree(
            repo,
            tree(
                repo,
                ("040000", b"A", inner),
                ("040000", b"a", other),
                (file[0], "\u00e9.md".encode(), b""),
                (file[0], "e\u0301.md".encode(), b""),
                (file[0], b"Readme.md", b""),
                (file[0], b"README.md", b""),
            ),
        )
        listing = gather(source(repo).list())
        assert paths(listing) == ["A/x.md", "A/y.md", "README.md", "Readme.md", "a/X.md"]
        assert kinds(listing) == [
            (path, FindingKind.NAME_CONFLICT) for path in ("A/x.md", "README.md", "Readme.md", "a/X.md", "\u00e9.md")
        ]
        assert listing.unread == ("\u00e9.md", "\u00e9.md/")

    def test_a_file_over_the_limit_is_unread_not_gone(self, repo):
        put(repo, "a.md", data=b"12345")
        put(repo, "b.md", data=b"x" * 3_000_000)
        commit(repo)
        origin = source(repo, max_file_bytes=5)
        listing = gather(origin.list())
        assert (paths(listing), kinds(listing)) == (["a.md"], [("b.md", FindingKind.TOO_LARGE)])
        assert listing.unread == ("b.md",)
        assert refused(origin, "b.md") == FindingKind.TOO_LARGE
        assert origin.read("a.md").body == b"12345"

    def test_objects_that_are_missing_or_damaged_are_unread_not_gone(self, repo):
        put(repo, "a.md", data=b"one")
        put(repo, "gone.md", data=b"two")
        put(repo, "deep/c.md", data=b"three")
        put(repo, "fine/d.md", data=b"four")
        commit(repo)
        for name in ("gone.md", "deep"):
            id_ = git(repo, "rev-parse", f"HEAD:{name}")
            (repo / ".git" / "objects" / id_[:2] / id_[2:]).unlink()
        origin = source(repo)
        listing = gather(origin.list())
        assert paths(listing) == ["a.md", "fine/d.md"]
        assert kinds(listing) == [("deep/", FindingKind.UNREADABLE_FOLDER), ("gone.md", FindingKind.UNREADABLE_FILE)]
        assert listing.unread == ("deep/", "gone.md")
        assert refused(origin, "gone.md") == FindingKind.UNREADABLE_FILE
        assert refused(origin, "deep/c.md") == FindingKind.UNREADABLE_FILE

    def test_a_tree_with_a_name_that_leads_elsewhere_is_not_believed(self, repo):
        blob = git(repo, "hash-object", "-w", "--stdin", given=b"x")
        hostile = b"100644 ..\0" + bytes.fromhex(blob)
        inner = git(repo, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=hostile)
        commit_tree(repo, tree(repo, ("040000", b"deep", inner), ("100644", b"a.md", b"fine")))
        listing = gather(source(repo).list())
        assert (paths(listing), listing.unread) == (["a.md"], ("deep/",))

    def test_many_documents_are_asked_for_in_pieces(self, repo):
        names = [f"{number}.md".encode() for number in range(2 * repository.ASKED_TOGETHER + 1)]
        blob = git(repo, "hash-object", "-w", "--stdin", given=b"text")
        commit_tree(repo, tree(repo, *(("100644", name, blob) for name in names)))
        assert [entry.size for entry in gather(source(repo).list()).entries] == [4] * len(names)
        commit_tree(repo, tree(repo, *(("100644", name, "1" * 40) for name in names)))
        assert len(gather(source(repo).list()).unread) == len(names)

    def test_what_the_rules_leave_out_is_told_from_what_is_not_there(self, repo):
        put(repo, "drafts/a.md", "b.md", ".env")
        commit(repo)
        origin = source(repo, exclude=["drafts/"])
        gather(origin.list())
        assert origin.leaves_out("drafts/a.md")
        assert origin.leaves_out(".env")
        assert not any(origin.leaves_out(path) for path in ("b.md", "drafts", "drafts/no.md", "no.md"))


class TestProcesses:
    def test_git_is_asked_again_if_its_process_died(self, repo):
        put(repo, "a.md")
        commit(repo)
        origin = source(repo)
        gather(origin.list())
        for process in origin._repository._processes.values():
            process.kill()
            process.wait()
        assert origin.read("a.md").body == b"text\n"
        assert paths(gather(origin.list())) == ["a.md"]

    def test_the_processes_end_with_the_source(self, repo):
        put(repo, "a.md")
        commit(repo)
        origin = source(repo)
        gather(origin.list())
        origin.read("a.md")
        processes = list(origin._repository._processes.values())
        assert len(processes) == 2
        del origin
        assert all(process.returncode is not None for process in processes)

    def test_nothing_is_written_into_the_repository(self, repo):
        put(repo, "a.md", "deep/b.md")
        commit(repo)
        before = sorted((path, path.stat().st_mtime_ns) for path in Path(repo).rglob("*"))
        origin = source(repo)
        gather(origin.list())
        origin.read("deep/b.md")
        assert sorted((path, path.stat().st_mtime_ns) for path in Path(repo).rglob("*")) == before

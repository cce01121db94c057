"""Histories and what they cost, through the engine: real git repositories, real folders."""

import os
import subprocess

import pytest

from steadlith import cutting
from steadlith.churn import Amount, Contender, measure
from steadlith.history import Stretch, history
from steadlith_core.errors import SourceError, UsageError

IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")


class Repository:
    """A git repository that is written commit by commit."""

    def __init__(self, path):
        self.path = path
        self.git("init", "-q", "-b", "main", ".", make=True)

    def git(self, *arguments, make=False):
        if make:
            self.path.mkdir()
        done = subprocess.run(["git", *IDENTITY, *arguments], cwd=self.path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, files=None):
        """Write `files` (none deletes one), commit all, and return the commit's name."""
        for name, content in (files or {}).items():
            place = self.path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                place.unlink()
            else:
                place.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "repository")


@pytest.fixture
def tiny(repository):
    """A history whose every figure can be counted by hand."""
    repository.commit({"a.md": "# A\n\nOne.\n", "b.md": "# B\n\nTwo.\n"})  # two chunks of 9 bytes
    repository.commit({"a.md": "# A\n\nThree.\n"})  # one of 11 bytes, in a text of 12
    repository.commit({"b.md": None, "c.md": "# B\n\nTwo.\n"})  # renamed
    repository.commit({"a.md": "# A\n\nOne.\n"})  # back again
    repository.commit({"d.md": "# B\n\nTwo.\n\n"})  # another version, 11 bytes of text, with the chunk of b.md
    return repository


def contender(name="structural", **settings):
    return Contender(name, name, cutting.policy(name, settings))


def replay(place, stretch=None, *contenders):
    with history(place, stretch or Stretch(), cutting.usual_formats()) as found:
        return measure(found, contenders or [contender()])


def changes(place, stretch=None):
    with history(place, stretch or Stretch(), cutting.usual_formats()) as found:
        return [[version.path for version in snapshot.changed] for snapshot in found.snapshots()]


def test_every_figure_of_a_tiny_history_is_the_one_counted_by_hand(tiny):
    churn = replay(tiny.path)
    assert (churn.commits, churn.edits, churn.documents) == (4, 2, 3)
    assert (churn.versions, churn.changed, churn.changed_bytes) == (4, 2, 23)
    (measured,) = churn.measured
    assert (measured.first.chunks, measured.first.bytes) == (2, 18)
    assert (measured.later.chunks, measured.later.bytes) == (1, 11)
    assert (measured.mean_bytes, measured.largest_bytes) == (9.0, 11)
    assert churn.share(measured) == 11 / 23
    assert churn.findings == ()


def test_a_renamed_document_costs_nothing(repository):
    repository.commit({"a.md": "Text.\n"})
    repository.commit({"a.md": None, "deep/er/b.md": "Text.\n"})
    churn = replay(repository.path)
    assert (churn.changed, churn.measured[0].later) == (0, Amount())
    assert churn.share(churn.measured[0]) is None


def test_a_name_that_changes_the_format_makes_another_version(repository):
    repository.commit({"a.txt": "Text.\n"})
    repository.commit({"a.txt": None, "a.md": "Text.\n"})
    assert replay(repository.path).changed == 1


def test_each_version_is_cut_once_by_each_contender(tiny, monkeypatch):
    asked = []
    cut = cutting.cut
    monkeypatch.setattr(cutting, "cut", lambda chunker, texts: asked.extend(texts) or cut(chunker, texts))
    replay(tiny.path, None, contender(), contender("fixed"))
    assert len(asked) == 2 * 4


def test_only_what_is_embedded_counts(repository):
    repository.commit({"a.md": "# A\n\n" + "word " * 40 + "\n"})
    late = replay(repository.path, None, contender("late", child_max_words=10)).measured[0]
    assert (late.first.chunks, late.first.bytes) == (1, 49)  # four windows of one text; their parent is not embedded


def test_a_bare_clone_gives_the_same(tiny, tmp_path):
    bare = tmp_path / "bare.git"
    tiny.git("clone", "-q", "--bare", str(tiny.path), str(bare))
    assert replay(bare) == replay(tiny.path)


def test_a_clone_of_a_bundle_gives_the_same_and_a_bundle_says_how(tiny, tmp_path):
    bundle = tmp_path / "tiny.bundle"
    tiny.git("bundle", "create", "-q", str(bundle), "main")
    tiny.git("clone", "-q", "-b", "main", str(bundle), str(tmp_path / "clone"))
    assert replay(tmp_path / "clone") == replay(tiny.path)
    with pytest.raises(SourceError, match="clone a bundle first"):
        replay(bundle)


def test_nothing_in_the_repository_is_written(tiny):
    def files():
        return {path: path.stat().st_mtime_ns for path in tiny.path.rglob("*")}

    before = files()
    replay(tiny.path)
    assert files() == before


def test_the_environment_of_a_hook_names_no_other_repository(tiny, monkeypatch, tmp_path):
    other = Repository(tmp_path / "other")
    other.commit({"x.md": "Other.\n"})
    expected = replay(tiny.path)
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    assert replay(tiny.path) == expected


def test_a_merge_is_one_change_to_its_first_parent(repository):
    repository.commit({"a.md": "A.\n"})
    repository.git("checkout", "-q", "-b", "side")
    repository.commit({"b.md": "B, first.\n"})
    repository.commit({"b.md": "B, second.\n"})
    repository.git("checkout", "-q", "main")
    repository.commit({"a.md": "A, again.\n"})
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    assert changes(repository.path) == [["a.md"], ["a.md"], ["b.md"]]
    assert replay(repository.path).changed == 2


def test_commits_takes_the_last_ones_and_since_what_came_after(tiny):
    everything = changes(tiny.path)
    second = tiny.git("rev-parse", "HEAD~3")
    expected = [["a.md", "b.md"], *everything[2:]]
    assert changes(tiny.path, Stretch(commits=3)) == expected
    assert changes(tiny.path, Stretch(since=second)) == expected
    assert changes(tiny.path, Stretch(since="HEAD~3")) == expected
    assert changes(tiny.path, Stretch(commits=99)) == everything
    assert changes(tiny.path, Stretch(since="HEAD")) == [["a.md", "c.md", "d.md"]]
    for revision in ("nowhere", "--all", "HEAD:a.md"):
        with pytest.raises(UsageError, match="names no commit"):
            changes(tiny.path, Stretch(since=revision))


def test_a_folder_of_the_history_may_come_later_and_is_taken_by_its_name(repository):
    repository.commit({"README.md": "Top.\n"})
    repository.commit({"docs/[a].md": "A.\n", "docs-old/x.md": "X.\n"})
    repository.commit({"docs/[a].md": "A, again.\n", "src/b.md": "B.\n"})
    assert changes(repository.path, Stretch(below="docs")) == [[], ["[a].md"], ["[a].md"]]
    churn = replay(repository.path, Stretch(below="docs"))
    assert (churn.commits, churn.versions, churn.documents) == (1, 2, 1)


def test_the_sources_rule_says_what_a_document_is(repository):
    repository.commit({"a.md": "A.\n", "b.png": b"\x89PNG", ".github/c.md": "C.\n", "d": "D.\n", "e.py": "e = 1\n"})
    with history(repository.path, Stretch(), cutting.usual_formats()) as found:
        (snapshot,) = found.snapshots()
    assert [(each.path, str(each.format)) for each in snapshot.changed] == [
        ("a.md", "markdown"),
        ("d", "text"),
        ("e.py", "code"),
    ]


def test_links_and_submodules_are_no_documents(repository):
    repository.commit({"a.md": "A.\n"})
    (repository.path / "link.md").symlink_to("a.md")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{repository.git('rev-parse', 'HEAD')},module")
    (repository.path / "module").mkdir()
    repository.commit()
    assert changes(repository.path) == [["a.md"], []]


def test_a_version_that_cannot_be_used_is_a_finding_and_passed_over(repository):
    repository.commit({"a.md": "A.\n"})
    repository.commit({"bad.md": b"\xff", "bin.txt": b"a\0b", "front.md": "---\na: &x 1\n---\n"})
    repository.commit({"a.md": "A, again.\n"})
    churn = replay(repository.path)
    assert [(each.place.partition(":")[2], str(each.kind)) for each in churn.findings] == [
        ("bad.md", "undecodable"),
        ("bin.txt", "binary"),
        ("front.md", "front_matter"),
    ]
    assert (churn.versions, churn.edits) == (2, 1)


def test_a_name_that_is_not_utf8_is_a_finding(repository):
    (repository.path / "a.md").write_text("A.\n")
    try:
        with open(os.path.join(os.fsencode(repository.path), b"caf\xe9.md"), "wb") as stream:  # noqa: PTH118, PTH123
            stream.write(b"B.\n")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    repository.commit()
    (found,) = replay(repository.path).findings
    assert (found.place.partition(":")[2], found.kind) == (r"caf\xe9.md", "name_not_utf8")


def test_a_document_over_the_limit_is_a_finding_and_the_next_is_read(repository, monkeypatch):
    monkeypatch.setattr("steadlith.githistory.MAX_BYTES", 100)
    repository.commit({"a.md": "A.\n" * 60, "b.md": "B.\n"})
    churn = replay(repository.path)
    assert [each.kind for each in churn.findings] == ["too_large"]
    assert (churn.versions, churn.measured[0].first.bytes) == (1, 2)


def test_the_first_snapshot_is_the_first_that_holds_a_text(repository):
    repository.commit()
    repository.commit({"README.md": ""})
    repository.commit({"a.md": "A.\n"})
    repository.commit({"a.md": "A, again.\n"})
    churn = replay(repository.path)
    assert (churn.commits, churn.edits, churn.measured[0].first.chunks) == (1, 1, 1)


def test_folders_are_snapshots_in_the_order_of_their_names(tmp_path):
    for name, files in {
        "2026-01": {"a.md": "# A\n\nOne.\n", "b.md": "# B\n\nTwo.\n"},
        "2026-02": {"a.md": "# A\n\nThree.\n", "b.md": "# B\n\nTwo.\n"},
        "2026-03": {"a.md": "# A\n\nOne.\n", "c.md": "# B\n\nTwo.\n"},
        ".hidden": {"x.md": "No.\n"},
    }.items():
        for path, content in files.items():
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / path).write_text(content)
    assert changes(tmp_path) == [["a.md", "b.md"], ["a.md"], ["a.md", "c.md"]]
    churn = replay(tmp_path)
    assert (churn.first, churn.last, churn.commits, churn.edits, churn.documents) == ("2026-01", "2026-03", 2, 1, 2)
    assert (churn.measured[0].later.bytes, churn.changed_bytes) == (11, 12)
    assert changes(tmp_path, Stretch(commits=1)) == [["a.md", "b.md"], ["a.md", "c.md"]]
    with pytest.raises(UsageError, match="no git repository"):
        changes(tmp_path, Stretch(since="HEAD"))


def test_a_folder_of_each_snapshot_can_be_chosen(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "2" / "docs").mkdir(parents=True)
    (tmp_path / "2" / "docs" / "a.md").write_text("A.\n")
    (tmp_path / "2" / "docs" / "bad.md").write_bytes(b"\xff")
    assert changes(tmp_path, Stretch(below="docs")) == [[], ["a.md", "bad.md"]]
    assert [each.place for each in replay(tmp_path, Stretch(below="docs")).findings] == ["2:bad.md"]


def test_a_history_that_cannot_be_measured_says_why(repository, tmp_path):
    with pytest.raises(SourceError, match="there is no commit"):
        replay(repository.path)
    repository.commit({"a.png": b"\x89", "b.md": b"\xff"})
    with pytest.raises(SourceError, match=r"no document with text in 1 snapshot; 1 could not be used.*b\.md"):
        replay(repository.path)
    with pytest.raises(SourceError, match="does not exist"):
        replay(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="neither a git repository nor a folder of snapshots"):
        replay(tmp_path / "empty")


def test_a_blob_that_is_missing_is_an_error(repository):
    repository.commit({"a.md": "A.\n"})
    blob = repository.git("rev-parse", "HEAD:a.md")
    (repository.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(SourceError, match="partial or damaged clone"):
        replay(repository.path)


def test_without_git_it_says_so(tiny, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SourceError, match="the git command cannot be started"):
        replay(tiny.path)


def test_progress_is_told_after_each_snapshot(tiny):
    told = []
    with history(tiny.path, Stretch(), cutting.usual_formats()) as found:
        measure(found, [contender()], lambda done, total: told.append((done, total)))
    assert told == [(number, 5) for number in range(1, 6)]


def test_what_a_policy_refuses_is_its_finding_alone(repository):
    repository.commit({"a.md": "A.\n", "many.md": "# H\n\ntext\n\n" * 20, "z.md": "Z.\n"})
    churn = replay(repository.path, None, contender(), contender("markdown", max_sections=10))
    (found,) = churn.findings
    assert (found.place.partition(":")[2], found.kind) == ("many.md", "too_many_sections")
    assert found.message.startswith("markdown: ")
    structural, markdown = churn.measured
    assert structural.first.chunks == 3
    assert markdown.first.chunks == 2


def test_the_first_snapshot_is_the_same_for_all_policies_whatever_one_of_them_refuses(repository):
    repository.commit({"many.md": "# H\n\ntext\n\n" * 20})
    repository.commit({"many.md": "# H\n\nother text\n\n" * 20, "z.md": "Z.\n"})
    churn = replay(repository.path, None, contender(), contender("markdown", max_sections=10))
    structural, markdown = churn.measured
    assert (churn.commits, structural.first.chunks, structural.later.chunks) == (1, 1, 2)
    assert (markdown.first.chunks, markdown.mean_bytes, markdown.later.chunks) == (0, 0.0, 1)

"""Compacting, erasing and backing up meet a fault at any operation on files: the head stays, and it can be redone."""

import shutil
import signal

import pytest
from faults.campaign import ERRORS, Scenario, edit, make_base
from faults.fate import FILES, SQLITE

import steadlith
from steadlith.search import search

SOME = 4
WORKS = {
    "a compaction": ("compact", "--keep", "1", "--yes", "--json"),
    "an erasure": ("compact", "--erase", "secret.md", "--yes", "--json"),
}
INDEX, COPY = "index.sqlite3", "copy.sqlite3"
WORD = "chalcographic"  # the campaign indexes pages of the documentation; none of them may have it
OLDER = b"an older copy"
HOW_KILLED = "SIGKILL at each operation, writes torn"
HOW_CUT = "at each operation, what was not synced is dropped, torn or reordered"
HOW_FAILING = {
    "full": "ENOSPC at each operation, once or from then on",
    "error": "EIO at each operation, once or from then on",
}


class Keeping(Scenario):
    """As an apply's, but both of its states have one head: only the history is another. What was erased is gone."""

    def __post_init__(self):
        super().__post_init__()
        before, after = ({**each, "history": []} for each in (self.before, self.after))
        assert before == after

    def try_fault(self, kind, at, **options):
        state = super().try_fault(kind, at, **options)
        if "--erase" in self.arguments:
            self.check_gone(self.base.with_name(f"{self.base.name}-tried"))
        return state

    def check_gone(self, root):
        for file in (root / ".steadlith").iterdir():
            assert WORD.encode() not in file.read_bytes(), file


@pytest.fixture(scope="module")
def settled(forks, tmp_path_factory):
    """Two generations; a document of the first is gone from the second."""
    site = make_base(tmp_path_factory.mktemp("upkeep"))
    secret = site.with_name("pages") / "secret.md"
    secret.write_text(f"# Secret\n\nA {WORD} word in a document of its own.\n", "utf-8")
    assert forks("command", site, arguments=["apply", "--yes"]).code == 0
    edit(site)
    secret.unlink(missing_ok=True)
    assert forks("command", site, arguments=["apply", "--yes", "--allow-removals"]).code == 0
    return site


@pytest.fixture(scope="module")
def keeping(forks, settled):
    """A scenario by its name, made once."""
    made = {}

    def make(name):
        if name not in made:
            base = shutil.copytree(settled, settled.with_name(WORKS[name][1].strip("-")))
            made[name] = Keeping(forks, base, arguments=WORKS[name])
        return made[name]

    return make


some_or_all = pytest.mark.parametrize(
    ("name", "some"),
    [
        *(pytest.param(name, SOME, marks=pytest.mark.sample) for name in WORKS),
        *(pytest.param(name, None, marks=pytest.mark.faults) for name in WORKS),
    ],
)


@pytest.mark.parametrize("name", WORKS)
def test_what_is_cut_is_long(keeping, name):
    verbs = [verb for verb, _ in keeping(name).operations]
    assert verbs.count("write") >= 90
    assert {"sync", "truncate"} <= set(verbs)


@some_or_all
def test_a_kill_leaves_the_head_and_the_work_can_be_redone(keeping, tried, name, some):
    tries = keeping(name)
    places = tries.points("kill within", some)
    assert {tries.try_fault("kill within", at, seed=at) for at in places} == {"old", "new"}
    tried(f"a kill while files are written: {name}", HOW_KILLED, len(places))


@some_or_all
def test_a_power_cut_leaves_the_head_and_the_work_can_be_redone(keeping, tried, name, some):
    tries = keeping(name)
    places = tries.points("power cut", some)
    assert {tries.try_fault("power cut", at, seed=at) for at in places} == {"old", "new"}
    tried(f"a power cut while files are written: {name}", HOW_CUT, len(places))


@pytest.mark.parametrize("kind", ERRORS)
@some_or_all
def test_a_full_or_failing_disk_is_told_and_leaves_the_head(keeping, tried, name, kind, some):
    tries = keeping(name)
    places = list(enumerate(tries.points(kind, some and some // 2)))
    assert "old" in {tries.try_fault(kind, at, lasting=not number % 2) for number, at in places}
    tried(f"a full or failing disk: {name}", HOW_FAILING[kind], len(places))


# ------------------------------------------------------------------------------------- somebody reads meanwhile


def answers(index, reader):
    """What a reader finds: hits with their scores, and the roots of all documents."""
    hits = [
        search(index._assembly, reader, words, history=index.history, limit=20).hits
        for words in ("how is the index kept", WORD)
    ]
    return hits, [str(document.root) for document in reader.documents()]


def try_pinned(tries, at):
    """A writer dies while a reader is open: the reader finds what it found. Whether it had so many operations."""
    root = tries.copy("pinned")
    index = steadlith.open(root)
    with index.reader() as reader:
        before = answers(index, reader)
        ran = tries.run(root, fault={"kind": "kill within", "at": at, "seed": at})
        assert answers(index, reader) == before, at
    tries.state_of(tries.judged(root), f"kill within at {at}")
    assert tries.run(root).code == 0
    assert tries.state_of(tries.judged(root), f"kill within at {at}") == "new"
    return ran.code == -signal.SIGKILL


@some_or_all
def test_a_pinned_reader_finds_what_it_found_while_the_writer_is_killed(keeping, tried, name, some):
    tries = keeping(name)
    # With a reader in the way no space is given back, so there are fewer operations than without.
    kills = sum(try_pinned(tries, at) for at in tries.points("kill within", some))
    assert kills >= 2
    tried(f"a kill while files are written and somebody reads: {name}", HOW_KILLED, kills)


# ------------------------------------------------------------------------------------------------------ backups


class Copying(Scenario):
    """A backup of a site: whatever happens, there is the copy that was there before, none, or the new one whole."""

    def __post_init__(self):
        self.before = self.judged(self.base)
        self.operations = self.measured()

    def try_fault(self, kind, at, *, older=False, **fault):
        """Whether the new copy was there afterwards; with `older` another one was there before."""
        root = self.copy("tried")
        if older:
            (root / COPY).write_bytes(OLDER)
        ran = self.run(root, fault={"kind": kind, "at": at, "seed": at, **fault})
        where = f"{kind} at {at}: {ran.err}"
        if kind in ERRORS:
            assert ran.code in {0, 1, 64}, where
            assert "Traceback" not in ran.err, where
            assert "internal error" not in ran.err, where
        else:
            assert ran.code == -signal.SIGKILL, where
        assert self.judged(root) == self.before, where
        copy = root / COPY
        assert copy.exists() or not older, where
        made = copy.exists() and copy.read_bytes() != OLDER
        if made:
            self._check(root, where)
        assert made or ran.code != 0, where
        assert self.run(root).code == 0, where
        self._check(root, where)
        return made

    def _check(self, root, where):
        """The copy, in the place of an index that is gone, is that index."""
        new = root.with_name(f"{root.name}-restored")
        shutil.rmtree(new, ignore_errors=True)
        shutil.copytree(root, new, ignore=shutil.ignore_patterns(".steadlith"))
        (new / ".steadlith").mkdir()
        shutil.copy(root / COPY, new / ".steadlith" / INDEX)
        assert {**self.judged(new), "lost": 0} == self.before, where


@pytest.fixture(scope="module")
def copying(forks, settled):
    base = shutil.copytree(settled, settled.with_name("backup"))
    return Copying(forks, base, (*SQLITE, *FILES), ("backup", COPY, "--force", "--json"))


some_or_all_of_a_copy = pytest.mark.parametrize(
    "some", [pytest.param(SOME, marks=pytest.mark.sample), pytest.param(None, marks=pytest.mark.faults)]
)


@some_or_all_of_a_copy
def test_a_kill_leaves_no_part_of_a_backup(copying, tried, some):
    places = list(enumerate(copying.points("kill within", some)))
    found = {copying.try_fault("kill within", at, older=bool(number % 2)) for number, at in places}
    found.add(copying.try_fault("kill after", len(copying.operations)))
    assert found == {False, True}
    tried("a kill while files are written: a backup", HOW_KILLED, len(places) + 1)


@some_or_all_of_a_copy
def test_a_power_cut_leaves_no_part_of_a_backup(copying, tried, some):
    places = list(enumerate(copying.points("power cut", some)))
    assert False in {copying.try_fault("power cut", at, older=bool(number % 2)) for number, at in places}
    tried("a power cut while files are written: a backup", HOW_CUT, len(places))


@pytest.mark.parametrize("kind", ERRORS)
@some_or_all_of_a_copy
def test_a_full_or_failing_disk_leaves_no_part_of_a_backup(copying, tried, kind, some):
    places = list(enumerate(copying.points(kind, some and some // 2)))
    assert False in {copying.try_fault(kind, at, lasting=not number % 2) for number, at in places}
    tried("a full or failing disk: a backup", HOW_FAILING[kind], len(places))

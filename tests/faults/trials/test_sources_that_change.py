"""The n-th read of a document fails, for every n: at plan it is a finding, at apply nothing is done on its account.

Real files, changed at the moment when they are read; only what a disk would say (EIO, EACCES) is put in its mouth.
"""

import errno
import os
import shutil
from itertools import count

import pytest
from trials.place import EVERYTHING, Place

from steadlith_adapters.sources.filesystem import source as filesystem
from steadlith_core.errors import PlanStale
from steadlith_core.planning.plan import Fate
from steadlith_core.records import FindingKind

NAMES = ("a.txt", "b.txt", "sub/c.txt", "sub/d.txt")
HOW = "real files, changed at the n-th read for every n"


def text(name, mark):
    return "\n\n".join(f"{mark} of {name} part {part} " + "silver gamma under delta " * 5 for part in range(2)) + "\n"


@pytest.fixture
def place(tmp_path):
    """Four documents, applied; then each of them edited."""
    place = Place(tmp_path).settle("a")
    for mark in ("old", "new"):
        for name in NAMES:
            file = tmp_path / "docs-a" / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(text(name, mark), "utf-8")
        if mark == "old":
            place.open().apply(place.open().plan())
    return place


def vanish(path, _patch):
    path.unlink()


def become_a_folder(path, _patch):
    path.unlink()
    path.mkdir()


def become_a_link_to_nothing(path, _patch):
    path.unlink()
    path.symlink_to("nowhere")


def grow_while_read(path, patch):
    """The first look at the open file is followed by a write of somebody else."""
    look, looks = os.fstat, count(1)

    def looking(file):
        found = look(file)
        if next(looks) == 1:
            with path.open("ab") as other:
                other.write(b"a line of somebody else\n")
        return found

    patch.setattr(os, "fstat", looking)


def shrink_while_read(path, patch):
    look, looks = os.fstat, count(1)

    def looking(file):
        found = look(file)
        if next(looks) == 1:
            os.truncate(path, 10)
        return found

    patch.setattr(os, "fstat", looking)


def a_disk_error(_path, patch):
    def failing(*_arguments, **_options):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    patch.setattr(os, "fdopen", failing)


def no_access(_path, patch):
    def refusing(*_arguments, **_options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    patch.setattr(filesystem, "read_below", lambda *a, **o: read_below_failing(refusing, *a, **o))


def read_below_failing(opening, *arguments, **options):
    from steadlith_adapters.sources.filesystem import reading

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_open_in_folder", opening)
        return reading.read_below(*arguments, **options)


FAULTS = {
    vanish: FindingKind.VANISHED,
    become_a_folder: FindingKind.NOT_A_FILE,
    become_a_link_to_nothing: FindingKind.VANISHED,
    grow_while_read: FindingKind.CHANGED_WHILE_READING,
    shrink_while_read: FindingKind.CHANGED_WHILE_READING,
    a_disk_error: FindingKind.UNREADABLE_FILE,
    no_access: FindingKind.UNREADABLE_FILE,
}


BY_DEFAULT = (vanish, grow_while_read, a_disk_error)
every_fault = pytest.mark.parametrize(
    "fault",
    [fault if fault in BY_DEFAULT else pytest.param(fault, marks=pytest.mark.faults) for fault in FAULTS],
    ids=lambda fault: fault.__name__,
)


class AtRead:
    """Within, the fault strikes at the n-th read; `victim` is the document that was read then."""

    def __init__(self, place, fault, number):
        self._place, self._fault, self._number = place, fault, number
        self.victim = None

    def __enter__(self):
        reads, read, own = count(1), filesystem.FilesystemSource.read, self

        def reading(source, path):
            if next(reads) != own._number:
                return read(source, path)
            own.victim = path
            with pytest.MonkeyPatch.context() as patch:
                own._fault(own._place.root / "docs-a" / path, patch)
                return read(source, path)

        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(filesystem.FilesystemSource, "read", reading)
        return self

    def __exit__(self, *_error):
        self._patch.undo()


def marks(place):
    """Which state of each document the index holds: path -> "old" or "new"."""
    with place.open().reader() as reader:
        return {path: body.split()[0] for path, body in place.held(reader)}


@every_fault
def test_at_plan_it_is_a_finding_and_all_others_are_planned_and_applied(place, tried, fault, tmp_path):
    for number in range(1, len(NAMES) + 1):
        here = Place(shutil.copytree(place.root, tmp_path / f"at-{number}", ignore=shutil.ignore_patterns("at-*")))
        with AtRead(here, fault, number) as strike:
            plan = here.open().plan()
        assert [(finding.place, finding.kind) for finding in plan.findings] == [
            (f"docs:{strike.victim}", FAULTS[fault])
        ]
        assert {change.id.path for change in plan.changes} == set(NAMES) - {strike.victim}
        assert {change.fate for change in plan.changes} == {Fate.CHANGED}
        # What is wrong with it now is the next plan's matter; this one leaves the document as it is recorded.
        here.open().apply(plan)
        assert marks(here) == {name: "old" if name == strike.victim else "new" for name in NAMES}
        assert here.open().verify().ok
    tried(f"a document that cannot be read at plan: {fault.__name__}", HOW, len(NAMES))


@every_fault
def test_at_apply_a_planned_document_stops_it_before_the_first_write(place, tried, fault, tmp_path):
    for number in range(1, len(NAMES) + 1):
        here = Place(shutil.copytree(place.root, tmp_path / f"at-{number}", ignore=shutil.ignore_patterns("at-*")))
        plan, before = here.open().plan(), here.open().head()
        with AtRead(here, fault, number) as strike, pytest.raises(PlanStale) as raised:
            here.open().apply(plan)
        assert strike.victim in str(raised.value)
        assert here.open().head() == before
        assert set(marks(here).values()) == {"old"}
        # The way out that the message names is a way: plan again.
        again = here.open()
        again.apply(again.plan(), allow=EVERYTHING)
        assert here.open().verify().ok
    tried(f"a planned document that cannot be read at apply: {fault.__name__}", HOW, len(NAMES))


@every_fault
def test_at_apply_a_document_that_the_plan_does_not_name_is_left_alone(place, tried, fault, tmp_path):
    """Every document is read once more (`stat_cache=False`); only one of them is in the plan."""
    for name in NAMES[1:]:
        (place.root / "docs-a" / name).write_text(text(name, "old"), "utf-8")
    strikes = 0
    for number in range(1, len(NAMES) + 1):
        here = Place(shutil.copytree(place.root, tmp_path / f"at-{number}", ignore=shutil.ignore_patterns("at-*")))
        plan = here.open().plan()
        assert [change.id.path for change in plan.changes] == ["a.txt"]
        with AtRead(here, fault, number) as strike:
            try:
                here.open().apply(plan, stat_cache=False)
            except PlanStale:
                assert strike.victim == "a.txt"
                continue
        assert strike.victim != "a.txt"
        strikes += 1
        assert marks(here) == {"a.txt": "new"} | dict.fromkeys(NAMES[1:], "old")
        assert here.open().verify().ok
    assert strikes == len(NAMES) - 1
    tried(f"an unplanned document that cannot be read at apply: {fault.__name__}", HOW, strikes)


def unlistable(patch, folder):
    """As a folder without rights answers."""
    scan = os.scandir

    def scanning(path="."):
        if str(path).rstrip("/") == str(folder):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scan(path)

    patch.setattr(os, "scandir", scanning)


def test_a_folder_that_becomes_unreadable_between_plan_and_apply_loses_nothing(place, monkeypatch, tried):
    plan, before = place.open().plan(), place.open().head()
    with monkeypatch.context() as patch:
        unlistable(patch, place.root / "docs-a" / "sub")
        with pytest.raises(PlanStale, match=r"docs:sub/c\.txt"):
            place.open().apply(plan)
        assert place.open().head() == before
        # Planned again, what is readable goes on, and nothing below the folder is taken for deleted.
        again = place.open().plan()
        assert {finding.kind for finding in again.findings} == {FindingKind.UNREADABLE_FOLDER}
        assert {change.id.path for change in again.changes} == {"a.txt", "b.txt"}
        place.open().apply(again)
    assert marks(place) == {"a.txt": "new", "b.txt": "new", "sub/c.txt": "old", "sub/d.txt": "old"}
    place.open().apply(place.open().plan())
    assert set(marks(place).values()) == {"new"}
    tried("a folder that becomes unreadable between plan and apply", "EACCES when it is listed")


AS_NOBODY = """
import steadlith
index = steadlith.open(arguments[0])
def edit():
    for path in arguments[2:]:
        with open(path, "a") as file:
            file.write("\\nAnother paragraph, written after that.\\n")
edit()
index.apply(index.plan())  # whatever is loaded late is loaded now
os.chmod(arguments[1], 0)
edit()
drop()
plan = index.plan()
done = index.apply(plan)
answer([sorted(change.id.path for change in plan.changes), [str(f.kind) for f in plan.findings], done.head.documents])
"""


def test_a_folder_without_rights_keeps_what_is_recorded_of_it(public_path, as_nobody, tried):
    """The same with real rights: a child that has dropped root's plans and applies."""
    place = Place(public_path / "place").settle("a")
    for name in NAMES:
        file = place.root / "docs-a" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text(name, "old"), "utf-8")
    place.open().apply(place.open().plan())
    for path in [place.root, *place.root.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    edited = [str(place.root / "docs-a" / name) for name in ("a.txt", "sub/c.txt")]
    found = as_nobody(AS_NOBODY, str(place.root / "a.toml"), str(place.root / "docs-a" / "sub"), *edited)
    assert found == [["a.txt"], ["unreadable_folder"], len(NAMES)]
    tried("a folder without rights, at plan and at apply", "a child that dropped root's rights")

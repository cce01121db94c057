"""Factories of stores to sabotage: that of the SQLite store, wrapped."""

from pathlib import Path

import pytest
from sabotage.saboteurs import FACTORIES as TABLE
from sabotage.saboteurs import Wrapped

from steadlith_adapters.stores.sqlite import FACTORY
from steadlith_conformance.stores import StoreFactorySuite, factories
from steadlith_core.errors import ForeignFile, LockHeld, SteadlithError

breaks, also = TABLE.breaks, TABLE.also


class Arena(StoreFactorySuite):
    """The whole suite over one saboteur."""

    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch):
        """Who waits in vain does not wait long."""
        monkeypatch.setattr(factories, "LONG", 1.0)

    @pytest.fixture
    def factory(self):
        return Wrapped(FACTORY, "indexes", self.saboteur)


@breaks("indexes.troubles", "test_an_unknown_setting_is_refused_by_name")
def unknown_settings_are_no_trouble(it, settings, *, root):
    """Who looks for troubles reads past a misspelt setting."""
    return it.inner.troubles({key: value for key, value in settings.items() if key == "path"}, root=root)


@breaks("indexes.open", "test_asking_creates_nothing")
def opening_creates(it, settings, *, root, readonly):
    """Opening an index for reading makes its folder."""
    Path(root, ".steadlith").mkdir(exist_ok=True)
    return it.inner.open(settings, root=root, readonly=readonly)


@breaks("indexes.open", "test_what_is_written_is_there_at_the_next_opening")
def another_place_for_readers(it, settings, *, root, readonly):
    """Who reads and who writes are led to two files."""
    return it.inner.open({**settings, "path": "read.sqlite3"} if readonly else settings, root=root, readonly=readonly)


@breaks("indexes.files", "test_no_file_of_ours_is_taken_for_a_document")
def forgets_the_index_itself(it, settings, *, root):
    """Its side files are named, and the index is not."""
    return it.inner.files(settings, root=root)[1:]


@breaks("indexes.files", "test_no_lock_is_taken_for_a_document")
def forgets_its_side_files(it, settings, *, root):
    """Of its files the first is named."""
    return it.inner.files(settings, root=root)[:1]


@breaks("indexes.set_aside", "test_a_foreign_file_is_refused_and_left_alone")
def sets_anything_aside(it, settings, *, root):
    """Somebody's file is moved away."""
    try:
        return it.inner.set_aside(settings, root=root)
    except ForeignFile:
        path = Path(it.inner.files(settings, root=root)[0])
        return str(path.rename(path.with_name("aside")))


@breaks("indexes.set_aside", "test_what_is_set_aside_makes_room_and_is_kept")
def set_aside_is_deleted(it, settings, *, root):
    """What is set aside is deleted."""
    moved = it.inner.set_aside(settings, root=root)
    Path(moved).unlink()
    return moved


@breaks(
    "lock.acquire",
    "test_one_holds_the_lock_and_the_others_are_told_who",
    "test_a_lock_that_is_not_held_may_be_given_back",
)
def nobody_is_kept_out(it):
    """Everybody gets the lock."""
    try:
        it.inner.acquire()
    except LockHeld:
        return


@breaks("lock.acquire", "test_one_holds_the_lock_and_the_others_are_told_who")
def the_holder_has_no_name(it):
    """Who is kept out is not told by whom."""
    try:
        it.inner.acquire()
    except LockHeld as error:
        raise LockHeld("the index is in use") from error


@breaks("lock.release", "test_a_lock_that_is_not_held_may_be_given_back")
def releases_anybodys(it):
    """A lock that is not held frees the one that is."""
    for each in it.kept["held"].values():
        each.release()
    it.inner.release()


@also(releases_anybodys, "lock.acquire")
def _(it):
    it.inner.acquire()
    it.kept["held"][id(it)] = it.inner


@breaks("lock.acquire", "test_who_waits_for_the_lock_gets_it")
def nobody_waits(it):
    """Whoever finds the lock held is sent away at once, whatever the timeout."""
    it.inner._timeout = 0.0
    try:
        it.inner.acquire()
    except SteadlithError as error:
        raise LockHeld(str(error)) from error


@breaks("indexes.lock", "test_a_lock_with_an_unknown_setting_is_refused")
def locks_something_else(it, settings, *, root, timeout, holder):
    """A misspelt setting locks the index that is there by default."""
    known = {key: value for key, value in settings.items() if key == "path"}
    return it.inner.lock(known, root=root, timeout=timeout, holder=holder)


@breaks("lock.acquire", "test_no_lock_is_taken_for_a_document")
def leaves_a_note(it):
    """Who holds the lock is noted in a file that `files` does not name."""
    it.inner.acquire()
    it.inner._file.with_name("who").write_text("I", "utf-8")

"""What the factory of every store must do, as a class to inherit: override `factory`, and `settings` if it needs any.

1. A rule is one inherited method; its name is what it demands.
2. `settings` name one index that is absent; `root` is the folder of a configuration, with nothing in it.
"""

from __future__ import annotations

import copy
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from steadlith_conformance.samples import doc, pieces, write
from steadlith_conformance.suite import Suite, inapplicable
from steadlith_core.errors import ConfigError, ForeignFile, LockHeld, StoreCorrupt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from steadlith_core.ports import Lock, StoreFactory

FOREIGN = b"this is somebody's file, and no index at all\n" * 400
LONG = 60.0
"""Seconds that nobody has to wait for."""


def _tree(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


class StoreFactorySuite(Suite, port="store"):
    """The rules of `ports.StoreFactory` and `ports.Lock`."""

    @pytest.fixture
    def factory(self) -> StoreFactory:
        """The store's factory."""
        raise NotImplementedError("override `factory`: the store's factory, the object that its entry point leads to")

    @pytest.fixture
    def settings(self) -> Mapping[str, Any]:
        """The table of an index that is absent."""
        return {}

    @pytest.fixture
    def root(self, tmp_path: Path) -> str:
        """The folder of the configuration."""
        folder = tmp_path / "root"
        folder.mkdir()
        return str(folder)

    @pytest.fixture
    def lock(self, factory: StoreFactory, settings: Mapping[str, Any], root: str) -> Callable[[str, float], Lock]:
        """A lock of the index, for a holder who waits so long."""
        return lambda holder, timeout: factory.lock(settings, root=root, timeout=timeout, holder=holder)

    def test_an_unknown_setting_is_refused_by_name(
        self, factory: StoreFactory, settings: Mapping[str, Any], root: str
    ) -> None:
        """A misspelt key that is passed over writes into another index. Raise `ConfigError` with it, everywhere."""
        wrong = {**settings, "no_such_setting": 1}
        for call in (
            lambda: factory.files(wrong, root=root),
            lambda: factory.open(wrong, root=root, readonly=True),
            lambda: factory.troubles(wrong, root=root),
            lambda: factory.lock(wrong, root=root, timeout=0, holder="a rule"),
        ):
            with pytest.raises(ConfigError, match="no_such_setting"):
                call()

    def test_asking_creates_nothing(self, factory: StoreFactory, settings: Mapping[str, Any], root: str) -> None:
        """A plan in a fresh folder leaves it as it was. Create what is needed in the first `begin`."""
        before = copy.deepcopy(dict(settings))
        files = factory.files(settings, root=root)
        assert factory.files(settings, root=root) == files
        assert all(Path(path).is_absolute() for path in files)
        with closing(factory.open(settings, root=root, readonly=True)) as store:
            assert store.head().generation == 0
        assert list(factory.troubles(settings, root=root)) == []
        assert list(Path(root).iterdir()) == []
        assert settings == before, "the settings that were given were changed"

    def test_what_is_written_is_there_at_the_next_opening(
        self, factory: StoreFactory, settings: Mapping[str, Any], root: str
    ) -> None:
        """The same settings lead to the same index, for reading and for writing."""
        with closing(factory.open(settings, root=root, readonly=False)) as store:
            if store.capabilities.durability == "process":
                inapplicable("the store lives as long as its process")
            head = write(store, {doc("a.md"): pieces("one")})
        for readonly in (True, False):
            with closing(factory.open(settings, root=root, readonly=readonly)) as store:
                assert store.head() == head
        assert list(factory.troubles(settings, root=root)) == []

    def test_no_file_of_ours_is_taken_for_a_document(
        self, factory: StoreFactory, settings: Mapping[str, Any], root: str
    ) -> None:
        """A source that lists the index's own files changes at every apply. `files` names all: logs, locks, notes, or
        the folder that they stand in.
        """
        own = {Path(path).resolve() for path in factory.files(settings, root=root)}
        lock = factory.lock(settings, root=root, timeout=0, holder="a rule")
        lock.acquire()
        with closing(factory.open(settings, root=root, readonly=False)) as store:
            write(store, {doc("a.md"): pieces("one")})
            made = [path.resolve() for path in Path(root).rglob("*") if path.is_file()]
        lock.release()
        assert {path for path in made if own.isdisjoint({path, *path.parents})} == set()

    def test_a_foreign_file_is_refused_and_left_alone(
        self, factory: StoreFactory, settings: Mapping[str, Any], root: str
    ) -> None:
        """A wrong path must not cost anybody a file. Mark your own, look for the mark, and raise `ForeignFile`."""
        files = factory.files(settings, root=root)
        if not files:
            inapplicable("the store keeps no files")
        path = Path(files[0])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(FOREIGN)
        for readonly in (True, False):
            with pytest.raises((ForeignFile, StoreCorrupt)):
                factory.open(settings, root=root, readonly=readonly).head()
        with pytest.raises(ForeignFile):
            factory.set_aside(settings, root=root)
        assert path.read_bytes() == FOREIGN

    def test_what_is_set_aside_makes_room_and_is_kept(
        self, factory: StoreFactory, settings: Mapping[str, Any], root: str
    ) -> None:
        """A damaged index is moved out of the way, so that a new one can be made, and nothing of it is deleted."""
        with closing(factory.open(settings, root=root, readonly=False)) as store:
            if store.capabilities.durability == "process":
                inapplicable("the store lives as long as its process")
            write(store, {doc("a.md"): pieces("one")})
        before = sorted(_tree(Path(root)).values())
        lock = factory.lock(settings, root=root, timeout=0, holder="a rule")
        lock.acquire()
        assert factory.set_aside(settings, root=root)
        lock.release()
        with closing(factory.open(settings, root=root, readonly=True)) as store:
            assert store.head().generation == 0
        after = list(_tree(Path(root)).values())
        assert [content for content in before if content and content not in after] == []

    def test_one_holds_the_lock_and_the_others_are_told_who(self, lock: Callable[[str, float], Lock]) -> None:
        """Two applies at once would do everything twice. One acquires; the other is told who holds it (`LockHeld`)."""
        first, second = lock("apply 1", 0), lock("apply 2", 0)
        first.acquire()
        with pytest.raises(LockHeld, match="apply 1"):
            second.acquire()
        first.release()
        second.acquire()
        with pytest.raises(LockHeld, match="apply 2"):
            first.acquire()
        second.release()

    def test_a_lock_that_is_not_held_may_be_given_back(self, lock: Callable[[str, float], Lock]) -> None:
        """Callers release in a `finally`. It must not free a lock that somebody else holds."""
        first, second = lock("apply 1", 0), lock("apply 2", 0)
        second.release()
        first.acquire()
        second.release()
        with pytest.raises(LockHeld):
            lock("apply 3", 0).acquire()
        first.release()
        first.release()

    def test_who_waits_for_the_lock_gets_it(self, lock: Callable[[str, float], Lock]) -> None:
        """Within its timeout a second apply waits, and goes on when the first has ended."""
        first, second, got = lock("apply 1", 0), lock("apply 2", LONG), threading.Event()
        first.acquire()

        def wait() -> None:
            second.acquire()
            got.set()

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        assert not got.wait(0.2)
        first.release()
        assert got.wait(LONG), "the lock was given back, and who waited for it never got it"
        thread.join()
        second.release()
